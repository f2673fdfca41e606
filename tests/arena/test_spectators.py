"""Who sees what: spectators, private tables, the list of tables, and when a clock starts."""

import json
import random
import re
from typing import Any

import pytest

from gongzhu_jax.arena.client import Client
from gongzhu_jax.arena.deals import random_deal
from gongzhu_jax.arena.effects import Effect, Phase
from gongzhu_jax.arena.seats import TableRules
from gongzhu_jax.arena.spectators import Spectators
from gongzhu_jax.arena.table import Table
from gongzhu_jax.errors import ArenaError
from gongzhu_jax.game.cards import CARD_NAMES
from tests.arena.live_server import Arena, run
from tests.arena.people_driver import aget, play_out

CARD = re.compile(r'"([SHDC](?:10|[2-9JQKA]))"')


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


def test_a_game_is_watched_over_the_network_to_its_end(people_arena: Arena) -> None:
    async def watch() -> tuple[dict[str, Any], dict[str, Any]]:
        async with (
            Client(people_arena.ws, "seen") as client,
            Client(people_arena.ws, "eyes") as eyes,
        ):
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


def test_a_private_table_is_for_those_with_the_invitation(people_arena: Arena) -> None:
    async def meet() -> None:
        async with (
            Client(people_arena.ws, "host") as host,
            Client(people_arena.ws, "visitor") as visitor,
        ):
            seats = [None, "if", None, "if"]
            public = await host.ask("create", seats=seats, seat=0)
            hidden = await host.ask("create", seats=seats, seat=0, private=True)
            assert "invitation" not in public
            table, invitation = hidden["table"], hidden["invitation"]
            listed = {row["table"] for row in await aget(people_arena, "/api/tables")}
            assert public["table"] in listed
            assert table not in listed
            await visitor.ask("lobby", on=True)
            tables = await visitor.events.get()
            assert public["table"] in json.dumps(tables)
            assert table not in json.dumps(tables)
            assert await aget(people_arena, f"/api/tables/{table}") == 403
            assert invitation not in json.dumps(
                await aget(people_arena, f"/api/tables/{public['table']}")
            )
            for wrong in ({}, {"invitation": "guess"}, {"invitation": "\ud800"}):
                for kind in ("sit", "watch"):
                    fields = {"table": table, **({"seat": 2} if kind == "sit" else {}), **wrong}
                    with pytest.raises(ArenaError) as caught:
                        await visitor.ask(kind, **fields)
                    assert caught.value.code in ("forbidden", "malformed")
            summary = await aget(people_arena, f"/api/tables/{table}?invitation={invitation}")
            assert summary["private"]
            await visitor.ask("sit", table=table, seat=2, invitation=invitation)

    run(meet)


def test_the_list_of_tables_is_sent_when_it_changes(people_arena: Arena) -> None:
    async def look() -> list[bool]:
        async with (
            Client(people_arena.ws, "looker") as looker,
            Client(people_arena.ws, "maker") as maker,
        ):
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
