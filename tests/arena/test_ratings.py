"""Ratings: what they estimate, how sure they are, and that they cannot be had by arrangement."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from gongzhu_jax.arena.ratings import rating_table

OWN = ("greed", "if", "random")
STRENGTH = {"greed": 0.0, "if": -60.0, "random": -150.0, "good": 30.0, "bad": -100.0, "puppet": -40}
SPREAD = 170.0  # points of one deal


def match(first: str, second: str, margin: float, deals: int, rng: Any) -> dict[str, Any]:
    margins = rng.normal(margin, SPREAD, deals).tolist()
    clock = {"first_clock_moves": 1, "second_clock_moves": 0}
    return {"first": first, "second": second, "margins": margins, **clock}


def honest(rng: Any, deals: int = 256, strength: Mapping[str, float] = STRENGTH) -> list[dict]:
    pairs = [("if", "greed"), ("greed", "random"), ("good", "greed"), ("if", "good")]
    pairs += [("bad", "greed"), ("bad", "random"), ("puppet", "greed"), ("good", "bad")]
    return [match(a, b, strength[a] - strength[b], deals, rng) for a, b in pairs]


def ratings(matches: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["player"]: row for row in rating_table(matches, OWN)["players"]}


def test_ratings_find_the_strengths_that_made_the_margins() -> None:
    """Over many leagues: right on the mean, and the interval holds the truth as often as it says,
    or more often, since it leaves room for styles that these players do not have."""
    rng, errors, inside = np.random.default_rng(0), [], []
    for _ in range(60):
        rows = ratings(honest(rng))
        for name, row in rows.items():
            if name != "greed":
                errors.append(row["rating"] - STRENGTH[name])
                low, high = row["interval_95"]
                inside.append(low <= STRENGTH[name] <= high)
    assert abs(np.mean(errors)) < 2
    assert np.std(errors) < 15
    assert np.mean(inside) > 0.93


def test_the_anchor_is_zero_and_the_table_says_where_numbers_come_from() -> None:
    table = rating_table(honest(np.random.default_rng(1)), OWN)
    rows = {row["player"]: row for row in table["players"]}
    assert table["anchor"] == "greed"
    assert rows["greed"]["rating"] == 0
    assert rows["good"]["own"] is False
    assert rows["if"]["own"] is True
    assert rows["good"]["deals"] == 3 * 256
    assert rows["good"]["clock_moves"] == 2
    assert [row["rating"] for row in table["players"]] == sorted(
        (row["rating"] for row in table["players"]), reverse=True
    )
    against = {row["player"]: row for row in rows["good"]["opponents"]}
    assert against["greed"]["mean"] == pytest.approx(30, abs=4 * SPREAD / 16)


def test_nobody_is_rated_without_having_played_ours() -> None:
    rng = np.random.default_rng(2)
    arranged = [match("fraud", "puppet", 400, 8, rng), match("puppet", "greed", -40, 256, rng)]
    table = rating_table(arranged, OWN)
    assert table["unrated"] == ["fraud"]
    assert rating_table([match("a", "b", 1, 64, rng)], OWN)["players"] == []
    assert rating_table([], OWN)["players"] == []


@pytest.mark.parametrize("puppets", [1, 10])
def test_beating_ones_own_bad_programs_gains_little(puppets: int) -> None:
    """By how much a program rises that has others lose 400 points a deal to it on purpose: the mean
    of margins, which this replaces, put it first."""
    gains = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        league = honest(rng)
        arranged = []
        for number in range(puppets):
            arranged.append(match(f"p{number}", "greed", -40, 64, rng))
            arranged.append(match("bad", f"p{number}", 400, 1024, rng))
        gains.append(ratings(league + arranged)["bad"]["rating"] - ratings(league)["bad"]["rating"])
    assert np.mean(gains) < 20
    assert -100 + max(gains) < 0  # far from the first place, and from the second


def test_more_deals_make_it_surer() -> None:
    few = ratings(honest(np.random.default_rng(3), deals=64))["good"]["standard_error"]
    many = ratings(honest(np.random.default_rng(3), deals=1024))["good"]["standard_error"]
    assert many < few
