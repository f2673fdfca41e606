"""Players written in plain Python: a function from what a seat knows to a card.

Other players are compiled; in the program of a batch of games a function of the host is a call back
to it. So it plays through the same duplicate matches as everybody, one decision after the other. An
exception cannot leave a compiled program as it is: the first one is kept, cards are then played
without asking, and whoever ran the program raises it (`Player.raise_failure`).
"""

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax.errors import CardError, GongzhuError, IllegalPlayError, PlayerError
from gongzhu_jax.game.cards import CARD_NAMES, card_id
from gongzhu_jax.game.plain_view import plain_view
from gongzhu_jax.game.public_view import PublicView
from gongzhu_jax.players.host_calls import call_host
from gongzhu_jax.players.protocol import Player

ChooseFn = Callable[[dict[str, Any]], str | int]
"""(plain view) -> the name or the id of a legal card"""

SECONDS = 60.0
"""The limit of time for one card, unless a player is made with another."""


@dataclass(frozen=True)
class PlainConfig:
    """What is known about a function: where it comes from."""

    source: str = ""


def from_function(
    choose: ChooseFn, name: str, *, seconds: float = SECONDS, config: Any = None
) -> Player:
    """The player that asks `choose` for every card, and gives it up after `seconds`.

    `choose` gets the view of docs/own_player.md, with cards by name, and returns a legal card.
    """
    if not seconds > 0:
        raise PlayerError(f"the seconds for a card must be more than 0, not {seconds}")
    return Player(name, config or PlainConfig(), PlainAct(choose, name, seconds))


@dataclass(eq=False)
class PlainAct:
    """The batch form of a function of the host."""

    choose: ChooseFn
    name: str
    seconds: float
    failure: GongzhuError | None = field(default=None, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __call__(self, params: Any, keys: jax.Array, views: PublicView) -> jax.Array:
        cards = jax.ShapeDtypeStruct(views.stage.shape, jnp.int8)
        return call_host(self._choose_batch, cards, views)

    def raise_failure(self) -> None:
        """Raises the first error of a call, if there was one, and forgets it."""
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure

    def _choose_batch(self, views: PublicView) -> np.ndarray:
        cards: dict[bytes, int] = {}
        chosen = []
        for number in range(len(views.stage)):
            view: PublicView = jax.tree.map(lambda leaf, number=number: leaf[number], views)
            # A chunk that is not full repeats a game; people's functions are asked once.
            position = view.hand.tobytes() + view.plays.tobytes()
            if position not in cards:
                cards[position] = self._choose_card(plain_view(view))
            chosen.append(cards[position])
        return np.array(chosen, np.int8)

    def _choose_card(self, view: dict[str, Any]) -> int:
        with self._lock:  # devices call at the same time, and functions may keep notes
            if self.failure is None:
                try:
                    return self._checked(self._ask(view), view)
                except GongzhuError as error:
                    self.failure = error
        return card_id(view["legal"][0])

    def _ask(self, view: dict[str, Any]) -> Any:
        answers: queue.SimpleQueue = queue.SimpleQueue()

        def work() -> None:
            try:
                answers.put((self.choose(view), None))
            except BaseException as error:
                answers.put((None, error))

        # A thread that never ends must not keep the program from ending: daemons do not.
        threading.Thread(target=work, name=f"player-{self.name}", daemon=True).start()
        try:
            card, error = answers.get(timeout=self.seconds)
        except queue.Empty:
            raise PlayerError(
                f"player {self.name!r} took longer than {self.seconds:g} s for a card, with "
                f"{' '.join(view['hand'])} after {' '.join(view['plays']) or 'no play'}"
            ) from None
        if error is not None:
            raise PlayerError(
                f"player {self.name!r} failed: {type(error).__name__}: {error}"
            ) from error
        return card

    def _checked(self, card: Any, view: dict[str, Any]) -> int:
        try:
            chosen = card_id(card.item() if isinstance(card, np.generic | np.ndarray) else card)
        except (CardError, ValueError):
            raise PlayerError(
                f"player {self.name!r} returned {card!r}, which is no card; it may play "
                f"{' '.join(view['legal'])}"
            ) from None
        if CARD_NAMES[chosen] not in view["legal"]:
            raise IllegalPlayError(
                f"player {self.name!r} played {CARD_NAMES[chosen]} at play {view['stage'] + 1}; it "
                f"may play {' '.join(view['legal'])}"
            )
        return chosen
