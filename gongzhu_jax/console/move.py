"""The card that a player would play: a position in, a card out."""

import argparse
import json
from collections.abc import Sequence

import jax

from gongzhu_jax import players
from gongzhu_jax.console.position import FORMAT, add_arguments, read_arguments, read_options
from gongzhu_jax.game.plain_view import plain_view


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="gongzhu move",
        description=__doc__,
        epilog=FORMAT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
    chosen = parser.parse_args(arguments)
    view = read_arguments(chosen)
    player = players.make(chosen.player, **read_options(chosen.option))
    card = player.play(view, jax.random.key(chosen.seed))
    if chosen.json:
        print(json.dumps({"card": card, "player": player.name, "legal": plain_view(view)["legal"]}))
    else:
        print(card)
    return 0
