"""Matches with default settings: their deals, their scores, and who may have them played."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gongzhu_jax import players
from gongzhu_jax.arena import datum as datum_module
from gongzhu_jax.arena.client import Choose, Client
from gongzhu_jax.arena.datum import datum
from gongzhu_jax.arena.match_deals import match_deal
from gongzhu_jax.arena.seat_view import seat_view
from gongzhu_jax.arena.settings import Limits, Settings
from gongzhu_jax.arena.table_game import TableGame
from gongzhu_jax.evaluation.deals import Deals
from gongzhu_jax.evaluation.seatings import Seating, rotate
from gongzhu_jax.game.cards import CARD_NAMES
from gongzhu_jax.players.protocol import Player
from gongzhu_jax.runtime import usual_promotion
from tests.arena.cheat import Cheat, mixed
from tests.arena.live_server import Arena, get, in_thread, post, run
from tests.evaluation.simple_players import high_player, mixed_player
from tests.oracle.rules import card_id

DEALS = 64


@pytest.fixture(scope="module", autouse=True)
def _few_games_at_once() -> Generator[None]:
    """The games of the reference, of which a test has few, without filling up a large batch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datum_module, "_BATCH", 16)
        yield


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Generator[Arena]:
    database = tmp_path_factory.mktemp("matches") / "arena.sqlite"
    # Few deals for the matches that the server adds for its own players: they are not tested here.
    with in_thread(Settings(str(database), prepare=False, house_deals=2), make_random) as running:
        yield running


RANDOM = players.make("random")


def make_random(name: str) -> Player:
    """Mr. Random under any name: only his play is tested here, and he is compiled soon."""
    return replace(RANDOM, name=name)


_registered: dict[str, dict[str, str]] = {}


def account(arena: Arena, name: str) -> dict[str, str]:
    if name not in _registered:
        status, _registered[name] = post(arena, "/api/accounts", name=name)
        assert status == 200
    return _registered[name]


@asynccontextmanager
async def program(
    arena: Arena, name: str, choose: Choose, *, challenges: bool = False, games: int = 8
) -> AsyncGenerator[Client]:
    """A program that takes part in matches for as long as the context lasts."""
    async with Client(arena.ws, *account(arena, name).values()) as client:
        playing = asyncio.create_task(client.play_matches(choose, games, challenges=challenges))
        while name not in [row["name"] for row in await fetch(arena, "/api/accounts")]:
            await asyncio.sleep(0.05)
        try:
            yield client
        finally:
            playing.cancel()


async def fetch(arena: Arena, path: str) -> Any:
    return await asyncio.to_thread(get, arena, path)


async def start(arena: Arena, name: str, opponent: str, deals: int) -> tuple[int, Any]:
    body = {**account(arena, name), "opponent": opponent, "deals": deals}
    return await asyncio.to_thread(lambda: post(arena, "/api/matches", **body))


async def over(arena: Arena, match_id: int) -> dict[str, Any]:
    """The match when it is over. Until then nothing of its deals is told."""
    while True:
        match = await fetch(arena, f"/api/matches/{match_id}")
        if match["status"] not in ("queued", "playing"):
            return match
        assert "seed" not in match
        assert match["margins"] is None
        games = await fetch(arena, f"/api/games?match={match_id}")
        if games:  # it has ended in between, by its last deal or early
            status = (await fetch(arena, f"/api/matches/{match_id}"))["status"]
            assert status in ("finished", "cancelled")
        await asyncio.sleep(0.3)


def high(view: dict[str, Any]) -> str:
    return view["legal"][-1]


async def never(view: dict[str, Any]) -> str:
    await asyncio.Event().wait()
    return ""


def drawn(seed: str, count: int) -> Deals:
    """The deals of a seed, by what the document says of them."""
    owners = np.zeros((count, 52), np.int8)
    for i in range(count):
        tags = [hashlib.sha256(f"{seed}:{i}:{card}".encode()).hexdigest() for card in range(52)]
        for place, card in enumerate(sorted(range(52), key=tags.__getitem__)):
            owners[i, card] = place // 13
    numbers = np.arange(count, dtype=np.int32)
    return Deals(owners, (numbers % 4).astype(np.int8), numbers)


