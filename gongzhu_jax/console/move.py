"""The card that a player would play: a position in, a card out."""

import json
from collections.abc import Sequence

import jax

from gongzhu_jax.console.position import parse
from gongzhu_jax.game.plain_view import plain_view


def main(arguments: Sequence[str]) -> int:
    chosen, view, player = parse("move", __doc__, arguments)
    card = player.play(view, jax.random.key(chosen.seed))
    if chosen.json:
        print(json.dumps({"card": card, "player": player.name, "legal": plain_view(view)["legal"]}))
    else:
        print(card)
    return 0
