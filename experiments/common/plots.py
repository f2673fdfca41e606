"""Pictures of results. The paper's numbers are drawn in grey and labelled as what they are."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullLocator

from experiments.report.belief import FAMILIES, best_of, calibration_error, gain
from experiments.report.cards import mean_of_blocks
from experiments.report.figures import FigureTable
from gongzhu_jax.game.cards import RANK_NAMES, SUIT_NAMES

SUIT_TITLES = {"S": "spades", "H": "hearts", "D": "diamonds", "C": "clubs"}
MILLISECONDS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
Rows = Sequence[Mapping[str, Any]]


@contextmanager
def drawing(path: Path, rows: int = 1, columns: int = 1, **options: Any) -> Generator[Any]:
    """Axes of a picture, which is saved at the end."""
    figure, axes = plt.subplots(rows, columns, **options)
    yield axes
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def bars(axes: Any, points: Iterable[tuple[Any, Any, Any]], label: str, **style: Any) -> None:
    """Points (x, value, error) with error bars, if there are any."""
    if known := [point for point in points if point[1] is not None]:
        x, values, errors = zip(*known, strict=True)
        axes.errorbar(x, values, [error or 0.0 for error in errors], label=label, **style)


def plot_points(rows: Mapping[str, Mapping[str, Any]], title: str, path: Path) -> None:
    """Points of several matches, with standard errors."""
    means = [row["mean"] for row in rows.values()]
    errors = [row["standard_error"] or 0.0 for row in rows.values()]
    with drawing(path, figsize=(8, 0.45 * len(rows) + 1.4)) as axes:
        axes.barh(list(rows), means, xerr=errors, color="C0", ecolor="0.3")
        axes.invert_yaxis()
        axes.axvline(0, color="0.8", linewidth=1)
        axes.set(xlabel="points (± one standard error)", title=title)


def plot_over_time(
    rows: Mapping[str, Mapping[str, Any]], times: Mapping[str, float], title: str, path: Path
) -> None:
    """Points of several matches, with standard errors, by milliseconds of a move; a line joins
    those of one player with different options."""
    with drawing(path, figsize=(7, 4.5)) as axes:
        by_player: dict[str, list[tuple[float, float, float]]] = {}
        for name, row in rows.items():
            point = (times[name], row["mean"], row["standard_error"])
            by_player.setdefault(row["players"][0], []).append(point)
        for points in by_player.values():
            bars(axes, points, "", marker="o", markersize=4, capsize=2)
        clear = {"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.8}  # of the lines
        for name, row in rows.items():
            point = (times[name], row["mean"])
            axes.annotate(name, point, (6, -14), textcoords="offset points", fontsize=8, bbox=clear)
        axes.set(xscale="log", xlabel="milliseconds of a move, one at a time", title=title)
        axes.set(ylabel="points (± one standard error)", xticks=MILLISECONDS)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_locator(NullLocator())
        shortest, longest = min(times.values()), max(times.values())
        span = max(longest / shortest, 2.0)  # the names are to the right of their points
        axes.set_xlim(shortest / span**0.05, longest * span**0.22)


def plot_analysis(analysis: Mapping[str, Any], path: Path) -> None:
    """Q of the candidates with error bars, and who is believed to hold the unseen point cards."""
    with drawing(path, 1, 2, figsize=(12, 4.5)) as (left, right):
        candidates = analysis["candidates"]
        cards, q, errors = ([row[k] for row in candidates] for k in ("card", "q", "standard_error"))
        colors = ["C0" if card == analysis["card"] else "0.7" for card in cards]
        left.barh(cards, q, xerr=errors, color=colors)
        left.invert_yaxis()
        title = f"plays {analysis['card']}"
        left.set(xlabel="expected final margin of the team, points", title=title)
        owners = analysis["believed_owners"]
        bottom = np.zeros(len(owners))
        for seat in {0, 1, 2, 3} - {analysis["seat"]}:
            shares = np.array([row[seat] for row in owners.values()])
            right.bar(list(owners), shares, bottom=bottom, label=f"seat {seat}")
            bottom += shares
        right.set(ylabel="probability", title="believed holders of unseen point cards", ylim=(0, 1))
        right.tick_params(axis="x", rotation=60)
        if owners:
            right.legend()


def plot_lines(rows: Rows, keys: Sequence[str], title: str, path: Path) -> None:
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
            bars(axes, points, label, marker="o", markersize=3, capsize=2)
        axes.set_xticks(range(len(ticks)), [str(tick) for tick in ticks])
        axes.set(xlabel=first, ylabel="points (± one standard error)", title=title)
        sizes = [row.get("effective_sample_size") for row in rows]
        if others:
            axes.legend(fontsize=8)
        elif None not in sizes:
            right = axes.twinx()
            right.plot(range(len(ticks)), sizes, "s--", color="0.5", markersize=3)
            right.set_ylabel("effective sample size of the scenarios", color="0.4")


def plot_heat(rows: Rows, keys: Sequence[str], title: str, path: Path) -> None:
    """Points by two settings."""
    across, down = (list(dict.fromkeys(row[key] for row in rows)) for key in keys)
    cells = np.full((len(down), len(across)), np.nan)
    with drawing(path, figsize=(1.2 * len(across) + 2.5, 0.8 * len(down) + 1.8)) as axes:
        for row in rows:
            x, y = across.index(row[keys[0]]), down.index(row[keys[1]])
            cells[y, x] = row["mean"]
            error = row["standard_error"]
            text = f"{row['mean']:.1f}" + (f"\n± {error:.1f}" if error is not None else "")
            axes.text(x, y, text, ha="center", va="center", fontsize=8)
        image = axes.imshow(cells, cmap="viridis", alpha=0.6, aspect="auto")
        axes.set_xticks(range(len(across)), [str(value) for value in across])
        axes.set_yticks(range(len(down)), [str(value) for value in down])
        axes.set(xlabel=keys[0], ylabel=keys[1], title=title)
        axes.figure.colorbar(image, label="points")


def plot_by_card(tables: Mapping[str, FigureTable], label: str, path: Path) -> None:
    """Tables by name with one line for each card, beside the paper's numbers."""
    with drawing(path, 2, 2, figsize=(10, 6.5), sharex=True, sharey=True) as panels:
        for axes, suit in zip(panels.flat, SUIT_NAMES, strict=True):
            for name, table in tables.items():
                lines = {line.label: line for line in table.rows}
                rows = {rank: lines[suit + rank] for rank in RANK_NAMES}
                known = [(rank, row.figure) for rank, row in rows.items() if row.figure]
                ours = [(rank, figure.value, figure.error) for rank, figure in known]
                bars(axes, ours, f"{name} (± one s.e.)", fmt="o-", markersize=4, capsize=2)
            paper = [row.paper[0].value for row in rows.values()]
            axes.plot(RANK_NAMES, paper, "s-", color="0.6", label="read off the paper's figure")
            axes.set_title(SUIT_TITLES[suit])
            axes.grid(color="0.92")
        panels[0, 0].legend()
        panels[0, 0].figure.supylabel(label)


