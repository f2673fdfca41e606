"""Self-play of four players who do not see each other's hands, and the values it teaches.

Perfect-information self-play teaches what a position is worth if everybody sees all hands. Nobody
does, so a player that looks ahead with such values expects the others to find plays that they cannot
find. Here all four decide as the inference player does, and the network, which still sees all hands,
learns what the position is worth when the game goes on like that.

Axes: T = 52 stages, G games.
"""

from collections.abc import Callable, Sequence
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

DECISIONS_AT_ONCE = 64
"""Decisions of one stage that are made together; a batch that is not full costs as much."""


class HonestGames(struct.PyTreeNode):
    """Finished games with what was thought at every decision."""

    state: env.GameState  # [G], at the end
    q: jax.Array  # [G, T, 52] float16, averaged over scenarios; -inf: illegal, or no choice
    random: jax.Array  # [G, T] bool, whether the play was drawn at random
    honest: jax.Array  # [G, T] bool, whether an honest player made the play
    evaluated: jax.Array  # [] int32, network evaluations made


def play_honest_games(
    params: InferenceParams,
    key: jax.Array,
    games: jax.Array,
    network: Network,
    inference: InferenceConfig,
    random_play: float,
    seats: jax.Array | None = None,
    others: Sequence[tuple[Callable, Any]] = (),
) -> HonestGames:
    """Plays one game for each number in `games`, [G], to the end. A game depends on its number and
    the key, not on the games beside it.

    Args:
      seats: int8[G, 4]; 0 is an honest player, i the player others[i - 1], a pair of its function
        and parameters. None: all are honest.
    """
    if seats is None:
        seats = jnp.zeros((len(games), NUM_SEATS), jnp.int8)
    keys = jax.vmap(lambda number: jax.random.split(jax.random.fold_in(key, number)))(games)
    count = len(games)
    size = min(DECISIONS_AT_ONCE, count)

    def play(states, stage):
        movers = jax.vmap(env.player_to_move)(states)
        legal = jax.vmap(env.legal_mask)(states)
        choice = jnp.sum(legal, axis=1) > 1
        move_keys = jax.vmap(jax.random.fold_in, (0, None))(keys[:, 1], stage)
        who = jnp.take_along_axis(seats, movers[:, None].astype(jnp.int32), axis=1)[:, 0]
        who0 = who
        who = jnp.where(choice, who, len(others) + 1)
        order = jnp.argsort(who)

        def shown(first, last, index):
            places = jnp.minimum(first + index * size + jnp.arange(size), last - 1)
            rows = order[jnp.maximum(places, 0)]
            some, seat, some_keys = jax.tree.map(
                lambda leaf: leaf[rows], (states, movers, move_keys)
            )
            return rows, some_keys, jax.vmap(view)(some, seat)

        def decide_some(index, carry):
            cards, q, evaluated = carry
            rows, some_keys, views = shown(0, deciding, index)
            decision = decide(params, some_keys, views, network, inference)
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
        deciding = jnp.sum(who == 0)
        cards, q, evaluated = jax.lax.fori_loop(0, -(-deciding // size), decide_some, start)
        last = deciding
        for number, (act, act_params) in enumerate(others):
            first, last = last, last + jnp.sum(who == number + 1)

            def ask_some(index, cards, act=act, act_params=act_params, first=first, last=last):
                rows, some_keys, views = shown(first, last, index)
                return cards.at[rows].set(act(act_params, some_keys, views).astype(jnp.int8))

            cards = jax.lax.fori_loop(0, -(-(last - first) // size), ask_some, cards)
        random_keys = jax.vmap(jax.random.fold_in, (0, None))(keys[:, 1], NUM_CARDS + stage)
        cards, random = jax.vmap(_sometimes_random, (0, 0, 0, None))(
            random_keys, cards, legal, random_play
        )
        return jax.vmap(env.step)(states, cards), (q, random & choice, who0 == 0, evaluated)

    states = jax.vmap(env.deal)(keys[:, 0])
    final, (q, random, honest, evaluated) = jax.lax.scan(play, states, jnp.arange(NUM_CARDS))
    q, random, honest = (jnp.swapaxes(leaf, 0, 1) for leaf in (q, random, honest))
    return HonestGames(final, q, random, honest, jnp.sum(evaluated))


def _sometimes_random(key, card, legal, random_play):
    flag_key, card_key = jax.random.split(key)
    number = jnp.floor(jax.random.uniform(card_key) * jnp.sum(legal))
    random = jax.random.uniform(flag_key) < random_play
    return jnp.where(random, nth_card(legal, number), card).astype(jnp.int8), random


def honest_targets(
    params: Any,
    states: env.GameState,
    honest: jax.Array,
    network_value,
    td_lambda: float,
    lone_transformer: int,
) -> tuple[env.GameState, jax.Array, jax.Array]:
    """The true states of one finished game, [T], the points still to come at each of them for the
    mover's team, float32[T], and which of them are learnt, bool[T]: those that an honest player may
    look ahead to, which follow its plays. TD(lambda) over the values of such states and the outcome.
    There is no maximum in it: what is learnt is what these players achieve."""
    stages = jnp.arange(NUM_CARDS, dtype=jnp.int8)
    path = jax.vmap(env.rewind, (None, 0))(states, stages)
    mover = jax.vmap(env.player_to_move)(path)
    sign = team_sign(mover, jnp.zeros_like(mover))
    value = network_value(params, path)
    total = sign * jax.vmap(total_value, (0, 0, None))(path, value, lone_transformer)
    margin = jax.vmap(lambda s, m: env.team_margin(s, m, lone_transformer=lone_transformer))
    outcome = env.team_margin(states, 0).astype(jnp.float32)
    # In the last trick nobody has a choice, so the outcome is certain from its start.
    learnt = jnp.concatenate([honest[:1], honest[:-1]])
    certain = stages >= NUM_CARDS - NUM_SEATS

    def back_up(later, stage):
        value, learnt, certain = stage
        # `later` is what a state before this one takes from here on.
        target = jnp.where(certain, outcome, later)
        mixed = jnp.where(learnt & ~certain, (1 - td_lambda) * value + td_lambda * target, target)
        return mixed, target

    _, targets = jax.lax.scan(back_up, outcome, (total, learnt, certain), reverse=True)
    return path, sign * targets - margin(path, mover).astype(jnp.float32), learnt
