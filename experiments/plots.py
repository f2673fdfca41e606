"""Pictures of results. Paper figures are drawn in grey and labelled as the paper's."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from experiments.belief_rows import FAMILIES, best_of
from experiments.published import published_curve

PAPER_FULL = {"games": 266_240, "mean": 73.9, "standard_error": 3.3}  # SS with IEC at the end
LEVELS = {"Mr. Greed": 0.0, "Mr. If (paper)": -80.3, "Mr. Random (paper)": -275.2}


def plot_training(
    points: Sequence[Mapping[str, float]], rows: Sequence[Mapping[str, float]], path: str | Path
) -> None:
    """WPG by games and by hours (`points`) beside the published run, and losses (`rows`)."""
    published = published_curve()
    figure, (by_games, by_hours, losses) = plt.subplots(1, 3, figsize=(15, 4.5))
    for axes, x, published_x, first in (
        (by_games, "games", "games", 1000.0),
        (by_hours, "hours", "wallclock_hours_since_start", 0.01),
    ):
        axes.errorbar(
            [row[x] for row in points],
            [row["wpg"] for row in points],
            [row["wpg_stderr"] for row in points],
            fmt="o-",
            markersize=3,
            label="ours",
        )
        axes.errorbar(
            [max(row[published_x], first) for row in published],  # the axis has no 0
            [row["wpg"] for row in published],
            [row["stderr"] for row in published],
            fmt="s-",
            markersize=3,
            color="0.6",
            label="paper's run (one GPU)",
        )
        for name, level in LEVELS.items():
            axes.axhline(level, color="0.8", linewidth=1)
            axes.annotate(
                name, (0.01, level), xycoords=("axes fraction", "data"), fontsize=8, va="bottom"
            )
        axes.set(xscale="log", xlabel=x, ylabel="raw network, points over Mr. Greed")
        axes.legend(loc="lower right")
    games = [row["games"] / 1000 for row in rows]
    losses.plot(games, [row["policy_loss"] for row in rows], color="C0", linewidth=0.6)
    losses.set(xlabel="thousand games of the last run")
    losses.set_ylabel("policy loss, KL", color="C0")
    right = losses.twinx()
    right.plot(games, [row["value_loss"] for row in rows], color="C1", linewidth=0.6)
    right.set_ylabel("value loss, points", color="C1")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def plot_curve(found: Mapping[str, Any], path: str | Path) -> None:
    """The paper's figure: raw network and full player by games, and the classical players."""
    figure, axes = plt.subplots(figsize=(9, 5.5))
    curve = published_curve()
    first = min([point["games"] for point in found["curve"]] + [1000])  # the axis has no 0
    axes.plot(
        [max(row["games"], first) for row in curve],
        [row["wpg"] for row in curve],
        "s-",
        color="0.7",
        markersize=3,
        label="paper: raw network",
    )
    _points_by_games(axes, [PAPER_FULL], "paper: full player", "D", "0.5")
    if found["curve"]:
        axes.errorbar(
            [row["games"] for row in found["curve"]],
            [row["wpg"] for row in found["curve"]],
            [row["wpg_stderr"] for row in found["curve"]],
            fmt="o-",
            markersize=3,
            color="C0",
            label="ours: raw network while training",
        )
    for kind, marker, color in (("raw", "^", "C0"), ("full", "D", "C3")):
        trained = [
            {"games": row["games_trained"], **{k: row[k] for k in ("mean", "standard_error")}}
            for row in found[kind]
            if row["games_trained"]
        ]
        what = {"raw": "raw network", "full": "full player (SS with IEC)"}[kind]
        if trained:
            _points_by_games(axes, trained, f"ours: {what}", marker, color)
    names = {"random": "Mr. Random", "if": "Mr. If"}
    levels = {names[name]: row["mean"] for name, row in found["levels"].items()}
    for name, level in {"Mr. Greed": 0.0, **levels}.items():
        axes.axhline(level, color="0.8", linewidth=1)
        axes.annotate(
            name, (0.01, level), xycoords=("axes fraction", "data"), fontsize=8, va="bottom"
        )
    axes.set(xscale="log", xlabel="games of self-play", ylabel="points over Mr. Greed (WPG)")
    axes.legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _points_by_games(
    axes: plt.Axes, rows: Sequence[Mapping[str, Any]], label: str, marker: str, color: str
) -> None:
    axes.errorbar(
        [row["games"] for row in rows],
        [row["mean"] for row in rows],
        [row["standard_error"] or 0.0 for row in rows],
        fmt=marker,
        markersize=6,
        capsize=3,
        color=color,
        label=label,
    )


