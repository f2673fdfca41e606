"""Players from outside the package, by the place of their factory and by entry point."""

import dataclasses
import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from gongzhu_jax import game, players
from gongzhu_jax.errors import PlayerError
from gongzhu_jax.evaluation.fingerprint import program_digest
from gongzhu_jax.players import outside

VIEW = game.make_view(seat=1, hand="SQ S3 HA H4 H2 D10 D9 D2 CK C7 C6 C5 C2", leader=0, plays="S7")

MINE = """
from gongzhu_jax.players import make as make_player

def make(high=False):
    return lambda view: view["legal"][-1 if high else 0]

def greed():
    return make_player("greed", samples=3)

def broken():
    raise RuntimeError("out of order")

def number():
    return 7

name = "not a function"
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module in the current folder, which is not where Python looks for modules."""
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    return path


def test_a_function_with_options(mine: Path) -> None:
    assert players.make("mine:make").play(VIEW) == "S3"
    player = players.make("mine:make", high=True)
    assert (player.play(VIEW), player.name) == ("SQ", "mine")
    assert players.option_names("mine:make") == ["high"]


def test_a_player_keeps_its_name_and_options(mine: Path) -> None:
    player = players.make("mine:greed")
    assert player.name == "greed"
    assert player.config.config == players.make("greed", samples=3).config


def test_an_edited_player_is_another_player(mine: Path) -> None:
    """Results are kept by what a player is: an old result must not stand for a new player."""
    before = dataclasses.asdict(players.make("mine:make").config)
    mine.write_text(MINE.replace("[-1 if high else 0]", "[0 if high else -1]"))
    del sys.modules["mine"]
    after = dataclasses.asdict(players.make("mine:make").config)
    assert before != after
    assert {**before, "source": ""} == {**after, "source": ""}


def test_options_of_a_function_are_told_apart(mine: Path) -> None:
    """To a compiled program both are the same call to the host; a sweep must not think so."""
    low, high = players.make("mine:make"), players.make("mine:make", high=True)
    assert program_digest(low) != program_digest(high)
    assert program_digest(low) == program_digest(players.make("mine:make"))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("mine:make", {"low": 1}, "unexpected keyword argument 'low'; its options are high"),
        ("mine:nothing", {}, "mine has no function 'nothing'"),
        ("mine:name", {}, "mine has no function 'name'"),
        ("mine:broken", {}, "'mine:broken' failed: RuntimeError: out of order"),
        ("mine:number", {}, "must return a Player or a function of a view, not 7"),
        ("not_mine:make", {}, "cannot import not_mine: ModuleNotFoundError"),
        ("mine:", {}, "module:function, not 'mine:'"),
        ("minimax", {}, "unknown player 'minimax'; there are random, .*module:function"),
    ],
)
def test_what_is_wrong_is_said(mine: Path, name: str, options: dict, message: str) -> None:
    with pytest.raises(PlayerError, match=message) as caught:
        players.make(name, **options)
    assert "\n" not in str(caught.value)


def test_entry_points_have_names(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = EntryPoints(
        EntryPoint(name, "mine:make", outside.GROUP) for name in ("highwayman", "greed")
    )
    monkeypatch.setattr(outside.importlib.metadata, "entry_points", lambda group: points)
    outside.entry_points.cache_clear()
    try:
        assert players.names().count("greed") == 1  # our names stay ours
        assert players.make("greed").name == "greed"
        assert "highwayman" in players.names()
        player = players.make("highwayman", high=True)
        assert (player.name, player.play(VIEW)) == ("highwayman", "SQ")
        assert players.option_names("highwayman") == ["high"]
    finally:
        outside.entry_points.cache_clear()
