"""Explains a move: `python -m experiments.analyse FILE [player=scrofa] [options.weights.beta=0]`

FILE is JSON, a position as one seat sees it
  {"seat": 3, "hand": "HQ HJ H8 ...", "leader": 0, "plays": "H3 H5 H4 H7 ..."}
or a line of a record file with, beside its fields, the "stage" to look at (cards played before).
Prints the candidates with averaged Q and standard error, the scenarios with their weights, and the
believed owners of the unseen point cards; writes the same as JSON, and a picture.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import jax

from experiments.common.cli import command
from experiments.common.plots import plot_analysis
from experiments.common.progress import as_lines, print_table
from experiments.common.settings import check_folder
from gongzhu_jax import players
from gongzhu_jax.console.analyse import describe
from gongzhu_jax.console.position import read_position
from gongzhu_jax.files import write_whole
from gongzhu_jax.game import render


@dataclass(frozen=True, kw_only=True)
class AnalyseSettings:
    file: str
    player: str
    options: dict[str, Any] = field(default_factory=dict)
    seed: int  # seed of the player's choices
    output: str


def with_file(arguments: Sequence[str]) -> list[str]:
    """The command line with a plain first word taken as the file."""
    if arguments and "=" not in arguments[0] and not arguments[0].startswith("-"):
        return [f"file='{arguments[0]}'", *arguments[1:]]
    return list(arguments)


@command("analyse", AnalyseSettings, with_file)
def main(settings: AnalyseSettings, line: str) -> None:
    output = Path(settings.output).absolute()
    output.parent.mkdir(parents=True, exist_ok=True)
    check_folder(output.parent, "output")
    position = read_position(settings.file)
    player = players.make(settings.player, **settings.options)
    explanation = players.explain(player, position, jax.random.key(settings.seed))
    analysis: dict[str, Any] = {**explanation, "config": asdict(player.config)}
    print(render(position), describe(analysis), sep="\n")
    print_table("scenarios", as_lines(analysis["scenarios"]))
    size, count = analysis["effective_sample_size"], len(analysis["scenarios"])
    print(f"effective sample size {size:.2f} of {count}")
    text = json.dumps({"command": line, "seed": settings.seed, **analysis}, indent=1)
    write_whole(output.with_suffix(".json"), text.encode())
    plot_analysis(analysis, output.with_suffix(".png"))


if __name__ == "__main__":
    raise SystemExit(main())
