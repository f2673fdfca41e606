"""The whole service over its network interfaces, against the rules, the statistics of our
matches, and what each seat may know."""

import asyncio
import csv
import io
import json
import random
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Generator
from typing import Any

import pytest
from websockets.asyncio.client import connect

from gongzhu_jax import players, records
from gongzhu_jax.arena.client import Client
from gongzhu_jax.arena.settings import Limits, Settings
from gongzhu_jax.errors import ArenaError
from gongzhu_jax.evaluation import play_match, random_deals
from tests.arena.live_server import Arena, in_thread
from tests.evaluation.simple_players import high_player, mixed_player
from tests.oracle.rules import card_id

RANDOM = [None, "random", "random", "random"]


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Generator[Arena]:
    database = tmp_path_factory.mktemp("arena") / "arena.sqlite"
    limits = Limits(message_burst=2000, messages_per_second=2000, tables_per_connection=40)
    settings = Settings(str(database), own_seconds=120, limits=limits)
    with in_thread(settings) as running:
        yield running


def run(work: Callable[[], Any]) -> Any:
    async def limited() -> Any:
        return await asyncio.wait_for(work(), 300)

    return asyncio.run(limited())


def get(arena: Arena, path: str) -> Any:
    with urllib.request.urlopen(arena.http + path, timeout=30) as answer:
        body = answer.read().decode()
        return json.loads(body) if answer.headers["content-type"] == "application/json" else body


def post(arena: Arena, path: str, **body: Any) -> tuple[int, Any]:
    request = urllib.request.Request(
        arena.http + path, json.dumps(body).encode(), {"content-type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def low(view: dict[str, Any]) -> str:
    return view["legal"][0]


def high(view: dict[str, Any]) -> str:
    return view["legal"][-1]


def mixed(view: dict[str, Any]) -> str:
    """What `mixed_player` does, from the message alone."""
    plays = [card_id(card) for card in view["plays"]]
    total = sum(plays) - (52 - len(plays)) + len(plays) + view["seat"]
    return view["legal"][-1 if total % 2 else 0]


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


def test_programs_in_a_match_score_as_in_evaluation(arena: Arena) -> None:
    _, first = post(arena, "/api/accounts", name="high-bot")
    _, second = post(arena, "/api/accounts", name="mixed-bot")
    assert post(arena, "/api/accounts", name="high-bot")[0] == 409

    async def play() -> dict[str, Any]:
        async with (
            Client(arena.ws, **first) as client,
            Client(arena.ws, **second) as other,
        ):
            playing = [
                asyncio.create_task(client.play_matches(high)),
                asyncio.create_task(other.play_matches(mixed)),
            ]
            found = await finished_match(arena, first, "high-bot", "mixed-bot", deals=6)
            for task in playing:
                task.cancel()
            return found

    found = run(play)
    deals = random_deals(found["seed"], 6)
    truth = play_match(high_player, mixed_player, deals, seed=found["seed"], batch=8)
    assert found["margins"] == truth.margins.tolist()
    assert found["summary"]["mean"] == truth.mean
    assert found["summary"]["standard_error"] == pytest.approx(truth.standard_error)
    games = get(arena, f"/api/games?match={found['id']}")
    assert len(games) == 12
    board = {row["player"]: row for row in get(arena, "/api/leaderboard")}
    assert board["high-bot"]["opponents"]["mixed-bot"]["mean"] == truth.mean
    assert board["mixed-bot"]["opponents"]["high-bot"]["mean"] == -truth.mean
    assert "high-bot" in get(arena, "/api/leaderboard.csv")


def test_our_players_in_a_match_score_as_in_evaluation(arena: Arena) -> None:
    """Their random choices too: every decision has the key that it has there."""
    _, account = post(arena, "/api/accounts", name="starter")
    found = run(lambda: finished_match(arena, account, "random", "if", deals=3))
    truth = play_match(players.make("random"), players.make("if"), 3, seed=found["seed"], batch=4)
    assert found["margins"] == truth.margins.tolist()


async def finished_match(arena: Arena, account: dict[str, str], first: str, second: str, **more):
    status, started = await asyncio.to_thread(
        post, arena, "/api/matches", **account, first=first, second=second, **more
    )
    assert status == 200, started
    while True:
        found = await asyncio.to_thread(get, arena, f"/api/matches/{started['match']}")
        if found["status"] != "playing":
            assert found["status"] == "finished"
            return found
        assert "seed" not in found
        if await asyncio.to_thread(get, arena, f"/api/games?match={found['id']}"):
            # Games are told only when the match is over: it has ended in between.
            found = await asyncio.to_thread(get, arena, f"/api/matches/{started['match']}")
            assert found["status"] == "finished"
        await asyncio.sleep(0.05)


def test_matches_need_an_account_and_players_that_are_here(arena: Arena) -> None:
    _, account = post(arena, "/api/accounts", name="asker")
    wrong = {**account, "token": "x"}
    assert post(arena, "/api/matches", **wrong, first="if", second="random")[0] == 403
    status, answer = post(arena, "/api/matches", **account, first="if", second="absent")
    assert (status, answer["code"]) == (400, "player")
    assert post(arena, "/api/matches", **account, first="if", second="if")[0] == 400
    assert post(arena, "/api/matches", **account, first="if", second="random", deals=0)[0] == 422


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
    assert {"/api/games", "/api/matches", "/api/leaderboard", "/api/records.jsonl"} <= set(paths)
    with pytest.raises(urllib.error.HTTPError) as caught:
        get(arena, "/api/games/999999")
    with caught.value as error:
        assert error.code == 404
