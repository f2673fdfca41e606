"""The section of `experiments.belief_quality`."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.common.blocks import figures, mean_of
from experiments.report.figures import Figure, FigureTable, Line, Section
from experiments.report.texts import Result, section

PAPER = "iec 0.015, important"
"""IEC as the paper has it."""
FAMILIES = {
    PAPER: "IEC of the paper, beta 0.015 on important plays",
    "iec": "best IEC",
    "iec-class": "best IEC with its denominators",
    "bayes": "best Bayes",
    "belief": "belief",
    "belief-bayes": "belief times best Bayes",
    "opponent-model": "opponent model",
    "belief-opponent-model": "belief and opponent model",
}
"""How the name of a weighting begins, or a whole name, and what the best of those is called."""
USUAL = ("belief", "opponent-model")
"""These are shown without further settings, not with the best ones by hindsight."""
RIVALS = ("iec", "bayes")
"""What is learned is compared with these: the best of each, by the very games measured."""
LEARNED = ("belief", "belief-bayes", "opponent-model", "belief-opponent-model")
Weightings = Mapping[str, Mapping[str, Any]]


def best_of(weightings: Weightings, *families: str) -> str | None:
    """The weighting of these families under which the true deals are the most likely."""
    mine = [
        name
        for name in weightings
        if name in families
        or ((family := name.replace(",", " ").split()[0]) in families and family not in USUAL)
    ]
    return max(mine, key=lambda name: sum(weightings[name]["deal"]), default=None)


def gain(weightings: Weightings, name: str, over: str = "uniform") -> Figure:
    """Nats per unseen card by which a weighting is better than another, over blocks of games."""
    deal = np.array(weightings[name]["deal"]) - np.array(weightings[over]["deal"])
    return figures(mean_of("gain"), {"gain": deal, "count": weightings[name]["count"]}, 4)[0]


def belief_quality(result: Result) -> Section:
    """The gain over uniform by stage, for each player and family of weightings, and how well
    calibrated the learned ones are."""
    tables = []
    for player, stages in result["stages"].items():
        for family, title in FAMILIES.items():
            lines = []
            for stage, weightings in stages.items():
                if (name := best_of(weightings, family)) is None:
                    continue
                cells = {"effective share": f"{weightings[name]['share']:.2f}"}
                if family in (*RIVALS, "iec-class", "belief-bayes"):
                    cells["setting"] = name.partition(" ")[2]
                if family in LEARNED and (rival := best_of(weightings, *RIVALS)):
                    cells["over the better of IEC and Bayes"] = gain(weightings, name, rival).text
                lines.append(Line(stage, gain(weightings, name), cells=cells))
            if lines:
                caption = f"Games of {player}: {title}"
                tables.append(FigureTable("stage", lines, caption, fold=True))
    errors = [
        f"{player}, {name} {calibration_error(np.array(bins)):.3f}"
        for player, by_name in result["calibration"].items()
        for name, bins in by_name.items()
    ]
    remarks = [f"Expected calibration error: {'; '.join(errors)}."] if errors else []
    return section("belief_quality", tables, remarks=remarks)


def calibration_error(bins: np.ndarray) -> float:
    """The expected calibration error from [bins, 3]: how many, the sum stated, how many true."""
    count, stated, true = bins.T
    return float(np.sum(np.abs(stated - true)) / max(count.sum(), 1))
