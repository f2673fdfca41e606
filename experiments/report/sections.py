"""What pages and the terminal say of each experiment: one function from its result to a section."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import OmegaConf

from experiments.common.blocks import deviation_of, figures, mean_of, with_errors
from experiments.paper import published
from experiments.paper.published import PaperNumber, known_reason, paper_numbers, paper_rows
from experiments.report import belief, value_bias
from experiments.report.figures import Figure, FigureTable, Line, Section, disagreements
from gongzhu_jax.evaluation.stats import estimate
from gongzhu_jax.game.cards import CARD_NAMES

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


def match_line(experiment: str, name: str, row: Result, cells: Mapping[str, str]) -> Line:
    """One match; the commits that played it are marked if files had changes."""
    paper = paper_numbers(experiment, name)
    rates = [number.rates for number in paper if number.rates]
    commits = ", ".join(commit[:10] for commit in row["commits"])
    return Line(
        name,
        Figure(row["mean"], row["standard_error"], 1, row.get("match"), row["deals"]),
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
    lines = [match_line(name, row, of, {}) for row, of in result["rows"].items()]
    if result.get("epsilon") is not None:
        epsilon = Figure(result["epsilon"], result["epsilon_sd"], 3)
        lines.append(Line("epsilon", epsilon, paper_numbers(name, "epsilon")))
        if (floor := result.get("epsilon_floor")) is not None:
            lines.append(Line("epsilon by chance alone", Figure(floor, None, 3)))
    tables = [FigureTable(TEXTS[name]["head"] if name in TEXTS else "match", lines)]
    paired = [
        Line(pair, Figure(of["mean"], of["standard_error"]), cells={"deals": str(of["deals"])})
        for pair, of in result["differences"].items()
    ]
    if paired:
        tables.append(FigureTable("difference, paired by deal", paired))
    return section(name, tables, lines)


def learning(name: str, result: Result) -> Section:
    """Training runs: each at its end, the mean over seeds with the error over them, what it is over
    the first run with the same seeds and deals, and every match that was played."""
    rows, lines, first = result["rows"], [], None
    for run, about in result["runs"].items():
        means = {
            int(games): [rows[label]["mean"] for label in labels]
            for games, labels in about["points"].items()
        }
        *before, games = means
        ends = np.array(means[games])
        first = ends if first is None else first
        cells = {
            "games": f"{games:,}",
            "parameters": f"{about['parameters']:,}",
            "minutes of training": f"{about['training_seconds'] / 60:.0f}",
            "on the way": ", ".join(f"{n:,}: {np.mean(means[n]):.0f}" for n in before),
        }
        if len(ends) > 1:
            mean, change = estimate(ends).summary(), estimate(ends - first).summary()
            figure = Figure(mean["mean"], mean["standard_error"])
            over = {"over the first": Figure(change["mean"], change["standard_error"])}
        else:
            (end,) = (rows[label] for label in list(about["points"].values())[-1])
            figure = Figure(end["mean"], end["standard_error"], 1, end["match"], end["deals"])
            over = {}
        lines.append(Line(run, figure, paper_numbers(name, run), cells, over))
    every = [match_line(name, row, of, {}) for row, of in rows.items()]
    tables = [
        FigureTable("run", lines),
        FigureTable("match", every, "Every match that was played", fold=True),
    ]
    return section(name, tables, lines)


def card_statistics(result: Result) -> Section:
    statistics = {
        "Mean correction factor": (mean_of("factor"), "correction_factor", 3),
        "Mean correction factor, original's definition": (
            mean_of("original_factor", "sliced"),
            "correction_factor",
            3,
        ),
        "Spread of values, points": (deviation_of("value", "square"), "spread", 1),
        "Spread by the policy, points": (deviation_of("policy", "policy_square"), "spread", 1),
        "Spread of the policy's output, original's definition, points": (
            deviation_of("output", "output_square"),
            "spread",
            1,
        ),
    }
    tables, remarks = [], []
    for caption, (statistic, paper, digits) in statistics.items():
        theirs = published.by_card(paper)
        ours = figures(statistic, result["blocks"], digits)
        lines = [
            Line(name, figure, (PaperNumber(float(number), "figure"),))
            for name, figure, number in zip(CARD_NAMES, ours, theirs, strict=True)
        ]
        tables.append(FigureTable("card", lines, caption, fold=True))
        value = np.array([figure.value for figure in ours], float)
        known = np.isfinite(value)
        if known.sum() > 2 and value[known].std() > 0:
            correlation = np.corrcoef(value[known], theirs[known])[0, 1]
            remarks.append(f"{caption}: ours and the paper's correlate with {correlation:.2f}.")
    remarks += [f"{result['games']} games.", known_reason("card_statistics")]
    return section("card_statistics", tables, remarks=remarks)


def card_values(result: Result) -> Section:
    lines = []
    counts = np.sum(result["blocks"]["count"], axis=0)
    values = figures(mean_of("value"), result["blocks"])
    for name, figure, count in zip(result["cards"], values, counts, strict=True):
        paper = paper_numbers("card_values", name)
        cells = {"Mr. Greed": str(paper[0].greed), "positions": f"{count:.0f}"}
        lines.append(Line(name, figure, paper, cells))
    return section("card_values", [FigureTable("card", lines)], lines)


def irrelevant_cards(result: Result) -> Section:
    tables = []
    for irrelevant, groups in published.irrelevant_examples().items():
        lines = []
        measured = zip(groups, result["examples"][irrelevant], strict=True)
        for number, (group, blocks) in enumerate(measured, start=1):
            for card, factors in group.items():
                change, _ = with_errors(mean_of("square_of_change"), blocks[card])
                for kind, theirs in zip(("without", "with"), factors, strict=True):
                    if theirs is None:
                        continue  # the irrelevant card itself is not there without it
                    label = f"group {number}: {card} {kind} {irrelevant}"
                    moved = kind == "with" and card != irrelevant
                    cells = {"rms change": f"{np.sqrt(change):.4f}" if moved else ""}
                    (figure,) = figures(mean_of(kind), blocks[card], 4)
                    lines.append(Line(label, figure, (PaperNumber(theirs, "text"),), cells))
        tables.append(FigureTable("factor of", lines, f"Without and with {irrelevant}"))
    moved, staying = (figures(mean_of(name), result["blocks"], 4) for name in ("moved", "staying"))
    values = np.array([[each.value for each in of] for of in (moved, staying)], float)
    larger = values.max(axis=0)  # nan where there is nothing to tell
    counts = np.sum(result["blocks"]["count"], axis=0)
    lines = [
        Line(
            CARD_NAMES[card],
            moved[card],
            cells={
                "its change when others move": staying[card].text,
                "positions": f"{counts[card]:.0f}",
            },
        )
        for card in np.argsort(larger)[:10]
        if np.isfinite(larger[card])
    ]
    caption = "The most irrelevant cards (ours: change of others when it moves)"
    return section("irrelevant_cards", [*tables, FigureTable("card", lines, caption)])


def worked_examples(result: Result) -> Section:
    def mean(values: Sequence[float], digits: int = 1) -> Figure:
        summary = estimate(np.array(values)).summary()
        return Figure(summary["mean"], summary["standard_error"], digits)

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
        (points,), (plain,), (deviation,) = (
            figures(statistic, blocks)
            for statistic in (
                *(mean_of("points"), mean_of("without_c10"), deviation_of("points", "square")),
            )
        )
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
        f"{result['player']} against two of {result['opponent']}; the cells differ in "
        f"{' and '.join(result['keys'])}, and the first is what the others are compared with, by "
        "deal.",
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


def to_be_played(name: str) -> Section:
    """Of an experiment that has no published result."""
    lines = [
        Line(row, None, paper_numbers(name, row), {"ours": "to be played"})
        for row in paper_rows(name)
    ]
    title = TEXTS[name]["title"] if name in TEXTS else name.replace("_", " ").capitalize()
    words = "To be played: `python -m experiments.reproduce scale=final publish=true`."
    return Section(title, words, [FigureTable("", lines)] if lines else [])


MEASURED: Mapping[str, Callable[[Result], Section]] = {
    "card_statistics": card_statistics,
    "card_values": card_values,
    "irrelevant_cards": irrelevant_cards,
    "worked_examples": worked_examples,
    "classical": classical,
    "input_figures": lambda result: section("input_figures"),
    "belief_quality": lambda result: section(
        "belief_quality", belief.tables(result), remarks=belief.remarks(result)
    ),
    "value_bias": lambda result: section("value_bias", value_bias.tables(result)),
    "arena_load": arena_load,
}


def section_of(name: str, result: Result) -> Section:
    """The section of a result."""
    if name in MEASURED:
        return MEASURED[name](result)
    if "runs" in result:
        return learning(name, result)
    return sweep(name, result) if "cells" in result else matches(name, result)
