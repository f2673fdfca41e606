"""Self-play in lock step, with all hands seen as in the paper (supplement, collecting training
data) or with hidden hands.

Axes: T = 52 stages, G games.
"""

from dataclasses import replace
from typing import Any

import chex
import jax
import jax.numpy as jnp
from flax import struct

from gongzhu_jax.device_profile import profile
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_CARDS
from gongzhu_jax.game.public_view import view, with_deal
from gongzhu_jax.game.random_play import random_card
from gongzhu_jax.inference.sampling import sample
from gongzhu_jax.search.config import SearchConfig
from gongzhu_jax.search.mcts import SearchResult, best_card, search
from gongzhu_jax.search.model import PolicyValueFn
from gongzhu_jax.training.config import SelfPlayConfig
from gongzhu_jax.training.targets import policy_target, value_targets


class Positions(struct.PyTreeNode):
    """Positions with their targets; any leading axes."""

    state: env.GameState
    policy: jax.Array  # [..., 52] float32
    value: jax.Array  # [...] float32, points still to come for the mover's team
    searched: jax.Array  # [...] bool; False: a forced card, whose policy target says nothing


def empty_positions(*axes: int) -> Positions:
    """Positions without content, for a window that games are written into."""
    state = jax.eval_shape(env.deal, jax.random.key(0))
    return Positions(
        state=jax.tree.map(lambda leaf: jnp.zeros((*axes, *leaf.shape), leaf.dtype), state),
        policy=jnp.zeros((*axes, NUM_CARDS)),
        value=jnp.zeros(axes),
        searched=jnp.zeros(axes, bool),
    )


class SelfPlayStats(struct.PyTreeNode):
    """Sums over the games of an epoch."""

    demanded: jax.Array  # evaluations that the budgets ask for
    evaluated: jax.Array  # evaluations made
    margin: jax.Array  # points of team 0+2 over team 1+3
    random_plays: jax.Array  # cards that were played at random


def play_games(
    params: Any,
    key: jax.Array,
    games: jax.Array,
    policy_value: PolicyValueFn,
    search_config: SearchConfig,
    config: SelfPlayConfig,
) -> tuple[Positions, SelfPlayStats]:
    """Plays one game for each number in `games`, [G]. A game depends on its number and the key,
    not on which other games are played beside it (with the Gumbel method, which draws its noise for
    the whole batch, it does). Returns positions [G, T]."""
    chex.assert_rank(games, 1)
    chex.assert_type(games, int)
    chunk = search_config.chunk or profile().selfplay_states
    search_config = replace(search_config, chunk=chunk)
    keys = jax.vmap(lambda number: jax.random.split(jax.random.fold_in(key, number)))(games)
    states = jax.vmap(env.deal)(keys[:, 0])

    def play(states, stage):
        roots = states
        if config.scenarios:
            deal_keys = jax.vmap(jax.random.fold_in, (0, None))(keys[:, 0], stage + 1)
            roots = _imagined(deal_keys, states, config.scenarios)
        result = search(params, jax.random.fold_in(key, stage), roots, policy_value, search_config)
        if config.scenarios:
            result = _averaged(result, config.scenarios)
        legal = jax.vmap(env.legal_mask)(states)
        move_keys = jax.vmap(jax.random.fold_in, (0, None))(keys[:, 1], stage)
        pick = jax.vmap(_pick_card, (0, 0, 0, None))
        cards, at_random = pick(move_keys, result.q, legal, config.random_play)
        best = jnp.max(result.q, axis=-1)
        played = jnp.take_along_axis(result.q, cards[:, None].astype(jnp.int32), axis=1)[:, 0]
        searched = best > -jnp.inf
        record = {
            "state": states,
            "policy": jax.vmap(policy_target)(result.q, legal),
            "best": best,
            "searched": searched,
            "loss": jnp.where(searched, best - played, 0.0),
        }
        counts = jnp.stack([result.demanded, result.evaluated, jnp.sum(at_random)])
        return jax.vmap(env.step)(states, cards), (record, counts)

    final, (record, counts) = jax.lax.scan(play, states, jnp.arange(NUM_CARDS))
    record = jax.tree.map(lambda leaf: jnp.swapaxes(leaf, 0, 1), record)  # [G, T]
    outcome = jax.vmap(env.team_margin, (0, None))(final, 0)
    positions = jax.vmap(_with_values, (0, 0, None, None))(
        record, outcome, search_config.lone_transformer, config
    )
    demanded, evaluated, random_plays = jnp.sum(counts, axis=0)
    return positions, SelfPlayStats(demanded, evaluated, jnp.sum(outcome), random_plays)


def _imagined(keys: jax.Array, states: env.GameState, count: int) -> env.GameState:
    """`count` states for each game, [G x count], as its mover may imagine it: the hidden cards are
    dealt uniformly among the others."""

    def of_game(key, state):
        seen = view(state, env.player_to_move(state))
        return jax.vmap(with_deal, (None, 0))(seen, sample(key, seen, count))

    imagined = jax.vmap(of_game)(keys, states)
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), imagined)


def _averaged(result: SearchResult, count: int) -> SearchResult:
    """What the searches of the imagined states of each game say together."""
    q, visits = (leaf.reshape(-1, count, NUM_CARDS) for leaf in (result.q, result.visits))
    return result.replace(q=jnp.mean(q, axis=1), visits=jnp.sum(visits, axis=1))


def _pick_card(key, q, legal, random_play):
    """The best card, or with probability `random_play` any legal one."""
    best_key, flag_key, card_key = jax.random.split(key, 3)
    at_random = jax.random.uniform(flag_key) < random_play
    drawn = random_card(jax.random.uniform(card_key), legal).astype(jnp.int8)
    return jnp.where(at_random, drawn, best_card(best_key, q, legal)), at_random


def _with_values(record, outcome, lone_transformer: int, config: SelfPlayConfig) -> Positions:
    """Positions [T] of one game."""
    states = record["state"]
    mover = jax.vmap(env.player_to_move)(states)
    margin = jax.vmap(lambda s, m: env.team_margin(s, m, lone_transformer=lone_transformer))
    value = value_targets(
        record["best"],
        record["searched"],
        record["loss"],
        margin(states, mover).astype(jnp.float32),
        mover,
        outcome,
        config.td_lambda,
        config.blunder,
    )
    return Positions(states, record["policy"], value, record["searched"])
