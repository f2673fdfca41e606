"""Pictures of results. The paper's numbers are drawn in grey and labelled as what they are."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from experiments.paper.published import curve, paper_numbers
from experiments.report.belief import FAMILIES, best_of, calibration_error, gain
from experiments.report.figures import FigureTable
from experiments.report.value_bias import mean_of_blocks
from gongzhu_jax.game.cards import RANK_NAMES, SUIT_NAMES

PAPER_GAMES = 266_240
"""Games of the paper's best run."""
SUIT_TITLES = {"S": "spades", "H": "hearts", "D": "diamonds", "C": "clubs"}
Rows = Sequence[Mapping[str, Any]]


@contextmanager
def drawing(path: Path, rows: int = 1, columns: int = 1, **options: Any) -> Generator[Any]:
    """Axes of a picture, which is saved at the end."""
    figure, axes = plt.subplots(rows, columns, **options)
    yield axes
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _bars(axes: Any, points: Iterable[tuple[Any, Any, Any]], label: str, **style: Any) -> None:
    """Points (x, value, error) with error bars, if there are any."""
    if known := [point for point in points if point[1] is not None]:
        x, values, errors = zip(*known, strict=True)
        axes.errorbar(x, values, [error or 0.0 for error in errors], label=label, **style)


def _level(axes: Any, name: str, level: float) -> None:
    axes.axhline(level, color="0.8", linewidth=1)
    axes.annotate(name, (0.01, level), xycoords=("axes fraction", "data"), fontsize=8, va="bottom")


def _curves(axes: Any, points: Rows, x: str, first: float, ours: str, theirs: str) -> None:
    """The raw network while it trained, and the original's; the axis of `x` is logarithmic, so
    that it begins at `first`."""
    logs = [(max(row[x], first), row["wpg"], row["stderr"]) for row in curve()]
    _bars(axes, logs, theirs, fmt="s-", markersize=3, color="0.65")
    mine = [(row[x], row["wpg"], row["wpg_stderr"]) for row in points]
    _bars(axes, mine, ours, fmt="o-", markersize=3)
    _level(axes, "Mr. Greed", 0.0)
    axes.set(xscale="log", xlabel=x)


def plot_training(points: Rows, rows: Rows, path: Path) -> None:
    """WPG by games and by hours (`points`) beside the original's run, and losses (`rows`)."""
    with drawing(path, 1, 3, figsize=(15, 4.5)) as (by_games, by_hours, losses):
        for axes, x, first in ((by_games, "games", 1000.0), (by_hours, "hours", 0.01)):
            _curves(axes, points, x, first, "ours", "original's logs (one GPU)")
            for name in ("Mr. If", "Mr. Random"):
                _level(axes, f"{name} (paper)", paper_numbers("training_curve", name)[0].value)
            _seeds_band(axes, rows, x)
            axes.set_ylabel("raw network, points over Mr. Greed")
            axes.legend(loc="lower right")
        games = [row["games"] / 1000 for row in rows]
        right = losses.twinx()
        for axes, name, what, color in (
            (losses, "policy_loss", "policy loss, KL", "C0"),
            (right, "value_loss", "value loss, points", "C1"),
        ):
            axes.plot(games, [row[name] for row in rows], color=color, linewidth=0.6)
            axes.set_ylabel(what, color=color)
        losses.set(xlabel="thousand games of the last run")


def _seeds_band(axes: Any, rows: Rows, x: str) -> None:
    """From the worst to the best of several runs that differ in their seeds."""
    of_seeds = [[row[name] for name in row if name.startswith("wpg_seed_")] for row in rows]
    measured = [(row, values) for row, values in zip(rows, of_seeds, strict=True) if values]
    if measured:
        places = [row["seconds"] / 3600 if x == "hours" else row[x] for row, _ in measured]
        low, high = ([bound(values) for _, values in measured] for bound in (min, max))
        axes.fill_between(places, low, high, color="C0", alpha=0.2, label="all seeds")


