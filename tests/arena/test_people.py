"""What the arena does for people beside the game: reports, the deal of the day, spectators, private
tables. Over the network where that is how people meet it."""

import asyncio
import json
import random
import re
import sqlite3
import urllib.error
import urllib.request
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

import gongzhu_jax
from gongzhu_jax import records
from gongzhu_jax.arena import daily
from gongzhu_jax.arena.client import Client
from gongzhu_jax.arena.deals import random_deal
from gongzhu_jax.arena.duplicate import margin
from gongzhu_jax.arena.effects import Effect, Phase
from gongzhu_jax.arena.own_players import OwnPlayers
from gongzhu_jax.arena.reports import worst
from gongzhu_jax.arena.seats import TableRules
from gongzhu_jax.arena.service import make_service
from gongzhu_jax.arena.settings import Settings
from gongzhu_jax.arena.spectators import Spectators
from gongzhu_jax.arena.table import Table
from gongzhu_jax.errors import ArenaError
from gongzhu_jax.game.cards import CARD_NAMES, card_id
from tests.arena.live_server import Arena, in_thread, run
from tests.arena.small_players import make_player
from tests.oracle.rules import score as oracle_score

GLYPHS = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}
CARD = re.compile(r'"([SHDC](?:10|[2-9JQKA]))"')


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Generator[Arena]:
    database = tmp_path_factory.mktemp("people") / "arena.sqlite"
    settings = Settings(
        str(database),
        own_least_seconds=0,
        own_most_seconds=0,
        spectator_seconds=1.0,
        prepare=False,
    )
    with in_thread(settings, make_player) as running:
        yield running


def get(arena: Arena, path: str) -> Any:
    """The answer, or the status if it is an error."""
    try:
        with urllib.request.urlopen(arena.http + path, timeout=60) as answer:
            body = answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    return json.loads(body) if body.startswith(("[", "{")) else body


async def aget(arena: Arena, path: str) -> Any:
    return await asyncio.to_thread(get, arena, path)


def low(view: dict[str, Any]) -> str:
    return view["legal"][0]


async def play_out(client: Client) -> dict[str, Any]:
    """Plays the lowest cards to the end of the game."""
    while (event := await client.next_event(low))["type"] != "game_end":
        pass
    return event


async def wait_for_report(arena: Arena, game: int, seat: int, token: str = "") -> dict[str, Any]:
    address = f"/api/games/{game}/report?seat={seat}" + (f"&token={token}" if token else "")
    while (report := await aget(arena, address))["state"] == "working":
        assert 0 <= report["done"] <= report["of"]
        await asyncio.sleep(0.1)
    return report


# reports


