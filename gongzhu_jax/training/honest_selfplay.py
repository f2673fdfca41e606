"""Self-play of four players who do not see each other's hands, and the values it teaches.

Perfect-information self-play teaches what a position is worth if everybody sees all hands. Nobody
does, so a player that looks ahead with such values expects the others to find plays that they cannot
find. Here all four decide as the inference player does, and the network, which still sees all hands,
learns what the position is worth when the game goes on like that.

Axes: T = 52 stages, G games.
"""

from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_CARDS, NUM_SEATS
from gongzhu_jax.game.cardset import nth_card
from gongzhu_jax.game.view import view
from gongzhu_jax.inference.config import InferenceConfig
from gongzhu_jax.inference.decision import InferenceParams, decide
from gongzhu_jax.network.registry import Network
from gongzhu_jax.search.perspective import team_sign, total_value

DECISIONS_AT_ONCE = 128
"""Decisions of one stage that are made together; a batch that is not full costs as much."""


class HonestGames(struct.PyTreeNode):
    """Finished games with what was thought at every decision."""

    state: env.GameState  # [G], at the end
    q: jax.Array  # [G, T, 52] float16, averaged over scenarios; -inf: illegal, or no choice
    random: jax.Array  # [G, T] bool, whether the play was drawn at random
    evaluated: jax.Array  # [] int32, network evaluations made


def play_honest_games(
    params: InferenceParams,
    key: jax.Array,
    games: jax.Array,
    network: Network,
    inference: InferenceConfig,
    random_play: float,
) -> HonestGames:
    """Plays one game for each number in `games`, [G], to the end. A game depends on its number and
    the key, not on the games beside it."""
    keys = jax.vmap(lambda number: jax.random.split(jax.random.fold_in(key, number)))(games)
    count = len(games)
    size = min(DECISIONS_AT_ONCE, count)

    def play(states, stage):
        movers = jax.vmap(env.player_to_move)(states)
        legal = jax.vmap(env.legal_mask)(states)
        choice = jnp.sum(legal, axis=1) > 1
        move_keys = jax.vmap(jax.random.fold_in, (0, None))(keys[:, 1], stage)
        order = jnp.argsort(~choice)
        deciding = jnp.sum(choice)

        def decide_some(index, carry):
            cards, q, evaluated = carry
            places = jnp.minimum(index * size + jnp.arange(size), jnp.maximum(deciding - 1, 0))
            rows = order[places]
            some, seats, some_keys = jax.tree.map(
                lambda leaf: leaf[rows], (states, movers, move_keys)
            )
            decision = decide(params, some_keys, jax.vmap(view)(some, seats), network, inference)
            return (
                cards.at[rows].set(decision.card),
                q.at[rows].set(decision.q.astype(jnp.float16)),
                evaluated + decision.evaluated,
            )

        start = (
            jnp.argmax(legal, axis=1).astype(jnp.int8),
            jnp.full((count, NUM_CARDS), -jnp.inf, jnp.float16),
            jnp.int32(0),
        )
        cards, q, evaluated = jax.lax.fori_loop(0, -(-deciding // size), decide_some, start)
        random_keys = jax.vmap(jax.random.fold_in, (0, None))(keys[:, 1], NUM_CARDS + stage)
        cards, random = jax.vmap(_sometimes_random, (0, 0, 0, None))(
            random_keys, cards, legal, random_play
        )
        return jax.vmap(env.step)(states, cards), (q, random & choice, evaluated)

    states = jax.vmap(env.deal)(keys[:, 0])
    final, (q, random, evaluated) = jax.lax.scan(play, states, jnp.arange(NUM_CARDS))
    return HonestGames(final, jnp.swapaxes(q, 0, 1), jnp.swapaxes(random, 0, 1), jnp.sum(evaluated))


def _sometimes_random(key, card, legal, random_play):
    flag_key, card_key = jax.random.split(key)
    number = jnp.floor(jax.random.uniform(card_key) * jnp.sum(legal))
    random = jax.random.uniform(flag_key) < random_play
    return jnp.where(random, nth_card(legal, number), card).astype(jnp.int8), random


def honest_targets(
    params: Any, states: env.GameState, network_value, td_lambda: float, lone_transformer: int
) -> tuple[env.GameState, jax.Array]:
    """The true states of one finished game, [T], and the points still to come at each of them for
    the mover's team, float32[T]: TD(lambda) over the values of the states that followed and the
    outcome. There is no maximum in it: what is learnt is what these players achieve."""
    stages = jnp.arange(NUM_CARDS, dtype=jnp.int8)
    path = jax.vmap(env.rewind, (None, 0))(states, stages)
    mover = jax.vmap(env.player_to_move)(path)
    sign = team_sign(mover, jnp.zeros_like(mover))
    value = network_value(params, path)
    total = sign * jax.vmap(total_value, (0, 0, None))(path, value, lone_transformer)
    margin = jax.vmap(lambda s, m: env.team_margin(s, m, lone_transformer=lone_transformer))
    outcome = env.team_margin(states, 0).astype(jnp.float32)
    # In the last trick nobody has a choice, so the outcome is certain from its start.
    following = jnp.concatenate([total[1:], outcome[None]])
    certain = stages >= NUM_CARDS - NUM_SEATS - 1

    def back_up(later, stage):
        following, certain = stage
        target = jnp.where(certain, outcome, (1 - td_lambda) * following + td_lambda * later)
        return target, target

    _, targets = jax.lax.scan(back_up, outcome, (following, certain), reverse=True)
    return path, sign * targets - margin(path, mover).astype(jnp.float32)
