"""One table as a state machine: seats, tokens, games, plays and time limits.

It has no clock, no network and no storage. Every method takes the time, `now` in seconds of any
steady clock, where it matters, changes the table, and returns the effects that its caller has to
carry out in order. A request that is refused raises `ArenaError` and changes nothing.
"""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from gongzhu_jax.arena.seat_view import last_trick_json, names, seat_view
from gongzhu_jax.arena.table_game import TableGame
from gongzhu_jax.errors import ArenaError, IllegalPlayError
from gongzhu_jax.game.cards import CARD_NAMES, NUM_SEATS
from gongzhu_jax.records import Record


class Phase(StrEnum):
    WAITING = "waiting"  # for seats to be taken, or for players to be ready
    PLAYING = "playing"
    RECORDING = "recording"  # the game is over and on its way to storage
    CLOSED = "closed"


class By(StrEnum):
    """Who chose a card."""

    SEAT = "seat"
    CLOCK = "clock"  # the time was up: the lowest legal card
    FAULT = "fault"  # one of our players failed: the lowest legal card


@dataclass(frozen=True)
class GameKey:
    """What the random choices of our players in one game come from."""

    seed: int
    number: int
    rotation: int


@dataclass(frozen=True)
class Deal:
    owners: Sequence[int]  # [52]
    leader: int
    key: GameKey
    metadata: dict[str, Any] = field(default_factory=dict)


DealFn = Callable[[int], Deal]
"""The deal of game 0, 1, ... of a table."""


# effects


@dataclass(frozen=True)
class Send:
    """A message to one seat, or to all seats with a client."""

    seat: int | None
    message: dict[str, Any]
    essential: bool = True  # False: clients that asked for turns only do not get it


@dataclass(frozen=True)
class Ask:
    """One of our players has to choose a card."""

    player: str
    seat: int
    stage: int


@dataclass(frozen=True)
class Opened:
    """A game has begun."""


@dataclass(frozen=True)
class Store:
    """A game is over. `Table.recorded` must be called when it is stored."""

    record: Record


@dataclass(frozen=True)
class Closed:
    """The table is no more; `unfinished` says whether a game was lost with it."""

    reason: str
    unfinished: bool


Effect = Send | Ask | Opened | Store | Closed


@dataclass
class Seat:
    """A place at the table: of one of our players, of a client with a token, or free."""

    player: str | None = None  # name of our player
    name: str | None = None  # of the client
    token: str | None = None
    ready: bool = False
    connected: bool = False

    @property
    def free(self) -> bool:
        return self.player is None and self.token is None

    @property
    def label(self) -> str | None:
        return self.player or self.name

    def clear(self) -> None:
        self.name = self.token = None
        self.ready = self.connected = False


@dataclass(frozen=True)
class TableRules:
    """How a table is run."""

    move_seconds: float
    own_seconds: float
    idle_seconds: float
    analysis: bool = False
    games: int | None = None  # after which it closes; None: as long as players are ready
    match: int | None = None
    invitation: str | None = None  # needed to sit down or watch; such a table is not listed
    daily: str | None = None  # the day whose deal is played here
    animation_seconds: float = 0.0  # before the clock of a move starts, to show what was played


