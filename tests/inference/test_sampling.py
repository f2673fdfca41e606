"""The uniform sampler of the hidden hands against exact counts and exhaustive enumeration."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from gongzhu_jax.game.cards import NOBODY, NUM_CARDS, NUM_SEATS, SUIT
from gongzhu_jax.game.public_view import played_mask, unseen_mask
from gongzhu_jax.inference import sampling
from gongzhu_jax.inference.constraints import constraints, holders
from tests import positions
from tests.optimised import OPTIMISED
from tests.oracle.data import load
from tests.oracle.scenarios import enumerate_deals

RECORDS = load("scenarios")
BLOCK = 1000  # draws of every position at once

_tables = jax.jit(jax.vmap(lambda view: sampling.count_deals(constraints(view))))
_nth = jax.jit(jax.vmap(sampling.nth, in_axes=(None, 0)))


def _draw_block(keys, views):
    return jax.vmap(lambda key, view: sampling.sample(key, view, BLOCK))(keys, views)


_sample_block = jax.jit(_draw_block, compiler_options=OPTIMISED)


@functools.partial(jax.jit, compiler_options=OPTIMISED)
def _owner_counts(keys, views):
    """[B, 52, 4]: how often each seat holds each card in one block of draws."""
    seats = np.arange(NUM_SEATS, dtype=np.int8)[None, None, None]
    return jnp.sum(_draw_block(keys, views)[..., None] == seats, axis=1)


@pytest.fixture(scope="module")
def views():
    return positions.golden_views(RECORDS)


def test_counts_are_exact(views):
    counts = [sampling.count(positions.take(views, i)) for i in range(len(RECORDS))]
    assert counts == [record["count"] for record in RECORDS]


def test_log_count_agrees_with_count(views):
    logs = jax.jit(jax.vmap(sampling.log_count))(views)
    np.testing.assert_allclose(logs, np.log([r["count"] for r in RECORDS]), rtol=2e-6, atol=2e-6)


def test_a_whole_deal_is_counted_too():
    view = positions.take(positions.random_views(0, [0]), 0)
    assert sampling.count(view) == 84_478_098_072_866_400  # 39! / 13!^3


def _standard_scores(views, blocks: int) -> np.ndarray:
    """Deviations of all owner frequencies from the exact ones, in standard errors."""
    total = np.zeros((len(RECORDS), NUM_CARDS, NUM_SEATS), np.int64)
    for block in range(blocks):
        keys = jax.random.split(jax.random.key(block), len(RECORDS))
        total += np.asarray(_owner_counts(keys, views))
    draws = blocks * BLOCK
    scores = []
    for record, counts in zip(RECORDS, total, strict=True):
        shares = counts[record["unknown"]][:, record["opp"]] / draws
        exact = np.array(record["owner_num"], float) / record["count"]
        sure = (exact == 0) | (exact == 1)
        np.testing.assert_array_equal(shares[sure], exact[sure])
        error = np.sqrt(exact * (1 - exact) / draws)
        scores.append(((shares - exact)[~sure] / error[~sure]).ravel())
    return np.concatenate(scores)


def _check_scores(scores: np.ndarray) -> None:
    # Of some 14,000 deviations about one is above 4 by chance alone.
    assert np.sum(np.abs(scores) > 4) <= 4
    assert np.max(np.abs(scores)) < 5
    np.testing.assert_allclose(np.mean(scores**2), 1, atol=0.05)


def test_owner_frequencies(views):
    _check_scores(_standard_scores(views, blocks=2))


@pytest.mark.slow
def test_owner_frequencies_of_100000_draws(views):
    _check_scores(_standard_scores(views, blocks=100_000 // BLOCK))


def _enumerated(record) -> np.ndarray:
    """All deals of a record as opponents 0..2 of the unknown cards, sorted."""
    return np.array(sorted(enumerate_deals(record["unknown"], record["sizes"], record["void"])))


def test_whole_deals_are_uniform(views):
    small = [i for i, record in enumerate(RECORDS) if record["count"] <= 100]
    chosen = positions.take(views, np.array(small))
    keys = jax.random.split(jax.random.key(0), len(small))
    draws = np.concatenate(
        [_sample_block(jax.vmap(jax.random.fold_in, (0, None))(keys, i), chosen) for i in range(2)],
        axis=1,
    )
    p_values = []
    for i, deals in zip(small, draws, strict=True):
        record = RECORDS[i]
        opponent = (deals[:, record["unknown"]] - record["seat"] - 1) % NUM_SEATS
        every = _enumerated(record)
        drawn, frequency = np.unique(opponent, axis=0, return_counts=True)
        np.testing.assert_array_equal(drawn, every)
        p_values.append(stats.chisquare(frequency).pvalue if len(every) > 1 else 1.0)
    assert min(p_values) > 0.01 / len(small)
    assert stats.kstest([p for p in p_values if p < 1], "uniform").pvalue > 0.001


def test_nth_enumerates_every_deal_once(views):
    tables = _tables(views)
    for i, record in enumerate(RECORDS):
        if record["count"] > 40:
            continue
        deals = np.asarray(_nth(positions.take(tables, i), np.arange(40)))[: record["count"]]
        drawn = np.unique(deals[:, record["unknown"]], axis=0)
        np.testing.assert_array_equal(drawn, _enumerated(record))


def _check_deals(view, deals) -> None:
    """Deals [n, 52] agree with all that `view` says."""
    hidden, played = np.asarray(unseen_mask(view)), np.asarray(played_mask(view.plays))
    assert np.all(deals[:, played] == NOBODY)
    assert np.all(deals[:, np.asarray(view.hand)] == view.seat)
    assert np.all(deals[:, hidden] != view.seat)
    for seat in range(NUM_SEATS):
        assert np.all(np.sum(deals == seat, axis=1) == view.hand_sizes[seat])
        void = hidden & np.asarray(view.voids[seat])[SUIT]
        assert not np.any(deals[:, void] == seat)


def test_deals_agree_with_the_view():
    stages = list(range(NUM_CARDS)) * 4
    views = positions.random_views(7, stages)
    keys = jax.random.split(jax.random.key(7), len(stages))
    deals = jax.jit(jax.vmap(lambda key, view: sampling.sample(key, view, 50)))(keys, views)
    assert deals.dtype == jnp.int8
    views, deals = jax.device_get((views, deals))
    for i in range(len(stages)):
        _check_deals(positions.take(views, i), deals[i])


def test_no_deal_is_said_so():
    view = positions.take(positions.random_views(1, [8]), 0)
    nobody = view.replace(voids=jnp.ones((NUM_SEATS, 4), bool))
    too_few = view.replace(hand_sizes=view.hand_sizes - jnp.int8(1))

    @jax.jit
    def look(view):
        deals = sampling.sample(jax.random.key(0), view, 3)
        return sampling.log_count(view), deals

    for impossible in (nobody, too_few):
        log_count, deals = look(impossible)
        assert log_count == -np.inf
        assert sampling.count(impossible) == 0
        assert np.all(deals[:, np.asarray(view.hand)] == view.seat)
        assert np.all(deals[:, ~np.asarray(view.hand)] == NOBODY)
    assert look(view)[0] > 0


def test_strata_have_the_exact_counts(views):
    """Giving away the key cards first leaves the deals of that stratum."""

    @jax.jit
    @jax.vmap
    def log_counts(view, cards):
        opponents = np.stack(np.meshgrid(*[np.arange(3)] * 2, indexing="ij"), -1).reshape(9, 2)
        known = constraints(view)

        def stratum(opponent):
            left = known.give(cards[0], opponent[0]).give(cards[1], opponent[1])
            return jnp.log(sampling.count_deals(left).total)

        return jax.vmap(stratum)(opponents)

    chosen = [i for i, r in enumerate(RECORDS) if len(r["ss"]["imp_cards"]) == 2]
    cards = np.array([RECORDS[i]["ss"]["imp_cards"] for i in chosen])
    counts = np.exp(np.asarray(log_counts(positions.take(views, np.array(chosen)), cards), float))
    for i, row in zip(chosen, counts, strict=True):
        record = RECORDS[i]
        exact = np.zeros(9)
        for seats, number in record["ss"]["strata_exact"].items():
            first, second = ((int(s) - record["seat"] - 1) % 4 for s in seats)
            exact[3 * first + second] = number
        np.testing.assert_allclose(row, exact, rtol=1e-5)


def test_a_card_cannot_be_given_twice_or_to_a_void():
    known = constraints(positions.take(positions.random_views(2, [0]), 0))
    card = int(np.flatnonzero(np.asarray(known.unseen))[0])
    void = known.replace(allowed=known.allowed.at[1, SUIT[card]].set(False))
    log_count = jax.jit(lambda known: jnp.log(sampling.count_deals(known).total))
    assert log_count(known.give(card, 1)) > 0
    assert log_count(known.give(card, 1).give(card, 2)) == -np.inf
    assert log_count(void.give(card, 1)) == -np.inf
    assert log_count(void.give(card, 1).give(card, 0)) == -np.inf


def test_equal_random_words_still_make_a_deal():
    view = positions.take(positions.random_views(3, [6]), 0)
    table = sampling.count_deals(constraints(view))
    words = jnp.full(NUM_CARDS + 6, 7, jnp.uint32)
    opponent = jax.jit(sampling._draw_one)(words, table)
    _check_deals(jax.device_get(view), np.asarray(holders(view, opponent))[None])
