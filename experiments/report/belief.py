"""The section and the picture of `experiments.belief_quality`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.blocks import figure, mean_of, with_errors
from experiments.report.figures import Figure, Line, Table

FAMILIES = {
    "iec": "best IEC",
    "bayes": "best Bayes",
    "belief": "belief",
    "belief-bayes": "belief times best Bayes",
    "opponent-model": "opponent model",
    "belief-opponent-model": "belief and opponent model",
}
"""How the name of a weighting begins, and what the best of those is called."""
USUAL = ("belief", "opponent-model")
"""Of these the weighting without further settings is shown, not the best by hindsight."""
RIVALS = ("iec", "bayes")
"""What is learned is compared with these: the best of each, by the very games measured."""
Weightings = Mapping[str, Mapping[str, Any]]


def best_of(weightings: Weightings, family: str) -> str | None:
    """The weighting of a family under which the true deals are the most likely."""
    mine = [
        name
        for name in weightings
        if name.replace(",", " ").split()[0] == family and (family not in USUAL or name == family)
    ]
    return max(mine, key=lambda name: sum(weightings[name]["deal"]), default=None)


def gain(weightings: Weightings, name: str, over: str = "uniform") -> Figure:
    """Nats per unseen card by which a weighting is better than another, over blocks of games."""
    first, second = weightings[name], weightings[over]
    blocks = {
        "gain": np.array(first["deal"]) - np.array(second["deal"]),
        "count": np.array(first["count"]),
    }
    return figure(*with_errors(mean_of("gain"), blocks), digits=4)


def tables_and_remarks(result: Mapping[str, Any]) -> tuple[list[Table], list[str]]:
    tables = []
    for player, stages in result["stages"].items():
        for family, title in FAMILIES.items():
            lines = []
            for stage, weightings in stages.items():
                name = best_of(weightings, family)
                if name is None:
                    continue
                cells = {"effective share": f"{weightings[name]['share']:.2f}"}
                if family in RIVALS or family == "belief-bayes":
                    cells["setting"] = name.partition(" ")[2]
                rivals = [best for rival in RIVALS if (best := best_of(weightings, rival))]
                if family not in RIVALS and rivals:
                    best = max(rivals, key=lambda rival: sum(weightings[rival]["deal"]))
                    cells["over the better of IEC and Bayes"] = gain(weightings, name, best).text
                lines.append(Line(stage, gain(weightings, name), cells=cells))
            if lines:
                tables.append(Table("stage", lines, f"Games of {player}: {title}", fold=True))
    errors = [
        f"{player}, {name} {calibration_error(np.array(bins)):.3f}"
        for player, by_name in result["calibration"].items()
        for name, bins in by_name.items()
    ]
    remarks = [f"Expected calibration error: {'; '.join(errors)}."] if errors else []
    return tables, remarks


def calibration_error(bins: np.ndarray) -> float:
    """The expected calibration error from [bins, 3]: how many, the sum stated, how many true."""
    count, stated, true = bins.T
    return float(np.sum(np.abs(stated - true)) / max(count.sum(), 1))


def plot_belief(result: Mapping[str, Any], path: Path) -> None:
    """Gain of the best weightings over uniform by stage, for each player, and how often what is
    stated is true."""
    from experiments.common.plots import drawing

    players = result["stages"]
    columns = len(players) + 1
    with drawing(path, 1, columns, figsize=(5 * columns, 4.5), squeeze=False) as axes:
        for place, (player, stages) in zip(axes[0], players.items(), strict=False):
            for family, label in FAMILIES.items():
                names = {stage: best_of(by, family) for stage, by in stages.items()}
                gains = {
                    stage: gain(stages[stage], name)
                    for stage, name in names.items()
                    if name is not None
                }
                if gains:
                    place.errorbar(
                        list(gains),
                        [each.value for each in gains.values()],
                        [each.error or 0.0 for each in gains.values()],
                        marker="o",
                        markersize=3,
                        label=label,
                    )
            place.tick_params(axis="x", rotation=30)
            place.axhline(0, color="0.8", linewidth=1)
            place.set(title=f"games of {player}", ylabel="nats per unseen card over uniform")
        axes[0, 0].legend(fontsize=7)
        last = axes[0, -1]
        last.plot([0, 1], [0, 1], color="0.8", linewidth=1)
        for player, by_name in result["calibration"].items():
            for name, bins in by_name.items():
                used = np.array([row for row in bins if row[0]])
                if len(used):
                    label = f"{player}, {name}, error {calibration_error(np.array(bins)):.3f}"
                    shares = used[:, 1:] / used[:, :1]
                    last.plot(shares[:, 0], shares[:, 1], "o-", markersize=3, label=label)
        last.set(title="calibration of what is learned", xlabel="stated", ylabel="true")
        if result["calibration"]:
            last.legend(fontsize=7, loc="lower right")
