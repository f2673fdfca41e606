"""How strong every player is: one number each, fitted to the margins of all matches.

The margin of two players in a match is taken as the difference of their ratings, in points a deal,
plus the luck of the deals, plus what is special to the two, since styles are not on one line. The
rating of the anchor, Mr. Greed, is 0, so a rating is an estimate of the paper's measure, the
margin over him. The fit is by weighted least squares over all pairings.

A program must not rise by beating bad ones of the same owner. So it is rated only after enough
deals against our players, its pairings with other programs weigh less than those, all of them
together no more than one, and pairings that disagree with the rest less again (Huber's weights).
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gongzhu_jax.evaluation import stats

ANCHOR = "greed"
PAIRING_SD = 10.0
"""Points by which the margin of two players, whatever the number of deals, is off the difference of
their ratings."""
PROGRAMS_SD = 50.0
"""The same for two programs, of which we do not know whether they tried."""
LEAST_DEALS = 32
"""Against our players, before a program is rated."""
HUBER = 1.5
"""Standard deviations from which on a pairing weighs less."""
_ROUNDS = 50


@dataclass(frozen=True)
class Pairing:
    """All deals of two players against each other."""

    first: str
    second: str
    margins: np.ndarray  # [deals]


def pairings(matches: Iterable[dict[str, Any]]) -> list[Pairing]:
    """The margins of all matches, those of the same two players together."""
    margins: dict[tuple[str, str], list[float]] = defaultdict(list)
    for match in matches:
        first, second = sorted((match["first"], match["second"]))
        sign = 1 if match["first"] == first else -1
        margins[first, second] += [sign * margin for margin in match["margins"]]
    return [
        Pairing(*pair, np.array(of_pair)) for pair, of_pair in sorted(margins.items()) if of_pair
    ]


def rate(played: list[Pairing], own: Collection[str]) -> dict[str, tuple[float, float]]:
    """Rating and standard error of everybody who can be compared with the anchor."""
    rated = _comparable(played, own)
    played = [pairing for pairing in played if {pairing.first, pairing.second} <= rated]
    names = sorted(rated - {ANCHOR})
    if not names:
        return {}
    column = {name: index for index, name in enumerate(names)}
    design = np.zeros((len(played), len(names)))
    for row, pairing in enumerate(played):
        for name, sign in ((pairing.first, 1.0), (pairing.second, -1.0)):
            if name != ANCHOR:
                design[row, column[name]] = sign
    mean = np.array([pairing.margins.mean() for pairing in played])
    precision = 1 / _variances(played, own)
    weight = precision
    for _ in range(_ROUNDS):
        information = design.T @ (weight[:, None] * design)
        ratings = np.linalg.solve(information, design.T @ (weight * mean))
        distance = np.abs(mean - design @ ratings) * np.sqrt(precision)
        weight = precision * np.minimum(1.0, HUBER / np.maximum(distance, 1e-9))
    error = np.sqrt(np.diag(np.linalg.inv(information)))
    fitted = {name: (float(ratings[i]), float(error[i])) for name, i in column.items()}
    return {ANCHOR: (0.0, 0.0), **fitted}


def _variances(played: list[Pairing], own: Collection[str]) -> np.ndarray:
    """The variance of each mean margin around the difference of the two ratings, [pairings]."""
    deviations = np.concatenate([pairing.margins - pairing.margins.mean() for pairing in played])
    spread = (deviations**2).sum() / max(1, len(deviations) - len(played))
    between_programs = [not {pairing.first, pairing.second} & set(own) for pairing in played]
    met: Counter[str] = Counter()  # how many other programs each program has met
    for pairing, both_programs in zip(played, between_programs, strict=True):
        met.update([pairing.first, pairing.second] if both_programs else [])
    variances = []
    for pairing, both_programs in zip(played, between_programs, strict=True):
        luck = spread / len(pairing.margins)
        if both_programs:
            shared = max(met[pairing.first], met[pairing.second])
            variances.append(shared * (luck + PROGRAMS_SD**2))
        else:
            variances.append(luck + PAIRING_SD**2)
    return np.array(variances)


def rating_table(matches: list[dict[str, Any]], own: Iterable[str]) -> dict[str, Any]:
    """Ratings with their intervals and what they come from, the best first."""
    played, ours = pairings(matches), set(own)
    rated = rate(played, ours)
    names = {name for pairing in played for name in (pairing.first, pairing.second)}
    clock_moves: dict[str, int] = defaultdict(int)
    for match in matches:
        clock_moves[match["first"]] += match["first_clock_moves"]
        clock_moves[match["second"]] += match["second_clock_moves"]
    rows = []
    for name, (rating, error) in rated.items():
        opponents = [_opponent(name, pairing) for pairing in played if name in _pair(pairing)]
        rows.append(
            {
                "player": name,
                "own": name in ours,
                "rating": rating,
                "standard_error": error,
                "interval_95": list(stats.Estimate(rating, error, 0).interval),
                "deals": sum(opponent["deals"] for opponent in opponents),
                "clock_moves": clock_moves[name],
                "opponents": opponents,
            }
        )
    rows.sort(key=lambda row: (-row["rating"], row["player"]))
    return {"anchor": ANCHOR, "unrated": sorted(names - set(rated)), "players": rows}


def _pair(pairing: Pairing) -> tuple[str, str]:
    return pairing.first, pairing.second


def _opponent(name: str, pairing: Pairing) -> dict[str, Any]:
    """The pairing as `name` sees it."""
    mine = pairing.first == name
    margins = pairing.margins if mine else -pairing.margins
    other = pairing.second if mine else pairing.first
    return {"player": other, **stats.estimate(margins).summary()}


def _comparable(played: list[Pairing], own: Collection[str]) -> set[str]:
    """Our players that are connected with the anchor by pairings, and the programs with enough
    deals against them."""
    reached, size = {ANCHOR}, 0
    while len(reached) > size:
        size = len(reached)
        for pairing in played:
            pair = {pairing.first, pairing.second}
            reached |= pair if pair <= set(own) and pair & reached else set()
    deals: Counter[str] = Counter()
    for pairing in played:
        for name, other in (_pair(pairing), _pair(pairing)[::-1]):
            if name not in own and other in reached:
                deals[name] += len(pairing.margins)
    return reached | {name for name, count in deals.items() if count >= LEAST_DEALS}
