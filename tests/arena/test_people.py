"""Reports on finished games and the deal of the day, over the network as people meet them."""

import asyncio
import json
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from gongzhu_jax import records
from gongzhu_jax.arena import daily
from gongzhu_jax.arena.client import Client
from gongzhu_jax.arena.duplicate import margin
from gongzhu_jax.arena.own_players import OwnPlayers
from gongzhu_jax.arena.reports import worst
from gongzhu_jax.arena.service import make_service
from gongzhu_jax.arena.settings import Settings
from gongzhu_jax.errors import ArenaError
from tests.arena.live_server import Arena, run
from tests.arena.people_driver import aget, get, low, play_out
from tests.arena.small_players import make_player


async def wait_for_report(
    people_arena: Arena, game: int, seat: int, token: str = ""
) -> dict[str, Any]:
    address = f"/api/games/{game}/report?seat={seat}" + (f"&token={token}" if token else "")
    while (report := await aget(people_arena, address))["state"] == "working":
        assert 0 <= report["done"] <= report["of"]
        await asyncio.sleep(0.1)
    return report


# reports


def test_a_report_has_every_move_with_what_it_gave_away(people_arena: Arena) -> None:
    async def play() -> tuple[dict[str, Any], dict[str, Any], dict[int, Any]]:
        async with Client(people_arena.ws, "ann") as client:
            (end,) = await client.play_games(low, seats=[None, "if", "random", "if"])
        report = await wait_for_report(people_arena, end["game"], 0)
        opinions = {
            move["stage"]: await aget(
                people_arena, f"/api/games/{end['game']}/opinion/{move['stage']}"
            )
            for move in report["moves"][:6]
        }
        return end, report, opinions

    end, report, opinions = run(play)
    mine = [move["card"] for move in report["moves"]]
    assert sorted(mine) == sorted(end["hands"][0])
    assert [end["plays"][move["stage"]] for move in report["moves"]] == mine
    for move in report["moves"][:6]:
        opinion = opinions[move["stage"]]
        assert move["q"] == opinion["q"]
        if not move["q"]:
            assert (move["best"], move["loss"]) == (move["card"], 0)
            continue
        means = {card: value["mean"] for card, value in opinion["q"].items()}
        assert move["loss"] == pytest.approx(max(means.values()) - means[move["card"]], abs=0.06)
        assert move["loss"] >= 0
        assert move["best"] == opinion["card"]
    assert any(move["loss"] > 0 for move in report["moves"])
    assert report["worst"] == worst(report["moves"])
    assert report["margin"] == margin(end["scores"], 0)


def test_the_deal_is_played_again_with_our_player_in_the_persons_seat(people_arena: Arena) -> None:
    async def play() -> tuple[dict[str, Any], dict[str, Any]]:
        async with Client(people_arena.ws, "bob") as client:
            (end,) = await client.play_games(low, seats=["if", "random", "if", None], seat=3)
        return end, await wait_for_report(people_arena, end["game"], 3)

    end, report = run(play)
    again = report["duplicate"]
    assert again["players"] == ["if", "random", "if", "scrofa-strong"]
    played = get(people_arena, f"/api/games/{end['game']}")
    record = records.parse(
        json.dumps({**played, "plays": again["plays"], "scores": again["scores"], "metadata": {}})
    )
    (replayed,) = records.replay_records([record])  # the same deal, by the rules
    assert list(replayed.scores) == again["scores"]
    mine, theirs = end["scores"], again["scores"]
    assert again["margin"] == theirs[1] + theirs[3] - theirs[0] - theirs[2]
    assert again["gain"] == (mine[1] + mine[3] - mine[0] - mine[2]) - again["margin"]
    # A report is written once, and our own players get none of the deal played again.
    assert get(people_arena, f"/api/games/{end['game']}/report?seat=3") == report
    ours = run(lambda: wait_for_report(people_arena, end["game"], 0))
    assert ours["duplicate"] is None


def test_the_worst_three_moves_are_those_of_the_player() -> None:
    losses = [
        (0.0, 0.0),
        (3.0, 1.0),
        (17.0, 8.0),
        (0.4, 0.1),
        (40.0, 9.0),
        (5.0, 0.0),
        (30.0, 16.0),
    ]
    moves = [
        {"stage": 4 * i, "loss": loss, "loss_error": error, "by": "seat"}
        for i, (loss, error) in enumerate(losses)
    ]
    assert worst(moves) == [16, 8, 20]  # that of 30 points may be chance
    moves[4]["by"] = "clock"
    assert worst(moves) == [8, 20, 4]
    assert worst(moves[:1]) == []


