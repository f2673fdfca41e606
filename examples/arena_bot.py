"""A program that plays at an arena: `python examples/arena_bot.py [--games 10]`.

It needs a running server, `python -m gongzhu_jax.arena`, and plays a simple style: it takes the
sheep if it can, ducks otherwise, and gets rid of dangerous cards when it cannot follow suit.
"""

import argparse
import asyncio
from typing import Any

from gongzhu_jax.arena.client import Client

RANKS = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"]
DANGER = {"SQ": 100, "SK": 60, "SA": 60, "HA": 50, "HK": 40, "HQ": 30, "HJ": 20, "C10": 15}


def rank(card: str) -> int:
    return RANKS.index(card[1:])


def choose(view: dict[str, Any]) -> str:
    """One of `view["legal"]`."""
    legal, trick = view["legal"], view["trick"]["cards"]
    if not trick:
        return min(legal, key=lambda card: (DANGER.get(card, 0), rank(card)))
    suit = trick[0][0]
    if legal[0][0] != suit:
        return max(legal, key=lambda card: (DANGER.get(card, 0), rank(card)))
    best = max(rank(card) for card in trick if card[0] == suit)
    if "DJ" in trick and max(map(rank, legal)) > best:
        return max(legal, key=rank)
    below = [card for card in legal if rank(card) < best]
    return max(below, key=rank) if below else min(legal, key=rank)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", default="ws://127.0.0.1:8765/ws")
    parser.add_argument("--name", default="example-bot")
    parser.add_argument("--token", help="of a registered name; then --matches is possible")
    parser.add_argument("--opponent", default="greed", help="one of the server's players")
    parser.add_argument("--games", type=int, default=10)
    parser.add_argument("--matches", action="store_true", help="wait for matches until Ctrl-C")
    parser.add_argument("--challenges", action="store_true", help="others may start matches too")
    options = parser.parse_args()
    async with Client(options.address, options.name, options.token) as client:
        if options.matches:
            await client.play_matches(choose, challenges=options.challenges)
        other = options.opponent
        ended = await client.play_games(
            choose, games=options.games, seats=[None, other, "random", other]
        )
    margins = [end["scores"][0] - end["scores"][1] for end in ended]
    print(f"{len(ended)} games, mean points over the player on the left:", end=" ")
    print(f"{sum(margins) / len(margins):+.1f}")


if __name__ == "__main__":
    asyncio.run(main())