def plot_analysis(found: Mapping[str, Any], path: str | Path) -> None:
    """Q of the candidates with error bars, and who is believed to hold the unseen point cards."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.5))
    cards = [row["card"] for row in found["candidates"]]
    left.barh(
        cards,
        [row["q"] for row in found["candidates"]],
        xerr=[row["standard_error"] for row in found["candidates"]],
        color=["C0" if card == found["card"] else "0.7" for card in cards],
    )
    left.invert_yaxis()
    left.set(xlabel="expected final margin of the team, points", title=f"plays {found['card']}")
    owners = found["believed_owners"]
    bottom = [0.0] * len(owners)
    for seat in range(4):
        if seat == found["seat"]:
            continue
        shares = [row[seat] for row in owners.values()]
        right.bar(list(owners), shares, bottom=bottom, label=f"seat {seat}")
        bottom = [a + b for a, b in zip(bottom, shares, strict=True)]
    right.set(ylabel="probability", title="believed holders of unseen point cards", ylim=(0, 1))
    right.tick_params(axis="x", rotation=60)
    if owners:
        right.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def plot_points(rows: Mapping[str, Mapping[str, Any]], title: str, path: str | Path) -> None:
    """Points of several players over the same opponent, with standard errors."""
    figure, axes = plt.subplots(figsize=(8, 0.45 * len(rows) + 1.4))
    axes.barh(
        list(rows),
        [row["mean"] for row in rows.values()],
        xerr=[row["standard_error"] or 0.0 for row in rows.values()],
        color="C0",
        ecolor="0.3",
    )
    axes.invert_yaxis()
    axes.axvline(0, color="0.8", linewidth=1)
    axes.set(xlabel="points over Mr. Greed (± one standard error)", title=title)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def plot_belief(
    rows: Sequence[Mapping[str, Any]], calibration: Mapping[str, Mapping[str, Any]], path: Path
) -> None:
    """Gain of the best weightings over uniform by stage, for each player, and how often
    what is stated is true."""
    names = list(dict.fromkeys(row["kind"] for row in rows))
    stages = list(dict.fromkeys(row["stage"] for row in rows))
    figure, axes = plt.subplots(1, len(names) + 1, figsize=(5 * len(names) + 5, 4.5), squeeze=False)
    for place, kind in zip(axes[0], names, strict=False):
        for family, label in FAMILIES.items():
            line = [row for stage in stages if (row := best_of(rows, kind, stage, family))]
            if family == "uniform" or not line:
                continue
            place.errorbar(
                [row["stage"] for row in line],
                [row["gain"] for row in line],
                [row["gain_standard_error"] for row in line],
                marker="o",
                markersize=3,
                linewidth=2.5 if family == "belief-opponent-model" else 1,
                label=label,
            )
        place.tick_params(axis="x", rotation=30)
        place.axhline(0, color="0.8", linewidth=1)
        place.set(title=f"games of {kind}", ylabel="nats per unseen card better than uniform")
    axes[0, 0].legend(fontsize=7)
    last = axes[0, -1]
    last.plot([0, 1], [0, 1], color="0.8", linewidth=1)
    for kind, found in calibration.items():
        used = [i for i, count in enumerate(found["count"]) if count]
        last.plot(
            [found["stated"][i] for i in used],
            [found["true"][i] for i in used],
            "o-",
            markersize=3,
            label=f"{kind}, error {found['expected_calibration_error']:.3f}",
        )
    last.set(title="calibration of what is learned", xlabel="stated", ylabel="true")
    if calibration:
        last.legend(fontsize=7, loc="lower right")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def plot_lines(rows: Sequence[Mapping[str, Any]], keys: Sequence[str], path: Path) -> None:
    """Points with standard errors by the first of the settings `keys`, a line for each combination
    of the others."""
    figure, axes = plt.subplots(figsize=(7, 4.5))
    first, *others = keys
    ticks = list(dict.fromkeys(row[first] for row in rows))
    lines: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        lines.setdefault(", ".join(f"{key} {row[key]}" for key in others), []).append(row)
    for number, (label, line) in enumerate(lines.items()):
        axes.errorbar(
            [ticks.index(row[first]) + 0.04 * number for row in line],
            [row["mean"] for row in line],
            [row["standard_error"] or 0.0 for row in line],
            marker="o",
            markersize=3,
            capsize=2,
            label=label,
        )
    axes.set_xticks(range(len(ticks)), [str(tick) for tick in ticks])
    axes.set(xlabel=first, ylabel="points over Mr. Greed")
    if others:
        axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def plot_heat(rows: Sequence[Mapping[str, Any]], keys: Sequence[str], path: Path) -> None:
    """Points by two settings."""
    across, down = (list(dict.fromkeys(row[key] for row in rows)) for key in keys)
    cells = [[float("nan")] * len(across) for _ in down]
    figure, axes = plt.subplots(figsize=(1.2 * len(across) + 2.5, 0.8 * len(down) + 1.8))
    for row in rows:
        x, y = across.index(row[keys[0]]), down.index(row[keys[1]])
        cells[y][x] = row["mean"]
        error = row["standard_error"]
        text = f"{row['mean']:.1f}" + (f"\n± {error:.1f}" if error is not None else "")
        axes.text(x, y, text, ha="center", va="center", fontsize=8)
    image = axes.imshow(cells, cmap="viridis", alpha=0.6, aspect="auto")
    axes.set_xticks(range(len(across)), [str(value) for value in across])
    axes.set_yticks(range(len(down)), [str(value) for value in down])
    axes.set(xlabel=keys[0], ylabel=keys[1])
    figure.colorbar(image, label="points over Mr. Greed")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
