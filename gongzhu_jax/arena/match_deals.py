"""The deals of a match, from a secret seed that is published when the match is over.

The hash of the seed is published before the first card, so the server cannot choose deals later,
and everybody can draw them again from the seed: card c of deal i has the tag
SHA-256("SEED:i:c"), the cards are dealt in the order of their tags, thirteen to each seat from
seat 0 on, and seat i % 4 leads.
"""

import hashlib
import secrets

import numpy as np

from gongzhu_jax.arena.deals import Deal, GameKey
from gongzhu_jax.game.cards import NUM_CARDS, NUM_RANKS, NUM_SEATS


def new_seed() -> str:
    """128 bits that nobody can guess, in hexadecimal."""
    return secrets.token_hex(16)


def match_deal(seed: str, number: int) -> Deal:
    """Deal `number` of the match. The random choices of our players in it have a seed of their
    own, SHA-256("SEED:i:players") as a number, its last 32 bits: what a program may find out
    about one deal tells it nothing about the next."""
    order = sorted(range(NUM_CARDS), key=lambda card: _hash(f"{seed}:{number}:{card}"))
    owners = np.empty(NUM_CARDS, np.int8)
    owners[order] = np.repeat(np.arange(NUM_SEATS), NUM_RANKS)
    players_seed = int.from_bytes(_hash(f"{seed}:{number}:players")[-4:])
    key = GameKey(players_seed, number, rotation=0)
    return Deal(owners.tolist(), number % NUM_SEATS, key, {"deal": number})


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
