"""What a player is: a pure function of (parameters, key, view) to a card, with a name.

The function is written for a batch of games, because the strong players sort and compact their
work over the batch. Each game has its own key, and the choice in one game never depends on the
other games of the batch.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer

from gongzhu_jax.errors import PlayerError
from gongzhu_jax.game.cards import card_names
from gongzhu_jax.game.env import GameState
from gongzhu_jax.game.public_view import PublicView

Params = Any
BatchFn = Callable[[Params, jax.Array, PublicView], jax.Array]
"""(params, keys [B], views [B]) -> cards int8[B]"""
ProbabilityFn = Callable[[Params, PublicView], jax.Array]
"""(params, view) -> float32[52]"""


@dataclass(frozen=True, eq=False)
class SeesAll:
    """Marks the function of a player that is given the whole state, hidden cards included. Only
    for measuring what knowing them is worth: such a player cannot act on a view."""

    act: Callable[[Params, jax.Array, GameState], jax.Array]

    def __call__(self, params: Params, keys: jax.Array, states: Any) -> jax.Array:
        if isinstance(states, PublicView):
            raise PlayerError("this player needs to see all hands, and a view does not show them")
        return self.act(params, keys, states)


@dataclass(frozen=True)
class Player:
    """A named player with its options. Make one with `gongzhu_jax.players.make`."""

    name: str
    config: Any  # frozen dataclass of the options
    act_batch: BatchFn
    params: Params = field(default=(), repr=False)
    probabilities_fn: ProbabilityFn | None = field(default=None, repr=False)

    def act(self, view: PublicView, key: jax.Array | None = None) -> jax.Array:
        """The card, int8, for the view of the seat to move, as `game.view` or `game.make_view`
        made it. Without a key the player's random choices are always the same.

        Raises:
          PlayerError: it is not the viewer's turn.
        """
        card = self._compiled(self.params, *as_batch(view, key))[0]
        if not isinstance(card, Tracer):
            card.block_until_ready()  # host code of the player, if it has any, has run then
            self.raise_failure()
        return card

    def play(self, view: PublicView, key: jax.Array | None = None) -> str:
        """The name of the card that `act` chooses, such as "S3"."""
        return card_names(self.act(view, key))

    def raise_failure(self) -> None:
        """Raises what went wrong in host code of this player while a compiled program asked it.

        Exceptions cannot leave a program: `gongzhu_jax.players.plain` keeps the first one.
        """
        raise_failure(self.act_batch)

    def probabilities(self, view: PublicView) -> jax.Array:
        """Probability of each card, float32[52], where the player has a closed form."""
        if self.probabilities_fn is None:
            raise NotImplementedError(f"player {self.name!r} has no closed form")
        return self.probabilities_fn(self.params, view)

    @cached_property
    def _compiled(self) -> BatchFn:
        return jax.jit(self.act_batch)


def raise_failure(act: BatchFn) -> None:
    """Raises what went wrong in host code of the player that acts so, if it has any."""
    failure = getattr(act, "raise_failure", None)
    if failure is not None:
        failure()


def as_batch(view: PublicView, key: jax.Array | None) -> tuple[jax.Array, PublicView]:
    """A key and a view with a leading axis 1; `PlayerError` if it is not the viewer's turn."""
    if not isinstance(view.stage, Tracer) and int(view.to_move) != int(view.seat):
        raise PlayerError(f"it is the turn of seat {view.to_move}, not of seat {view.seat}")
    key = jax.random.key(0) if key is None else key
    return jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], (key, view))


def from_single(act: Callable[[jax.Array, PublicView], jax.Array]) -> BatchFn:
    """The batch form of a player without parameters that is written for one game."""
    return lambda params, keys, views: jax.vmap(act)(keys, views)
