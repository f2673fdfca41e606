"""The `gongzhu` command: what people type, and what they read."""

import io
import json
import re
from pathlib import Path
from typing import Any

import jax
import pytest

from gongzhu_jax import players
from gongzhu_jax.console import experiments
from gongzhu_jax.console.__main__ import COMMANDS, main
from gongzhu_jax.console.cards_text import draw
from gongzhu_jax.network import NetworkConfig
from gongzhu_jax.network import make as make_network
from gongzhu_jax.players.protocol import Player
from gongzhu_jax.version import __version__

HAND = "SQ S3 HA H4 H2 D10 D9 D2 CK C7 C6 C5 C2"
POSITION = ["--seat", "1", "--hand", HAND, "--leader", "0", "--plays", "S7"]
FORCED = {"seat": 1, "hand": HAND.replace("S3", "D3"), "leader": 0, "plays": "S7"}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searching players with a small network and few scenarios."""
    network = NetworkConfig("compact", stem=16, width=8, blocks=1)
    params = make_network(network).init(jax.random.key(0))
    real = players.make

    def make(name: str, **options) -> Player:
        if not name.startswith("scrofa"):
            return real(name, **options)
        few: dict[str, Any] = {"scenarios.draws": 9, "search.base": 2, "search.per_legal": 1}
        return players.from_network("scrofa", network, params, **few)

    monkeypatch.setattr(players, "make", make)


def test_help_names_every_command(capsys: pytest.CaptureFixture) -> None:
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    for name in (*COMMANDS, "train", "evaluate", "sweep", "reproduce", "doctor"):
        assert re.search(rf"^  {name} ", said, re.MULTILINE), name
    assert main([]) == 2
    assert main(["--version"]) == 0
    assert __version__ in capsys.readouterr().out


def test_unknown_command(capsys: pytest.CaptureFixture) -> None:
    assert main(["triain"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: unknown command 'triain'; there are play, ")
    assert "train" in error
    assert error.count("\n") == 1


def test_experiments_need_their_extra(
    capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiments.importlib.util, "find_spec", lambda name: None)
    assert main(["train"]) == 2
    said = capsys.readouterr().err
    assert said == "error: train needs hydra: pip install 'gongzhu_jax[experiments]'\n"


def test_move(capsys: pytest.CaptureFixture) -> None:
    assert main(["move", *POSITION, "--player", "if"]) == 0
    assert capsys.readouterr().out in ("S3\n", "SQ\n")
    assert main(["move", *POSITION, "--player", "random", "--seed", "4", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["card"] in answer["legal"] == ["S3", "SQ"]
    assert answer["player"] == "random"


def test_move_from_a_file_and_from_stdin(
    tmp_path: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "position.json"
    path.write_text(json.dumps(FORCED))
    assert main(["move", str(path), "--player", "random"]) == 0
    monkeypatch.setattr("sys.stdin", io.StringIO(path.read_text()))
    assert main(["move", "-", "--player", "random"]) == 0
    assert capsys.readouterr().out == "SQ\nSQ\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "a position is a FILE, or --seat, --hand and --leader: no --seat"),
        (["nothing.json"], "cannot read nothing.json"),
        (["nothing.json", *POSITION], "a FILE or options, not both"),
        ([*POSITION[:-2], "--player", "if"], "it is the turn of seat 0"),
        ([*POSITION[:-1], "SQ", "--player", "if"], "SQ"),
        ([*POSITION, "--player", "iff"], "unknown player 'iff'"),
        ([*POSITION, "--player", "greed", "-o", "samples"], "an option is NAME=VALUE"),
        ([*POSITION, "--player", "greed", "-o", "draws=3"], "has no option 'draws'"),
    ],
)
def test_bad_positions_are_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture
) -> None:
    assert main(["move", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.usefixtures("small")
def test_analyse(capsys: pytest.CaptureFixture) -> None:
    assert main(["analyse", *POSITION]) == 0
    said = capsys.readouterr().out
    assert re.search(r"scrofa would play S[3Q]", said)
    assert re.search(r"^  S3 .* \+- ", said, re.MULTILINE)
    assert "believed holders" in said
    assert main(["analyse", *POSITION, "--json"]) == 0
    candidates = json.loads(capsys.readouterr().out)["candidates"]
    assert {row["card"] for row in candidates} == {"S3", "SQ"}


def play(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, lines: list[str], *options: str
) -> str:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))
    chosen = ["--opponents", "if", "--partner", "random", "--seed", "3", *options]
    assert main(["play", *chosen]) == 0
    return capsys.readouterr().out


def test_a_whole_game(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    """Somebody who types all card names at every turn: one of them is legal, and is played."""
    ranks = (*map(str, range(2, 11)), *"jqka")
    every = [suit + rank for suit in "shdc" for rank in ranks]
    said = play(monkeypatch, capsys, every * 13, "--games", "1")
    assert len(re.findall(r"takes? the trick", said)) == 13
    assert len(re.findall(r"^  you: ", said.replace("help): ", "help):\n"), re.MULTILINE)) == 13
    points = re.search(r"points: (.*); your team (\S+), the others (\S+)", said)
    assert points is not None
    seats = [int(word) for word in points[1].split()]
    assert (seats[0] + seats[2], seats[1] + seats[3]) == (int(points[2]), int(points[3]))
    assert f"points of all games, seats 0 to 3: {points[1]}" in said


@pytest.mark.usefixtures("small")
def test_advice_mistakes_and_leaving(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    said = play(monkeypatch, capsys, ["", "?", "t", "x9", "s2", "c2", "h2", "d2", "q"])
    assert "q: leaves the game" in said
    assert "would play" in said
    assert "unknown card name 'x9'" in said
    assert "may not be played now" in said
    assert said.endswith("points of all games, seats 0 to 3: 0 0 0 0\n")


def test_drawn_cards() -> None:
    assert draw(["HA", "S10"]) == "┌───┐┌───┐\n│10 ││A  │\n│ ♠ ││ ♥ │\n└───┘└───┘"


@pytest.mark.parametrize("command", ["move", "analyse"])
def test_help_says_what_a_position_is(command: str, capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    said = capsys.readouterr().out
    assert '{"seat": 3, "hand": "HQ HJ H8 ...", "leader": 0, "plays": "H3 H5 H4 H7 ..."}' in said
    assert '"stage"' in said
