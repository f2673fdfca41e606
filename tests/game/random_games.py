"""Random games with every state on the way, for comparison with the oracle."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import Phase, settings
from hypothesis import strategies as st

from gongzhu_jax.game import env
from tests.oracle.rules import Game

SEEDS = st.integers(0, 2**32 - 1)


def examples(number: int) -> settings:
    """Few and large examples: each is a whole batch of games. A smaller seed is no simpler game,
    so failures are not shrunk."""
    return settings(
        max_examples=number,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.explicit, Phase.generate),
    )


@partial(jax.jit, static_argnames="batch")
def random_games(key: jax.Array, batch: int) -> env.GameState:
    """`batch` games by uniform legal cards and any leader, leaves [batch, 53, ...]: the state
    before each play and after the last."""
    return jax.vmap(_random_game)(jax.random.split(key, batch))


def _random_game(key: jax.Array) -> env.GameState:
    deal_key, leader_key, play_key = jax.random.split(key, 3)
    start = env.deal(deal_key, jax.random.randint(leader_key, (), 0, 4))

    def play(state, key):
        draw = jax.random.uniform(key, (52,))
        card = jnp.argmax(jnp.where(env.legal_mask(state), draw, -1.0))
        return env.step(state, card), state

    final, before = jax.lax.scan(play, start, jax.random.split(play_key, 52))
    return jax.tree.map(lambda a, b: jnp.concatenate([a, b[None]]), before, final)


def random_states(seed: int, batch: int) -> tuple[env.GameState, list[Game]]:
    """Unfinished states of different random games at random stages, leaves [batch, ...] of
    numpy, and the same games in the oracle."""
    games = jax.device_get(random_games(jax.random.key(seed), batch))
    stages = np.random.default_rng(seed).integers(0, 52, batch)
    states = jax.tree.map(lambda leaf: leaf[np.arange(batch), stages], games)
    owners, leaders, plays = (
        leaf.tolist() for leaf in (games.holder[:, 0], games.leaders[:, 0, 0], games.plays[:, -1])
    )
    oracle = [Game(owners[i], leaders[i], plays[i][: int(stage)]) for i, stage in enumerate(stages)]
    return states, oracle


def one(tree, index):
    """One element of a batch."""
    return jax.tree.map(lambda leaf: leaf[index], tree)


def assert_equal_trees(tree, expected) -> None:
    """Bit for bit, types of the entries included."""
    jax.tree.map(_assert_equal_leaves, tree, expected)


def _assert_equal_leaves(leaf, expected) -> None:
    leaf, expected = np.asarray(leaf), np.asarray(expected)
    assert leaf.dtype == expected.dtype
    np.testing.assert_array_equal(leaf, expected)
