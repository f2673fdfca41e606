"""What pages and the terminal say of each experiment: one function from its result to a section."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import OmegaConf

from experiments.common.blocks import deviation_of, figure, mean_of, with_errors
from experiments.paper import published
from experiments.paper.published import PaperNumber, known_reason, paper_numbers, paper_rows
from experiments.report.arena import arena_tables
from experiments.report.figures import Figure, Line, Section, Table, disagreements
from experiments.report.value_bias import tables_and_remarks as value_bias_tables
from gongzhu_jax.evaluation.stats import estimate
from gongzhu_jax.game.cards import CARD_NAMES

Result = Mapping[str, Any]

TEXTS: dict[str, dict[str, str]] = OmegaConf.to_container(  # ty: ignore[invalid-assignment]
    OmegaConf.load(Path(__file__).with_name("texts.yaml"))
)
PICTURES = {
    "oracle_gap": {"oracle_gap.png": "One network with ever better guesses"},
    "training_curve": {"training_curve_full.png": "Raw network and full player by games"},
}


def match_figure(row: Result) -> Figure:
    return Figure(row["mean"], row["standard_error"], 1, row.get("match"), row["deals"])


def played_by(row: Result) -> str:
    """The commits that played a match; marked if files had changes."""
    commits = ", ".join(commit[:10] for commit in row["commits"])
    return commits if row["clean"] else f"{commits} with changes"


def match_line(experiment: str, name: str, row: Result, cells: Mapping[str, str]) -> Line:
    paper = paper_numbers(experiment, name)
    rates = [number.more["rates"] for number in paper if number.more and "rates" in number.more]
    return Line(
        name,
        match_figure(row),
        paper,
        {
            "won (+drawn)": f"{row['win_rate']:.1%} (+{row['draw_rate']:.1%})",
            **({"paper won (+drawn)": rates[0]} if rates else {}),
            **cells,
            "deals": f"{row['deals']} x {row['rotations']}",
            "seconds": f"{row['seconds']:.0f}",
            "played by": played_by(row),
        },
    )


def matches(name: str, result: Result) -> Section:
    """A comparison; `name` finds its title and the paper's numbers."""
    text = TEXTS.get(name, {"title": name.replace("_", " "), "head": "match", "words": ""})
    more: Mapping[str, Mapping[str, str]] = {}
    if "networks" in result:
        more = {
            network: {
                "parameters": f"{about['parameters']:,}",
                "learnt from": f"{about['trained_on']} games",
            }
            for network, about in result["networks"].items()
        }
    lines = [match_line(name, row, of, more.get(row, {})) for row, of in result["rows"].items()]
    if result.get("epsilon") is not None:
        epsilon = Figure(result["epsilon"], result["epsilon_sd"], 3)
        lines.append(Line("epsilon", epsilon, paper_numbers(name, "epsilon")))
    tables = [Table(text["head"], lines)]
    paired = [
        Line(pair, Figure(of["mean"], of["standard_error"]), cells={"deals": str(of["deals"])})
        for pair, of in result["differences"].items()
    ]
    if paired:
        tables.append(Table("difference, paired by deal", paired))
    pictures = PICTURES.get(name, {})
    return Section(text["title"], text["words"], tables, pictures, _remarks(name, lines))


def _section(name: str, tables: Sequence[Table] = (), **more: Any) -> Section:
    text = TEXTS[name]
    return Section(text["title"], text["words"], tables, **more)


def _remarks(name: str, lines: Sequence[Line], always: bool = False) -> list[str]:
    """Where we differ from the paper, in words, and why if that is known."""
    different = disagreements(lines)
    said = [f"More than three standard errors from the paper: {'; '.join(different)}."]
    reason = known_reason(name)
    return [*(said if different else []), *([reason] if reason and (different or always) else [])]


