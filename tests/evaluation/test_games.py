"""Games in lock step: given openings, random plays and recorded Q."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax import players
from gongzhu_jax.evaluation.deals import random_deals
from gongzhu_jax.evaluation.games import play_games
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NO_CARD
from gongzhu_jax.game.public_view import view
from gongzhu_jax.network import NetworkConfig, make
from tests.evaluation.simple_players import high_player

COUNT = 12


@pytest.fixture(scope="module")
def deals():
    return random_deals(0, COUNT)


def play(player, deals, **options):
    seats = np.zeros((COUNT, 4), np.int8)
    keys = jax.random.split(jax.random.key(5), COUNT)
    return play_games([player], seats, deals.owners, deals.leaders, keys, **options)


@jax.jit
def choices(game: env.GameState) -> tuple[jax.Array, jax.Array]:
    """What the highest-card player would do at each stage, [52], and the legal cards, [52, 52]."""
    states = jax.vmap(env.rewind, (None, 0))(game, jnp.arange(52, dtype=jnp.int8))
    views = jax.vmap(lambda state: view(state, env.player_to_move(state)))(states)
    keys = jax.random.split(jax.random.key(0), 52)
    return high_player.act_batch((), keys, views), jax.vmap(env.legal_mask)(states)


def test_an_opening_is_played_and_then_the_players_go_on(deals) -> None:
    """Games that are opened with 0, 4, 8, ... plays of random ones."""
    opening = np.array(play(players.make("random"), deals).states.plays)
    lengths = np.arange(COUNT) * 4
    opening[np.arange(52) >= lengths[:, None]] = NO_CARD
    opened = play(high_player, deals, opening=opening)
    assert (opened.illegal == 52).all()
    plain = play(high_player, deals)
    np.testing.assert_array_equal(opened.states.plays[0], plain.states.plays[0])
    for game in range(COUNT):
        length = lengths[game]
        state = jax.tree.map(lambda leaf: leaf[game], opened.states)  # noqa: B023
        np.testing.assert_array_equal(state.plays[:length], opening[game, :length])
        cards, _ = choices(state)
        np.testing.assert_array_equal(state.plays[length:], cards[length:])


def test_random_plays_are_as_frequent_as_asked(deals) -> None:
    played = play(high_player, deals, random_play=0.3)
    assert (played.illegal == 52).all()
    decisions = 0
    for game in range(COUNT):
        state = jax.tree.map(lambda leaf: leaf[game], played.states)  # noqa: B023
        cards, legal = jax.device_get(choices(state))
        choice = legal.sum(axis=1) > 1
        decisions += choice.sum()
        assert not (played.random[game] & ~choice).any()
        own = ~played.random[game]
        np.testing.assert_array_equal(state.plays[own], cards[own])
    share = played.random.sum() / decisions
    assert abs(share - 0.3) < 4 * np.sqrt(0.3 * 0.7 / decisions)
    assert not play(high_player, deals).random.any()


def test_recorded_q_is_that_of_the_decision(deals) -> None:
    network = make(NetworkConfig("compact", stem=8, width=8, blocks=1))
    params = network.init(jax.random.key(0))
    raw = players.from_network("raw", network.config, params, scenarios={"draws": 2})
    played = play(raw, deals, record_q=True)
    np.testing.assert_array_equal(played.states.plays, play(raw, deals).states.plays)
    for game in range(COUNT):
        state = jax.tree.map(lambda leaf: leaf[game], played.states)  # noqa: B023
        legal = np.asarray(choices(state)[1])
        q = np.asarray(played.q[game], np.float32)
        choice = legal.sum(axis=1) > 1
        np.testing.assert_array_equal(np.isfinite(q), legal & choice[:, None])
        chosen = q[np.arange(52), state.plays][choice]
        assert (chosen >= q.max(axis=1)[choice] - 0.1).all()  # as float16 has it
    assert play(high_player, deals).q is None
