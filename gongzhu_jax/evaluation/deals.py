"""Deals to compare players on: drawn from a seed, and two fixed sets that everybody shares.

Deal i depends on the seed and on i only, so a longer set starts with the shorter ones.
"""

import functools
import hashlib
from dataclasses import dataclass

import jax
import numpy as np

from gongzhu_jax.errors import ConfigError, DealError
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_SEATS

STANDARD_SEEDS = {"development": 20_210_215, "final": 20_210_216}
"""`development` is for choosing between versions; `final` only for figures that are published."""

STANDARD_SHA256 = {
    "development": "99fd0545bcded066cffc9676119e465cea46f22434a82cb16e7dee9402944ae7",
    "final": "22a6f2efc9bf8347ce0bf77ffb91760e71dd6cc16be1967cb33c822d44c87078",
}
"""Digests of the owners of the first 4096 deals of each set, int8[4096, 52] in row-major order."""

BLOCK = 4096
_KEY_IMPL = "threefry2x32"  # named, so that a changed default of jax changes no deal
_DEALS, _GAMES = 0, 1  # what the keys of one seed are for


@dataclass(frozen=True)
class Deals:
    """n deals with their numbers, which go into the keys of the games played on them.

    The leader of deal i is seat i % 4, so that every seat leads equally often.
    """

    owners: np.ndarray  # [n, 52] int8, seat that each card is dealt to
    leaders: np.ndarray  # [n] int8, seat that leads the first trick
    numbers: np.ndarray  # [n] int32, place of each deal in the set it is from

    def __len__(self) -> int:
        return len(self.owners)

    def part(self, start: int, stop: int) -> "Deals":
        """Deals from `start` up to, not including, `stop`; they keep their numbers."""
        here = slice(start, stop)
        return Deals(self.owners[here], self.leaders[here], self.numbers[here])


def random_deals(seed: int, count: int) -> Deals:
    """The first `count` deals of a seed."""
    check_seed(seed)
    if count < 1:
        raise DealError(f"the number of deals must be at least 1, not {count}")
    # Whole blocks: one compiled shape for sets of every size.
    blocks = [_block(seed, start) for start in range(0, count, BLOCK)]
    numbers = np.arange(count, dtype=np.int32)
    owners = np.concatenate(blocks)[:count]
    return Deals(owners, (numbers % NUM_SEATS).astype(np.int8), numbers)


def check_seed(seed: int) -> None:
    """Raises `ConfigError` unless jax can make a key of the seed."""
    if not 0 <= seed < 2**32:
        raise ConfigError(f"seed must be from 0 to 2**32 - 1, not {seed}")


def standard_deals(name: str, count: int) -> Deals:
    """The first `count` deals of a fixed set: "development" or "final"."""
    if name not in STANDARD_SEEDS:
        raise DealError(f"unknown set of deals {name!r}; there are {', '.join(STANDARD_SEEDS)}")
    seed = STANDARD_SEEDS[name]
    if digest(_block(seed, 0)) != STANDARD_SHA256[name]:
        raise DealError(f"this version of jax draws other deals than the standard set {name!r}")
    return random_deals(seed, count)


def digest(owners: np.ndarray) -> str:
    """SHA-256 of owners int8[n, 52], as in STANDARD_SHA256."""
    return hashlib.sha256(np.ascontiguousarray(owners, np.int8).tobytes()).hexdigest()


def game_keys(seed: int, numbers: np.ndarray, rotations: np.ndarray) -> jax.Array:
    """The key of each game, [n], from its deal's number and its rotation, [n] each."""
    return _game_keys(np.uint32(seed), numbers, rotations)


@functools.lru_cache(maxsize=16)
def _block(seed: int, start: int) -> np.ndarray:
    owners = np.array(_draw(np.uint32(seed), np.int32(start)))
    owners.flags.writeable = False  # the cache hands out one array to everybody
    return owners


def _key(seed: jax.Array, purpose: int) -> jax.Array:
    return jax.random.fold_in(jax.random.key(seed, impl=_KEY_IMPL), purpose)


@jax.jit
def _draw(seed, start):
    keys = jax.vmap(jax.random.fold_in, (None, 0))(_key(seed, _DEALS), start + np.arange(BLOCK))
    return jax.vmap(env.deal)(keys).holder


@jax.jit
def _game_keys(seed, numbers, rotations):
    keys = jax.vmap(jax.random.fold_in, (None, 0))(_key(seed, _GAMES), numbers)
    return jax.vmap(jax.random.fold_in)(keys, rotations)
