"""Rollouts to the end of the trick and of the game against plain Python, play by play."""

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax import players
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game import env
from gongzhu_jax.game.public_view import view
from gongzhu_jax.network.weights import load_weights
from gongzhu_jax.opponents.opponent_model import (
    KIND,
    OpponentModelConfig,
    OpponentModelNet,
    encode_situations,
    player_types,
)
from gongzhu_jax.opponents.rollouts import encode_situation, finish, policy
from gongzhu_jax.search import SearchConfig
from gongzhu_jax.search.mcts import search
from tests import beliefs, positions

finish_jit = jax.jit(finish, static_argnums=4, static_argnames="last_tricks")

STAGES = [0, 1, 2, 3, 5, 6, 7, 18, 19, 29, 30, 41, 46, 47, 49, 50, 51]


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> tuple[OpponentModelConfig, Any]:
    return load_weights(beliefs.save_opponent_model(tmp_path_factory.mktemp("models")), KIND)


@pytest.fixture(scope="module")
def states() -> env.GameState:
    return positions.random_states(11, STAGES)


def test_a_situation_is_that_of_the_play_which_comes_next(states: env.GameState) -> None:
    now = jax.jit(jax.vmap(encode_situation))(states)

    @jax.jit
    @jax.vmap
    def later(state: env.GameState) -> jax.Array:
        card = jnp.argmax(env.legal_mask(state)).astype(jnp.int8)
        return encode_situations(view(env.step(state, card), 0))[state.stage]

    np.testing.assert_array_equal(now, later(states))


def by_hand(
    model: tuple[OpponentModelConfig, Any], state: env.GameState, log_types: np.ndarray
) -> np.ndarray:
    """The policy of the player to move, [52], type by type."""
    config, params = model
    mover = int(env.player_to_move(state))
    hand = np.asarray(state.holder) == mover
    logits: Any = OpponentModelNet(config).apply(params, encode_situation(state), hand)
    legal = np.flatnonzero(env.legal_mask(state))
    chances = np.exp(log_types[mover] - log_types[mover].max())
    total = np.zeros(52)
    for chance, of_type in zip(chances / chances.sum(), np.asarray(logits, float), strict=True):
        odds = np.exp(of_type[legal] - of_type[legal].max())
        total[legal] += chance * odds / odds.sum()
    return total


