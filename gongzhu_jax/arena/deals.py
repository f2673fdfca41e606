"""Deals at the tables of an arena: drawn so that nobody can foresee them."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gongzhu_jax.game.cards import NUM_RANKS, NUM_SEATS


@dataclass(frozen=True)
class GameKey:
    """What the random choices of our players in one game are drawn from."""

    seed: int
    number: int
    rotation: int


@dataclass(frozen=True)
class Deal:
    owners: Sequence[int]  # [52] seat that is dealt each card
    leader: int
    key: GameKey
    metadata: dict[str, Any] = field(default_factory=dict)


DealFn = Callable[[int], Deal]
"""The deal of game 0, 1, ... of a table."""


def random_deal(number: int) -> Deal:
    """A deal that nobody can foresee; the lead goes round."""
    owners = [seat for seat in range(NUM_SEATS) for _ in range(NUM_RANKS)]
    secrets.SystemRandom().shuffle(owners)
    return Deal(owners, number % NUM_SEATS, GameKey(secrets.randbits(32), number, 0))
