"""One table as a state machine: seats, tokens, games, plays and time limits.

It has no clock, no network and no storage. Every method takes the time, `now` in seconds of any
steady clock, where it matters, changes the table, and returns the effects that its caller has to
carry out in order. A request that is refused raises `ArenaError` and changes nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from gongzhu_jax.arena.deals import Deal, DealFn
from gongzhu_jax.arena.effects import (
    Ask,
    By,
    Closed,
    Effect,
    Phase,
    Save,
    SavePlay,
    Send,
    StoreGame,
)
from gongzhu_jax.arena.seats import Seat, TableRules, clients, place_of
from gongzhu_jax.arena.table_game import TableGame
from gongzhu_jax.arena.table_messages import (
    game_end_message,
    played_message,
    trick_end_message,
    view_message,
)
from gongzhu_jax.errors import ArenaError, IllegalPlayError
from gongzhu_jax.game.cards import NUM_SEATS


class Table:
    def __init__(
        self,
        table_id: str,
        seats: Sequence[str | None],
        rules: TableRules,
        deal: DealFn,
        now: float,
        preparing: Iterable[str] = (),
    ) -> None:
        self.id = table_id
        self.rules = rules
        self.seats = [Seat(player=player) for player in seats]
        self.preparing = set(preparing)  # our players whose programs are still being compiled
        self.game: TableGame | None = None
        self.deal: Deal | None = None
        self.games_finished = 0
        self.totals = [0] * NUM_SEATS  # points of each seat over the games of this table
        self.names: tuple[str, ...] = ()  # who sat where when the game began
        self._phase = Phase.WAITING
        self._deal_fn = deal
        self.late: list[list[int | str]] = []  # [seat, stage, by] of moves not made by the seat
        self._since = now  # the last time anything happened
        self._deadline: float | None = None  # of the move to come

    @property
    def phase(self) -> Phase:
        waits = self._phase is Phase.WAITING and self.preparing
        return Phase.PREPARING if waits else self._phase

    def sit(self, seat: int, name: str, now: float) -> tuple[str, list[Effect]]:
        """Takes a free seat; the token that owns it from now on."""
        self._check_between_games()
        place = place_of(self.seats, seat)
        if not place.free:
            raise ArenaError("taken", f"seat {seat} is taken")
        token = place.take(name)
        self._since = now
        return token, [Save(), self._announce()]

    def reconnect(self, seat: int, token: str, now: float) -> list[Effect]:
        """The owner of a seat is back: it gets everything it may know."""
        self._check_open()
        place = place_of(self.seats, seat)
        place.check_owner(token)
        place.connected = True
        self._since = now
        effects: list[Effect] = [self._announce()]
        return effects if self.game is None else [*effects, self._view(seat, now)]

    def disconnect(self, seat: int, now: float) -> list[Effect]:
        """The client of a seat is gone for now; its time goes on."""
        place = place_of(self.seats, seat)
        place.connected, place.left = False, now
        return [] if self._phase is Phase.CLOSED else [self._announce()]

    def leave(self, seat: int, now: float, *, match_ends: bool = False) -> list[Effect]:
        """Gives a seat up. In a game the rest of it is played by the clock, without waiting."""
        self._check_open()
        if self.rules.match is not None and not match_ends:
            raise ArenaError("forbidden", "a seat in a match cannot be given up")
        place_of(self.seats, seat).clear()
        self._since = now
        effects: list[Effect] = [Save(), self._announce()]
        if not match_ends and not any(other.token for other in self.seats):
            return [*effects, *self.close("everybody has left")]
        if self.game is not None and self._phase is Phase.PLAYING and self.game.mover == seat:
            effects += self._next(now)
        return effects

    # play

    def ready(self, seat: int, now: float) -> list[Effect]:
        """A client wants the next game; it begins when all do."""
        self._check_between_games()
        place_of(self.seats, seat).ready = True
        self._since = now
        return self.start(now) if self._all_ready() else [self._announce()]

    def prepared(self, player: str, now: float) -> list[Effect]:
        """The program of one of our players is compiled: what waited for it goes on."""
        if player not in self.preparing or self._phase is Phase.CLOSED:
            return []
        self.preparing.discard(player)
        self._since = now
        if self._phase is Phase.PLAYING and not self.preparing:
            return [self._announce(), *self._next(now)]
        return self.start(now) if self._all_ready() else [self._announce()]

    def start(self, now: float) -> list[Effect]:
        """Deals the next game."""
        self.deal = self._deal_fn(self.games_finished)
        self.game = TableGame(self.deal.owners, self.deal.leader)
        self._phase = Phase.PLAYING
        self.late = []
        self.names = tuple(place.label or "nobody" for place in self.seats)
        for place in self.seats:
            place.ready = False
        effects: list[Effect] = [Save(), self._announce()]
        others = [seat for seat in clients(self.seats) if seat != self.game.mover]
        # Whoever wants turns only learns of the game when its turn comes.
        effects += [replace(self._view(seat, now), essential=False) for seat in others]
        return effects + self._next(now)

    def resume(self, deal: Deal, plays: Iterable[tuple[int, By]], now: float) -> list[Effect]:
        """Goes on with a game that was begun before the server was stopped."""
        self.deal, self._phase = deal, Phase.PLAYING
        self.game = TableGame(deal.owners, deal.leader)
        for card, by in plays:
            if by is not By.SEAT:
                self.late.append([self.game.mover, self.game.stage, by])
            self.game.play_checked(card)
        return self._finish() if self.game.is_over else self._next(now)

    def play(self, seat: int, stage: int, card: int, now: float, by: By = By.SEAT) -> list[Effect]:
        """A card from whoever sits at `seat`, meant as play number `stage`."""
        game = self._played_game()
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
            SavePlay(stage, card, by),
            played_message(self.id, stage, seat, card, by),
        ]
        if winner is not None:
            effects.append(trick_end_message(self.id, game))
        return effects + (self._finish() if game.is_over else self._next(now))

    def clock_play(self, now: float, by: By = By.CLOCK) -> list[Effect]:
        """Plays the lowest legal card for the seat to move."""
        game = self._played_game()
        self.late.append([game.mover, game.stage, by])
        return self.play(game.mover, game.stage, game.legal()[0], now, by)

    def tick(self, now: float) -> list[Effect]:
        """What the passing of time brings."""
        if self._deadline is not None and now >= self._deadline:
            return self.clock_play(now)
        if self._phase is Phase.WAITING and now - self._since > self.rules.idle_seconds:
            return self.close("nothing happened for too long")
        gone = [seat for seat in clients(self.seats) if not self.seats[seat].connected]
        if not gone or self.rules.match is not None:
            return []  # games of matches go on by the clock
        if self._phase is Phase.WAITING:
            waits = self.rules.seat_seconds
            expired = [seat for seat in gone if now - self.seats[seat].left > waits]
            return self.leave(expired[0], now) if expired else []
        alone = len(gone) == len(clients(self.seats)) and self._phase is Phase.PLAYING
        last = max(self.seats[seat].left for seat in gone)
        if alone and now - last > self.rules.idle_seconds:
            return self.close("everybody has gone")
        return []

    def recorded(self, game_id: int, now: float) -> list[Effect]:
        """The game is stored under `game_id`: now it may be told."""
        assert self.game is not None
        assert self._phase is Phase.RECORDING
        scores = self.game.scores()
        self.totals = [total + points for total, points in zip(self.totals, scores, strict=True)]
        self.games_finished += 1
        self._phase = Phase.WAITING
        self._since = now
        show = self.rules.match is None
        end = game_end_message(self.id, game_id, self.game, self.totals, show_hands=show)
        effects: list[Effect] = [Save(), end, self._announce()]
        if self.rules.games is not None and self.games_finished >= self.rules.games:
            effects += self.close("all games are played")
        return effects

    def close(self, reason: str) -> list[Effect]:
        unfinished = self._phase in (Phase.PLAYING, Phase.RECORDING)
        self._phase = Phase.CLOSED
        self._deadline = None
        message = {"type": "closed", "table": self.id, "reason": reason}
        return [Send(None, message), Closed(reason, unfinished)]

    def summary(self) -> dict[str, Any]:
        """What anybody may know of the table."""
        return {
            "table": self.id,
            "phase": self.phase,
            "preparing": sorted(self.preparing),
            "seats": [place.summary() for place in self.seats],
            **self.rules.summary(),
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
        game = self._played_game()
        if game.mover != seat or game.stage != stage:
            raise ArenaError("turn", "only the move to come can be analysed, by its player")
        return game

    def _check_open(self) -> None:
        if self._phase is Phase.CLOSED:
            raise ArenaError("closed", "the table is closed")

    def _check_between_games(self) -> None:
        self._check_open()
        if self._phase is not Phase.WAITING:
            raise ArenaError("phase", "a game is being played")

    def _played_game(self) -> TableGame:
        self._check_open()
        if self.game is None or self._phase is not Phase.PLAYING:
            raise ArenaError("phase", "no game is being played")
        return self.game

    def _all_ready(self) -> bool:
        full = not any(place.free for place in self.seats) and not self.preparing
        playing = clients(self.seats)
        return full and bool(playing) and all(self.seats[seat].ready for seat in playing)

    def _announce(self) -> Send:
        return Send(None, {"type": "table", **self.summary()}, essential=False)

    def _view(self, seat: int, now: float) -> Send:
        assert self.game is not None
        turn = self._phase is Phase.PLAYING and self.game.mover == seat and not self.preparing
        left = self.remaining(now)
        return view_message(self.id, self.games_finished, self.game, seat, turn=turn, seconds=left)

    def _next(self, now: float) -> list[Effect]:
        """Gets the next card: from a client, from one of our players, or by itself."""
        assert self.game is not None
        self._deadline = None
        if self.preparing:
            return []
        seat = self.game.mover
        place = self.seats[seat]
        if place.token is not None:
            self._deadline = now + self.rules.move_seconds + self.rules.animation_seconds
            return [self._view(seat, now)]
        if place.player is None:
            return self.clock_play(now)
        self._deadline = now + self.rules.own_seconds
        return [Ask(place.player, seat, self.game.stage)]

    def _finish(self) -> list[Effect]:
        assert self.game is not None
        assert self.deal is not None
        self._phase = Phase.RECORDING
        self._deadline = None
        metadata = {"table": self.id, "match": self.rules.match, **self.deal.metadata}
        return [StoreGame(self.game.record(self.names, {**metadata, "late": self.late}))]
