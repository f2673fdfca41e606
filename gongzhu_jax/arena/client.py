"""The reference client: a program at a table, from a function that chooses a card.

    async with Client("ws://127.0.0.1:8765/ws", "my-bot") as client:
        results = await client.play_games(choose, seats=[None, "greed", "greed", "greed"], games=10)

`choose` gets the view of docs/arena.md and returns the name of one of `view["legal"]`.
"""

import asyncio
import inspect
import itertools
import json
from collections.abc import Callable, Sequence
from typing import Any, Self

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from gongzhu_jax.errors import ArenaError

Choose = Callable[[dict[str, Any]], Any]
"""(view) -> card name, or an awaitable of it"""


class Client:
    """One connection. What the server sends unasked waits in `events`."""

    def __init__(
        self, address: str, name: str, token: str | None = None, *, turns_only: bool = True
    ) -> None:
        self._address = address
        self._hello = {"name": name, "token": token, "turns_only": turns_only, "protocol": 1}
        self._ids = itertools.count()
        self._answers: dict[int, asyncio.Future] = {}
        self.events: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def __aenter__(self) -> Self:
        self._socket = await connect(self._address, max_size=2**20, compression=None)
        self._reader = asyncio.create_task(self._read())
        try:
            self.welcome = await self.ask("hello", **self._hello)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        self._reader.cancel()
        await self._socket.close()

    async def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Sends a message and waits for its answer; `ArenaError` if that is an error."""
        number = next(self._ids)
        waiting = self._answers[number] = asyncio.get_running_loop().create_future()
        try:
            await self.tell(kind, id=number, **fields)
            answer = await waiting
        finally:
            del self._answers[number]
        if answer["type"] == "error":
            raise ArenaError(answer["code"], answer["message"])
        return answer

    async def tell(self, kind: str, **fields: Any) -> None:
        """Sends a message without waiting."""
        await self._socket.send(json.dumps({"type": kind, **fields}))

    async def create(self, seats: Sequence[str | None], seat: int, **options: Any) -> str:
        """Makes a table and sits down at it; its id."""
        answer = await self.ask("create", seats=list(seats), seat=seat, **options)
        return answer["table"]

    async def play_games(
        self,
        choose: Choose,
        *,
        games: int = 1,
        seats: Sequence[str | None] = (None, "greed", "greed", "greed"),
        table: str | None = None,
        seat: int = 0,
    ) -> list[dict[str, Any]]:
        """Plays at a new table with these players, or at a seat of one that is there; the
        "game_end" messages."""
        if table is None:
            table = await self.create(seats, seat)
        else:
            await self.ask("sit", table=table, seat=seat)
        ended: list[dict[str, Any]] = []
        await self.tell("ready", table=table, seat=seat)
        while len(ended) < games:
            event = await self.next_event(choose)
            if event["type"] == "game_end":
                ended.append(event)
                if len(ended) < games:
                    await self.tell("ready", table=table, seat=seat)
        await self.ask("leave", table=table, seat=seat)
        return ended

    async def play_matches(
        self, choose: Choose, games: int = 8, *, challenges: bool = False
    ) -> None:
        """Takes part in matches, up to `games` games at a time, until cancelled. With `challenges`
        others may start them too."""
        await self.ask("available", games=games, challenges=challenges)
        while True:
            await self.next_event(choose)

    async def next_event(self, choose: Choose) -> dict[str, Any]:
        """The next event; if it is a turn, the card is played. `ArenaError` if the server refuses
        a card or is gone."""
        event = await self.events.get()
        if event["type"] == "turn":
            view = event["view"]
            card = choose(view)
            card = await card if inspect.isawaitable(card) else card
            where = {"table": event["table"], "seat": view["seat"], "stage": view["stage"]}
            await self.tell("play", card=card, **where)
        elif event["type"] == "error":
            raise ArenaError(event["code"], event["message"])
        return event

    async def _read(self) -> None:
        try:
            async for text in self._socket:
                message = json.loads(text)
                number = message.get("id")
                if message["type"] == "error" and number is None:
                    number = min(self._answers, default=None)  # it was too long to have its id read
                waiting = self._answers.get(number)
                if waiting is not None and not waiting.done():
                    waiting.set_result(message)
                else:
                    self.events.put_nowait(message)
        except ConnectionClosed:
            pass  # said below, to whoever waits
        finally:
            gone = {"type": "error", "code": "gone", "message": "the connection has ended"}
            for waiting in self._answers.values():
                if not waiting.done():
                    waiting.set_result(gone)
            self.events.put_nowait(gone)
