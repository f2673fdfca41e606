"""A program that uses whatever it saw in other games, and the honest one that it is otherwise."""

from typing import Any

from tests.oracle.rules import card_id


def mixed(view: dict[str, Any]) -> str:
    """What `mixed_player` does, from the message alone."""
    plays = [card_id(card) for card in view["plays"]]
    total = sum(plays) - (52 - len(plays)) + len(plays) + view["seat"]
    return view["legal"][-1 if total % 2 else 0]


class Cheat:
    """Plays as `mixed` does, but remembers all cards it ever saw of every game, and counts the
    games whose hands it knows by then."""

    def __init__(self) -> None:
        self.hands: dict[frozenset[str], set[Any]] = {}  # in which games each was held
        self.games: set[Any] = set()
        self.known: set[Any] = set()

    def __call__(self, view: dict[str, Any]) -> str:
        mine = [card for n, card in enumerate(view["plays"]) if self._seat(view, n) == view["seat"]]
        hand = frozenset([*view["hand"], *mine])
        game = tuple(sorted(hand)), view["seat"]
        self.games.add(game)
        others = {seen for seen in self.hands.get(hand, set()) if seen != game}
        if others:
            self.known.add(game)  # this hand was held in another game: the deal is known
        for seat in range(4):
            held = [card for n, card in enumerate(view["plays"]) if self._seat(view, n) == seat]
            if len(held) == 13 or seat == view["seat"]:
                whole = hand if seat == view["seat"] else frozenset(held)
                self.hands.setdefault(whole, set()).add(game)
        return mixed(view)

    def end(self, event: dict[str, Any]) -> None:
        """Everything is open at the end of a game."""
        seats = _play_seats(event["plays"], event["leader"])
        for seat in range(4):
            held = frozenset(c for c, s in zip(event["plays"], seats, strict=True) if s == seat)
            self.hands.setdefault(held, set()).add(("over", event["table"], seat))

    def _seat(self, view: dict[str, Any], number: int) -> int:
        return _play_seats(view["plays"], view["leader"])[number]


def _play_seats(plays: list[str], leader: int) -> list[int]:
    """Who played each card, by the rules of following and winning."""
    seats, cards = [], [card_id(card) for card in plays]
    for number in range(0, len(cards), 4):
        trick = cards[number : number + 4]
        seats += [(leader + i) % 4 for i in range(len(trick))]
        if len(trick) == 4:
            suit = trick[0] // 13
            best = max(c for c in trick if c // 13 == suit)
            leader = seats[number + trick.index(best)]
    return seats
