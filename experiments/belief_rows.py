"""Reading the rows of `experiments.belief_quality`."""

from collections.abc import Mapping, Sequence
from typing import Any

FAMILIES = {
    "uniform": "uniform",
    "iec": "best IEC",
    "bayes": "best Bayes",
    "belief": "belief",
    "belief-bayes": "belief times best Bayes",
    "opponent-model": "opponent model",
    "belief-opponent-model": "belief times opponent model",
}
"""How the name of a weighting begins, and what the best of those is called."""

USUAL = ("belief", "opponent-model")
"""Of these the row without further settings is shown, not the best by hindsight."""

RIVALS = ("iec", "bayes")
"""What is learned is compared with these: the best of each, by the very games measured."""


def best_of(
    rows: Sequence[Mapping[str, Any]], kind: str, stage: str, family: str
) -> Mapping[str, Any] | None:
    """The weighting of a family under which the true deal is the most likely."""
    mine = [
        row
        for row in rows
        if (row["kind"], row["stage"]) == (kind, stage)
        and row["weights"].replace(",", " ").split()[0] == family
        and (family not in USUAL or row["weights"] == family)
    ]
    return max(mine, key=lambda row: row["deal"], default=None)
