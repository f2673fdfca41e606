"""Explains a move: `python -m experiments.analyse FILE [player=scrofa] [options.weights.beta=0]`

FILE is JSON, a position as one seat sees it
  {"seat": 3, "hand": "HQ HJ H8 ...", "leader": 0, "plays": "H3 H5 H4 H7 ..."}
or a line of a record file with, beside its fields, the "stage" to look at (cards played before).
Prints the candidates with averaged Q and standard error, the scenarios with their weights, and the
believed owners of the unseen point cards; writes the same as JSON, and a picture.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import jax
from rich.console import Console

from experiments.common.cli import DONE, command
from experiments.common.plots import plot_analysis
from experiments.common.progress import as_lines, print_table
from experiments.common.settings import check_folder
from gongzhu_jax import players
from gongzhu_jax.errors import RecordError
from gongzhu_jax.files import write_whole
from gongzhu_jax.game import PublicView, env, make_view, render, replay_checked, view
from gongzhu_jax.players.protocol import Player


@dataclass(frozen=True, kw_only=True)
class AnalyseSettings:
    file: str
    player: str
    options: dict[str, Any] = field(default_factory=dict)
    seed: int
    output: str


def read_position(path: str | Path) -> PublicView:
    """The view that a file describes."""
    try:
        content = json.loads(Path(path).read_text())
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


def analyse(player: Player, position: PublicView, seed: int) -> dict[str, Any]:
    """All that `player` thinks of a position, as plain types."""
    explanation = players.explain(player, position, jax.random.key(seed))
    return {**explanation, "config": asdict(player.config)}


def with_file(arguments: Sequence[str]) -> list[str]:
    """The command line with a plain first word taken as the file."""
    if arguments and "=" not in arguments[0] and not arguments[0].startswith("-"):
        return [f"file='{arguments[0]}'", *arguments[1:]]
    return list(arguments)


@command("analyse", AnalyseSettings, with_file)
def main(settings: AnalyseSettings, line: str) -> int:
    output = Path(settings.output).absolute()
    output.parent.mkdir(parents=True, exist_ok=True)
    check_folder(output.parent, "output")
    position = read_position(settings.file)
    player = players.make(settings.player, **settings.options)
    analysis = analyse(player, position, settings.seed)
    console = Console()
    console.print(render(position), highlight=False)
    print_table("candidates: points for my team at the end", as_lines(analysis["candidates"]))
    print_table("scenarios", as_lines(analysis["scenarios"]))
    print_table(
        "believed owners of unseen point cards",
        as_lines(
            [
                {"card": card, **{f"seat {i}": share for i, share in enumerate(shares)}}
                for card, shares in analysis["believed_owners"].items()
            ]
        ),
    )
    size, count = analysis["effective_sample_size"], len(analysis["scenarios"])
    console.print(f"effective sample size {size:.2f} of {count}; plays {analysis['card']}")
    text = json.dumps({"command": line, "seed": settings.seed, **analysis}, indent=1)
    write_whole(output.with_suffix(".json"), text.encode())
    plot_analysis(analysis, output.with_suffix(".png"))
    return DONE


if __name__ == "__main__":
    sys.exit(main())
