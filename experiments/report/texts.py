"""The words of each section, from texts.yaml, around its tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from experiments.paper.published import known_reason
from experiments.report.figures import FigureTable, Line, Section, disagreements

Result = Mapping[str, Any]
TEXTS: dict[str, dict[str, Any]] = OmegaConf.to_container(  # ty: ignore[invalid-assignment]
    OmegaConf.load(Path(__file__).with_name("texts.yaml"))
)


def section(
    name: str,
    tables: Sequence[FigureTable] = (),
    compared: Sequence[Line] = (),
    remarks: Sequence[str] = (),
) -> Section:
    """The section of that name, which also says where the lines `compared` differ from the paper,
    and why if that is known."""
    text = TEXTS.get(name, {"title": name.replace("_", " "), "words": ""})
    if different := disagreements(compared):
        said = f"More than three standard errors from the paper: {'; '.join(different)}."
        remarks = [*remarks, said, *filter(None, [known_reason(name)])]
    return Section(text["title"], text["words"], tables, text.get("pictures", {}), remarks)
