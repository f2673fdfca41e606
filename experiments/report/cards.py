"""Sections on what the network says of single cards."""

from collections.abc import Mapping

import numpy as np

from experiments.common.blocks import Statistic, deviation_of, figures, mean_of, with_errors
from experiments.paper import published
from experiments.paper.published import PaperNumber, known_reason, paper_numbers
from experiments.report.figures import Figure, FigureTable, Line, Section
from experiments.report.texts import Result, section
from gongzhu_jax.game.cards import CARD_NAMES


def card_statistics(result: Result) -> Section:
    factors, spreads = "Mean correction factor", "Spread of the policy's output"
    statistics: dict[str, Statistic] = {
        factors: mean_of("factor"),
        f"{factors}, original's definition": mean_of("original_factor", "sliced"),
        "Spread of values, points": deviation_of("value", "square"),
        "Spread by the policy, points": deviation_of("policy", "policy_square"),
        f"{spreads}, original's definition, points": deviation_of("output", "output_square"),
    }
    tables, remarks = [], []
    for caption, statistic in statistics.items():
        paper, digits = ("correction_factor", 3) if factors in caption else ("spread", 1)
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


def denominators(result: Result) -> Section:
    """Sizes of Y and J, and how much the products differ among the scenarios of a decision."""

    def deviation(name: str) -> Statistic:
        return lambda of: np.sqrt(of[f"variance_of_{name}"] / of["decisions"])

    kept, dropped = deviation("gamma"), deviation("denominators")
    sizes: dict[str, Statistic] = {
        "mean Y": mean_of("y", "slices"),
        "mean J": mean_of("j", "slices"),
        "share of plays with Y above 1": mean_of("y_above_1", "slices"),
        "share of plays with J above 1": mean_of("j_above_1", "slices"),
    }
    spreads: dict[str, Statistic] = {
        "correction factors, which are kept": kept,
        "denominators, which are dropped": dropped,
        "both together": deviation("both"),
        "ratio, dropped over kept": lambda of: dropped(of) / kept(of),
    }
    tables = [
        FigureTable(head, [Line(n, figures(of, result["blocks"], 3)[0]) for n, of in lines.items()])
        for head, lines in (("sums", sizes), ("sd of the log of the product of", spreads))
    ]
    return section("denominators", tables, remarks=[f"{result['games']} games."])


def card_values(result: Result) -> Section:
    lines = []
    blocks = result["blocks"]
    counts = np.sum(blocks["count"], axis=0)
    values = figures(mean_of("value"), blocks)
    late = figures(mean_of("late_value", "late_count"), blocks)
    early = figures(
        lambda of: (of["value"] - of["late_value"]) / (of["count"] - of["late_count"]), blocks
    )
    for i, name in enumerate(result["cards"]):
        paper = paper_numbers("card_values", name)
        cells = {"Mr. Greed": str(paper[0].greed), "positions": f"{counts[i]:.0f}"}
        parts = {"tricks 1 to 7": early[i], "tricks 8 on": late[i]}
        lines.append(Line(name, values[i], paper, cells, parts))
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
    lines = []
    for card in np.argsort(larger)[:10]:
        cells = {"its change when others move": staying[card].text}
        cells["positions"] = f"{counts[card]:.0f}"
        if np.isfinite(larger[card]):
            lines.append(Line(CARD_NAMES[card], moved[card], cells=cells))
    caption = "The most irrelevant cards (ours: change of others when it moves)"
    return section("irrelevant_cards", [*tables, FigureTable("card", lines, caption)])


Sums = Mapping[str, list[float]]
"""The sums and the counts of all blocks, by name."""


def mean_of_blocks(sums: Sums) -> Figure:
    """The mean over all rows, and its standard error from the blocks."""
    return figures(mean_of("sum"), sums)[0]


def difference_of_blocks(sums: Sums, others: Sums) -> Figure:
    """The mean of paired differences between rows of the same blocks."""
    differences = np.subtract(sums["sum"], others["sum"]).tolist()
    return mean_of_blocks({"sum": differences, "count": sums["count"]})


def value_bias(result: Result) -> Section:
    """What the networks' choices win against each opponent, and than those of the first one in the
    same decisions, how large their errors are by part of the game, and the errors by kind of card.
    """
    tables = []
    for opponent, measured in result["opponents"].items():
        networks = measured["networks"]
        first_label, first = next(iter(networks.items()))
        parts = []
        for part in first["parts"]:
            cells = {}
            for label, of in networks.items():
                squared = mean_of_blocks(of["parts"][part]["squared"]).value
                choice = of["parts"][part]["choice"]
                cells[f"{label}: wins"] = mean_of_blocks(choice).text
                if of is not first:
                    more = difference_of_blocks(choice, first["parts"][part]["choice"])
                    cells[f"{label}: more than {first_label}"] = more.text
                cells[f"{label}: error"] = "-" if squared is None else f"{np.sqrt(squared):.0f}"
            parts.append(Line(part, cells=cells))
        title = (
            f"Against {opponent}, {measured['decisions']} decisions: points that its best card "
            "wins over the mean card, and root mean square error between cards"
        )
        tables.append(FigureTable("part of the game", parts, title))
        errors = []
        for kind in first["cards"]:
            means = {label: mean_of_blocks(of["cards"][kind]) for label, of in networks.items()}
            errors.append(Line(kind, figures=means))
        title = f"Against {opponent}: mean error between cards"
        tables.append(FigureTable("card", errors, title, fold=True))
    return section("value_bias", tables)
