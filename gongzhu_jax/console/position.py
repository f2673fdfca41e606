"""Positions from the command line or from a file, as a seat sees them, and who is asked."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gongzhu_jax import players
from gongzhu_jax.errors import RecordError
from gongzhu_jax.game import PublicView, env, make_view, replay_checked, view
from gongzhu_jax.players.protocol import Player

FORMAT = """\
FILE is JSON, or - for stdin. A position as one seat sees it:
  {"seat": 3, "hand": "HQ HJ H8 ...", "leader": 0, "plays": "H3 H5 H4 H7 ..."}
seat: whose turn it is (0 to 3; 0 and 2 are partners); hand: the cards in its hand now; leader: the
seat that led the first trick; plays: all cards played so far, in order. Or a line of a record file
with, beside its fields, the "stage" to look at: the number of cards played before.
"""


def parse(
    command: str, description: str | None, arguments: Sequence[str]
) -> tuple[argparse.Namespace, PublicView, Player]:
    """What a command that asks a player about a position was given, the position and the player."""
    parser = argparse.ArgumentParser(
        prog=f"gongzhu {command}",
        description=description,
        epilog=FORMAT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", nargs="?", help="a position as JSON; - for stdin")
    parser.add_argument("--seat", type=int, help="whose turn it is, 0 to 3")
    parser.add_argument("--hand", help='the cards in its hand now, "SQ S3 HA ..."')
    parser.add_argument("--leader", type=int, help="the seat that led the first trick")
    parser.add_argument("--plays", default="", help='all cards played so far, in order, "S7 ..."')
    parser.add_argument("--player", default="scrofa-strong", help="who is asked")
    parser.add_argument(
        *("--option", "-o"),
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the player, e.g. -o scenarios.draws=27; may be repeated",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the player's random choices")
    parser.add_argument("--json", action="store_true", help="prints JSON, for programs")
    chosen = parser.parse_args(arguments)
    return chosen, _position(chosen), players.make(chosen.player, **_options(chosen.option))


def _position(chosen: argparse.Namespace) -> PublicView:
    fields = {"seat": chosen.seat, "hand": chosen.hand, "leader": chosen.leader}
    if chosen.file is None:
        missing = [f"--{name}" for name, value in fields.items() if value is None]
        if missing:
            raise RecordError(
                f"a position is a FILE, or --seat, --hand and --leader: no {missing[0]}"
            )
        return make_view(chosen.seat, chosen.hand, chosen.leader, chosen.plays)
    if chosen.plays or any(value is not None for value in fields.values()):
        raise RecordError("a position is a FILE or options, not both")
    return read_position(chosen.file)


def read_position(path: str | Path) -> PublicView:
    """The view that a file describes; FORMAT says how."""
    try:
        text = sys.stdin.read() if str(path) == "-" else Path(path).read_text()
        content = json.loads(text)
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise RecordError(f"cannot read {path}: {error}") from error
    if not isinstance(content, dict):
        raise RecordError(f"{path}: a position is a JSON object")
    if "deal" in content:
        stage = content.get("stage")
        if not isinstance(stage, int) or not 0 <= stage < 52:
            raise RecordError(f"{path}: a record needs the stage to look at, from 0 to 51")
        plays = content.get("plays", [])[:stage]
        state = replay_checked(content["deal"], content.get("leader", 0), plays)
        return view(state, env.player_to_move(state))
    missing = [name for name in ("seat", "hand", "leader") if name not in content]
    if missing:
        raise RecordError(f"{path}: a position needs {', '.join(missing)}")
    return make_view(content["seat"], content["hand"], content["leader"], content.get("plays", ()))


def _options(words: list[str]) -> dict[str, Any]:
    """Options of a player from NAME=VALUE, values as in JSON or else as text."""
    options = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not name or not equals:
            raise RecordError(f"an option is NAME=VALUE, not {word!r}")
        try:
            options[name] = json.loads(value)
        except json.JSONDecodeError:
            options[name] = value
    return options