class Table:
    def __init__(
        self,
        table_id: str,
        seats: Sequence[str | None],
        rules: TableRules,
        deal: DealFn,
        now: float,
    ) -> None:
        self.id = table_id
        self.rules = rules
        self.seats = [Seat(player=player) for player in seats]
        self.phase = Phase.WAITING
        self.game: TableGame | None = None
        self.deal: Deal | None = None
        self.games_finished = 0
        self.totals = [0] * NUM_SEATS  # points of each seat over the games of this table
        self._deal_fn = deal
        self._names: tuple[str, ...] = ()  # who sat where when the game began
        self._late: list[list[int | str]] = []  # [seat, stage, by] of moves not made by the seat
        self._left_alone = now  # the last time that a client went away
        self._since = now  # the last time anything happened
        self._deadline: float | None = None  # of the move to come

    # seats

    def sit(self, seat: int, name: str, now: float) -> tuple[str, list[Effect]]:
        """Takes a free seat; the token that owns it from now on."""
        self._check_open()
        if self.phase is not Phase.WAITING:
            raise ArenaError("phase", "a game is being played")
        place = self._place(seat)
        if not place.free:
            raise ArenaError("taken", f"seat {seat} is taken")
        place.name, place.token = name, secrets.token_urlsafe(16)
        place.ready, place.connected = False, True
        self._since = now
        return place.token, [self._announce()]

    def reconnect(self, seat: int, token: str, now: float) -> list[Effect]:
        """The owner of a seat is back: it gets everything it may know."""
        self._check_open()
        place = self.owned(seat, token)
        place.connected = True
        self._since = now
        effects: list[Effect] = [self._announce()]
        return effects if self.game is None else [*effects, self._view(seat, now)]

    def disconnect(self, seat: int, now: float) -> list[Effect]:
        """The client of a seat is gone for now; its time goes on."""
        self._place(seat).connected = False
        self._left_alone = now
        return [] if self.phase is Phase.CLOSED else [self._announce()]

    def leave(self, seat: int, now: float) -> list[Effect]:
        """Gives a seat up. In a game the rest of it is played by the clock, without waiting."""
        self._check_open()
        place = self._place(seat)
        if self.rules.match is not None:
            raise ArenaError("forbidden", "a seat in a match cannot be given up")
        place.clear()
        self._since = now
        effects: list[Effect] = [self._announce()]
        if not any(other.token for other in self.seats):
            return [*effects, *self.close("everybody has left")]
        if self.game is not None and self.phase is Phase.PLAYING and self.game.mover == seat:
            effects += self._next(now)
        return effects

    def owned(self, seat: int, token: str) -> Seat:
        """The seat, if it belongs to the token."""
        place = self._place(seat)
        if place.token is None or not secrets.compare_digest(
            place.token.encode(), token.encode("utf-8", "surrogatepass")
        ):
            raise ArenaError("forbidden", f"that token does not own seat {seat}")
        return place

    # play

    def ready(self, seat: int, now: float) -> list[Effect]:
        """A client wants the next game; it begins when all do."""
        self._check_open()
        if self.phase is not Phase.WAITING:
            raise ArenaError("phase", "a game is being played")
        place = self._place(seat)
        place.ready = True
        self._since = now
        if any(other.free for other in self.seats) or not all(
            other.ready for other in self.seats if other.token
        ):
            return [self._announce()]
        return self.start(now)

    def start(self, now: float) -> list[Effect]:
        """Deals the next game."""
        self.deal = self._deal_fn(self.games_finished)
        self.game = TableGame(self.deal.owners, self.deal.leader)
        self.phase = Phase.PLAYING
        self._late = []
        self._names = tuple(place.label or "nobody" for place in self.seats)
        for place in self.seats:
            place.ready = False
        effects: list[Effect] = [Opened(), self._announce()]
        others = [seat for seat in self._clients() if seat != self.game.mover]
        # Whoever wants turns only learns of the game when its turn comes.
        effects += [replace(self._view(seat, now), essential=False) for seat in others]
        return effects + self._next(now)

    def play(self, seat: int, stage: int, card: int, now: float, by: By = By.SEAT) -> list[Effect]:
        """A card from whoever sits at `seat`, meant as play number `stage`."""
        self._check_open()
        game = self.game
        if game is None or self.phase is not Phase.PLAYING:
            raise ArenaError("phase", "no game is being played")
        if stage != game.stage:
            when = "late" if stage < game.stage else "early"
            raise ArenaError(when, f"play {stage} was meant, the table is at play {game.stage}")
        if seat != game.mover:
            raise ArenaError("turn", f"it is the turn of seat {game.mover}, not of seat {seat}")
        try:
            winner = game.play_checked(card)
        except IllegalPlayError as error:
            raise ArenaError("illegal", str(error)) from error
        self._since = now
        effects: list[Effect] = [
            Send(
                None,
                {
                    "type": "played",
                    "table": self.id,
                    "stage": stage,
                    "seat": seat,
                    "card": CARD_NAMES[card],
                    "by": by,
                },
                essential=False,
            )
        ]
        if winner is not None:
            effects.append(self._trick_end())
        return effects + (self._finish() if game.is_over else self._next(now))

    def clock_play(self, now: float, by: By = By.CLOCK) -> list[Effect]:
        """Plays the lowest legal card for the seat to move."""
        game = self.game
        if game is None or self.phase is not Phase.PLAYING:
            raise ArenaError("phase", "no game is being played")
        self._late.append([game.mover, game.stage, by])
        return self.play(game.mover, game.stage, game.legal()[0], now, by)

    def tick(self, now: float) -> list[Effect]:
        """What the passing of time brings."""
        if self._deadline is not None and now >= self._deadline:
            return self.clock_play(now)
        idle = now - self._since > self.rules.idle_seconds
        if idle and self.phase is Phase.WAITING:
            return self.close("nothing happened for too long")
        if self._deserted(now):
            return self.close("everybody has gone")
        return []

    def recorded(self, game_id: int, now: float) -> list[Effect]:
        """The game is stored under `game_id`: now it may be told."""
        game = self.game
        assert game is not None
        assert self.phase is Phase.RECORDING
        scores = game.scores()
        self.totals = [total + points for total, points in zip(self.totals, scores, strict=True)]
        self.games_finished += 1
        self.phase = Phase.WAITING
        self._since = now
        effects: list[Effect] = [
            Send(
                None,
                {
                    "type": "game_end",
                    "table": self.id,
                    "game": game_id,
                    "scores": scores,
                    "totals": self.totals,
                    "hands": [
                        names(c for c in range(len(game.dealt)) if game.dealt[c] == seat)
                        for seat in range(NUM_SEATS)
                    ],
                    "plays": names(game.plays),
                    "leader": game.leader,
                    "last_trick": last_trick_json(game),
                },
            ),
            self._announce(),
        ]
        if self.rules.games is not None and self.games_finished >= self.rules.games:
            effects += self.close("all games are played")
        return effects

    def close(self, reason: str) -> list[Effect]:
        unfinished = self.phase is Phase.PLAYING
        self.phase = Phase.CLOSED
        self._deadline = None
        message = {"type": "closed", "table": self.id, "reason": reason}
        return [Send(None, message), Closed(reason, unfinished)]

    # looking at it

    def summary(self) -> dict[str, Any]:
        """What anybody may know of the table."""
        return {
            "table": self.id,
            "phase": self.phase,
            "private": self.rules.invitation is not None,
            "daily": self.rules.daily,
            "seats": [
                {
                    "name": place.label,
                    "kind": "player" if place.player else "client" if place.token else "free",
                    "ready": place.ready,
                    "connected": place.connected,
                }
                for place in self.seats
            ],
            "seconds": self.rules.move_seconds,
            "analysis": self.rules.analysis,
            "match": self.rules.match,
            "games": self.games_finished,
            "totals": self.totals,
        }

    def remaining(self, now: float) -> float | None:
        """Seconds until the clock makes the move to come."""
        if self._deadline is None:
            return None
        left = self._deadline - now
        if self.game is not None and self.seats[self.game.mover].token is not None:
            left = min(left, self.rules.move_seconds)  # the animation comes before
        return round(max(0.0, left), 1)

    def analysed_game(self, seat: int, stage: int) -> TableGame:
        """The game, if `seat` may ask now what an expert would think of its view."""
        if not self.rules.analysis:
            raise ArenaError("forbidden", "this table was made without analysis")
        if self.game is None or self.phase is not Phase.PLAYING:
            raise ArenaError("phase", "no game is being played")
        if self.game.mover != seat or self.game.stage != stage:
            raise ArenaError("turn", "only the move to come can be analysed, by its player")
        return self.game

    def check_invitation(self, invitation: str | None) -> None:
        """Whether somebody with this invitation may sit down or watch."""
        wanted, given = self.rules.invitation, (invitation or "")
        if wanted is not None and not secrets.compare_digest(
            wanted.encode(), given.encode("utf-8", "surrogatepass")
        ):
            raise ArenaError("forbidden", "this table is private: its invitation is needed")

    # inside

    def _check_open(self) -> None:
        if self.phase is Phase.CLOSED:
            raise ArenaError("closed", "the table is closed")

    def _place(self, seat: int) -> Seat:
        if not 0 <= seat < NUM_SEATS:
            raise ArenaError("seat", f"a seat is a number from 0 to 3, not {seat}")
        return self.seats[seat]

    def _deserted(self, now: float) -> bool:
        """Games of matches go on by the clock; others end when nobody comes back."""
        if self.rules.match is not None or any(place.connected for place in self.seats):
            return False
        gone = now - self._left_alone > self.rules.idle_seconds
        return gone and self.phase is Phase.PLAYING

    def _clients(self) -> list[int]:
        return [seat for seat, place in enumerate(self.seats) if place.token]

    def _announce(self) -> Send:
        return Send(None, {"type": "table", **self.summary()}, essential=False)

    def _view(self, seat: int, now: float) -> Send:
        """Everything that a seat may know, as it is its turn, or the game begins or goes on."""
        assert self.game is not None
        turn = self.phase is Phase.PLAYING and self.game.mover == seat
        message = {
            "type": "turn" if turn else "view",
            "table": self.id,
            "number": self.games_finished,
            "view": seat_view(self.game, seat),
            "seconds": self.remaining(now),
        }
        return Send(seat, message)

    def _trick_end(self) -> Send:
        assert self.game is not None
        message = {
            "type": "trick_end",
            "table": self.id,
            "number": self.game.stage // NUM_SEATS - 1,
            "trick": last_trick_json(self.game),
            "scores": self.game.scores(),
        }
        return Send(None, message, essential=False)

    def _next(self, now: float) -> list[Effect]:
        """Gets the next card: from a client, from one of our players, or by itself."""
        assert self.game is not None
        seat = self.game.mover
        place = self.seats[seat]
        if place.token is not None:
            self._deadline = now + self.rules.move_seconds + self.rules.animation_seconds
            return [self._view(seat, now)]
        if place.player is None:
            return self.clock_play(now)
        legal = self.game.legal()
        if len(legal) == 1:
            # As in our matches, nobody is asked when there is no choice.
            return self.play(seat, self.game.stage, legal[0], now)
        self._deadline = now + self.rules.own_seconds
        return [Ask(place.player, seat, self.game.stage)]

    def _finish(self) -> list[Effect]:
        assert self.game is not None
        assert self.deal is not None
        self.phase = Phase.RECORDING
        self._deadline = None
        metadata = {"table": self.id, "match": self.rules.match, **self.deal.metadata}
        return [
            Store(
                Record(
                    deal=tuple(self.game.dealt),
                    leader=self.game.leader,
                    plays=tuple(self.game.plays),
                    players=self._names,
                    scores=tuple(self.game.scores()),
                    metadata={**metadata, "late": self._late},
                )
            )
        ]
