"""Pictures of results. The paper's numbers are drawn in grey and labelled as what they are."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from experiments.paper.published import curve, paper_numbers
from experiments.report.figures import Table
from gongzhu_jax.game.cards import RANK_NAMES, SUIT_NAMES

PAPER_GAMES = 266_240
"""Games of the paper's best run."""


@contextmanager
def drawing(path: Path, rows: int = 1, columns: int = 1, **options: Any) -> Generator[Any]:
    """Axes of a picture, which is saved at the end."""
    figure, axes = plt.subplots(rows, columns, **options)
    yield axes
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _bars(axes: Any, points: Sequence[Sequence[float | None]], label: str, **style: Any) -> None:
    """Points (x, value, error) with error bars."""
    x, values, errors = zip(*points, strict=True)
    axes.errorbar(x, values, [error or 0.0 for error in errors], label=label, **style)


def _level(axes: Any, name: str, level: float) -> None:
    axes.axhline(level, color="0.8", linewidth=1)
    axes.annotate(name, (0.01, level), xycoords=("axes fraction", "data"), fontsize=8, va="bottom")


def plot_training(
    points: Sequence[Mapping[str, float]], rows: Sequence[Mapping[str, float]], path: Path
) -> None:
    """WPG by games and by hours (`points`) beside the original's run, and losses (`rows`)."""
    with drawing(path, 1, 3, figsize=(15, 4.5)) as (by_games, by_hours, losses):
        for axes, x, first in ((by_games, "games", 1000.0), (by_hours, "hours", 0.01)):
            ours = [(row[x], row["wpg"], row["wpg_stderr"]) for row in points]
            if ours:
                _bars(axes, ours, "ours", fmt="o-", markersize=3)
            # The axis has no 0.
            theirs = [(max(row[x], first), row["wpg"], row["stderr"]) for row in curve()]
            _bars(axes, theirs, "original's logs (one GPU)", fmt="s-", markersize=3, color="0.6")
            _level(axes, "Mr. Greed", 0.0)
            for name in ("Mr. If", "Mr. Random"):
                _level(axes, f"{name} (paper)", paper_numbers("training_curve", name)[0].value)
            axes.set(xscale="log", xlabel=x, ylabel="raw network, points over Mr. Greed")
            axes.legend(loc="lower right")
        games = [row["games"] / 1000 for row in rows]
        losses.plot(games, [row["policy_loss"] for row in rows], color="C0", linewidth=0.6)
        losses.set(xlabel="thousand games of the last run")
        losses.set_ylabel("policy loss, KL", color="C0")
        right = losses.twinx()
        right.plot(games, [row["value_loss"] for row in rows], color="C1", linewidth=0.6)
        right.set_ylabel("value loss, points", color="C1")


def plot_curve(result: Mapping[str, Any], path: Path) -> None:
    """The paper's figure: raw network and full player by games, and the classical players."""
    (full,) = paper_numbers("training_curve", "full player")
    with drawing(path, figsize=(9, 5.5)) as axes:
        first = min([point["games"] for point in result["curve"]] + [1000])  # the axis has no 0
        theirs = [(max(row["games"], first), row["wpg"], row["stderr"]) for row in curve()]
        _bars(axes, theirs, "original's logs: raw network", fmt="s-", markersize=3, color="0.7")
        paper = [(PAPER_GAMES, full.value, full.error)]
        _bars(axes, paper, "paper: full player", fmt="D", color="0.5", capsize=3)
        if result["curve"]:
            ours = [(row["games"], row["wpg"], row["wpg_stderr"]) for row in result["curve"]]
            _bars(axes, ours, "ours: raw network while training", fmt="o-", markersize=3)
        for kind, marker, color in (("raw network", "^", "C0"), ("full player", "D", "C3")):
            trained = [
                (games, result["rows"][name]["mean"], result["rows"][name]["standard_error"])
                for name, games in result["trained"].items()
                if name.startswith(kind) and games
            ]
            if trained:
                _bars(axes, trained, f"ours: {kind}", fmt=marker, color=color, capsize=3)
        _level(axes, "Mr. Greed", 0.0)
        for name in ("Mr. Random", "Mr. If"):
            _level(axes, name, result["rows"][name]["mean"])
        axes.set(xscale="log", xlabel="games of self-play", ylabel="points over Mr. Greed (WPG)")
        axes.legend(loc="lower right")


def plot_points(rows: Mapping[str, Mapping[str, Any]], title: str, path: Path) -> None:
    """Points of several matches, with standard errors."""
    with drawing(path, figsize=(8, 0.45 * len(rows) + 1.4)) as axes:
        axes.barh(
            list(rows),
            [row["mean"] for row in rows.values()],
            xerr=[row["standard_error"] or 0.0 for row in rows.values()],
            color="C0",
            ecolor="0.3",
        )
        axes.invert_yaxis()
        axes.axvline(0, color="0.8", linewidth=1)
        axes.set(xlabel="points (± one standard error)", title=title)


