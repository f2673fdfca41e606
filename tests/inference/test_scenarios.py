"""Stratified scenarios against the golden records, exact counts and exhaustive enumeration."""

import functools
import json
from collections import Counter, defaultdict
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from experiments.common.provenance import ROOT
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game.cards import NO_CARD, NOBODY, SUIT, card_ids
from gongzhu_jax.game.public_view import make_view, unseen_mask
from gongzhu_jax.inference import sampling, scenarios
from gongzhu_jax.inference.config import InferenceConfig, ScenarioConfig, WeightConfig
from gongzhu_jax.inference.key_cards import key_cards
from gongzhu_jax.inference.scenarios import Scenarios, draw_scenarios
from gongzhu_jax.search import SearchConfig
from tests import positions
from tests.optimised import OPTIMISED
from tests.oracle import scenarios as oracle
from tests.oracle.data import load

RECORDS = load("scenarios")
ENUMERATED = {79, 118, 149}
"""Records without a key card where the original took each of the few possible deals once, and we
draw nine (docs/deviations.md, 8)."""
DRAWS = 9


@pytest.fixture(scope="module")
def views():
    return positions.golden_views(RECORDS)


def _draw(seed: int, views: Any, **options: Any) -> Scenarios:
    """Scenarios of each view, [B], as numpy arrays."""
    keys = jax.random.split(jax.random.key(seed), len(views.seat))
    return jax.device_get(_compiled(ScenarioConfig(**options))(keys, views))


@functools.cache
def _compiled(config: ScenarioConfig) -> Any:
    return jax.jit(jax.vmap(lambda key, view: draw_scenarios(key, view, config)))


def _draw_often(seed: int, views: Any, repeats: int, **options: Any) -> Scenarios:
    """As `_draw`, again and again: leading axes [repeats, B]."""
    keys = jax.random.split(jax.random.key(seed), (repeats, len(views.seat)))
    draw = _compiled(ScenarioConfig(**options))
    # One after the other: the tables of all repeats would not fit into memory.
    often = jax.jit(
        lambda keys: jax.lax.map(lambda k: draw(k, views), keys), compiler_options=OPTIMISED
    )
    return jax.device_get(often(keys))


@pytest.fixture(scope="module")
def drawn(views):
    return _draw(0, views)