def results(first: Player, second: Player, deals: Deals, seed: int = 0) -> np.ndarray:
    """Points of the first over the second when our evaluation plays every deal once."""
    table = Seating((first, second, first, second), seed=seed, rotations=1, batch=len(deals))
    with usual_promotion():  # the small players mix types
        points = table.play(deals).points[:, 0]
    return points[:, 0::2].sum(-1) - points[:, 1::2].sum(-1)


@pytest.mark.parametrize("count", [8, pytest.param(DEALS, marks=pytest.mark.slow)])
def test_two_programs_play_the_documented_match_at_full_speed(arena: Arena, count: int) -> None:
    cheat = Cheat()

    async def play() -> tuple[dict[str, Any], dict[str, Any]]:
        async with program(arena, "high-bot", high, challenges=True), cheating(arena, cheat):
            status, started = await start(arena, "cheat-bot", "high-bot", count)
            assert status == 200, started
            first_look = await fetch(arena, f"/api/matches/{started['match']}")
            return first_look, await over(arena, started["match"])

    first_look, match = run(play)
    assert (match["status"], match["deals_finished"]) == ("finished", count)
    assert match["clock_moves"] == [0, 0]
    # The deals were fixed before the first card, by a seed that nobody could guess.
    seed = match["seed"]
    assert first_look["commitment"] == hashlib.sha256(seed.encode()).hexdigest()
    assert len(bytes.fromhex(seed)) == 16
    deals = drawn(seed, count)
    games = get(arena, f"/api/records.jsonl?match={match['id']}").splitlines()
    assert len(games) == count
    # What it remembers is of no use: no deal comes to it twice, and it scores what it would have.
    assert len(cheat.games) == 2 * count
    assert cheat.known == set()
    luck = datum([match_deal(seed, i) for i in range(count)])
    truth = results(mixed_player, high_player, deals) - 0.5 * luck
    assert match["margins"] == truth.tolist()
    assert match["summary"]["mean"] == pytest.approx(truth.mean())
    assert match["summary"]["standard_error"] == pytest.approx(truth.std(ddof=1) / count**0.5)


def test_the_cheat_would_know_a_deal_that_came_again() -> None:
    """So that it proves something when it knows none."""
    cheat, deal = Cheat(), match_deal("00" * 16, 0)
    for rotation in range(2):
        owners, leader = rotate(np.array(deal.owners), np.array(deal.leader), rotation)
        game = TableGame(owners.tolist(), int(leader))
        while not game.is_over:
            view = seat_view(game, game.mover)
            card = cheat(view) if game.mover % 2 == 0 else high(view)
            game.play(card_id(card))
        assert len(cheat.known) == 2 * rotation
        plays = [CARD_NAMES[card] for card in game.plays]
        cheat.end({"plays": plays, "leader": game.leader, "table": str(rotation)})


@asynccontextmanager
async def cheating(arena: Arena, cheat: Cheat) -> AsyncGenerator[None]:
    async with Client(arena.ws, *account(arena, "cheat-bot").values()) as client:
        await client.ask("available", games=8)

        async def play() -> None:
            while True:
                event = await client.next_event(cheat)
                if event["type"] == "game_end":
                    assert "hands" not in event  # they are told when the match is over
                    cheat.end(event)

        playing = asyncio.create_task(play())
        yield
        playing.cancel()


def test_our_players_choose_as_in_evaluation(arena: Arena) -> None:
    """Their random choices too: every decision has the key that it has there."""

    async def play() -> dict[str, Any]:
        async with program(arena, "high-bot", high):
            status, started = await start(arena, "high-bot", "random", 4)
            assert status == 200, started
            return await over(arena, started["match"])

    match = run(play)
    deals, own = drawn(match["seed"], 4), [match_deal(match["seed"], i) for i in range(4)]
    truth = [
        results(high_player, RANDOM, deals.part(i, i + 1), own[i].key.seed)[0] for i in range(4)
    ]
    assert match["margins"] == (np.array(truth) - 0.5 * datum(own)).tolist()


