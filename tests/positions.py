"""Positions for tests: random ones, and those of the golden records, in batches."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NOBODY, NUM_CARDS, NUM_SEATS
from gongzhu_jax.game.public_view import PublicView, pad_plays, view
from gongzhu_jax.game.random_play import play_random


def take(tree: Any, index: Any) -> Any:
    """Some games of a batch, or one of them."""
    return jax.tree.map(lambda leaf: leaf[index], tree)


SIZES = (64, 512)  # batches are filled up to one of these, so that few programs are compiled


def _filled_up(function: Callable[[Any], Any], tree: Any) -> Any:
    """`function` of a tree of leaves [B, ...], as NumPy arrays: parts of those need no compiled
    program."""
    count = len(jax.tree.leaves(tree)[0])
    index = np.resize(np.arange(count), next(size for size in SIZES if size >= count))
    return take(jax.device_get(function(take(tree, index))), slice(0, count))


def random_states(seed: int, stages: Sequence[int]) -> env.GameState:
    """One game of random legal plays for each of `stages`, with so many cards played. [B]"""
    return _filled_up(functools.partial(_random_states, seed), np.array(stages, np.int8))


@jax.jit
def _random_states(seed: jax.Array, stages: jax.Array) -> env.GameState:
    keys = jax.random.split(jax.random.key(seed), len(stages))  # the same first ones for any number
    return jax.vmap(_random_state)(keys, stages)


def _random_state(key: jax.Array, stage: jax.Array) -> env.GameState:
    deal_key, lead_key, play_key = jax.random.split(key, 3)
    state = env.deal(deal_key, jax.random.randint(lead_key, (), 0, NUM_SEATS))
    return play_random(play_key, state, stage)


def mover_views(states: env.GameState) -> PublicView:
    """The view of the player to move in each game. [B]"""
    return _filled_up(_mover_views, states)


@jax.jit
@jax.vmap
def _mover_views(state: env.GameState) -> PublicView:
    return view(state, env.player_to_move(state))


def random_views(seed: int, stages: Sequence[int]) -> PublicView:
    """The view of the player to move in random games at the given stages. [B]"""
    return mover_views(random_states(seed, stages))


def golden_views(records: Sequence[dict[str, Any]]) -> PublicView:
    """The view of `seat` in each record of leader, plays, seat and hand. [B]"""
    holder = np.full((len(records), NUM_CARDS), NOBODY, np.int8)
    for row, record in zip(holder, records, strict=True):
        row[record["hand"]] = record["seat"]
    leader = np.array([record["leader"] for record in records], np.int8)
    plays = np.stack([pad_plays(record["plays"]) for record in records])
    seat = np.array([record["seat"] for record in records], np.int8)
    return jax.device_get(_known_views(holder, leader, plays, seat))


@jax.jit
@jax.vmap
def _known_views(holder, leader, plays, seat) -> PublicView:
    return view(env.play_all(env.from_owners(holder, leader), plays), seat)