@pytest.mark.parametrize(
    ("last_tricks", "tricks", "first"), [(0, 1, 0), (1, 2, 9), (3, 4, 7), (13, 13, 9)]
)
def test_a_rollout_by_hand(
    model: tuple[OpponentModelConfig, Any],
    states: env.GameState,
    last_tricks: int,
    tricks: int,
    first: int,
) -> None:
    config, params = model
    random = np.random.default_rng(0)
    types = random.normal(0, 2, (len(STAGES), 4, config.player_types)).astype(np.float32)
    noise = random.gumbel(size=(len(STAGES), tricks, 52)).astype(np.float32)
    finished = finish_jit(params, states, types, noise, config, last_tricks=last_tricks)
    assert last_tricks < 13 or np.all(np.asarray(finished.stage) == 52)
    played = 0
    for row, stage in list(enumerate(STAGES))[first:]:
        end = -(-stage // 4) * 4
        end = 52 if 13 - end // 4 <= last_tricks else end
        state = positions.take(states, row)
        while int(state.stage) < end:
            chances = by_hand(model, state, types[row])
            assert chances.sum() == pytest.approx(1, abs=1e-5)
            with np.errstate(divide="ignore"):
                later = max(0, int(state.stage) // 4 - (13 - tricks))
                card = np.argmax(np.log(chances) + noise[row, later])
            state = env.step(state, jnp.int8(card))
            played += 1
        jax.tree.map(np.testing.assert_array_equal, positions.take(finished, row), state)
    assert played > 20


def test_cards_are_drawn_as_often_as_they_are_likely(
    model: tuple[OpponentModelConfig, Any],
) -> None:
    config, params = model
    count = 4000
    state = positions.take(positions.random_states(12, [3]), 0)
    many = jax.tree.map(lambda leaf: jnp.repeat(leaf[None], count, axis=0), state)
    types = jnp.zeros((count, 4, config.player_types))
    noise = jax.random.gumbel(jax.random.key(0), (count, 1, 52))
    drawn = finish_jit(params, many, types, noise, config, last_tricks=0).plays[:, 3]
    likely = by_hand(model, state, np.zeros((4, config.player_types)))
    assert np.sum(likely > 0.02) > 1
    share = np.bincount(np.asarray(drawn), minlength=52) / count
    np.testing.assert_allclose(share, likely, atol=5 * np.sqrt(0.25 / count))


def test_others_do_not_see_the_hidden_hands(
    model: tuple[OpponentModelConfig, Any], states: env.GameState
) -> None:
    """With the cards of the two others exchanged, the player to move has the same policy."""
    config, params = model
    mover = np.asarray(jax.vmap(env.player_to_move)(states))[:, None]
    first, second = (mover + 1) % 4, (mover + 3) % 4
    holder = np.asarray(states.holder)
    swapped = np.where(holder == first, second, np.where(holder == second, first, holder))
    assert (swapped != holder).any()
    zeros = jnp.zeros((len(STAGES), config.player_types))
    of = jax.jit(policy, static_argnums=3)
    other = of(params, states.replace(holder=jnp.asarray(swapped, jnp.int8)), zeros, config)
    np.testing.assert_array_equal(of(params, states, zeros, config), other)


def test_types_by_all_pairs() -> None:
    """Partners are of one type with probability 1/2, else each of any."""
    by_type = np.random.default_rng(1).normal(0, 2, (4, 3))
    found = np.asarray(jax.nn.softmax(player_types(jnp.asarray(by_type, jnp.float32)), axis=-1))
    for seat in range(4):
        wanted = np.zeros(3)
        for own, other in itertools.product(range(3), repeat=2):
            prior = 0.5 * (own == other) / 3 + 0.5 / 9
            wanted[own] += prior * np.exp(by_type[seat, own] + by_type[(seat + 2) % 4, other])
        np.testing.assert_allclose(found[seat], wanted / wanted.sum(), rtol=1e-4)


@pytest.mark.parametrize(
    ("last_tricks", "tricks", "share"), [(0, 1, 1.0), (13, 13, 1.0), (0, 1, 0.25)]
)
def test_q_is_the_value_at_the_end_of_the_rollout(
    model: tuple[OpponentModelConfig, Any],
    states: env.GameState,
    last_tricks: int,
    tricks: int,
    share: float,
) -> None:
    """With a network that expects nothing more, Q is the margin when the rollout is over, for the
    team of the player to move at the root, or so much of it beside that before the rollout."""
    config, params = model
    types = jnp.zeros((len(STAGES), 4, config.player_types))
    noise = jax.random.gumbel(jax.random.key(3), (len(STAGES), tricks, 52))

    def nothing_more(_: Any, states: env.GameState) -> tuple[jax.Array, jax.Array]:
        return jnp.zeros((len(states.stage), 52)), jnp.zeros(len(states.stage))

    def play_on(states: env.GameState, row: jax.Array) -> env.GameState:
        return finish(params, states, types[row], noise[row], config, last_tricks)

    @jax.jit
    def run(states: env.GameState) -> jax.Array:
        one_visit = SearchConfig(0, 1, rollout="trick", rollout_share=share)
        return search(None, jax.random.key(0), states, nothing_more, one_visit, play_on=play_on).q

    q = np.asarray(run(states))
    differ = 0
    for row in range(len(STAGES)):
        state = positions.take(states, row)
        legal = np.flatnonzero(env.legal_mask(state))
        if len(legal) < 2:
            continue
        for card in legal:
            after = jax.tree.map(lambda leaf: leaf[None], env.step(state, jnp.int8(card)))
            luck = (types[row][None], noise[row][None])
            over = finish_jit(params, after, *luck, config, last_tricks=last_tricks)
            over = positions.take(over, 0)
            mover = env.player_to_move(state)
            margin = int(env.team_margin(over, mover))
            before = int(env.team_margin(positions.take(after, 0), mover))
            assert q[row, card] == share * margin + (1 - share) * before
            differ += margin != before
    assert differ > 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights.rule": "none"}, "weights.rule=opponent-model"),
        ({"search.per_legal": 2, "racing.block": 0}, "one visit per legal card"),
        ({"search.rollout": "deal"}, "game"),
        ({"search.rollout_share": 0.0}, "rollout_share"),
        ({"search.endgame": 14}, "0..13"),
        ({"search.endgame": 2, "search.rollout": "game"}, "search.rollout=trick"),
        ({"search.rollout_share": float("nan")}, "rollout_share"),
    ],
)
def test_impossible_rollouts(options: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        players.make("scrofa-strong", **{"search.rollout": "trick", **options})