def card_statistics(result: Result) -> Section:
    statistics = {
        "Mean correction factor": (mean_of("factor"), "correction_factor", 3),
        "Spread of values, points": (deviation_of("value", "square"), "spread", 1),
        "Spread by the policy, points": (deviation_of("policy", "policy_square"), "spread", 1),
    }
    tables, remarks = [], []
    for caption, (statistic, paper, digits) in statistics.items():
        value, error = with_errors(statistic, result["blocks"])
        theirs = published.by_card(paper)
        lines = [
            Line(
                name,
                figure(value[card], error[card], digits),
                (PaperNumber(float(theirs[card]), "figure"),),
            )
            for card, name in enumerate(CARD_NAMES)
        ]
        tables.append(Table("card", lines, caption, fold=True))
        known = np.isfinite(value)
        if known.sum() > 2 and value[known].std() > 0:
            correlation = np.corrcoef(value[known], theirs[known])[0, 1]
            remarks.append(f"{caption}: ours and the paper's correlate with {correlation:.2f}.")
    pictures = {
        "cards_factor.png": "Mean correction factor by card",
        "cards_spread.png": "Spread of values by card",
    }
    remarks += [f"{result['games']} games.", known_reason("card_statistics")]
    return _section("card_statistics", tables, pictures=pictures, remarks=remarks)


def card_values(result: Result) -> Section:
    value, error = with_errors(mean_of("value"), result["blocks"])
    count = np.sum(result["blocks"]["count"], axis=0)
    lines = []
    for card, name in enumerate(result["cards"]):
        paper = paper_numbers("card_values", name)
        cells = {
            "Mr. Greed": str((paper[0].more or {})["greed"]),
            "positions": f"{count[card]:.0f}",
        }
        lines.append(Line(name, figure(value[card], error[card]), paper, cells))
    remarks = _remarks("card_values", lines)
    return _section("card_values", [Table("card", lines)], remarks=remarks)


def irrelevant_cards(result: Result) -> Section:
    tables = []
    for irrelevant, groups in published.irrelevant_examples().items():
        lines = []
        for number, (group, blocks) in enumerate(
            zip(groups, result["examples"][irrelevant], strict=True), start=1
        ):
            for card, factors in group.items():
                change = np.sqrt(
                    np.sum(blocks[card]["square_of_change"]) / np.sum(blocks[card]["count"])
                )
                for kind, theirs in zip(("without", "with"), factors, strict=True):
                    if theirs is None:
                        continue  # the irrelevant card itself is not there without it
                    value, error = with_errors(mean_of(kind), blocks[card])
                    moved = f"{change:.4f}" if kind == "with" and card != irrelevant else ""
                    lines.append(
                        Line(
                            f"group {number}: {card} {kind} {irrelevant}",
                            figure(value, error, 4),
                            (PaperNumber(theirs, "text"),),
                            {"rms change": moved},
                        )
                    )
        tables.append(Table("factor of", lines, f"Without and with {irrelevant}"))
    tables.append(_most_irrelevant(result["blocks"]))
    return _section("irrelevant_cards", tables)


def _most_irrelevant(blocks: Mapping[str, Any], listed: int = 10) -> Table:
    moved, moved_error = with_errors(mean_of("moved"), blocks)
    staying, staying_error = with_errors(mean_of("staying"), blocks)
    larger = np.maximum(moved, staying)
    count = np.sum(blocks["count"], axis=0)
    order = [card for card in np.argsort(larger) if np.isfinite(larger[card])][:listed]
    lines = [
        Line(
            CARD_NAMES[card],
            figure(moved[card], moved_error[card], 4),
            cells={
                "its change when others move": figure(staying[card], staying_error[card], 4).text,
                "positions": f"{count[card]:.0f}",
            },
        )
        for card in order
    ]
    caption = "The most irrelevant cards (ours: change of others when it moves)"
    return Table("card", lines, caption)


def worked_examples(result: Result) -> Section:
    tables, every = [], []
    for name, example in result["examples"].items():
        seat, first = example["seat"], example["key_cards"][0]
        draws = sorted(example["draws"], key=lambda draw: draw["holders"])
        repeats = len(example["chosen"])
        lines = []
        for holder, group in groupby(draws, key=lambda draw: draw["holders"][0]):
            drawn = list(group)
            label = f"{name}, {first} with {_seat(holder, seat)}"
            share = sum(draw["weight"] for draw in drawn) / repeats
            lines.append(
                Line(
                    label,
                    _estimate([draw["score"] for draw in drawn], 3),
                    paper_numbers("worked_examples", label),
                    {"share of the weight": f"{share:.1%}", "draws": str(len(drawn))},
                )
            )
        position = (
            f"Seat {seat} holds {example['hand']}; seat {example['leader']} led first; played "
            f"{example['plays']}"
        )
        tables.append(Table("score where", lines, position))
        every += lines
        candidates = [
            Line(
                card,
                _estimate(values),
                cells={"chosen": f"{example['chosen'].count(card) / repeats:.0%}"},
            )
            for card, values in sorted(example["q"].items(), key=lambda item: -np.mean(item[1]))
        ]
        tables.append(Table("card", candidates, f"{name}: Q in points"))
    return _section("worked_examples", tables, remarks=_remarks("worked_examples", every))