def plot_analysis(analysis: Mapping[str, Any], path: Path) -> None:
    """Q of the candidates with error bars, and who is believed to hold the unseen point cards."""
    with drawing(path, 1, 2, figsize=(12, 4.5)) as (left, right):
        cards = [row["card"] for row in analysis["candidates"]]
        left.barh(
            cards,
            [row["q"] for row in analysis["candidates"]],
            xerr=[row["standard_error"] for row in analysis["candidates"]],
            color=["C0" if card == analysis["card"] else "0.7" for card in cards],
        )
        left.invert_yaxis()
        title = f"plays {analysis['card']}"
        left.set(xlabel="expected final margin of the team, points", title=title)
        owners = analysis["believed_owners"]
        bottom = [0.0] * len(owners)
        for seat in range(4):
            if seat == analysis["seat"]:
                continue
            shares = [row[seat] for row in owners.values()]
            right.bar(list(owners), shares, bottom=bottom, label=f"seat {seat}")
            bottom = [a + b for a, b in zip(bottom, shares, strict=True)]
        right.set(ylabel="probability", title="believed holders of unseen point cards", ylim=(0, 1))
        right.tick_params(axis="x", rotation=60)
        if owners:
            right.legend()


def plot_lines(
    rows: Sequence[Mapping[str, Any]], keys: Sequence[str], title: str, path: Path
) -> None:
    """Points with standard errors by the first of the settings `keys`, a line for each combination
    of the others; the effective sample size, where it is known, on an axis of its own."""
    first, *others = keys
    ticks = list(dict.fromkeys(row[first] for row in rows))
    lines: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        lines.setdefault(", ".join(f"{key} {row[key]}" for key in others), []).append(row)
    with drawing(path, figsize=(7, 4.5)) as axes:
        for number, (label, line) in enumerate(lines.items()):
            points = [
                (ticks.index(row[first]) + 0.04 * number, row["mean"], row["standard_error"])
                for row in line
            ]
            _bars(axes, points, label, marker="o", markersize=3, capsize=2)
        axes.set_xticks(range(len(ticks)), [str(tick) for tick in ticks])
        axes.set(xlabel=first, ylabel="points (± one standard error)", title=title)
        sizes = [row.get("effective_sample_size") for row in rows]
        if not others and None not in sizes:
            right = axes.twinx()
            right.plot(range(len(ticks)), sizes, "s--", color="0.5", markersize=3)
            right.set_ylabel("effective sample size of the scenarios", color="0.4")
        if others:
            axes.legend(fontsize=8)


def plot_heat(
    rows: Sequence[Mapping[str, Any]], keys: Sequence[str], title: str, path: Path
) -> None:
    """Points by two settings."""
    across, down = (list(dict.fromkeys(row[key] for row in rows)) for key in keys)
    cells = [[float("nan")] * len(across) for _ in down]
    with drawing(path, figsize=(1.2 * len(across) + 2.5, 0.8 * len(down) + 1.8)) as axes:
        for row in rows:
            x, y = across.index(row[keys[0]]), down.index(row[keys[1]])
            cells[y][x] = row["mean"]
            error = row["standard_error"]
            text = f"{row['mean']:.1f}" + (f"\n± {error:.1f}" if error is not None else "")
            axes.text(x, y, text, ha="center", va="center", fontsize=8)
        image = axes.imshow(cells, cmap="viridis", alpha=0.6, aspect="auto")
        axes.set_xticks(range(len(across)), [str(value) for value in across])
        axes.set_yticks(range(len(down)), [str(value) for value in down])
        axes.set(xlabel=keys[0], ylabel=keys[1], title=title)
        axes.figure.colorbar(image, label="points")


SUIT_TITLES = {"S": "spades", "H": "hearts", "D": "diamonds", "C": "clubs"}


def plot_by_card(table: Table, label: str, path: Path) -> None:
    """A table with one line for each card, ours beside the paper's."""
    lines = {line.label: line for line in table.rows}
    with drawing(path, 2, 2, figsize=(10, 6.5), sharex=True, sharey=True) as panels:
        for axes, suit in zip(panels.flat, SUIT_NAMES, strict=True):
            rows = [lines[suit + rank] for rank in RANK_NAMES]
            paper = [row.paper[0].value for row in rows]
            axes.plot(RANK_NAMES, paper, "s-", color="0.6", label="read off the paper's figure")
            known = [
                (rank, row.figure)
                for rank, row in zip(RANK_NAMES, rows, strict=True)
                if row.figure and row.figure.value is not None
            ]
            axes.errorbar(
                [rank for rank, _ in known],
                [ours.value for _, ours in known],
                [ours.error or 0.0 for _, ours in known],
                fmt="o-",
                markersize=4,
                capsize=2,
                color="C0",
                label="ours (± one standard error)",
            )
            axes.set_title(SUIT_TITLES[suit])
            axes.grid(color="0.92")
        panels[0, 0].legend()
        panels[0, 0].figure.supylabel(label)


def plot_compile_check(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Estimated evaluations per second of every program, with sizes for CPUs and for GPUs."""
    labels = list(dict.fromkeys(_compiled_label(row) for row in rows))
    with drawing(path, figsize=(8, 1 + 0.45 * len(labels))) as axes:
        for number, sizes in enumerate(("cpu", "gpu")):
            rates = {
                _compiled_label(row): row["estimated_evaluations_per_second"]
                for row in rows
                if row["sizes"] == sizes
            }
            places = [labels.index(label) + 0.4 * (number - 0.5) for label in rates]
            bars = axes.barh(
                places, list(rates.values()), 0.38, label=f"sizes for {sizes.upper()}s"
            )
            axes.bar_label(bars, [f"{rate:,.2g}" for rate in rates.values()], padding=3, fontsize=8)
        axes.set(xscale="log", xlabel="evaluations per second (estimate)")
        axes.set_yticks(range(len(labels)), labels)
        axes.invert_yaxis()
        axes.legend(loc="lower right", fontsize=8)


def _compiled_label(row: Mapping[str, Any]) -> str:
    return f"{row['program']}, {row['devices']} x {row['target'].upper()}"
