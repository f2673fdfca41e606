"""What pages and the terminal say of each experiment: one function from its result to a section."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from experiments.common.blocks import deviation_of, figures, mean_of
from experiments.common.progress import as_lines
from experiments.paper.published import paper_numbers, paper_rows
from experiments.report import cards
from experiments.report.belief import belief_quality
from experiments.report.figures import Figure, FigureTable, Line, Section
from experiments.report.texts import TEXTS, Result, section
from gongzhu_jax.evaluation.stats import estimate


def match_line(experiment: str, name: str, row: Result, cells: Mapping[str, str]) -> Line:
    """One match; the commits that played it are marked if files had changes."""
    paper = paper_numbers(experiment, name)
    rates = [number.rates for number in paper if number.rates]
    commits = ", ".join(commit[:10] for commit in row["commits"])
    return Line(
        name,
        Figure.of(row),
        paper,
        {
            "won (+drawn)": f"{row['win_rate']:.1%} (+{row['draw_rate']:.1%})",
            **({"paper won (+drawn)": rates[0]} if rates else {}),
            **cells,
            "deals": f"{row['deals']} x {row['rotations']}",
            "seconds": f"{row['seconds']:.0f}",
            "played by": commits if row["clean"] else f"{commits} with changes",
        },
    )


def matches(name: str, result: Result) -> Section:
    """A comparison; `name` finds its title and the paper's numbers."""
    times = result.get("milliseconds", {})
    lines = [
        match_line(name, row, of, {"ms of a move": f"{times[row]:.0f}"} if row in times else {})
        for row, of in result["rows"].items()
    ]
    if result.get("epsilon") is not None:
        epsilon = Figure(result["epsilon"], result["epsilon_sd"], 3)
        lines.append(Line("epsilon", epsilon, paper_numbers(name, "epsilon")))
        if (floor := result.get("epsilon_floor")) is not None:
            lines.append(Line("epsilon by chance alone", Figure(floor, None, 3)))
    tables = [FigureTable(TEXTS[name]["head"] if name in TEXTS else "match", lines)]
    paired = [
        Line(pair, Figure.of(of), paper_numbers(name, pair), {"deals": str(of["deals"])})
        for pair, of in result["differences"].items()
    ]
    if paired:
        tables.append(FigureTable("difference, paired by deal", paired))
    return section(name, tables, lines)


def learning(name: str, result: Result) -> Section:
    """Training runs: each at its end, the mean over seeds with the error over them, what it is over
    the first run after as many games, with the same seeds and deals, and every match that was
    played. With one seed errors are over deals, and what a run has gained since it was first
    measured is shown too."""
    rows, lines, first, first_labels = result["rows"], [], {}, {}
    paired = {pair: Figure.of(of) for pair, of in result["differences"].items()}
    for run, about in result["runs"].items():
        means = {
            int(games): np.array([rows[label]["mean"] for label in labels])
            for games, labels in about["points"].items()
        }
        labels = {int(games): of[0] for games, of in about["points"].items()}
        *before, games = means
        ends = means[games]
        first, first_labels = first or means, first_labels or labels
        cells = {
            "games": f"{games:,}",
            "parameters": f"{about['parameters']:,}",
            "minutes of training": f"{about['training_seconds'] / 60:.0f}",
            "on the way": ", ".join(f"{n:,}: {np.mean(means[n]):.0f}" for n in before),
        }
        figure = Figure.of(rows[labels[games]])
        others = {
            "gained on the way": labels[min(labels)],
            "over the first": first_labels.get(games),
        }
        pairs = {head: f"({labels[games]}) - ({other})" for head, other in others.items()}
        over = {head: paired[pair] for head, pair in pairs.items() if pair in paired}
        if len(ends) > 1:
            figure = Figure.of(estimate(ends).summary())
            if games in first:
                change = estimate(ends - first[games])
                over["over the first"] = Figure.of(change.summary())
        lines.append(Line(run, figure, paper_numbers(name, run), cells, over))
    every = [match_line(name, row, of, {}) for row, of in rows.items()]
    tables = [
        FigureTable("run", lines),
        FigureTable("match", every, "Every match that was played", fold=True),
    ]
    return section(name, tables, lines)


def worked_examples(result: Result) -> Section:
    def mean(values: Sequence[float], digits: int = 1) -> Figure:
        return Figure.of(estimate(np.array(values)).summary(), digits)

    tables, every = [], []
    for name, example in result["examples"].items():
        seat, repeats = example["seat"], len(example["chosen"])
        draws = sorted(example["draws"], key=lambda draw: draw["holders"])
        lines = []
        for holder, group in groupby(draws, key=lambda draw: draw["holders"][0]):
            drawn = list(group)
            role = ("", "next", "partner", "previous")[(holder - seat) % 4]
            label = f"{name}, {example['key_cards'][0]} with seat {holder} ({role})"
            share = sum(draw["weight"] for draw in drawn) / repeats
            cells = {"share of the weight": f"{share:.1%}", "draws": str(len(drawn))}
            score = mean([draw["score"] for draw in drawn], 3)
            lines.append(Line(label, score, paper_numbers("worked_examples", label), cells))
        every += lines
        candidates = [
            Line(card, mean(q), cells={"chosen": f"{example['chosen'].count(card) / repeats:.0%}"})
            for card, q in sorted(example["q"].items(), key=lambda item: -np.mean(item[1]))
        ]
        position = (
            f"Seat {seat} holds {example['hand']}; seat {example['leader']} led first; played "
            f"{example['plays']}"
        )
        tables.append(FigureTable("score where", lines, position))
        tables.append(FigureTable("card", candidates, f"{name}: Q in points"))
    return section("worked_examples", tables, every)