def test_a_match_needs_its_owner_and_the_consent_of_the_other(arena: Arena) -> None:
    async def ask() -> list[int]:
        async with program(arena, "high-bot", high), program(arena, "mixed-bot", mixed):
            mine, other = account(arena, "mixed-bot"), account(arena, "high-bot")
            stolen = {**mine, "token": other["token"], "opponent": "greed"}
            return [
                (await start(arena, "mixed-bot", "high-bot", 2))[0],
                (await start(arena, "mixed-bot", "absent", 2))[0],
                (await start(arena, "mixed-bot", "mixed-bot", 2))[0],
                (await start(arena, "mixed-bot", "random", 1025))[0],
                (await asyncio.to_thread(lambda: post(arena, "/api/matches", **stolen)))[0],
                (
                    await asyncio.to_thread(
                        lambda: post(arena, "/api/matches", **mine, opponent="random", seconds=1)
                    )
                )[0],
            ]

    assert run(ask) == [403, 400, 400, 400, 403, 400]


def test_one_account_does_not_keep_others_waiting_and_can_cancel(arena: Arena) -> None:
    async def play() -> None:
        async with (
            program(arena, "mixed-bot", never),
            program(arena, "high-bot", high),
        ):
            opponents = ["random", "if", "greed", "policy"]
            asked = [await start(arena, "mixed-bot", name, 1024) for name in opponents]
            assert [status for status, _ in asked] == [200] * 4
            assert (await start(arena, "mixed-bot", "raw", 1))[0] == 503
            status, started = await start(arena, "high-bot", "random", 1)
            assert status == 200
            match = await over(arena, started["match"])
            assert match["status"] == "finished"
            states = [
                (await fetch(arena, f"/api/matches/{started['match']}"))["status"]
                for _, started in asked
            ]
            assert states == ["playing", "queued", "queued", "queued"]
            body = account(arena, "high-bot")
            for _, started in asked:
                path = f"/api/matches/{started['match']}/cancel"
                stranger = await asyncio.to_thread(lambda path=path: post(arena, path, **body))
                assert stranger[0] == 403
            mine = account(arena, "mixed-bot")
            cancelled = []
            for _, started in reversed(asked):
                path = f"/api/matches/{started['match']}/cancel"
                owner = await asyncio.to_thread(lambda path=path: post(arena, path, **mine))
                assert owner[0] == 200
                cancelled.append(await over(arena, started["match"]))
            assert [match["status"] for match in cancelled] == ["cancelled"] * 4
            # Nobody gets out of a deal that has begun: the clock plays it to its end at once.
            begun = Limits.match_games
            assert [len(match["margins"]) for match in cancelled] == [0, 0, 0, begun]
            assert [match["clock_moves"] for match in cancelled[3:]] == [[26 * begun, 0]]
        tables = await fetch(arena, "/api/tables")
        assert [at for at in tables if at["match"] is not None and at["seats"][0]["kind"]] == []

    run(play)


def test_one_address_with_many_names_leaves_room_for_others(arena: Arena) -> None:
    names = ["one-bot", "two-bot", "three-bot"]

    async def play() -> list[str]:
        async with AsyncExitStack() as here:
            for name in names:
                await here.enter_async_context(program(arena, name, never))
            asked = [(await start(arena, name, "random", 1024))[1]["match"] for name in names]
            states = [(await fetch(arena, f"/api/matches/{one}"))["status"] for one in asked]
            for one, name in zip(asked, names, strict=True):
                body, path = account(arena, name), f"/api/matches/{one}/cancel"
                await asyncio.to_thread(lambda path=path, body=body: post(arena, path, **body))
            return states

    assert run(play) == ["playing", "playing", "queued"]


def test_a_match_waits_for_a_program_but_not_for_ever(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    database = tmp_path_factory.mktemp("absent") / "arena.sqlite"
    settings = Settings(
        str(database), absent_seconds=1, match_seconds=0.2, prepare=False, house_deals=2
    )
    with in_thread(settings, make_random) as arena:
        _registered.pop("gone-bot", None)

        async def play() -> dict[str, Any]:
            begun = asyncio.Event()

            async def think(view: dict[str, Any]) -> str:
                begun.set()
                return await never(view)

            async with program(arena, "gone-bot", think, games=1):
                _, started = await start(arena, "gone-bot", "random", 3)
                await begun.wait()
            return await over(arena, started["match"])

        match = run(play)
    # The game that had begun was played to its end by the clock, and that is shown.
    assert match["status"] == "cancelled"
    assert match["deals_finished"] == 1
    assert 20 <= match["clock_moves"][0] <= 26
    assert match["clock_moves"][1] == 0
