"""Two players that are partners, as one player of a match: teams need not be of one kind.

It cannot be made by name, as it is a team and nobody's opponent at a table.
"""

import functools
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from gongzhu_jax.errors import PlayerError
from gongzhu_jax.game.cards import NUM_SEATS
from gongzhu_jax.game.public_view import PublicView
from gongzhu_jax.players.protocol import BatchFn, Player, SeesAll, raise_failure


@dataclass(frozen=True)
class Partner:
    """One of the two."""

    name: str
    config: Any


@dataclass(frozen=True)
class PartnersConfig:
    """Who sits at seats 0 and 1, and who opposite, at 2 and 3."""

    first: Partner
    second: Partner


def partners(first: Player, second: Player) -> Player:
    """The team of `first`, at seat 0 or 1, and `second`, at seat 2 or 3."""
    if any(isinstance(one.act_batch, SeesAll) for one in (first, second)):
        raise PlayerError("a player that sees all hands has no partner of another kind")
    config = PartnersConfig(*(Partner(one.name, one.config) for one in (first, second)))
    act = _act(first.act_batch, second.act_batch)
    return Player(f"{first.name} + {second.name}", config, act, (first.params, second.params))


@functools.cache  # because jit keys its cache on the function object
def _act(first: BatchFn, second: BatchFn) -> BatchFn:
    return _Team(first, second)


class _Team:
    """How the two play, as one player."""

    def __init__(self, first: BatchFn, second: BatchFn) -> None:
        self._partners = (first, second)

    def __call__(self, params: Any, keys: jax.Array, views: PublicView) -> jax.Array:
        of_first, of_second = (
            act(own, keys, views).astype(jnp.int8)
            for act, own in zip(self._partners, params, strict=True)
        )
        return jnp.where(views.seat < NUM_SEATS // 2, of_first, of_second)

    def raise_failure(self) -> None:
        """Raises what went wrong in host code of one of the two (`Player.raise_failure`)."""
        for act in self._partners:
            raise_failure(act)
