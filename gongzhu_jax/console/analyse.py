"""What a searching player thinks of a position: each legal card, and who holds the point cards."""

import json
from collections.abc import Sequence
from typing import Any

import jax

from gongzhu_jax import players
from gongzhu_jax.console.position import parse
from gongzhu_jax.game import render


def main(arguments: Sequence[str]) -> int:
    chosen, view, player = parse("analyse", __doc__, arguments)
    explanation = players.explain(player, view, jax.random.key(chosen.seed))
    if chosen.json:
        print(json.dumps(explanation))
    else:
        print(render(view))
        print(describe(explanation))
    return 0


def describe(explanation: dict[str, Any]) -> str:
    """What `players.explain` says, as text: the best card first."""
    lines = [f"{explanation['player']} would play {explanation['card']}"]
    if explanation["candidates"]:
        lines.append("points of the team at the end, by card:")
        lines += [
            f"  {row['card']:<4}{row['q']:8.1f} +- {row['standard_error']:.1f}"
            for row in explanation["candidates"]
        ]
    if explanation["believed_owners"]:
        lines.append("believed holders  " + "  ".join(f"seat {seat}" for seat in range(4)))
        lines += [
            f"  {card:<16}" + "  ".join(f"{share:6.0%}" for share in shares)
            for card, shares in explanation["believed_owners"].items()
        ]
    return "\n".join(lines)
