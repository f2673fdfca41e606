"""What is learnt from tables: minus log probabilities, of true hands or of the cards played."""

from typing import Any

import jax
import jax.numpy as jnp

from gongzhu_jax.belief_training.config import MixtureNetwork
from gongzhu_jax.belief_training.mixture import Tables
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_CARDS, NUM_SEATS
from gongzhu_jax.game.view import view
from gongzhu_jax.inference.belief import BeliefConfig, init_belief, log_odds_of_games
from gongzhu_jax.inference.constraints import constraints, opponents
from gongzhu_jax.inference.habits import (
    HabitsConfig,
    HabitsNet,
    encode_situations,
    init_habits,
    log_share,
    over_kinds,
)
from gongzhu_jax.inference.odds import log_weight, weigh
from gongzhu_jax.inference.sampling import log_count

LAST_STAGE = NUM_CARDS - NUM_SEATS
"""In the last trick nothing is left to decide."""
HELD_OUT_POSITIONS = 16
"""Of each game of strangers."""

Figures = tuple[jax.Array, jax.Array, jax.Array]
"""Minus log probability, the same if all were alike, and what it is to be divided by."""


def init_network(key: jax.Array, network: MixtureNetwork) -> Any:
    if isinstance(network, HabitsConfig):
        return init_habits(key, network)
    return init_belief(key, network)


def nll(params: Any, tables: Tables, stages: jax.Array, network: MixtureNetwork) -> Figures:
    """For tables [G] at stages [G, K], each [G, K]. Of a belief: of the true hidden hands as the
    player to move believes, and the number of unseen cards. Of habits: of the card played then by
    a player of its kind, and 1."""
    if isinstance(network, HabitsConfig):
        by_kind, legal = _log_shares(params, tables.games, stages, network)
        actors = jax.vmap(_actor)(tables.games, stages)
        kind = jnp.take_along_axis(tables.kinds.astype(jnp.int32), actors, axis=1)
        own = jnp.take_along_axis(by_kind, kind[..., None], axis=2)[..., 0]
        return -own, jnp.log(legal), jnp.ones_like(own)
    return _nll_of_hands(params, tables.games, stages, network)


def nll_of_strangers(params: Any, games: env.GameState, network: MixtureNetwork) -> Figures:
    """For games [G] of players that need not be of the mixture, each [G, n]: of a belief as `nll`
    at some stages; of habits for the seats, of all cards that each played, of whatever kind it is,
    and their number."""
    if isinstance(network, HabitsConfig):
        stages = jnp.broadcast_to(jnp.arange(LAST_STAGE), (len(games.stage), LAST_STAGE))
        by_kind, legal = _log_shares(params, games, stages, network)
        by_seat = jax.nn.one_hot(jax.vmap(_actor)(games, stages), NUM_SEATS)  # [G, K, 4]
        found = over_kinds(jnp.einsum("gks,gkn->gsn", by_seat, by_kind))
        alike = jnp.einsum("gks,gk->gs", by_seat, jnp.log(legal))
        return -found, alike, jnp.sum(by_seat, axis=1)
    stages = random_stages(jax.random.key(0), len(games.stage), HELD_OUT_POSITIONS)
    return _nll_of_hands(params, games, stages, network)


def _nll_of_hands(
    params: Any, games: env.GameState, stages: jax.Array, config: BeliefConfig
) -> Figures:
    states = jax.vmap(jax.vmap(env.rewind, (None, 0)))(games, stages)
    views = jax.vmap(jax.vmap(lambda state: view(state, env.player_to_move(state))))(states)
    whole = jax.vmap(view, (0, None))(games, 0)
    numbers = log_odds_of_games(params, whole, views, config)

    def of_position(numbers, view, holder):
        known = constraints(view)
        believed = weigh(numbers, known).log_total - log_weight(numbers, opponents(view, holder))
        return believed, log_count(view), jnp.sum(known.unseen)

    return jax.vmap(jax.vmap(of_position))(numbers, views, states.holder)


def _log_shares(
    params: Any, games: env.GameState, stages: jax.Array, config: HabitsConfig
) -> tuple[jax.Array, jax.Array]:
    """log probability of the card played at each stage for each kind of player, [G, K, kinds], and
    the number of legal cards, [G, K]."""

    def of_game(game, stages):
        then = jax.vmap(env.rewind, (None, 0))(game, stages)
        hands = then.holder == jax.vmap(env.player_to_move)(then)[:, None]
        return encode_situations(view(game, 0))[stages], hands, jax.vmap(env.legal_mask)(then)

    situations, hands, legal = jax.vmap(of_game)(games, stages)
    logits: Any = HabitsNet(config).apply(params, situations, hands)
    card = jnp.take_along_axis(games.plays, stages.astype(jnp.int32), axis=1)
    return jax.vmap(jax.vmap(log_share))(logits, legal, card), jnp.sum(legal, axis=2)


def _actor(game: env.GameState, stages: jax.Array) -> jax.Array:
    """Seats, int32[K]."""
    return env.play_seats(game.leaders, game.stage)[stages].astype(jnp.int32)


def random_stages(key: jax.Array, games: int, positions: int) -> jax.Array:
    """int8[G, K]: stages before the last trick, spread evenly over each game."""
    shift = jax.random.uniform(key, (games, positions))
    stages = (jnp.arange(positions) + shift) * (LAST_STAGE / positions)
    # Rounding may reach the end of the last part.
    return jnp.minimum(stages, LAST_STAGE - 1).astype(jnp.int8)