def test_a_report_that_fails_says_so_and_can_be_asked_for_again(
    people_arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play() -> tuple[str, str]:
        async with Client(people_arena.ws, "eve") as client:
            (end,) = await client.play_games(low, seats=[None, "if", "if", "if"])
        with monkeypatch.context() as broken:
            broken.setattr(OwnPlayers, "analyse", None)
            first = await wait_for_report(people_arena, end["game"], 0)
        return first["state"], (await wait_for_report(people_arena, end["game"], 0))["state"]

    assert run(play) == ("failed", "ready")


def test_opinions_for_one_address_wait_for_their_turn(
    people_arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two people at one address look at their games: neither is refused, and nor do they get more
    than the share of one."""
    busy, most, go_on = 0, 0, threading.Event()

    async def analyse(own: OwnPlayers, position: Any, seed: int = 0) -> dict[str, Any]:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        while not go_on.is_set():
            await asyncio.sleep(0.01)
        busy -= 1
        return {}

    async def ask() -> tuple[list[Any], list[Any]]:
        async with Client(people_arena.ws, "zoe") as client:
            (end,) = await client.play_games(low, seats=[None, "if", "if", "if"])
        path = f"/api/games/{end['game']}/opinion/0"
        with ThreadPoolExecutor(12) as threads:
            ask_one = partial(asyncio.get_running_loop().run_in_executor, threads, get)
            waiting = {ask_one(people_arena, path) for _ in range(12)}
            refused: set[Any] = set()
            while len(refused) < 4:
                done, waiting = await asyncio.wait(waiting, return_when="FIRST_COMPLETED")
                refused |= done
            go_on.set()
            return [one.result() for one in refused], await asyncio.gather(*waiting)

    monkeypatch.setattr(OwnPlayers, "analyse", analyse)
    assert run(ask) == ([503] * 4, [{}] * 8)
    assert most == 1


# the deal of the day


def test_everybody_has_the_same_deal_of_the_day_once(people_arena: Arena) -> None:
    async def play() -> dict[str, Any]:
        async with (
            Client(people_arena.ws, "first") as first,
            Client(people_arena.ws, "second") as second,
        ):
            seats, turns = [], []
            for client in (first, second):
                seats.append(await client.ask("daily"))
                await client.ask("ready", table=seats[-1]["table"], seat=0)
                turns.append(await client.events.get())
            assert turns[0]["view"]["hand"] == turns[1]["view"]["hand"]
            assert len(turns[0]["view"]["hand"]) == 13
            for client, turn in zip((first, second), turns, strict=True):
                client.events.put_nowait(turn)
            end = await play_out(first)
            for client in (first, second):
                with pytest.raises(ArenaError) as caught:
                    await client.ask("daily")
                assert caught.value.code == "played"
            # Nobody watches a deal that is still to be played.
            with pytest.raises(ArenaError, match="not shown"):
                await first.ask("watch", table=seats[1]["table"])
            hidden = end["game"]
            await hidden_from_others(people_arena, hidden, seats[0]["token"], seats[1]["token"])
            report = await wait_for_report(people_arena, hidden, 0, seats[0]["token"])
            assert report["duplicate"]["players"] == ["scrofa-strong"] * 4
            while (await aget(people_arena, "/api/daily"))["benchmark"] is None:
                await asyncio.sleep(0.1)
            results = await aget(people_arena, "/api/daily?name=second")
            assert results["benchmark"] == report["duplicate"]["margin"]
            assert results["yours"]["margin"] is None
            assert results["games"] == 1
            mine = margin(end["scores"], 0)
            assert results["results"] == [{"name": "first", "margin": mine, "game": None}]
            return end

    end = run(play)
    # When the day is over, everything is public.
    with sqlite3.connect(people_arena.database) as database:
        database.execute(
            "UPDATE games SET record = json_set(record, '$.metadata.daily', '2000-01-01') "
            "WHERE id = ?",
            (end["game"],),
        )
        database.execute("UPDATE daily_results SET day = '2000-01-01' WHERE name = 'first'")
    assert get(people_arena, f"/api/games/{end['game']}")["scores"] == end["scores"]
    assert get(people_arena, "/api/daily?day=2000-01-01")["results"][0]["game"] == end["game"]
    assert get(people_arena, "/api/daily?day=2999-01-01") == 404


async def hidden_from_others(people_arena: Arena, game: int, token: str, other: str) -> None:
    """A game of today's deal is shown to nobody but its player."""
    for path in (f"/api/games/{game}", f"/api/games/{game}/opinion/0"):
        assert await aget(people_arena, path) == 404
        assert await aget(people_arena, f"{path}?token={other}") == 404
        assert await aget(people_arena, f"{path}?token={token}") != 404
    assert await aget(people_arena, f"/api/games/{game}/report?seat=0") == 404
    assert game not in [row["game"] for row in await aget(people_arena, "/api/games?player=first")]
    assert await aget(people_arena, "/api/records.jsonl?player=first") == ""
    assert await aget(people_arena, "/api/results.json?player=first") == []


def test_a_try_that_never_began_does_not_count(people_arena: Arena) -> None:
    async def leave() -> None:
        async with Client(people_arena.ws, "shy") as client:
            for _ in range(2):
                seated = await client.ask("daily")
                await client.ask("leave", table=seated["table"], seat=0)

    run(leave)


def test_the_deal_of_the_day_outlives_the_server(tmp_path) -> None:
    settings = Settings(str(tmp_path / "arena.sqlite"), prepare=False)

    async def deal_of_the_day() -> Any:
        service = make_service(settings, make_player)
        await service.open()
        rules = service.lobby.rules(60, daily=daily.today())
        known = service.lobby.daily_deals.get(daily.today())
        deal = await service.people.daily.deal(daily.today())
        assert service.lobby.deal_fn(rules)(0) is service.lobby.daily_deals[daily.today()]
        await service.close()
        return known, deal

    before, first = run(deal_of_the_day)
    again, second = run(deal_of_the_day)
    assert before is None
    assert again == first == second
