"""Mr. Greed against the golden totals of the original."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax import players
from gongzhu_jax.game.cards import NOBODY, NUM_CARDS
from gongzhu_jax.game.public_view import legal_mask
from gongzhu_jax.inference import sampling
from gongzhu_jax.inference.constraints import constraints, holders
from gongzhu_jax.players import greed
from gongzhu_jax.players.greed.batch import sum_of_values
from gongzhu_jax.players.greed.player import MAX_ENUMERATED, _bonus_table
from gongzhu_jax.players.greed.player import totals as greed_totals
from tests import positions
from tests.optimised import OPTIMISED
from tests.oracle.data import load

RECORDS = load("greed")
DEALS = MAX_ENUMERATED
GROUP = 250  # records at once


@functools.partial(jax.jit, compiler_options=OPTIMISED)
def _totals(views, deals, needed):
    """Totals, [G, 52], over the first `needed` [G] of the deals [G, D, 52]. Playing last, hidden
    cards play no part: the value of the one trick."""
    needed = jnp.where(views.stage % 4 == 3, 1, needed)
    used = jnp.arange(deals.shape[1])[None] < needed[:, None]
    return greed_totals(views, sum_of_values(views, deals, used), greed.GreedConfig.samples)


_log_counts = jax.jit(jax.vmap(sampling.log_count))


def _grouped(compute, size: int, *arrays) -> np.ndarray:
    """`compute` on arrays [B, ...] in batches of one size, filled up at the end."""
    count = len(jax.tree.leaves(arrays)[0])
    index = np.arange(-(-count // size) * size) % count
    groups = [positions.take(arrays, part) for part in index.reshape(-1, size)]
    return np.concatenate([compute(*group) for group in groups])[:count]


@pytest.fixture(scope="module")
def views():
    return jax.device_get(positions.golden_views(RECORDS))


@pytest.fixture(scope="module")
def deals() -> tuple[np.ndarray, np.ndarray]:
    """Holders [B, DEALS, 52] of the recorded scenarios, and how many there are."""
    holders = np.full((len(RECORDS), DEALS, NUM_CARDS), NOBODY, np.int8)
    for row, record in zip(holders, RECORDS, strict=True):
        for number, scenario in enumerate(record.get("scen", [])):
            row[number, record["unknown"]] = [int(seat) for seat in scenario]
    return holders, np.array([len(record.get("scen", [])) for record in RECORDS])


@pytest.fixture(scope="module")
def totals(views, deals) -> np.ndarray:
    return _grouped(_totals, GROUP, views, *deals)


def test_all_golden_totals(totals):
    assert len(RECORDS) == 4000
    for record, row in zip(RECORDS, totals, strict=True):
        assert np.flatnonzero(np.isfinite(row)).tolist() == record["legal"]
        if record["d_legal"] is not None:  # null where the card was forced
            np.testing.assert_allclose(row[record["legal"]], record["d_legal"], atol=1e-3)
        best = np.flatnonzero(row == row.max())
        assert best.tolist() == sorted(record["best"])


def test_totals_of_one_view(views, deals, totals):
    index = next(i for i, r in enumerate(RECORDS) if len(r.get("scen", [])) == 20)
    one = positions.take((views, deals[0][:, :20]), [index])
    fewer = _totals(*one, np.array([20]))
    np.testing.assert_array_equal(fewer[0], totals[index])


@pytest.fixture(scope="module")
def act():
    compiled = jax.jit(players.make("greed").act_batch, compiler_options=OPTIMISED)
    return lambda keys, views: compiled((), keys, views)


def _act_on(act, views, index, seed: int = 0) -> np.ndarray:
    """Cards for the records `index`."""
    keys = jax.random.split(jax.random.key(seed), len(index))
    return _grouped(act, 64, keys, positions.take(views, np.asarray(index)))


def test_playing_last_and_forced_cards_are_golden(act, views):
    sure = [i for i, record in enumerate(RECORDS) if "choice" in record]
    assert {RECORDS[i]["pos"] for i in sure} == {1, 2, 3}
    assert _act_on(act, views, sure).tolist() == [RECORDS[i]["choice"] for i in sure]


def test_few_deals_are_all_used(act, views):
    """With at most 40 deals the total is over all of them: no chance but between equal cards."""
    counts = np.exp(np.asarray(_log_counts(views)))
    few = [i for i, record in enumerate(RECORDS) if record["pos"] < 3 and counts[i] < DEALS + 0.5]
    numbers = np.round(counts[few]).astype(int)
    assert numbers.min() == 1
    assert numbers.max() == DEALS
    chosen = positions.take(views, np.array(few))
    total = _grouped(_totals, GROUP, chosen, np.asarray(_every_deal(chosen)), numbers)
    best = total == total.max(axis=1, keepdims=True)
    drawn = np.zeros_like(best)
    for seed in range(6):
        cards = _act_on(act, views, few, seed)
        assert best[np.arange(len(few)), cards].all()
        drawn[np.arange(len(few)), cards] = True
    ties = best.sum(axis=1) == 2
    assert ties.sum() > 10
    # Both of two equal cards are drawn in 31 of 32 cases.
    assert drawn[ties].sum() > 1.8 * ties.sum()


@jax.jit
@jax.vmap
def _every_deal(view):
    """The first 40 deals in the order of `sampling.nth`: holders [40, 52]."""
    table = sampling.count_deals(constraints(view))
    return holders(view, jax.vmap(sampling.nth, (None, 0))(table, jnp.arange(DEALS)))


def test_sampled_choices_are_mostly_golden(act, views):
    """With other samples the best card of the record is still the usual choice."""
    sampled = [i for i, r in enumerate(RECORDS) if r["pos"] < 3 and len(r["legal"]) > 1][::5]
    cards = _act_on(act, views, sampled)
    for i, card in zip(sampled, cards, strict=True):
        assert card in RECORDS[i]["legal"]
    same = [card in RECORDS[i]["best"] for i, card in zip(sampled, cards, strict=True)]
    assert np.mean(same) > 0.75


def test_the_choice_does_not_depend_on_the_batch(act):
    stages = [*range(NUM_CARDS), *range(0, 48, 4)]
    views = positions.random_views(5, stages)
    keys = jax.random.split(jax.random.key(5), len(stages))
    together = np.asarray(act(keys, views))
    assert np.asarray(jax.jit(jax.vmap(legal_mask))(views))[np.arange(len(stages)), together].all()
    seven = np.array([0, 13, 26, 39, 52, 58, 63])
    # Seven compute soon, so this program need not be optimised.
    few = jax.jit(players.make("greed").act_batch)((), keys[seven], positions.take(views, seven))
    np.testing.assert_array_equal(few, together[seven])
    alone = players.make("greed")
    for i in (*range(0, 44, 5), *range(52, 56)):
        assert alone.act(positions.take(views, i), keys[i]) == together[i]
    backwards = np.arange(len(stages))[::-1]
    again = act(keys[backwards], positions.take(views, backwards))
    np.testing.assert_array_equal(again, together[backwards])


def test_lead_bonus_is_truncated_as_in_floats():
    table = _bonus_table(20)
    assert table[0, 2] == 999
    assert table[3, 3] == -399
    assert table[0, 0] == 2600
    assert table[0, 13] == -7800
