"""How often a client may speak and ask, with default limits."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from gongzhu_jax.arena import service as service_module
from gongzhu_jax.arena.client import Client
from gongzhu_jax.arena.own_players import OwnPlayers
from gongzhu_jax.arena.service import make_service
from gongzhu_jax.arena.session import Session
from gongzhu_jax.arena.settings import Settings
from tests.arena.live_server import in_process, run


def test_nothing_that_is_said_too_fast_is_dropped(tmp_path: Path) -> None:
    """It was: the example program lost plays at full speed, and with them the match."""

    with in_process(tmp_path / "arena.sqlite") as (arena, _):

        async def talk() -> int:
            async with Client(arena.ws, "fast talker") as client:
                answers = await asyncio.gather(*(client.ask("ping") for _ in range(700)))
                return sum(answer["type"] == "pong" for answer in answers)

        assert run(talk) == 700


def test_answers_to_turns_are_never_slowed_down(tmp_path: Path) -> None:
    """A program that plays at many tables at once says far more than 100 messages a second."""
    settings = Settings(str(tmp_path / "arena.sqlite"), prepare=False)
    service = make_service(settings)

    async def play() -> tuple[float, int]:
        connection = service.lobby.clients.connect("10.0.0.1")
        session = Session(service.lobby, connection, service.analyses, service.people)
        await session.receive('{"type": "hello", "protocol": 1, "name": "a", "turns_only": true}')
        waits, plays = 0.0, 0
        for _ in range(12):
            create = {"type": "create", "seats": [None] * 4, "seat": 0}
            await session.receive(json.dumps(create))
        for table in list(service.lobby.tables):
            for seat in (1, 2, 3):
                await session.receive(json.dumps({"type": "sit", "table": table, "seat": seat}))
            for seat in range(4):
                await session.receive(json.dumps({"type": "ready", "table": table, "seat": seat}))
        while not connection.outgoing.empty():
            message = json.loads(connection.outgoing.get_nowait() or "")
            if message["type"] == "turn":
                view = message["view"]
                play = {"type": "play", "table": message["table"], "seat": view["seat"]}
                play |= {"stage": view["stage"], "card": view["legal"][0]}
                waits += await session.receive(json.dumps(play))
                plays += 1
        await service.close()
        return waits, plays

    assert run(play) == (0.0, 12 * 52)


def test_one_analysis_at_a_time_for_an_address(tmp_path: Path) -> None:
    asked = asyncio.Event()  # that many, after which the first is answered

    class Slow(OwnPlayers):
        async def analyse(self, position: Any, seed: int = 0) -> dict[str, Any]:
            await asked.wait()
            return {}

    service = make_service(Settings(str(tmp_path / "arena.sqlite"), prepare=False))
    service.own.__class__ = Slow

    async def ask() -> list[str]:
        connection = service.lobby.clients.connect("10.0.0.1")
        session = Session(service.lobby, connection, service.analyses, service.people)
        await session.receive('{"type": "hello", "protocol": 1, "name": "a", "turns_only": true}')
        create = {"type": "create", "seats": [None] * 4, "seat": 0, "analysis": True}
        await session.receive(json.dumps(create))
        (table,) = service.lobby.tables
        for seat in range(4):
            if seat:
                await session.receive(json.dumps({"type": "sit", "table": table, "seat": seat}))
        for seat in range(4):
            await session.receive(json.dumps({"type": "ready", "table": table, "seat": seat}))
        analyse = {"type": "analyse", "table": table, "seat": 0, "stage": 0, "id": 7}
        for _ in range(50):
            await session.receive(json.dumps(analyse))
        said = []
        while len(said) < 50:
            message = json.loads(await connection.outgoing.get() or "")
            if message.get("id") == 7:
                said.append(message.get("code", message["type"]))
            if len(said) == 49:  # all that are refused
                asked.set()
        await service.close()
        return sorted(said)

    assert run(ask, 60) == ["analysis"] + ["busy"] * 49


def test_a_name_that_nobody_uses_is_free_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while the server runs; one that has played a match is kept."""
    monkeypatch.setattr(service_module, "_FORGET_SECONDS", 0.05)
    service = make_service(Settings(str(tmp_path / "arena.sqlite"), prepare=False))
    accounts, days = service.store.accounts, service.settings.limits.account_days

    async def forget() -> list[str | None]:
        await service.open()
        for name in ("unused", "used", "player"):
            await asyncio.to_thread(accounts.register, name)
        await asyncio.to_thread(service.store.matches.open, "player", "player", "x", 1, "00")
        old = time.time() - (days + 1) * 86_400
        await asyncio.wrap_future(
            service.store.database.execute(
                "UPDATE accounts SET seen = ? WHERE name != 'used'", (old,)
            )
        )
        while await asyncio.to_thread(accounts.lookalike, "unused") is not None:
            await asyncio.sleep(0.01)
        left = [await asyncio.to_thread(accounts.lookalike, name) for name in ("used", "player")]
        await service.close()
        return left

    assert run(forget, 60) == ["used", "player"]