def plot_curve(result: Mapping[str, Any], folder: Path) -> None:
    """The paper's figure: raw network and full player by games, and the classical players."""
    (full,) = paper_numbers("training_curve", "full player")
    matches = result["rows"]
    with drawing(folder / "training_curve_full.png", figsize=(9, 5.5)) as axes:
        first = min([point["games"] for point in result["curve"]] + [1000])
        labels = ("ours: raw network while training", "original's logs: raw network")
        _curves(axes, result["curve"], "games", first, *labels)
        paper = [(PAPER_GAMES, full.value, full.error)]
        _bars(axes, paper, "paper: full player", fmt="D", color="0.5", capsize=3)
        for kind, marker, color in (("raw network", "^", "C0"), ("full player", "D", "C3")):
            trained = [
                (games, matches[name]["mean"], matches[name]["standard_error"])
                for name, games in result["trained"].items()
                if name.startswith(kind) and games
            ]
            _bars(axes, trained, f"ours: {kind}", fmt=marker, color=color, capsize=3)
        for name in ("Mr. Random", "Mr. If"):
            _level(axes, name, matches[name]["mean"])
        axes.set(xlabel="games of self-play", ylabel="points over Mr. Greed (WPG)")
        axes.legend(loc="lower right")


def plot_learning(result: Mapping[str, Any], folder: Path) -> None:
    """Raw networks by games, a line for each run with the range of its seeds, beside the original's
    run."""
    rows = result["rows"]
    with drawing(folder / f"{result['name']}.png", figsize=(9, 5.5)) as axes:
        last = max(int(games) for run in result["runs"].values() for games in run["points"])
        logs = [(row["games"], row["wpg"], row["stderr"]) for row in curve()]
        early = [row for row in logs if 0 < row[0] <= 1.2 * last]
        _bars(axes, early, "original's logs", fmt="s-", markersize=3, color="0.65")
        for number, (name, run) in enumerate(result["runs"].items()):
            places = [int(games) for games in run["points"]]
            means = [[rows[row]["mean"] for row in of] for of in run["points"].values()]
            line = axes.plot(places, np.mean(means, axis=1), "o-", markersize=3, label=name)
            if np.shape(means)[1] > 1:
                low, high = np.min(means, axis=1), np.max(means, axis=1)
                axes.fill_between(places, low, high, color=line[0].get_color(), alpha=0.15)
            else:
                errors = [rows[of[0]]["standard_error"] or 0.0 for of in run["points"].values()]
                spread = {"fmt": "none", "ecolor": f"C{number}", "capsize": 2}
                axes.errorbar(places, np.mean(means, axis=1), errors, **spread)
        for name in ("Mr. If", "Mr. Random"):
            _level(axes, f"{name} (paper)", paper_numbers("training_curve", name)[0].value)
        axes.set(xlabel="games of self-play", ylabel="raw network, points over Mr. Greed")
        axes.legend(loc="lower right", fontsize=8)


def plot_points(rows: Mapping[str, Mapping[str, Any]], title: str, path: Path) -> None:
    """Points of several matches, with standard errors."""
    means = [row["mean"] for row in rows.values()]
    errors = [row["standard_error"] or 0.0 for row in rows.values()]
    with drawing(path, figsize=(8, 0.45 * len(rows) + 1.4)) as axes:
        axes.barh(list(rows), means, xerr=errors, color="C0", ecolor="0.3")
        axes.invert_yaxis()
        axes.axvline(0, color="0.8", linewidth=1)
        axes.set(xlabel="points (± one standard error)", title=title)


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
            _bars(axes, points, label, marker="o", markersize=3, capsize=2)
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
                _bars(axes, ours, f"{name} (± one s.e.)", fmt="o-", markersize=4, capsize=2)
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
                _bars(place, points, label, marker="o", markersize=3)
            place.tick_params(axis="x", rotation=30)
            place.axhline(0, color="0.8", linewidth=1)
            place.set(title=f"games of {player}", ylabel="nats per unseen card over uniform")
        places[0].legend(fontsize=7)
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
                    names = [name for name in of["groups"] if name.startswith(prefix)]
                    means = [mean_of_blocks(of["groups"][name]) for name in names]
                    points = [(i + 0.15 * shift, f.value, f.error) for i, f in enumerate(means)]
                    _bars(place, points, label, fmt="o")
                    place.set_xticks(range(len(names)), [n.removeprefix(prefix) for n in names])
                place.tick_params(axis="x", rotation=30)
                place.axhline(0, color="0.8", linewidth=1)
                place.set(title=f"against {opponent}, {what}", ylabel="points too high")
            line[0].legend(fontsize=8)


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
        axes.margins(x=0.1)  # room for the numbers
        axes.set_yticks(range(len(labels)), labels)
        axes.invert_yaxis()
        axes.legend(loc="lower right", fontsize=8)


def _compiled_label(row: Mapping[str, Any]) -> str:
    return f"{row['program']}, {row['devices']} x {row['target'].upper()}"
