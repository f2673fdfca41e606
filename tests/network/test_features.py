"""The network input against the golden vectors and the oracle."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given

from gongzhu_jax.game import env, view
from gongzhu_jax.game.public_view import pad_plays, with_deal
from gongzhu_jax.game.replays import replay
from gongzhu_jax.network import features
from tests.game.random_games import SEEDS, examples, random_states
from tests.oracle import features as oracle
from tests.oracle.data import load

BATCH = 128

encode = jax.jit(jax.vmap(features.encode))
encode_averaged = jax.jit(jax.vmap(features.encode_averaged))


@jax.jit
@jax.vmap
def encode_own_view(state, holder):
    return features.encode(with_deal(view(state, env.player_to_move(state)), holder))


def test_golden_vectors() -> None:
    """In the original's layout the lit cells are the recorded ones."""
    records = load("netinput")
    deals = np.array([record["deal"] for record in records], np.int8)
    leaders = np.array([record["leader"] for record in records], np.int8)
    plays = np.array([pad_plays(record["plays"]) for record in records])
    states, legal = jax.jit(jax.vmap(replay))(deals, leaders, plays)
    assert np.all(legal)
    encoded, averaged = np.asarray(encode(states)), np.asarray(encode_averaged(states))
    for record, perfect, third in zip(records, encoded, averaged, strict=True):
        assert set(np.unique(perfect)) <= {0.0, 1.0}
        lit = np.array(oracle.to_reference(perfect.tolist()))
        assert np.flatnonzero(lit).tolist() == record["nz"]
        known = np.array(oracle.to_reference(third.tolist()), np.float32)
        assert np.flatnonzero(known == 1.0).tolist() == record["iec_one"]
        assert np.flatnonzero(known == np.float32(1 / 3)).tolist() == record["iec_third"]
        assert np.count_nonzero(known) == len(record["iec_one"]) + len(record["iec_third"])


@examples(4)
@given(seed=SEEDS)
def test_as_the_oracle(seed: int) -> None:
    states, games = random_states(seed, BATCH)
    encoded, averaged = encode(states), encode_averaged(states)
    assert encoded.dtype == averaged.dtype == np.float32
    perfect = np.array([oracle.perfect(game) for game in games], np.float32)
    np.testing.assert_array_equal(encoded, perfect)
    third = np.array([oracle.averaged(game) for game in games], np.float32)
    np.testing.assert_array_equal(averaged, third)


@examples(2)
@given(seed=SEEDS)
def test_undiffused(seed: int) -> None:
    """Every trick card is at its own cell alone, the latest first; the rest is as it was."""
    states, games = random_states(seed, BATCH)
    encoded = np.asarray(encode(states))
    single = np.array(jax.jit(features.undiffused)(jnp.asarray(encoded)))
    place = features.feature_slices()["trick"]
    for row, game in enumerate(games):
        latest_first = [card for _, card in game.plays[len(game.plays) // 4 * 4 :]][::-1]
        lit = [slot * 54 + card for slot, card in enumerate(latest_first)]
        assert np.flatnonzero(single[row, place]).tolist() == lit
    single[:, place] = encoded[:, place]
    np.testing.assert_array_equal(single, encoded)


@examples(2)
@given(seed=SEEDS)
def test_view_with_the_true_deal(seed: int) -> None:
    """It is the open game; and of the deal only the cards that the viewer does not see count."""
    states, games = random_states(seed, BATCH)
    expected = np.array([oracle.perfect(game) for game in games], np.float32)
    np.testing.assert_array_equal(encode_own_view(states, states.holder), expected)
    hidden = np.array(
        [
            [
                any(card in game.hand((game.player_to_move() + i) % 4) for i in (1, 2, 3))
                for card in range(52)
            ]
            for game in games
        ]
    )
    scrambled = np.where(hidden, states.holder, np.int8(2))
    np.testing.assert_array_equal(encode_own_view(states, scrambled), expected)


def test_layout() -> None:
    """The sizes of the paper: 4 hands of 52, 3 trick cards of 54, 4 times 16 point cards."""
    assert features.NUM_FEATURES == oracle.SIZE == 434
    slices = features.feature_slices()
    assert slices == {
        "hands": slice(0, oracle.TRICK),
        "trick": slice(oracle.TRICK, oracle.POINTS),
        "taken": slice(oracle.POINTS, oracle.SIZE),
    }
    state = env.from_owners(jnp.repeat(jnp.arange(4), 13), 1)
    vector = np.asarray(features.encode(state))
    assert vector[slices["hands"]].sum() == 52
    assert vector[slices["trick"]].sum() == vector[slices["taken"]].sum() == 0