def classical(result: Result) -> Section:
    lines = []
    for name, blocks in result["blocks"].items():
        statistics = mean_of("points"), mean_of("without_c10"), deviation_of("points", "square")
        (points,), (plain,), (deviation,) = (figures(each, blocks) for each in statistics)
        cells = {"sd": f"{deviation.value:.1f}", "if a lone C10 counts 0": plain.text}
        lines.append(Line(name, points, paper_numbers("classical", name), cells))
    table = FigureTable("seat of", lines)
    return section("classical", [table], lines, [f"{result['deals']} deals."])


def sweep(name: str, result: Result) -> Section:
    """A grid of matches with the swept values of each."""
    lines = []
    for row in result["cells"]:
        cells = {}
        if (ess := row.get("effective_sample_size")) is not None:
            cells["effective sample size"] = f"{ess:.1f}"
        if over := row.get("over_first"):
            cells["over the first"] = Figure(**over).text
        lines.append(match_line(name, row["label"], row["match"], cells))
    return Section(
        result["title"],
        f"Points of two {result['player']} over two {result['opponent']}. The rows differ in "
        f"{' and '.join(result['keys'])}; all are compared with the first one, deal by deal.",
        [FigureTable(", ".join(result["keys"]), lines)],
        {f"{name}.png": result["title"]},
    )


def arena_load(result: Result) -> Section:
    """Rounds of random bots and all of them, and people at tables of our player if there were
    any."""
    columns = ("games", "lost_or_wrong", "plays_per_second", "median_ms", "p99_ms", "most_ms")
    of_people = ("tables", "answers_per_second", "median_seconds", "p99_seconds", "most_seconds")

    def cells(row: Result, names: Sequence[str]) -> dict[str, str]:
        return {name.replace("_", " "): f"{row[name]:g}" for name in names}

    lines = []
    for label, row in {**dict(enumerate(result["rounds"], start=1)), "all": result}.items():
        memory = f"{row['memory_mb']:g}" if "memory_mb" in row else ""
        lines.append(
            Line(str(label), cells=cells(row, columns) | {"memory of the server, MB": memory})
        )
    tables = [FigureTable("round", lines)]
    if people := result.get("people"):
        line = Line(people["player"], cells=cells(people, of_people))
        tables.append(FigureTable("people play", [line]))
    return Section("The arena under load", "Times from a play to the next view.", tables)


def compiled_row(row: Result) -> dict[str, Any]:
    """A row of `experiments.compile_check`: the loops without their details."""
    loops = " · ".join(
        f"{'in it ' * loop['depth']}{loop['kernels']}"
        f"{' + ' + str(len(loop['collectives'])) + ' messages' if loop['collectives'] else ''}"
        for loop in row["loops"]
    )
    return {
        "program": f"{row['program']} ({row['what']})",
        "sizes for": row["sizes"].upper(),
        "GPUs": f"{row['devices']} x {row['target'].upper()}",
        "state MB": row["state_mb"],
        "temporaries MB": row["temporaries_mb"],
        "kernels in a turn of each loop": loops,
        "kernels per 1000 evaluations": row["kernels_per_1000_evaluations"],
        "evaluations/s (estimate)": row["estimated_evaluations_per_second"],
        "games/s (estimate)": row["estimated_games_per_second"],
    }


def compile_check(result: Result) -> Section:
    pictures = {"compile_check.png": "Estimated evaluations per second"}
    table = listed([compiled_row(row) for row in result["rows"]])
    return Section("Compile check: estimates", "", [table], pictures)


def listed(rows: Sequence[Mapping[str, Any]]) -> FigureTable:
    """Rows with the same keys, which are the heads."""
    (first, *heads), *lines = as_lines(rows)
    named = [Line(label, cells=dict(zip(heads, rest, strict=True))) for label, *rest in lines]
    return FigureTable(first, named)


def to_be_played(name: str) -> Section:
    """The section of an experiment that has no published result."""
    lines = [
        Line(row, None, paper_numbers(name, row), {"ours": "to be played"})
        for row in paper_rows(name)
    ]
    title = TEXTS[name]["title"] if name in TEXTS else name.replace("_", " ").capitalize()
    words = "To be played: `python -m experiments.reproduce scale=final publish=true`."
    return Section(title, words, [FigureTable("", lines)] if lines else [])


MEASURED: Mapping[str, Callable[[Result], Section]] = {
    "card_statistics": cards.card_statistics,
    "card_values": cards.card_values,
    "denominators": cards.denominators,
    "irrelevant_cards": cards.irrelevant_cards,
    "worked_examples": worked_examples,
    "classical": classical,
    "input_figures": lambda result: section("input_figures"),
    "belief_quality": belief_quality,
    "compile_check": compile_check,
    "value_bias": cards.value_bias,
    "arena_load": arena_load,
}


def section_of(name: str, result: Result) -> Section:
    """The section of a result."""
    if name in MEASURED:
        return MEASURED[name](result)
    if isinstance(result.get("rows"), list):
        return Section(name, "", [listed(result["rows"])])
    if "runs" in result:
        return learning(name, result)
    return sweep(name, result) if "cells" in result else matches(name, result)