def plot_belief(result: Mapping[str, Any], folder: Path) -> None:
    """Gain of the best weightings over uniform by stage, for each player, and how often what is
    stated is true."""
    columns, path = len(result["stages"]) + 1, folder / "belief_quality.png"
    with drawing(path, 1, columns, figsize=(5 * columns, 4.5), squeeze=False) as ((*places, last),):
        for place, (player, stages) in zip(places, result["stages"].items(), strict=True):
            for family, label in FAMILIES.items():
                best = {stage: best_of(by, family) for stage, by in stages.items()}
                gains = {stage: gain(stages[stage], name) for stage, name in best.items() if name}
                points = [(stage, figure.value, figure.error) for stage, figure in gains.items()]
                bars(place, points, label, marker="o", markersize=3)
            place.tick_params(axis="x", rotation=30)
            place.axhline(0, color="0.8", linewidth=1)
            place.set(title=f"games of {player}", ylabel="nats per unseen card over uniform")
        places[0].set_ylim(top=1.6 * places[0].get_ylim()[1])  # room for the legend
        places[0].legend(fontsize=7, loc="upper left")
        last.plot([0, 1], [0, 1], color="0.8", linewidth=1)
        for player, by_name in result["calibration"].items():
            for name, bins in by_name.items():
                used = np.array([row for row in bins if row[0]]).reshape(-1, 3)
                label = f"{player}, {name}, error {calibration_error(np.array(bins)):.3f}"
                stated, true = (used[:, 1:] / used[:, :1]).T
                last.plot(stated, true, "o-", markersize=3, label=label)
        last.set(title="calibration of what is learned", xlabel="stated", ylabel="true")
        if result["calibration"]:
            last.legend(fontsize=7, loc="lower right")


def plot_value_bias(result: Mapping[str, Any], folder: Path) -> None:
    """Mean error between the cards of one decision, by kind of card, for each network."""
    opponents = result["opponents"]
    path, rows = folder / "value_bias.png", len(opponents)
    with drawing(path, rows, 2, figsize=(13, 4.2 * rows), squeeze=False) as axes:
        for line, (opponent, measured) in zip(axes, opponents.items(), strict=True):
            for place, prefix, what in zip(
                line, ("lead ", "play "), ("leading", "following"), strict=True
            ):
                for shift, (label, of) in enumerate(measured["networks"].items()):
                    names = [name for name in of["cards"] if name.startswith(prefix)]
                    means = [mean_of_blocks(of["cards"][name]) for name in names]
                    points = [(i + 0.15 * shift, f.value, f.error) for i, f in enumerate(means)]
                    bars(place, points, label, fmt="o")
                    place.set_xticks(range(len(names)), [n.removeprefix(prefix) for n in names])
                place.tick_params(axis="x", rotation=30)
                place.axhline(0, color="0.8", linewidth=1)
                place.set(title=f"against {opponent}, {what}", ylabel="points too high")
            line[0].legend(fontsize=8)


def plot_compile_check(result: Mapping[str, Any], folder: Path) -> None:
    """Estimated evaluations per second of every program, with sizes for CPUs and for GPUs."""
    path, rows = folder / "compile_check.png", result["rows"]
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
        axes.margins(x=0.15, y=0.01)  # room for the numbers
        axes.set_yticks(range(len(labels)), labels)
        axes.invert_yaxis()
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncol=2, frameon=False, fontsize=8)


def _compiled_label(row: Mapping[str, Any]) -> str:
    return f"{row['program']}, {row['devices']} x {row['target'].upper()}"
