"""What a searching player thinks of a position: each legal card, and who holds the point cards."""

import argparse
import json
from collections.abc import Sequence
from typing import Any

import jax

from gongzhu_jax import players
from gongzhu_jax.arena.opinion import opinion
from gongzhu_jax.console.position import FORMAT, add_arguments, read_arguments, read_options
from gongzhu_jax.errors import PlayerError
from gongzhu_jax.game import render


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="gongzhu analyse",
        description=__doc__,
        epilog=FORMAT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
    chosen = parser.parse_args(arguments)
    view = read_arguments(chosen)
    if int(view.to_move) != int(view.seat):
        raise PlayerError(f"it is the turn of seat {view.to_move}, not of seat {view.seat}")
    player = players.make(chosen.player, **read_options(chosen.option))
    thought = opinion(player, jax.random.key(chosen.seed), view)
    if chosen.json:
        print(json.dumps(thought))
    else:
        print(render(view))
        print(describe(thought))
    return 0


def describe(thought: dict[str, Any]) -> str:
    """An opinion as text: the best card first."""
    lines = [f"{thought['player']} would play {thought['card']}"]
    if thought["q"]:
        lines.append("points of the team at the end, by card:")
        best_first = sorted(thought["q"].items(), key=lambda item: -item[1]["mean"])
        lines += [f"  {card:<4}{q['mean']:8.1f} +- {q['error']:.1f}" for card, q in best_first]
    if thought["owners"]:
        lines.append("believed holders:  " + "  ".join(f"seat {seat}" for seat in range(4)))
        lines += [
            f"  {card:<16}" + "  ".join(f"{share:6.0%}" for share in shares)
            for card, shares in thought["owners"].items()
        ]
    return "\n".join(lines)
