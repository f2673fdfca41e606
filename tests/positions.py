"""Positions for tests: random ones, and those of the golden records, in batches."""

from collections.abc import Sequence
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


def random_states(seed: int, stages: Sequence[int]) -> env.GameState:
    """One game of random legal plays for each of `stages`, with so many cards played. [B]"""
    keys = jax.random.split(jax.random.key(seed), len(stages))
    return _random_states(keys, np.array(stages, np.int8))


@jax.jit
@jax.vmap
def _random_states(key: jax.Array, stage: jax.Array) -> env.GameState:
    deal_key, lead_key, play_key = jax.random.split(key, 3)
    state = env.deal(deal_key, jax.random.randint(lead_key, (), 0, NUM_SEATS))
    return play_random(play_key, state, stage)


@jax.jit
@jax.vmap
def mover_views(state: env.GameState) -> PublicView:
    """The view of the player to move in each game. [B]"""
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
    return _known_views(holder, leader, plays, seat)


@jax.jit
@jax.vmap
def _known_views(holder, leader, plays, seat) -> PublicView:
    return view(env.play_all(env.from_owners(holder, leader), plays), seat)
