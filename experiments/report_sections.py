"""What the report says of each experiment: tables and pictures, the paper's beside ours."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from experiments import card_values, inputs, round_robin, techniques, topologies
from experiments.card_plots import SUIT_TITLES
from experiments.results import points
from gongzhu_jax.game.cards import RANK_NAMES

RESNET_COST = "on CPUs its convolutions take longer than all other experiments together."

Lines = list[list[str]]
"""Cells of a table; the first line has the heads."""


@dataclass(frozen=True)
class Table:
    caption: str
    lines: Lines


@dataclass(frozen=True)
class Section:
    """One experiment on the page."""

    title: str
    words: str  # what was measured, for somebody who reads only this
    tables: Sequence[Table] = ()
    pictures: Mapping[str, str] = field(default_factory=dict)  # file name -> caption


def round_robin_section(result: dict[str, Any]) -> Section:
    names, matrix, errors = (result[key] for key in ("players", "matrix", "standard_errors"))
    lines = [["match", "paper", "ours"]]
    for i, j in combinations(range(len(names)), 2):
        # The stronger ones come later in the list, and the paper's table has them first.
        first, second = names[j], names[i]
        paper = round_robin.PAPER.get((first, second), "")
        found = {"mean": matrix[j][i], "standard_error": errors[j][i]}
        lines.append([f"{first} over {second}", paper, points(found)])
    if result["epsilon"] is not None:
        ours = f"{result['epsilon']:.3f} ± {result['epsilon_sd'] or float('nan'):.3f}"
        lines.append(["epsilon", round_robin.PAPER_EPSILON, ours])
    return Section(
        "Combating results of R, I, G and SZS",
        f"Points of two of the first over two of the second, {result['deals']} deals played "
        f"{result['rotations']} times, the same for all pairs. scrofa-simple is SZS: stratified "
        "sampling without IEC. epsilon is the paper's intransitivity (0 transitive, 1 not), its "
        "deviation by bootstrap over deals.",
        [Table("", lines)],
    )


def techniques_section(result: dict[str, Any]) -> Section:
    lines = [["technique", "paper", "paper won (+drawn)", "ours", "ours won (+drawn)", "over US"]]
    for name, (published, rates) in techniques.PAPER.items():
        row = result["rows"].get(name)
        over = points(row["over_us"]) if row and "over_us" in row else ""
        ours = [points(row), _rates(row), over] if row else ["not run", "", ""]
        lines.append([name, published, rates, *ours])
    return Section(
        "Techniques: US, SS, IEC",
        f"Points over two Mr. Greeds, {_deals(result)}; the last line is against US. The last "
        "column is the difference to US on the same deals.",
        [Table("", lines)],
    )


def inputs_section(result: dict[str, Any]) -> Section:
    lines = [["input of the policy", "paper", "ours", "over the first"]]
    for name in inputs.KINDS:
        row = result["rows"].get(name)
        over = points(row["over_first"]) if row and "over_first" in row else ""
        ours = points(row) if row else "not run"
        lines.append([name, inputs.PAPER.get(name, ""), ours, over])
    return Section(
        "Standard against averaged input",
        "The policy alone, without search, against two Mr. Greeds: with hands guessed at random "
        f"(one-hot) and with 1/3 of every unseen card at each seat. {_deals(result)}.",
        [Table("", lines)],
    )


def topologies_section(result: dict[str, Any]) -> Section:
    heads = ["network", "parameters", "paper", "ours", "deals", "trained on", "training time"]
    lines = [heads]
    for name, row in result["rows"].items():
        printed, published = topologies.PAPER.get(name, ("", ""))
        count = f"{row['parameters']:,}" + (f" (paper {int(printed):,})" if printed else "")
        seconds = f"{row['training_seconds']:.0f} s"
        cells = [published, points(row), str(row["deals"]), f"{row['trained_on']} games", seconds]
        lines.append([name, count, *cells])
    for name, (printed, published) in topologies.PAPER.items():
        if name not in result["rows"]:
            count = f"(paper {int(printed):,})"
            lines.append([name, count, published, "not run at this scale", "", "", ""])
    left_out = "" if "resnet18" in result["rows"] else " ResNet18 is left out: " + RESNET_COST
    return Section(
        "Network topologies",
        "Every network starts from zero and learns from the same number of games; then its raw "
        "player meets two Mr. Greeds. The paper's were trained for days, so the columns compare "
        "only when the number of games is comparable (the paper's best run: 266,240)." + left_out,
        [Table("", lines)],
    )


def card_values_section(result: dict[str, Any]) -> Section:
    lines = [["card", "Mr. Greed", "paper's ScrofaZero", "ours", "positions"]]
    for name, (greed, paper) in card_values.PAPER.items():
        row = result["cards"][name]
        found = {"mean": row["value"], "standard_error": row["standard_error"]}
        ours = points(found) if row["value"] is not None else "no position"
        lines.append([name, str(greed), paper, ours, str(row["positions"])])
    return Section(
        "Card values: Mr. Greed and the network",
        "What it is worth, in points, to still have the card instead of the lowest one of its "
        "suit: Q(discarding the lowest) - Q(discarding the card), in positions where the player "
        "cannot follow suit, holds both, and has not seen SQ, DJ or C10, the key card of that "
        "suit. Negative: a burden.",
        [Table("", lines)],
    )


def irrelevant_section(result: dict[str, Any]) -> Section:
    tables = [_example(name, groups) for name, groups in result["examples"].items()]
    lines = [["card", "change of others when it moves", "its change when others move", "positions"]]
    for name in result["most_irrelevant"]:
        row = result["cards"][name]
        cells = [_factor(row[kind], row[f"{kind}_standard_error"]) for kind in ("moved", "staying")]
        lines.append([name, *cells, str(row["positions"])])
    tables.append(Table("The ten most irrelevant cards, by the larger of the two changes", lines))
    return Section(
        "Irrelevant cards",
        "Correction factors of guessed cards with and without a card that should not matter. The "
        "paper gives the guessed cards but not the game: ours are means over random positions in "
        "which the second player of the first trick follows suit with them. Below, a search by the "
        "paper's definition: mean absolute changes of correction factors when a card is exchanged "
        "for one of another suit.",
        tables,
    )


def _example(name: str, groups: list[list[dict[str, Any]]]) -> Table:
    heads = ["cards guessed", f"paper without {name}", f"paper with {name}"]
    lines = [[*heads, f"ours without {name}", f"ours with {name}", "rms change"]]
    for number, rows in enumerate(groups, start=1):
        for row in rows:
            paper = [_factor(row["paper_without"]), _factor(row["paper_with"])]
            ours = [
                _factor(row.get(k), row.get(f"{k}_standard_error")) for k in ("without", "with")
            ]
            change = _factor(row.get("rms_change"))
            lines.append([f"{number}: {row['card']}", *paper, *ours, change])
    return Table(f"Without and with {name}", lines)


def card_statistics_section(result: dict[str, Any]) -> Section:
    words = "Positions of self-play with a choice; errors by bootstrap over games. "
    for kind, name in (
        ("factor", "correction factors"),
        ("spread", "spreads"),
        ("policy_spread", "spreads (by the policy)"),
    ):
        found = result[f"{kind}_correlation"]
        if found is not None:
            words += f"Over the 52 cards, ours and the paper's {name} correlate with {found:.2f}. "
    words += (
        "The paper calls the second figure a variance and does not say of what; ours is the "
        "standard deviation of the value of playing the card against the mean of the legal cards, "
        "by the value network, which knows all hands, and by the policy, which does not."
    )
    tables = [
        _by_card(result["cards"], "correction_factor", "Mean correction factor: ours (paper)"),
        _by_card(result["cards"], "spread", "Spread of values in points: ours (paper)"),
        _by_card(result["cards"], "policy_spread", "Spread by the policy, points: ours (paper)"),
    ]
    pictures = {
        "cards_factor.png": "Mean correction factor by card",
        "cards_spread.png": "Spread of values by card",
    }
    return Section("Correction factor and spread of values by card", words, tables, pictures)


def _by_card(cards: dict[str, Any], name: str, caption: str) -> Table:
    digits = 3 if name == "correction_factor" else 1
    paper = f"paper_{name.removeprefix('policy_')}"

    def cell(row: dict[str, Any]) -> str:
        ours, error = row[name], row[f"{name}_standard_error"]
        text = "-" if ours is None else f"{ours:.{digits}f}"
        text += "" if error is None else f" ± {error:.{digits}f}"
        return f"{text} ({row[paper]:.{digits}f})"

    lines = [["", *SUIT_TITLES.values()]]
    lines += [[rank, *(cell(cards[suit + rank]) for suit in SUIT_TITLES)] for rank in RANK_NAMES]
    return Table(caption, lines)


def worked_examples_section(result: dict[str, Any]) -> Section:
    tables = []
    for name, example in result["examples"].items():
        cards = example["key_cards"]
        strata = [[*(f"{card} with" for card in cards), "score", "share of the weight", "draws"]]
        for row in example["strata"]:
            seats = [_seat(holder, example["seat"]) for holder in row["holders"]]
            score = _factor(row["score"], row["standard_error"])
            strata.append([*seats, score, f"{row['share']:.1%}", str(row["draws"])])
        position = (
            f"{name}: seat {example['seat']} holds {example['hand']}; seat {example['leader']} led "
            f"first; played {example['plays']}. Paper: {example['paper']}."
        )
        tables.append(Table(position, strata))
        lines = [["card", "Q, points", "chosen"]]
        for row in example["candidates"]:
            found = {"mean": row["q"], "standard_error": row["standard_error"]}
            lines.append([row["card"], points(found), f"{row['chosen']:.0%}"])
        tables.append(Table(f"{name}: the choice is {example['choice']}", lines))
    return Section(
        "Worked examples",
        "ScrofaZero's decisions in the paper's positions, repeated with different draws. The score "
        "of a stratum, a placement of the key cards, is the product of the correction factors.",
        tables,
    )


def _seat(holder: int, seat: int) -> str:
    role = {1: "next", 2: "partner", 3: "previous"}[(holder - seat) % 4]
    return f"seat {holder} ({role})"


def training_curve_section(result: dict[str, Any]) -> Section:
    lines = [["player", "paper", "ours"]]
    paper = {"random": "-275.2 ± 5.3", "if": "-80.3 ± 5.7"}
    for name, row in result["levels"].items():
        lines.append([f"Mr. {name.capitalize()}", paper[name], points(row)])
    for kind, what, published in (
        ("raw", "raw network", "37 (the best of the run)"),
        ("full", "full player, SS with IEC", techniques.PAPER["SS with IEC"][0]),
    ):
        for row in result[kind]:
            trained = f" after {row['games_trained']:,} games" if row["games_trained"] else ""
            lines.append([what + trained, published, points(row)])
    return Section(
        "Training curve",
        "Points over two Mr. Greeds by games of self-play. The lines are the classical players, "
        "measured here.",
        [Table("", lines)],
        {"training_curve.png": "Raw network and full player by games of self-play"},
    )


def input_figures_section(result: dict[str, Any]) -> Section:
    return Section(
        "The network's input",
        "Drawn from the code's own encoding of the first worked example.",
        (),
        {
            "input_diffuse.png": "Diffuse technique: the cards of the trick",
            "input_averaged.png": "Averaged input: the hands",
        },
    )


def _factor(value: float | None, error: float | None = None) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" + (f" ± {error:.4f}" if error is not None else "")


def _rates(row: dict[str, Any]) -> str:
    return f"{100 * row['win_rate']:.1f} (+{100 * row['draw_rate']:.1f}) %"


def _deals(result: dict[str, Any]) -> str:
    row = next(iter(result["rows"].values()))
    return f"{row['deals']} deals played {row['rotations']} times"


SECTIONS: Mapping[str, Callable[[dict[str, Any]], Section]] = {
    # in the order of the paper, by the names of results
    "training_curve": training_curve_section,
    "round_robin": round_robin_section,
    "techniques": techniques_section,
    "card_statistics": card_statistics_section,
    "card_values": card_values_section,
    "topologies": topologies_section,
    "input_figures": input_figures_section,
    "irrelevant_cards": irrelevant_section,
    "inputs": inputs_section,
    "worked_examples": worked_examples_section,
}
