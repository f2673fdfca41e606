"""The paper's claims, one line each: what it says, what we measured, and a verdict.

Where a figure decides, the verdict is computed from it, so that it changes with the figure.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from experiments.common.results import PLACES, read_result
from experiments.paper.published import paper_numbers
from experiments.report.figures import Figure, Line, markdown, standard_errors
from experiments.report.sections import section_of

CHANCE = 2.0
"""Standard errors from 0 that chance is not likely to give."""
SAME = 3.0
"""Standard errors from the paper's number within which ours is called the same."""
TO_BE_PLAYED = "to be played"
HOLDS = ("above", "below", "zero", "equal")


@dataclass(frozen=True)
class Claim:
    """One claim; the fields are explained in claims.yaml."""

    claim: str
    where: str
    figures: Sequence[Sequence[str]] = ()
    holds: str | None = None
    verdict: str = ""
    why: str = ""
    link: str = ""

    def __post_init__(self) -> None:
        if (self.holds is None) == (not self.verdict):
            raise ValueError(f"{self.claim!r} needs either `holds` or a verdict")
        if self.holds not in (None, *HOLDS):
            raise ValueError(f"holds must be one of {', '.join(HOLDS)}, not {self.holds!r}")


@functools.cache
def claims() -> list[Claim]:
    path = Path(__file__).parent.parent / "paper" / "claims.yaml"
    entries: Any = OmegaConf.to_container(OmegaConf.load(path))
    return [Claim(**entry) for entry in entries]


def judge(figure: Figure, holds: str, paper: Sequence[Any]) -> str:
    """The verdict on a claim by its first figure."""
    far = [
        standard_errors(figure, Figure(number.value, number.error))
        for number in paper
        if number.where != "logs"
    ]
    known = [errors for errors in far if errors is not None]
    if holds == "equal":
        return "reproduced" if known and min(known) <= SAME else "differs"
    if figure.value is None or not figure.error:
        return "not decided"
    errors = figure.value / figure.error
    if holds == "zero":
        return "not contradicted" if abs(errors) <= CHANCE else "not reproduced"
    errors = errors if holds == "above" else -errors
    if abs(errors) <= CHANCE:
        return "not reproduced: far less" if known and min(known) > CHANCE else "not decided"
    return "reproduced" if errors > 0 else "not reproduced: the opposite"


def lines_of(experiment: str) -> Mapping[str, Line]:
    """The lines of all tables of a published result by label, and by "caption: label" where labels
    repeat; none if it is still to be played."""
    document = read_result(PLACES.results / f"{experiment}.json")
    if document is None:
        return {}
    tables = section_of(experiment, document["result"]).tables
    pairs = [(table.caption, line) for table in reversed(tables) for line in table.rows]
    captioned = {f"{caption}: {line.label}": line for caption, line in pairs}
    return {line.label: line for _, line in pairs} | captioned


def measured(claim: Claim) -> list[Figure | None]:
    """The figures of a claim; None for those still to be played."""
    figures: list[Figure | None] = []
    for experiment, label, *column in claim.figures:
        line = lines_of(experiment).get(label)
        if line is None:
            figures.append(None)
        else:
            figures.append(line.figures[column[0]] if column else line.figure)
    return figures


def verdict_on(claim: Claim, figures: Sequence[Figure | None]) -> str:
    """The verdict in words; where a figure decides it is the first one."""
    verdict = claim.verdict
    if figures and figures[0] is None:
        verdict = TO_BE_PLAYED
    elif figures and figures[0] is not None and claim.holds is not None:
        experiment, label, *_ = claim.figures[0]
        verdict = judge(figures[0], claim.holds, paper_numbers(experiment, label))
    return f"**{verdict}**" + (f": {claim.why}" if claim.why else "")


def table() -> str:
    rows = [["the paper says", "where", "paper", "ours", "verdict"]]
    for claim in claims():
        figures = measured(claim)
        # The paper's numbers are those of a line, not of another column such as a difference.
        lines = [of for of in claim.figures if len(of) == 2]
        numbers = [paper_numbers(experiment, label) for experiment, label in lines]
        paper = [n.text for of_one in numbers for n in of_one if n.where != "logs"]
        ours = [TO_BE_PLAYED if figure is None else figure.text for figure in figures]
        if len(figures) > 1:
            of_what = [", ".join(of[1:]) for of in claim.figures]
            ours = [f"{of} {text}" for of, text in zip(of_what, ours, strict=True)]
        place = claim.link or (f"#{anchor(claim.figures[0][0])}" if claim.figures else "")
        text = f"[{claim.claim}]({place})" if place else claim.claim
        verdict = verdict_on(claim, figures)
        rows.append([text, claim.where, "; ".join(paper), "; ".join(ours), verdict])
    return markdown(rows)


def anchor(experiment: str) -> str:
    """The anchor of the section of an experiment on the page of results: that of the heading
    before it."""
    page = (PLACES.pictures / "results.md").read_text().split(f"<!-- begin {experiment} -->")[0]
    heading = next(line for line in reversed(page.splitlines()) if line.startswith("#"))
    words = "".join(c for c in heading.strip("# ").lower() if c.isalnum() or c in " -")
    return words.replace(" ", "-")
