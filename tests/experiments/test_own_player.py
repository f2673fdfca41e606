"""A player of one's own goes wherever ours go: the commands by its place, the arena by its name."""

import asyncio
import json
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from experiments import compare, evaluate, round_robin
from gongzhu_jax import game, players
from gongzhu_jax.arena import __main__ as arena
from gongzhu_jax.arena import web_server
from gongzhu_jax.arena.deals import GameKey
from gongzhu_jax.arena.own_players import OwnPlayers
from gongzhu_jax.arena.position import Position
from gongzhu_jax.errors import ArenaError, PlayerError
from gongzhu_jax.players import outside

MINE = """
def make(illegal=False):
    return lambda view: "S2" if illegal and "S2" not in view["legal"] else view["legal"][0]
"""
SMALL = ("deals=2", "batch=2")


@pytest.fixture(autouse=True)
def _mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "mine", raising=False)


def rows_of(path: Path) -> dict:
    return json.loads(path.read_text())["result"]["rows"]


def test_in_a_comparison(places: Path) -> None:
    assert compare.main(["matches={own row:[mine:make,random]}", "name=own", *SMALL]) == 0
    assert rows_of(places / "runs" / "own.json")["own row"]["deals"] == 2


def test_in_a_round_robin(places: Path) -> None:
    assert round_robin.main(["players=[random,mine:make]", *SMALL]) == 0
    assert list(rows_of(places / "runs" / "round_robin.json")) == ["mine:make over random"]


def test_an_illegal_card_ends_the_match_with_one_line(capsys: pytest.CaptureFixture) -> None:
    wrong = ["player=mine:make", "player_options.illegal=true", "opponent=random"]
    assert evaluate.main([*wrong, *SMALL]) == 2
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error:")]
    assert len(said) == 1
    assert "S2" in said[0]


def by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("highwayman", "mine:make", outside.GROUP)
    monkeypatch.setattr(
        outside.importlib.metadata, "entry_points", lambda group: EntryPoints([point])
    )
    outside.entry_points.cache_clear()


def by_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "bind", refuse_to_start)
    outside.entry_points.cache_clear()
    assert arena.main(["--port", "0", "--player", "highwayman=mine:make"]) == 2


def refuse_to_start(host: str, port: int) -> None:
    raise ArenaError("busy", "the options have been read")


@pytest.mark.parametrize("install", [by_entry_point, by_option])
def test_at_a_table_of_the_arena(install: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
    hand = tuple(game.cards.card_ids("SQ S3 HA H4 H2 D10 D9 D2 CK C7 C6 C5 C2"))

    def make(name: str) -> players.Player:
        if name != "highwayman":
            raise PlayerError("not in this test")
        return players.make(name)

    async def ask() -> int:
        own = OwnPlayers(make, "none", 1)
        await own.open()
        try:
            assert own.available == ["highwayman"]
            position = Position(1, hand, 0, (game.card_id("S7"),))
            return await own.act("highwayman", GameKey(0, 0, 0), position)
        finally:
            own.close()

    try:
        assert game.card_names(asyncio.run(ask())) == "S3"
    finally:
        outside.entry_points.cache_clear()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("highwayman", "NAME=module:function"),
        ("greed=mine:make", "one of our players"),
        ("high:wayman=mine:make", "the name 'high:wayman' may have letters"),
        ("highwayman=mine:nothing", "no function 'nothing'"),
    ],
)
def test_what_the_arena_cannot_seat(given: str, said: str, capsys: pytest.CaptureFixture) -> None:
    assert arena.main(["--port", "0", "--player", given]) == 2
    assert said in capsys.readouterr().err