def _estimate(values: Sequence[float], digits: int = 1) -> Figure:
    summary = estimate(np.array(values)).summary()
    return Figure(summary["mean"], summary["standard_error"], digits)


def _seat(holder: int, seat: int) -> str:
    role = {1: "next", 2: "partner", 3: "previous"}[(holder - seat) % 4]
    return f"seat {holder} ({role})"


def classical(result: Result) -> Section:
    lines = []
    for name, blocks in result["blocks"].items():
        points = figure(*with_errors(mean_of("points"), blocks))
        plain = figure(*with_errors(mean_of("without_c10"), blocks))
        deviation, _ = with_errors(deviation_of("points", "square"), blocks)
        cells = {"sd": f"{deviation:.1f}", "if a lone C10 counts 0": plain.text}
        lines.append(Line(name, points, paper_numbers("classical", name), cells))
    remarks = [f"{result['deals']} deals.", *_remarks("classical", lines)]
    return _section("classical", [Table("seat of", lines)], remarks=remarks)


def input_figures(result: Result) -> Section:
    pictures = {
        "input_diffuse.png": "Diffuse technique: the cards of the trick",
        "input_averaged.png": "Averaged input: the hands",
    }
    return _section("input_figures", pictures=pictures)


def sweep(name: str, result: Result) -> Section:
    """A grid of matches with the swept values of each."""
    lines = []
    for row in result["cells"]:
        over = row.get("over_first")
        ess = row.get("effective_sample_size")
        cells = {
            **({"effective sample size": f"{ess:.1f}"} if ess is not None else {}),
            **({"over the first": Figure(**over).text} if over else {}),
        }
        lines.append(match_line(name, row["label"], row["match"], cells))
    return Section(
        result["title"],
        f"{result['player']} against two of {result['opponent']}; the cells differ in "
        f"{' and '.join(result['keys'])}, and the first is what the others are compared with, by "
        "deal.",
        [Table(", ".join(result["keys"]), lines)],
        {f"{name}.png": result["title"]},
    )


def belief_quality(result: Result) -> Section:
    from experiments.report.belief import tables_and_remarks

    tables, remarks = tables_and_remarks(result)
    pictures = {"belief_quality.png": "Gain over uniform by stage, and calibration"}
    return _section("belief_quality", tables, pictures=pictures, remarks=remarks)


def to_be_played(name: str) -> Section:
    """Of an experiment that has no published result."""
    lines = [
        Line(row, None, paper_numbers(name, row), {"ours": "to be played"})
        for row in paper_rows(name)
    ]
    title = TEXTS[name]["title"] if name in TEXTS else name.replace("_", " ").capitalize()
    words = "To be played: `python -m experiments.reproduce scale=final publish=true`."
    return Section(title, words, [Table("", lines)] if lines else [])


def value_bias(result: Result) -> Section:
    tables, remarks = value_bias_tables(result)
    pictures = {"value_bias.png": "Errors between the cards of one decision"}
    return _section("value_bias", tables, pictures=pictures, remarks=remarks)


def arena_load(result: Result) -> Section:
    return Section(
        "The arena under load", "Times from a play to the next view.", arena_tables(result)
    )


MEASURED: Mapping[str, Callable[[Result], Section]] = {
    "card_statistics": card_statistics,
    "card_values": card_values,
    "irrelevant_cards": irrelevant_cards,
    "worked_examples": worked_examples,
    "classical": classical,
    "input_figures": input_figures,
    "belief_quality": belief_quality,
    "value_bias": value_bias,
    "arena_load": arena_load,
}


def section_of(name: str, result: Result) -> Section:
    """The section of a result."""
    if name in MEASURED:
        return MEASURED[name](result)
    return sweep(name, result) if "cells" in result else matches(name, result)