def test_a_report_has_every_move_with_what_it_gave_away(arena: Arena) -> None:
    async def play() -> tuple[dict[str, Any], dict[str, Any], dict[int, Any]]:
        async with Client(arena.ws, "ann") as client:
            (end,) = await client.play_games(low, seats=[None, "if", "random", "if"])
        report = await wait_for_report(arena, end["game"], 0)
        opinions = {
            move["stage"]: await aget(arena, f"/api/games/{end['game']}/opinion/{move['stage']}")
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


def test_the_deal_is_played_again_with_our_player_in_the_persons_seat(arena: Arena) -> None:
    async def play() -> tuple[dict[str, Any], dict[str, Any]]:
        async with Client(arena.ws, "bob") as client:
            (end,) = await client.play_games(low, seats=["if", "random", "if", None], seat=3)
        return end, await wait_for_report(arena, end["game"], 3)

    end, report = run(play)
    again = report["duplicate"]
    assert again["players"] == ["if", "random", "if", "scrofa-strong"]
    played = get(arena, f"/api/games/{end['game']}")
    record = records.parse(
        json.dumps({**played, "plays": again["plays"], "scores": again["scores"], "metadata": {}})
    )
    (replayed,) = records.replay_records([record])  # the same deal, by the rules
    assert list(replayed.scores) == again["scores"]
    mine, theirs = end["scores"], again["scores"]
    assert again["margin"] == theirs[1] + theirs[3] - theirs[0] - theirs[2]
    assert again["gain"] == (mine[1] + mine[3] - mine[0] - mine[2]) - again["margin"]
    # A report is written once, and our own players get none of the deal played again.
    assert get(arena, f"/api/games/{end['game']}/report?seat=3") == report
    ours = run(lambda: wait_for_report(arena, end["game"], 0))
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
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play() -> tuple[str, str]:
        async with Client(arena.ws, "eve") as client:
            (end,) = await client.play_games(low, seats=[None, "if", "if", "if"])
        with monkeypatch.context() as broken:
            broken.setattr(OwnPlayers, "analyse", None)
            first = await wait_for_report(arena, end["game"], 0)
        return first["state"], (await wait_for_report(arena, end["game"], 0))["state"]

    assert run(play) == ("failed", "ready")


# the deal of the day


def test_everybody_has_the_same_deal_of_the_day_once(arena: Arena) -> None:
    async def play() -> dict[str, Any]:
        async with Client(arena.ws, "first") as first, Client(arena.ws, "second") as second:
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
            await hidden_from_others(arena, hidden, seats[0]["token"], seats[1]["token"])
            report = await wait_for_report(arena, hidden, 0, seats[0]["token"])
            assert report["duplicate"]["players"] == ["scrofa-strong"] * 4
            while (await aget(arena, "/api/daily"))["benchmark"] is None:
                await asyncio.sleep(0.1)
            results = await aget(arena, "/api/daily?name=second")
            assert results["benchmark"] == report["duplicate"]["margin"]
            assert results["yours"]["margin"] is None
            assert results["games"] == 1
            mine = margin(end["scores"], 0)
            assert results["results"] == [{"name": "first", "margin": mine, "game": None}]
            return end

    end = run(play)
    # When the day is over, everything is public.
    with sqlite3.connect(arena.database) as database:
        database.execute(
            "UPDATE games SET record = json_set(record, '$.metadata.daily', '2000-01-01') "
            "WHERE id = ?",
            (end["game"],),
        )
        database.execute("UPDATE daily_results SET day = '2000-01-01' WHERE name = 'first'")
    assert get(arena, f"/api/games/{end['game']}")["scores"] == end["scores"]
    assert get(arena, "/api/daily?day=2000-01-01")["results"][0]["game"] == end["game"]
    assert get(arena, "/api/daily?day=2999-01-01") == 404


async def hidden_from_others(arena: Arena, game: int, token: str, other: str) -> None:
    """A game of today's deal is shown to nobody but its player."""
    for path in (f"/api/games/{game}", f"/api/games/{game}/opinion/0"):
        assert await aget(arena, path) == 404
        assert await aget(arena, f"{path}?token={other}") == 404
        assert await aget(arena, f"{path}?token={token}") != 404
    assert await aget(arena, f"/api/games/{game}/report?seat=0") == 404
    assert game not in [row["game"] for row in await aget(arena, "/api/games?player=first")]
    assert await aget(arena, "/api/records.jsonl?player=first") == ""
    assert await aget(arena, "/api/results.json?player=first") == []


def test_a_try_that_never_began_does_not_count(arena: Arena) -> None:
    async def leave() -> None:
        async with Client(arena.ws, "shy") as client:
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


# spectators, lists, private tables


class Eyes:
    """A spectator's connection that remembers what it was sent."""

    closed = False

    def __init__(self) -> None:
        self.texts: list[str] = []

    def push(self, text: str) -> None:
        self.texts.append(text)

    def send(self, message: dict[str, Any]) -> None:
        self.push(json.dumps(message))


def test_spectators_see_what_was_played_long_ago_and_nothing_else() -> None:
    """Whole games by a clock of the test, everything that is sent against what was played."""
    delay, now = 20.0, 100.0
    spectators, eyes, generator = Spectators(delay), Eyes(), random.Random(5)
    rules = TableRules(move_seconds=1000, own_seconds=1000, idle_seconds=1000)
    at = Table("t", [None] * 4, rules, random_deal, now)
    for seat in range(4):
        at.sit(seat, f"p{seat}", now)
    spectators.watch(eyes, at, now)  # ty: ignore[invalid-argument-type]
    cards_seen, games = 0, 3
    for game in range(games):
        effects: list[Effect] = []
        for seat in range(4):
            effects += at.ready(seat, now)
        shown: list[tuple[float, str]] = []  # when each card was played
        end = 0.0
        while at.phase is not Phase.WAITING or now < end + 2 * delay:
            for effect in effects:
                spectators.heard(at, effect, now)
            eyes.texts.clear()
            spectators.tick(now)
            old_enough = [card for when, card in shown if when <= now - delay]
            for text in eyes.texts:
                view = json.loads(text)["view"]
                assert json.loads(text)["delay"] == delay
                if view is not None and view["plays"] == old_enough:
                    cards_seen += len(CARD.findall(text))
                    assert set(CARD.findall(text)) <= set(old_enough)
                elif view is not None:  # still the game before
                    assert (game > 0, old_enough) == (True, [])
            now += generator.uniform(0.1, 9)
            effects = []
            if at.phase is Phase.PLAYING:
                assert at.game is not None
                stage, card = at.game.stage, generator.choice(at.game.legal())
                shown.append((now, CARD_NAMES[card]))
                effects = at.play(at.game.mover, stage, card, now)
            if at.phase is Phase.RECORDING:
                effects += at.recorded(game + 1, now)
                end = now
        assert len(old_enough) == 52
    assert cards_seen > 1000 * games


def test_a_game_is_watched_over_the_network_to_its_end(arena: Arena) -> None:
    async def watch() -> tuple[dict[str, Any], dict[str, Any]]:
        async with Client(arena.ws, "seen") as client, Client(arena.ws, "eyes") as eyes:
            seated = await client.ask("create", seats=[None, "if", "random", "if"], seat=0)
            await eyes.ask("watch", table=seated["table"])
            await client.tell("ready", table=seated["table"], seat=0)
            end = await play_out(client)
            while (watched := await eyes.events.get())["game"] is None:
                assert "hand" not in json.dumps(watched)
            return end, watched

    end, watched = run(watch)
    assert watched["view"]["plays"] == end["plays"]
    assert watched["view"]["scores"] == end["scores"]
    assert watched["game"] == end["game"]


def test_a_clock_starts_when_the_last_cards_have_been_shown() -> None:
    rules = TableRules(10, 100, 100, animation_seconds=4)
    at = Table("t", [None] * 4, rules, random_deal, 0.0)
    for seat in range(4):
        at.sit(seat, f"p{seat}", 0.0)
    for seat in range(4):
        at.ready(seat, 0.0)
    assert [at.remaining(now) for now in (0.0, 4.0, 5.0, 13.0)] == [10, 10, 9, 1]
    assert at.tick(13.9) == []
    assert at.tick(14.0) != []


def test_a_private_table_is_for_those_with_the_invitation(arena: Arena) -> None:
    async def meet() -> None:
        async with Client(arena.ws, "host") as host, Client(arena.ws, "visitor") as visitor:
            seats = [None, "if", None, "if"]
            public = await host.ask("create", seats=seats, seat=0)
            hidden = await host.ask("create", seats=seats, seat=0, private=True)
            assert "invitation" not in public
            table, invitation = hidden["table"], hidden["invitation"]
            listed = {row["table"] for row in await aget(arena, "/api/tables")}
            assert public["table"] in listed
            assert table not in listed
            await visitor.ask("lobby", on=True)
            tables = await visitor.events.get()
            assert public["table"] in json.dumps(tables)
            assert table not in json.dumps(tables)
            assert await aget(arena, f"/api/tables/{table}") == 403
            assert invitation not in json.dumps(await aget(arena, f"/api/tables/{public['table']}"))
            for wrong in ({}, {"invitation": "guess"}, {"invitation": "\ud800"}):
                for kind in ("sit", "watch"):
                    fields = {"table": table, **({"seat": 2} if kind == "sit" else {}), **wrong}
                    with pytest.raises(ArenaError) as caught:
                        await visitor.ask(kind, **fields)
                    assert caught.value.code in ("forbidden", "malformed")
            summary = await aget(arena, f"/api/tables/{table}?invitation={invitation}")
            assert summary["private"]
            await visitor.ask("sit", table=table, seat=2, invitation=invitation)

    run(meet)


def test_the_list_of_tables_is_sent_when_it_changes(arena: Arena) -> None:
    async def look() -> list[bool]:
        async with Client(arena.ws, "looker") as looker, Client(arena.ws, "maker") as maker:
            await looker.ask("lobby", on=True)
            await looker.events.get()
            seated = await maker.ask("create", seats=[None, None, "if", "if"], seat=0)
            seen = []
            for _ in range(2):
                while True:
                    names = json.dumps(await looker.events.get())
                    if not seen or (seated["table"] in names) != seen[-1]:
                        break
                seen.append(seated["table"] in names)
                await maker.ask("leave", table=seated["table"], seat=0) if seen[-1] else None
            return seen

    assert run(look) == [True, False]


# rules


def test_the_examples_of_the_rules_are_right(arena: Arena) -> None:
    """On the page and in docs/rules.md, against the rules of the tests."""
    page = get(arena, "/static/rules.json")

    def points(cards: list[str]) -> int:
        return oracle_score([card_id(card) for card in cards])

    seats = page["game"]["seats"]
    taken = [card for seat in seats for card in seat["cards"]]
    assert len(taken) == len(set(taken)) == 16
    for example in [*seats, *page["hands"]]:
        assert points(example["cards"]) == example["points"], example
        if "sum" in example:
            text = example["sum"].replace("−", "-").replace("×", "*")  # noqa: RUF001
            assert re.fullmatch(r"[-+*() 0-9]+", text)
            assert eval(text) == example["points"]
    for value in page["values"]:
        assert [points([card]) for card in value["cards"]] == value["points"]
    assert {card for value in page["values"] for card in value["cards"]} | {"C10"} == set(taken)
    document = (Path(gongzhu_jax.__file__).parents[1] / "docs/rules.md").read_text()
    for example in [*seats, *page["hands"]]:
        cards = " ".join(GLYPHS[card[0]] + card[1:] for card in example["cards"])
        total = f"{example['points']:+d}".replace("-", "−").replace("+0", "0")  # noqa: RUF001
        how = f"{example['sum']} = {total}" if "sum" in example else total
        assert f"| {cards} | {how} |" in document
