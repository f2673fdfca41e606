"""The whole service over its network interfaces, against the rules, the statistics of our
matches, and what each seat may know."""

import asyncio
import csv
import io
import json
import random
import re
import urllib.error
from collections.abc import Generator
from typing import Any

import pytest
from websockets.asyncio.client import connect

from gongzhu_jax import records
from gongzhu_jax.arena.client import Client
from gongzhu_jax.arena.settings import Settings
from gongzhu_jax.errors import ArenaError
from tests.arena.live_server import Arena, get, in_thread, post, run

RANDOM = [None, "random", "random", "random"]


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Generator[Arena]:
    database = tmp_path_factory.mktemp("arena") / "arena.sqlite"
    # The time that our players take is tested elsewhere; here it would only be waited for.
    settings = Settings(str(database), own_least_seconds=0, own_most_seconds=0, prepare=False)
    with in_thread(settings) as running:
        yield running


def low(view: dict[str, Any]) -> str:
    return view["legal"][0]


def test_a_client_plays_games_and_they_are_kept(arena: Arena) -> None:
    async def play() -> list[dict[str, Any]]:
        async with Client(arena.ws, "ann") as client:
            assert {"random", "if", "greed"} <= set(client.welcome["players"])
            return await client.play_games(low, seats=RANDOM, games=3)

    ended = run(play)
    kept = [
        records.parse(line) for line in get(arena, "/api/records.jsonl?player=ann").split("\n")[:-1]
    ]
    assert [list(record.scores) for record in kept] == [end["scores"] for end in ended]
    assert [replayed.scores for replayed in records.replay_records(kept)] == [
        r.scores for r in kept
    ]
    assert [record.leader for record in kept] == [0, 1, 2]
    rows = list(csv.DictReader(io.StringIO(get(arena, "/api/results.csv?player=ann"))))
    assert [int(row["score_0"]) for row in rows] == [end["scores"][0] for end in ended]
    assert get(arena, "/api/results.json?player=ann")[0]["players"] == ["ann", *RANDOM[1:]]
    assert get(arena, "/api/results.json?player=nobody-there") == []
    one = get(arena, f"/api/games/{ended[0]['game']}")
    assert one["scores"] == ended[0]["scores"]
    assert [row["game"] for row in get(arena, "/api/games?player=ann&limit=2")] == [
        end["game"] for end in ended[:2]
    ]


CARD = re.compile(r'"([SHDC](?:10|[2-9JQKA]))"')


@pytest.mark.parametrize("games", [5, pytest.param(200, marks=pytest.mark.slow)])
def test_nothing_sent_before_the_end_names_a_card_that_the_seat_may_not_know(
    arena: Arena, games: int
) -> None:
    """Everything that four clients get, as text, over whole games."""

    async def watch(game_count: int) -> list[list[str]]:
        log: list[list[str]] = [[] for _ in range(4)]
        async with (
            connect(arena.ws) as a,
            connect(arena.ws) as b,
            connect(arena.ws) as c,
            connect(arena.ws) as d,
        ):
            sockets, table = [a, b, c, d], ""
            for seat, socket in enumerate(sockets):
                await say(socket, type="hello", protocol=1, name=f"w{seat}")
                await until(socket, "welcome", log[seat])
                if seat == 0:
                    await say(socket, type="create", seats=[None] * 4, seat=0)
                else:
                    await say(socket, type="sit", table=table, seat=seat)
                table = (await until(socket, "seated", log[seat]))["table"]
            loops = [
                play_raw(socket, table, seat, game_count, log[seat])
                for seat, socket in enumerate(sockets)
            ]
            await asyncio.gather(*loops)
        return log

    logs = run(lambda: watch(games))
    checked = 0
    for seat, texts in enumerate(logs):
        may_know: set[str] = set()
        for text in texts:
            message = json.loads(text)
            if message["type"] == "game_end":
                may_know = set()
                continue
            if message["type"] == "played":
                # Each client hears of plays in order, so this is what has been shown by then.
                may_know.add(message["card"])
            elif message["type"] in ("view", "turn") and len(message["view"]["hand"]) == 13:
                # The first view of a game: whatever else it may know, it has these.
                assert message["view"]["seat"] == seat
                may_know |= set(message["view"]["hand"])
            assert set(CARD.findall(text)) <= may_know, text
            checked += len(CARD.findall(text))
    assert checked > 2_000 * games


async def say(socket: Any, **message: Any) -> None:
    await socket.send(json.dumps(message))


async def until(socket: Any, kind: str, log: list[str]) -> dict[str, Any]:
    while True:
        log.append(await socket.recv())
        message = json.loads(log[-1])
        if message["type"] == kind:
            return message


