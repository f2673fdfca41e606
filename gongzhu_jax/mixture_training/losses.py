"""What is minimised on games of a mixture, above all minus log probabilities: of the true hands or
of the cards played."""

from typing import Any

import chex
import jax
import jax.numpy as jnp

from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_CARDS, NUM_SEATS
from gongzhu_jax.game.public_view import view
from gongzhu_jax.inference.constraints import constraints, opponents
from gongzhu_jax.inference.sampling import log_count
from gongzhu_jax.mixture_training.config import MixtureNetwork
from gongzhu_jax.mixture_training.critic import critic_loss
from gongzhu_jax.mixture_training.distillation import distillation_figures
from gongzhu_jax.mixture_training.mixture import MixtureGames
from gongzhu_jax.network.policy_value import NetworkConfig, make
from gongzhu_jax.opponents.card_belief import BeliefConfig, log_odds_of_games
from gongzhu_jax.opponents.distilled_policy import DistilledConfig
from gongzhu_jax.opponents.odds import log_weight, weigh
from gongzhu_jax.opponents.opponent_model import (
    OpponentModelConfig,
    OpponentModelNet,
    encode_situations,
    log_policy,
    mixture_log_likelihood,
)

LAST_STAGE = NUM_CARDS - NUM_SEATS
"""In the last trick nothing is left to decide."""
HELD_OUT_POSITIONS = 16
"""Positions of each held-out game at which the belief is measured."""

Figures = tuple[jax.Array, jax.Array, jax.Array]
"""Minus log probability, the same under the uniform distribution, and the count to divide by."""


def training_loss(
    params: Any, games: MixtureGames, stages: jax.Array, network: MixtureNetwork
) -> tuple[jax.Array, jax.Array]:
    """What is minimised: a loss at stages [G, K] of games [G], and the count to divide by."""
    if isinstance(network, DistilledConfig):
        losses = distillation_figures(params, games, stages, network).loss
        return losses, jnp.ones_like(losses)
    if isinstance(network, NetworkConfig):
        losses, _ = critic_loss(params, games, stages, make(network))
        return losses, jnp.ones_like(losses)
    losses, _, count = nll(params, games, stages, network)
    return losses, count


def nll(params: Any, games: MixtureGames, stages: jax.Array, network: MixtureNetwork) -> Figures:
    """The figures of games [G] at stages [G, K], each [G, K].

    For a belief they are of the true hidden hands in the eyes of the player to move, counted in
    unseen cards; for an opponent model of the card that was played by a player of its type, counted
    in plays.
    """
    chex.assert_shape(games.player_type, (*games.states.stage.shape, NUM_SEATS))
    chex.assert_shape(stages, (*games.states.stage.shape, None))
    if isinstance(network, OpponentModelConfig):
        by_type, legal = _log_policies(params, games.states, stages, network)
        actors = jax.vmap(_actor)(games.states, stages)
        types = jnp.take_along_axis(games.player_type.astype(jnp.int32), actors, axis=1)
        own = jnp.take_along_axis(by_type, types[..., None], axis=2)[..., 0]
        return -own, jnp.log(legal), jnp.ones_like(own)
    return _nll_of_hands(params, games.states, stages, network)


def held_out_nll(params: Any, games: env.GameState, network: MixtureNetwork) -> Figures:
    """The figures of games [G] of players whose types need not be in the mixture, each [G, n].

    For a belief they are those of `nll` at some stages; for an opponent model there is one for each
    seat, of all cards that it played, with its type unknown.
    """
    if isinstance(network, OpponentModelConfig):
        stages = jnp.broadcast_to(jnp.arange(LAST_STAGE), (len(games.stage), LAST_STAGE))
        by_type, legal = _log_policies(params, games, stages, network)
        by_seat = jax.nn.one_hot(jax.vmap(_actor)(games, stages), NUM_SEATS)  # [G, K, 4]
        log_likelihood = mixture_log_likelihood(jnp.einsum("gks,gkn->gsn", by_seat, by_type))
        uniform = jnp.einsum("gks,gk->gs", by_seat, jnp.log(legal))
        return -log_likelihood, uniform, jnp.sum(by_seat, axis=1)
    stages = random_stages(jax.random.key(0), len(games.stage), HELD_OUT_POSITIONS)
    return _nll_of_hands(params, games, stages, network)


def _nll_of_hands(
    params: Any, games: env.GameState, stages: jax.Array, config: MixtureNetwork
) -> Figures:
    if not isinstance(config, BeliefConfig):
        raise TypeError(f"likelihoods are of beliefs and opponent models, not of {config}")
    states = jax.vmap(jax.vmap(env.rewind, (None, 0)))(games, stages)
    views = jax.vmap(jax.vmap(lambda state: view(state, env.player_to_move(state))))(states)
    whole = jax.vmap(view, (0, None))(games, 0)
    numbers = log_odds_of_games(params, whole, views, config)

    def of_position(numbers, view, holder):
        known = constraints(view)
        believed = weigh(numbers, known).log_total - log_weight(numbers, opponents(view, holder))
        return believed, log_count(view), jnp.sum(known.unseen)

    return jax.vmap(jax.vmap(of_position))(numbers, views, states.holder)


def _log_policies(
    params: Any, games: env.GameState, stages: jax.Array, config: OpponentModelConfig
) -> tuple[jax.Array, jax.Array]:
    """The log probability of the card played at each stage by each player type,
    [G, K, player_types], and the number of legal cards, [G, K]."""

    def of_game(game, stages):
        then = jax.vmap(env.rewind, (None, 0))(game, stages)
        hands = then.holder == jax.vmap(env.player_to_move)(then)[:, None]
        return encode_situations(view(game, 0))[stages], hands, jax.vmap(env.legal_mask)(then)

    situations, hands, legal = jax.vmap(of_game)(games, stages)
    logits: Any = OpponentModelNet(config).apply(params, situations, hands)
    card = jnp.take_along_axis(games.plays, stages.astype(jnp.int32), axis=1)
    return jax.vmap(jax.vmap(log_policy))(logits, legal, card), jnp.sum(legal, axis=2)


def _actor(game: env.GameState, stages: jax.Array) -> jax.Array:
    """The seat that made each play, int32[K]."""
    return env.play_seats(game.leaders, game.stage)[stages].astype(jnp.int32)


def random_stages(key: jax.Array, games: int, positions: int) -> jax.Array:
    """Stages before the last trick, spread evenly over each game, int8[G, K]."""
    shift = jax.random.uniform(key, (games, positions))
    stages = (jnp.arange(positions, dtype=jnp.float32)[None] + shift) * (LAST_STAGE / positions)
    # Rounding may reach the end of the last part.
    return jnp.minimum(stages, LAST_STAGE - 1).astype(jnp.int8)