def _strata(views: Any, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Key cards [B, count], placements [S, count], allowed [B, S] and numbers of deals [B, S]."""
    constant = []

    @jax.jit
    @jax.vmap
    def tables(view):
        cards, placements, allowed, known = scenarios.strata(view, count)
        deals = jax.vmap(sampling.count_deals)(known)
        constant.append(placements)
        return cards, allowed, deals.total

    cards, allowed, totals = jax.device_get(tables(views))
    return cards, constant[0], allowed, np.where(allowed, totals, 0)


def _placed(record: dict[str, Any], holder: np.ndarray, cards: list[int]) -> str:
    """The seats of `cards` in a deal, as the records write a stratum."""
    return "".join(str(holder[card]) for card in cards)


# key cards and strata


def test_key_cards_of_the_records(views) -> None:
    cards = jax.jit(jax.vmap(lambda view: key_cards(view, 2)))(views)
    expected = [(r["ss"]["imp_cards"] + [NO_CARD] * 2)[:2] for r in RECORDS]
    np.testing.assert_array_equal(cards, expected)


_all_key_cards = jax.jit(lambda view: key_cards(view, 16))


@pytest.mark.parametrize(
    ("hand", "plays", "expected"),
    [
        # Leading: a group without its point card is passed over, hearts have none.
        ("S2 H2 C2", "", "SQ SA SK DJ DA DK DQ HA HK HQ C10 CA CK CQ CJ"),
        ("SQ H2 C2", "", "DJ DA DK DQ HA HK HQ C10 CA CK CQ CJ"),
        ("SQ DJ HK C10", "", "HA HQ"),
        # Following, also when discarding: the suit led, whatever its point card.
        ("SQ H2 C2", "S3", "SA SK SJ S10"),
        ("H2 H3 C2", "D3 DA", "DJ DK DQ D10"),
        ("D2 D3 C2", "H3 HA H10", "HK HQ HJ"),
        ("D2 D3 H2", "C10", "CA CK CQ CJ"),
    ],
)
def test_key_cards_by_hand(hand: str, plays: str, expected: str) -> None:
    # The rest of the hand is of low cards, which are in no list.
    low = [c for c in range(52) if c % 13 < 8 and c not in card_ids(hand + " " + plays)]
    cards = card_ids(hand) + low[: 13 - len(card_ids(hand))]
    view = make_view(len(card_ids(plays)), cards, 0, plays)
    names = card_ids(expected)
    listed = np.asarray(_all_key_cards(view)).tolist()
    assert listed == names + [NO_CARD] * (len(listed) - len(names))


@pytest.mark.parametrize("plays", ["", "S3", "H2 HA"])
def test_key_cards_by_statistics(plays: str) -> None:
    """The unseen cards of the suit led, or all when leading, by the spread that is published."""
    result = json.loads((ROOT / "results" / "card_statistics.json").read_text())["result"]
    total = {name: np.sum(leaf, axis=0) for name, leaf in result["blocks"].items()}
    mean = total["value"] / total["count"]
    by_spread = np.argsort(-(total["square"] / total["count"] - mean**2), kind="stable")
    hand = card_ids("SQ SK H5 H6 H7 D2 D3 D4 D5 C2 C3 C4 C5")
    view = make_view(len(card_ids(plays)), hand, 0, plays)
    seen = {*hand, *card_ids(plays)}
    led = card_ids(plays)[0] // 13 if plays else None
    expected = [c for c in by_spread.tolist() if c not in seen and led in (None, c // 13)]
    chosen = jax.jit(lambda view: key_cards(view, 16, "statistics"))(view)
    assert np.asarray(chosen).tolist() == (expected + [NO_CARD] * 16)[:16]


def test_exact_numbers_of_deals_of_the_strata(views) -> None:
    cards, placements, _, totals = _strata(views, 2)
    for i, record in enumerate(RECORDS):
        present = int(np.sum(cards[i] != NO_CARD))
        sizes = {
            "".join(str(record["opp"][o]) for o in placement[:present]): total
            for placement, total in zip(placements, totals[i], strict=True)
            if total > 0
        }
        exact = record["ss"]["strata_exact"]
        assert sizes.keys() == exact.keys()
        for name, number in exact.items():
            # float32 counts, exact as far as float32 has whole numbers.
            assert sizes[name] == pytest.approx(number, rel=0 if number < 2**24 else 1e-6)


# draws


def test_draws_of_each_stratum(drawn) -> None:
    differs = set()
    for i, record in enumerate(RECORDS):
        ss = record["ss"]
        deals = drawn.holder[i][drawn.valid[i]]
        strata = Counter(_placed(record, holder, ss["imp_cards"]) for holder in deals)
        if strata != ss["strata_scenarios"]:
            differs.add(i)
            assert (ss["imp_cards"], strata) == ([], {"": DRAWS})
            assert ss["n_scen"] == record["count"] < DRAWS
        else:
            assert len(deals) == ss["n_scen"]
    assert differs == ENUMERATED


def test_drawn_deals_agree_with_the_view(views, drawn) -> None:
    hidden = np.asarray(jax.vmap(unseen_mask)(views))
    for i, record in enumerate(RECORDS):
        for holder in drawn.holder[i][drawn.valid[i]]:
            assert np.all(holder[record["plays"]] == NOBODY)
            assert np.all(holder[record["hand"]] == record["seat"])
            for seat, size, void in zip(
                record["opp"], record["sizes"], record["void"], strict=True
            ):
                held = np.flatnonzero(holder == seat)
                assert len(held) == size
                assert np.all(hidden[i, held])
                assert not np.any(np.array(void)[SUIT[held]])


def test_unused_places_are_marked(views, drawn) -> None:
    used = np.sum(drawn.valid, axis=1)
    assert set(used) >= {DRAWS, 8, 6}
    # Valid places come first.
    np.testing.assert_array_equal(drawn.valid, np.arange(DRAWS)[None, :] < used[:, None])
    np.testing.assert_array_equal(drawn.log_weight, np.where(drawn.valid, 0, -np.inf))
    nobody = np.asarray(jax.vmap(unseen_mask)(views))[:, None, :] & ~drawn.valid[:, :, None]
    assert np.all(drawn.holder[nobody] == NOBODY)


def test_no_possible_deal_leaves_nothing_valid(views) -> None:
    nobody_may = views.replace(voids=jnp.ones_like(views.voids))
    for stratified in (True, False):
        sampled = _draw(0, nobody_may, stratified=stratified)
        assert not np.any(sampled.valid)
        assert np.all(sampled.log_weight == -np.inf)


def test_keys_give_different_and_repeatable_deals(views, drawn) -> None:
    again, other = _draw(0, views), _draw(1, views)
    np.testing.assert_array_equal(again.holder, drawn.holder)
    many = [i for i, record in enumerate(RECORDS) if record["count"] > 1e6]
    differs = np.any(other.holder[many] != drawn.holder[many], axis=2)
    np.testing.assert_array_equal(differs, drawn.valid[many])


# uniform within strata


def _every_deal(record: dict[str, Any]) -> list[tuple[int, ...]]:
    """Holders of the unknown cards in every possible deal."""
    deals = oracle.enumerate_deals(record["unknown"], record["sizes"], record["void"])
    return [tuple(record["opp"][i] for i in deal) for deal in deals]


def _check_uniform(groups: list[tuple[list[tuple[int, ...]], list[tuple[int, ...]]]]) -> None:
    """Draws against all that is possible, for each group: (drawn, possible)."""
    p_values = []
    for deals, possible in groups:
        counted = Counter(deals)
        assert counted.keys() <= set(possible)
        if len(possible) > 1:
            frequency = [counted[deal] for deal in possible]
            p_values.append(stats.chisquare(frequency).pvalue)
    assert len(p_values) > 10
    assert min(p_values) > 0.01 / len(p_values)
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


def _by_stratum(
    views: Any, chosen: list[int], cards: dict[int, list[int]], repeats: int, **options: Any
) -> list[tuple[list[tuple[int, ...]], list[tuple[int, ...]]]]:
    """Draws and possible deals of each stratum of the `cards` of each of the chosen records."""
    sampled = _draw_often(3, positions.take(views, np.array(chosen)), repeats, **options)
    groups = []
    for number, i in enumerate(chosen):
        record = RECORDS[i]
        holder = sampled.holder[:, number][sampled.valid[:, number]]
        place = [record["unknown"].index(card) for card in cards[i]]
        drawn_by, possible_by = {}, {}
        for deal in map(tuple, holder[:, record["unknown"]].tolist()):
            drawn_by.setdefault(tuple(deal[p] for p in place), []).append(deal)
        for deal in _every_deal(record):
            possible_by.setdefault(tuple(deal[p] for p in place), []).append(deal)
        assert drawn_by.keys() == possible_by.keys()
        groups += [(deals, possible_by[name]) for name, deals in drawn_by.items()]
    return groups


def _small(most: int, *key_cards_left: int) -> list[int]:
    """Records with few possible deals and so many key cards."""
    return [
        i
        for i, record in enumerate(RECORDS)
        if record["count"] <= most and len(record["ss"]["imp_cards"]) in key_cards_left
    ]


@pytest.mark.parametrize("repeats", [200, pytest.param(400, marks=pytest.mark.slow)])
def test_deals_are_uniform_within_a_stratum(views, repeats: int) -> None:
    chosen = _small(100, 1, 2)
    cards = {i: RECORDS[i]["ss"]["imp_cards"] for i in chosen}
    _check_uniform(_by_stratum(views, chosen, cards, repeats=repeats))


@pytest.mark.slow
def test_without_key_cards_deals_are_uniform(views) -> None:
    """Whether the lists have run out or no key cards are wanted."""
    none: dict[int, list[int]] = {i: [] for i in range(len(RECORDS))}
    _check_uniform(_by_stratum(views, _small(50, 0), none, repeats=150))
    _check_uniform(_by_stratum(views, _small(50, 1, 2), none, repeats=150, key_cards=0))


# options


def test_exact_stratum_weights_are_the_shares_of_deals(views) -> None:
    sampled = _draw(0, views, stratum_weights="exact")
    for i, record in enumerate(RECORDS):
        share: dict[str, float] = defaultdict(float)
        weight = np.exp(sampled.log_weight[i] - np.max(sampled.log_weight[i]))
        assert np.all((weight > 0) == sampled.valid[i])
        for holder, number in zip(sampled.holder[i], weight / np.sum(weight), strict=True):
            if number > 0:
                share[_placed(record, holder, record["ss"]["imp_cards"])] += float(number)
        exact = record["ss"]["strata_exact"]
        total = sum(exact.values())
        assert dict(share) == pytest.approx({k: n / total for k, n in exact.items()}, rel=1e-4)


@pytest.mark.parametrize(("count", "draws"), [(1, 9), (3, 40)])
def test_other_numbers_of_key_cards(views, count: int, draws: int) -> None:
    some = list(range(0, len(RECORDS), 6))
    chosen = positions.take(views, np.array(some))
    cards, placements, allowed, totals = _strata(chosen, count)
    sampled = _draw(0, chosen, key_cards=count, draws=draws)
    seen_three = 0
    for row, i in enumerate(some):
        record = RECORDS[i]
        keys = [card for card in cards[row].tolist() if card != NO_CARD]
        assert keys[:2] == record["ss"]["imp_cards"][:count]
        seen_three += len(keys) == 3
        shown = (record["unknown"], record["sizes"], record["void"])
        exact = oracle.strata(keys, *shown, record["opp"])
        assert np.sum(totals[row] > 0) == len(exact)
        for placement, total in zip(placements, totals[row], strict=True):
            name = tuple(record["opp"][o] for o in placement[: len(keys)])
            if total > 0:
                assert total == pytest.approx(exact[name], rel=1e-6)
        places = oracle.allowed_placements(keys, record["sizes"], record["void"])
        assert np.sum(allowed[row]) == places
        deals = sampled.holder[row][sampled.valid[row]]
        counted = Counter(_placed(record, holder, keys) for holder in deals)
        assert counted == {"".join(map(str, seats)): draws // places for seats in exact}
    assert seen_three or count < 3


def test_uniform_draws_are_those_of_sampling(views) -> None:
    sampled = _draw(0, views, stratified=False)
    assert sampled.holder.shape == (len(RECORDS), DRAWS, 52)
    assert np.all(sampled.valid)
    # One over the chance of each draw: the number of deals.
    counts = np.array([record["count"] for record in RECORDS], float)
    expected = np.broadcast_to(np.log(counts)[:, None], sampled.log_weight.shape)
    np.testing.assert_allclose(sampled.log_weight, expected, rtol=1e-5, atol=1e-5)
    keys = jax.random.split(jax.random.key(0), len(RECORDS))
    deals = jax.jit(jax.vmap(lambda key, view: sampling.sample(key, view, DRAWS)))(keys, views)
    np.testing.assert_array_equal(sampled.holder, deals)


@pytest.mark.parametrize(
    ("part", "options", "message"),
    [
        (ScenarioConfig, {"proposal": "all"}, "proposal must be one of uniform"),
        (ScenarioConfig, {"stratum_weights": "none"}, "stratum_weights must be one of"),
        (ScenarioConfig, {"draws": 0, "stratified": False}, "draws must be at least 1"),
        (ScenarioConfig, {"key_cards": -1}, "key_cards and proposal_power at least 0"),
        (ScenarioConfig, {"draws": 8}, "up to 9 strata, so draws must be at least 9, not 8"),
        (ScenarioConfig, {"key_cards": 3}, "draws must be at least 27"),
        (ScenarioConfig, {"proposal_power": float("nan")}, "proposal_power at least 0"),
        (ScenarioConfig, {"proposal_power": float("inf")}, "proposal_power at least 0"),
        (ScenarioConfig, {"draws": 1_000_000}, "draws and candidates must be at most 65536"),
        (WeightConfig, {"beta": float("inf")}, "beta, rule_power and belief_power must be >= 0"),
        (WeightConfig, {"rule": "paper"}, "rule must be one of none, iec, iec-class, bayes"),
        (WeightConfig, {"factor": "linear"}, "factor must be one of"),
        (WeightConfig, {"regret": "none"}, "regret must be one of"),
        (WeightConfig, {"inputs": "perfect"}, "inputs must be one of"),
        (WeightConfig, {"slices": "all"}, "slices must be one of"),
        (WeightConfig, {"beta": -0.1}, "beta, rule_power and belief_power must be >= 0"),
        (WeightConfig, {"rule_power": float("nan")}, "rule_power and belief_power must be >= 0"),
        (WeightConfig, {"belief_power": -1.0}, "rule_power and belief_power must be >= 0"),
        (WeightConfig, {"min_rank": 1}, "min_rank from 2 to 14"),
        (WeightConfig, {"min_rank": 15}, "min_rank from 2 to 14"),
        (WeightConfig, {"chunk": 0}, "chunk"),
    ],
)
def test_bad_settings(part: type, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        part(**options)


def test_defaults_are_those_of_the_paper() -> None:
    config = InferenceConfig()
    assert config.scenarios == ScenarioConfig("uniform", 1.0, True, 9, 0, 2, "equal")
    assert (config.weights.rule, config.weights.beta) == ("iec", 0.015)
    assert (config.weights.rule_power, config.weights.belief_power) == (1, 0)
    assert (config.weights.factor, config.weights.regret) == ("exponential", "all")
    assert (config.weights.min_rank, config.weights.suit_rule) == (8, True)
    assert isinstance(config.search, SearchConfig)
    assert (config.search.base, config.search.per_legal) == (10, 2)
    assert ScenarioConfig(stratified=False, draws=1).draws == 1