async def play_raw(socket: Any, table: str, seat: int, games: int, log: list[str]) -> None:
    """A client in a few lines, from the protocol alone."""
    rng = random.Random(seat)
    await say(socket, type="ready", table=table, seat=seat)
    while games:
        log.append(await socket.recv())
        message = json.loads(log[-1])
        assert message["type"] != "error", message
        if message["type"] == "turn":
            card, stage = rng.choice(message["view"]["legal"]), message["view"]["stage"]
            await say(socket, type="play", table=table, seat=seat, stage=stage, card=card)
        if message["type"] == "game_end":
            games -= 1
            await say(socket, type="ready", table=table, seat=seat)


def test_nobody_plays_for_another(arena: Arena) -> None:
    async def intrude() -> list[str]:
        codes = []
        async with Client(arena.ws, "owner") as owner, Client(arena.ws, "thief") as thief:
            table = await owner.create(RANDOM, 0)
            await owner.ask("ready", table=table, seat=0)
            turn = await owner.events.get()
            card = turn["view"]["legal"][0]
            for kind, fields in (
                ("play", {"seat": 0, "stage": 0, "card": card}),
                ("play", {"seat": 1, "stage": 0, "card": card}),
                ("leave", {"seat": 0}),
                ("ready", {"seat": 0}),
                ("sit", {"seat": 0}),
                ("analyse", {"seat": 0, "stage": 0}),
                ("reconnect", {"seat": 0, "token": "guess"}),
            ):
                with pytest.raises(ArenaError) as caught:
                    await thief.ask(kind, table=table, **fields)
                codes.append(caught.value.code)
            await owner.ask("play", table=table, seat=0, stage=0, card=card)
        return codes

    forbidden = "forbidden"
    assert run(intrude) == [forbidden] * 4 + ["phase"] + [forbidden] * 2


def test_names_belong_to_their_tokens(arena: Arena) -> None:
    _, account = post(arena, "/api/accounts", name="named")

    async def enter(**fields: Any) -> str:
        try:
            async with Client(arena.ws, **fields) as client:
                return "registered" if client.welcome["registered"] else "guest"
        except ArenaError as error:
            return error.code

    assert run(lambda: enter(**account)) == "registered"
    assert run(lambda: enter(name="named")) == "forbidden"
    assert run(lambda: enter(name="named", token="wrong")) == "forbidden"
    assert run(lambda: enter(name="greed")) == "taken"
    assert run(lambda: enter(name="some guest")) == "guest"
    assert run(lambda: enter(name=" ")) == "malformed"


def test_a_disconnected_player_comes_back_and_goes_on(arena: Arena) -> None:
    async def play() -> dict[str, Any]:
        async with Client(arena.ws, "back") as client:
            seated = await client.ask("create", seats=RANDOM, seat=0)
            where = {"table": seated["table"], "seat": 0}
            await client.tell("ready", **where)
            for _ in range(4):
                before = await client.next_event(low)
        async with Client(arena.ws, "back") as client:
            await client.ask("reconnect", **where, token=seated["token"])
            event = await client.next_event(low)
            assert event["view"]["plays"][: len(before["view"]["plays"])] == before["view"]["plays"]
            while event["type"] != "game_end":
                event = await client.next_event(low)
        return event

    ended = run(play)
    assert get(arena, f"/api/games/{ended['game']}")["metadata"]["late"] == []


def test_a_second_connection_with_the_token_replaces_the_first(arena: Arena) -> None:
    async def play() -> str:
        async with Client(arena.ws, "x") as old, Client(arena.ws, "x") as new:
            seated = await old.ask("create", seats=RANDOM, seat=0)
            where = {"table": seated["table"], "seat": 0}
            await new.ask("reconnect", **where, token=seated["token"])
            assert (await old.events.get())["type"] == "replaced"
            with pytest.raises(ArenaError, match="not yours"):
                await old.ask("ready", **where)
            await new.ask("ready", **where)
            return (await new.events.get())["type"]

    assert run(play) == "turn"


def test_tables_are_listed_without_secrets(arena: Arena) -> None:
    async def look() -> tuple[str, Any]:
        async with Client(arena.ws, "lister") as client:
            seated = await client.ask("create", seats=[None, None, "if", "if"], seat=1)
            listed = await asyncio.to_thread(get, arena, "/api/tables")
            return seated["token"], next(t for t in listed if t["table"] == seated["table"])

    token, listed = run(look)
    assert token not in json.dumps(listed)
    assert [seat["kind"] for seat in listed["seats"]] == ["free", "client", "player", "player"]


def test_the_page_and_the_api_description_are_served(arena: Arena) -> None:
    assert "<html" in get(arena, "/")
    paths = get(arena, "/openapi.json")["paths"]
    assert {"/api/games", "/api/matches", "/api/ratings", "/api/records.jsonl"} <= set(paths)
    with pytest.raises(urllib.error.HTTPError) as caught:
        get(arena, "/api/games/999999")
    with caught.value as error:
        assert error.code == 404
