"""Whatever a client says: no crash, no change to the tables of others, nothing learned."""

import asyncio
import json
import random
import re
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from gongzhu_jax.arena import messages
from gongzhu_jax.arena.connection import Connection
from gongzhu_jax.arena.service import Service, make_service
from gongzhu_jax.arena.session import Session
from gongzhu_jax.arena.settings import Settings
from gongzhu_jax.arena.table import Table
from gongzhu_jax.game.cards import CARD_NAMES

MESSAGES = 10_000
CARD = re.compile(r"\b[SHDC](?:10|[2-9JQKA])\b")
EXAMPLES = {"SQ", "H2", "C10"}  # names in the text of an error, whatever was sent


class Fuzz:
    """Texts from right to wrong: whole messages of the protocol, about a table that is there,
    some of them with fields changed, dropped, added, or with broken characters; and noise."""

    def __init__(self, seed: int, table: str) -> None:
        self._random = random.Random(seed)
        self._table = table

    def text(self) -> str | bytes:
        rng = self._random
        kind = rng.random()
        if kind < 0.05:
            return rng.randbytes(rng.randrange(60))
        if kind < 0.1:
            return "".join(chr(rng.randrange(1, 0xD000)) for _ in range(rng.randrange(60)))
        message = self._message()
        for _ in range(rng.choice([0, 0, 1, 2])):
            message = self._changed(message)
        text = json.dumps(message)
        if kind < 0.25:
            place = rng.randrange(len(text))
            text = text[:place] + rng.choice(['"', "{", "]", "\\", "9", ""]) + text[place + 1 :]
        return text

    def _message(self) -> dict[str, Any]:
        rng = self._random
        where = {"table": rng.choice([self._table, "nowhere"]), "seat": rng.randrange(4)}
        stage = {"stage": rng.choice([0, 0, 1, 51])}
        return rng.choice(
            [
                {"type": "hello", "protocol": 1, "name": "owner"},
                {"type": "sit", **where},
                {"type": "ready", **where},
                {"type": "leave", **where},
                {"type": "play", **where, **stage, "card": rng.choice(CARD_NAMES)},
                {"type": "analyse", **where, **stage},
                {"type": "reconnect", **where, "token": self._value()},
                {"type": "reconnect", **where, "token": "x" * rng.randrange(70)},
                {"type": "create", "seats": [None, None, None, "nobody"], "seat": 0},
                {"type": "create", "seats": ["if"] * 4, "seat": rng.randrange(4)},
                {"type": "available", "games": rng.randrange(70)},
                {"type": "ping", "id": self._value()},
            ]
        )

    def _changed(self, message: dict[str, Any]) -> dict[str, Any]:
        rng = self._random
        name = rng.choice([*message, "id", "extra"])
        if rng.random() < 0.2:
            return {key: value for key, value in message.items() if key != name}
        return {**message, name: self._value()}

    def _value(self) -> Any:
        rng = self._random
        plain = [None, True, -1, 4, 10**30, 0.5, float("nan"), float("inf"), "", "S2", "\ud800"]
        return rng.choice([*plain, [], {}, [[[]]], "y" * 300, {"type": "play"}, self._table])


class World:
    """A service without network, with a game going on, and a stranger."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.owner = service.lobby.clients.connect("10.0.0.1")
        self.stranger = service.lobby.clients.connect("10.0.0.2")
        self.session = Session(service.lobby, self.stranger, service.analyses, service.people)

    async def prepare(self) -> Table:
        owner = Session(self.service.lobby, self.owner, self.service.analyses, self.service.people)
        await owner.receive('{"type": "hello", "protocol": 1, "name": "owner"}')
        await self.session.receive('{"type": "hello", "protocol": 1, "name": "stranger"}')
        await owner.receive('{"type": "create", "seats": [null, null, null, null], "seat": 0}')
        (at,) = self.service.lobby.tables.values()
        for seat in range(4):
            if seat:
                await owner.receive(json.dumps({"type": "sit", "table": at.id, "seat": seat}))
        for seat in range(4):
            await owner.receive(json.dumps({"type": "ready", "table": at.id, "seat": seat}))
        assert at.game is not None
        return at


def drain(connection: Connection) -> list[str]:
    texts = []
    while not connection.outgoing.empty():
        text = connection.outgoing.get_nowait()
        if text is not None:
            texts.append(text)
    return texts


def state(at: Table) -> str:
    assert at.game is not None
    seats = [vars(place) for place in at.seats]
    hands = [sorted(hand) for hand in at.game.hands]
    return json.dumps([at.summary(), seats, at.game.plays, hands])


@pytest.fixture
def service(tmp_path: Path) -> Generator[Service]:
    made = make_service(Settings(str(tmp_path / "fuzz.sqlite")))
    yield made
    made.own.close()
    made.store.close()


def test_ten_thousand_fuzzed_messages_change_nothing(service: Service) -> None:
    async def attack() -> Counter[str]:
        world = World(service)
        at = await world.prepare()
        before, fuzz = state(at), Fuzz(0, at.id)
        drain(world.owner)
        drain(world.stranger)
        seen: Counter[str] = Counter()
        for _ in range(MESSAGES):
            said = fuzz.text()
            await world.session.receive(said)
            await asyncio.sleep(0)
            for answer in drain(world.stranger):
                message = json.loads(answer)
                seen[message.get("code", message["type"])] += 1
                # It may name a card that was named to it, and no other.
                named = set(CARD.findall(str(said).upper())) | EXAMPLES
                assert set(CARD.findall(message.get("message", ""))) <= named
            assert state(at) == before
            assert drain(world.owner) == []
            assert not world.stranger.closed
            assert list(service.lobby.tables) == [at.id]
        await service.lobby.close()
        return seen

    seen = asyncio.run(attack())
    # Every check was reached, not only the first one.
    assert {"malformed", "forbidden", "unknown", "phase", "seat", "player", "pong"} <= set(seen)
    assert min(seen["forbidden"], seen["malformed"]) > MESSAGES // 20


def test_a_long_message_is_refused_unread(service: Service) -> None:
    async def say() -> list[str]:
        connection = service.lobby.clients.connect("10.0.0.1")
        session = Session(service.lobby, connection, service.analyses, service.people)
        await session.receive(json.dumps({"type": "ping", "id": "x" * 5000}))
        return drain(connection)

    (answer,) = asyncio.run(say())
    assert json.loads(answer)["code"] == "size"
    assert len(answer) < 200


def test_the_message_is_checked_before_anything_else() -> None:
    wrong = [
        "",
        "[]",
        "{}",
        '{"type": "ping", "extra": 1}',
        '{"type": "sit", "table": "t", "seat": true}',
        '{"type": "sit", "table": "t", "seat": 4}',
        '{"type": "play", "table": "t", "seat": 0, "stage": 0, "card": "S1"}',
        '{"type": "hello", "protocol": 1, "name": "a\\u0000b"}',
        "[" * 3000,
    ]
    for text in wrong:
        with pytest.raises(messages.ArenaError) as caught:
            messages.parse(text)
        assert caught.value.code == "malformed"
