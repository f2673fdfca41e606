"""The critic: what a position is worth among players who do not see each other's hands.

Perfect-information self-play teaches what a position is worth if everybody sees all hands. Nobody
does, so a player that looks ahead with such values expects plays that nobody can find. The critic
sees all hands as well, but learns from games of players that do not. It is the network that plays
(`network.policy_value`): its values are learnt anew, its policy is kept. Axes: T = 52 stages.
"""

from typing import Any

import chex
import jax
import jax.numpy as jnp

from gongzhu_jax.device_profile import profile
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_CARDS, NUM_SEATS
from gongzhu_jax.game.scoring import LONE_TRANSFORMER
from gongzhu_jax.mixture_training.mixture import MixtureGames
from gongzhu_jax.network.features import encode
from gongzhu_jax.network.policy_value import Network, Params
from gongzhu_jax.search.model import team_sign, total_value

_SPREAD = 40.0
"""Points: about the spread of outcomes around what can be known, which brings the error near 1."""


def annotate(
    games: MixtureGames, average: Params, kept: Params, network: Network, me: int, td_lambda: float
) -> MixtureGames:
    """Games [G] with their value targets and the policy to keep.

    Args:
      average: the parameters that played, whose values the targets are mixed with.
      kept: the parameters whose policy is kept.
      me: the player type that looks ahead with these values.
    """

    def of_game(game: env.GameState, player_type: jax.Array) -> tuple[jax.Array, jax.Array]:
        path = jax.vmap(env.rewind, (None, 0))(game, jnp.arange(NUM_CARDS, dtype=jnp.int8))
        seats = env.play_seats(game.leaders, game.stage).astype(jnp.int32)
        mine = player_type[seats] == me
        inputs = jax.vmap(encode)(path)
        value = td_targets(path, game, mine, network.apply(average, inputs)[1], td_lambda)
        logits = jnp.where(jax.vmap(env.legal_mask)(path), network.apply(kept, inputs)[0], -jnp.inf)
        return value, jax.nn.softmax(logits).astype(jnp.float16)

    value, policy = jax.lax.map(
        lambda item: of_game(*item),
        (games.states, games.player_type),
        batch_size=profile().annotated_games,
    )
    return games.replace(value=value, policy=policy)


def td_targets(
    path: env.GameState, final: env.GameState, mine: jax.Array, value: jax.Array, td_lambda: float
) -> jax.Array:
    """Points still to come at each state of a game for the team of its mover, float32[T].

    A state is learnt, else NaN, if it follows a play of a player that looks ahead with the values:
    those are the states that it will ask about. Targets are TD(lambda) over the values of such
    states and the outcome, without a maximum anywhere: what is learnt is what these players reach.

    Args:
      path: the states of the game, [T].
      final: the game at its end.
      mine: whether such a player made each play, bool[T].
      value: the network's points still to come at each state for its mover's team, [T].
      td_lambda: 0 takes the network's word for the next such state, 1 the outcome.
    """
    chex.assert_shape([mine, value, path.stage], (NUM_CARDS,))
    mover = jax.vmap(env.player_to_move)(path)
    sign = team_sign(mover, jnp.zeros_like(mover))
    totals = sign * jax.vmap(total_value, (0, 0, None))(path, value, LONE_TRANSFORMER)
    outcome = env.team_margin(final, 0).astype(jnp.float32)
    learnt = jnp.concatenate([jnp.zeros(1, bool), mine[:-1]])
    # In the last trick nobody has a choice, so the outcome is certain.
    certain = jnp.arange(NUM_CARDS) >= NUM_CARDS - NUM_SEATS

    def back_up(later, state):
        total, learnt, certain = state
        target = jnp.where(certain, outcome, later)
        mixed = (1 - td_lambda) * total + td_lambda * target
        return jnp.where(learnt & ~certain, mixed, target), target

    _, targets = jax.lax.scan(back_up, outcome, (totals, learnt, certain), reverse=True)
    margin = jax.vmap(env.team_margin)(path, mover).astype(jnp.float32)
    return jnp.where(learnt, sign * targets - margin, jnp.nan)


def critic_loss(
    params: Params, games: MixtureGames, stages: jax.Array, network: Network
) -> tuple[jax.Array, jax.Array]:
    """The loss at stages [G, K] of annotated games [G], float32[G, K], and the square of the value
    error in points, NaN where no value is learnt."""
    states = jax.vmap(jax.vmap(env.rewind, (None, 0)))(games.states, stages)
    index = stages.astype(jnp.int32)
    target = jnp.take_along_axis(_given(games.value), index, axis=1)
    policy = jnp.take_along_axis(_given(games.policy), index[..., None], axis=1)
    policy = policy.astype(jnp.float32)
    logits, value = network.apply(params, jax.vmap(jax.vmap(encode))(states))
    legal = jax.vmap(jax.vmap(env.legal_mask))(states)
    log_policy = jax.nn.log_softmax(jnp.where(legal, logits, -1e9))
    # The entropy of the kept policy is left out: it does not change the gradient.
    cross_entropy = -jnp.sum(jnp.where(legal, policy * log_policy, 0.0), axis=-1)
    learnt = ~jnp.isnan(target)
    error = jnp.where(learnt, value - jnp.where(learnt, target, 0.0), 0.0) / _SPREAD
    squared = jnp.where(learnt, jnp.square(_SPREAD * error), jnp.nan)
    return 0.5 * jnp.square(error) + cross_entropy, squared


def _given(field: Any) -> jax.Array:
    if field is None:
        raise ValueError("the games must be annotated first")
    return field
