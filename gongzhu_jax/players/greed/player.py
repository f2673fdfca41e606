"""Mr. Greed: the best value of the current trick, summed over deals of the hidden cards."""

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax.device_profile import profile
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game.cards import NUM_CARDS, NUM_RANKS, NUM_SEATS, NUM_SUITS
from gongzhu_jax.game.public_view import PublicView, legal_mask, played_mask
from gongzhu_jax.inference import sampling
from gongzhu_jax.inference.constraints import constraints, holders
from gongzhu_jax.players.greed.batch import sum_of_values
from gongzhu_jax.players.protocol import Player
from gongzhu_jax.players.random import draw_card, evenly

MAX_ENUMERATED = 40
"""Up to so many deals of the hidden cards, all of them are used instead of a sample."""

_BONUS_TRICKS = 3
_BONUS_WEIGHT = 30


@dataclass(frozen=True)
class GreedConfig:
    """Options of Mr. Greed."""

    samples: int = 20
    """Deals of the hidden cards that are drawn for each decision."""

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise ConfigError(f"samples must be at least 1, not {self.samples}")


@functools.cache  # because jit keys its cache on the function object
def make(config: GreedConfig) -> Player:
    """The player named "greed"."""
    return Player(
        name="greed",
        config=config,
        act_batch=lambda params, keys, views: _act_in_groups(config.samples, keys, views),
    )


def _act_in_groups(samples: int, keys: jax.Array, views: PublicView) -> jax.Array:
    """Cards int8[B]: one group of games after the other, so that memory does not grow with B."""
    num_games = keys.shape[0]
    size = min(num_games, max(1, profile().greed_deals // samples))
    num_groups = -(-num_games // size)
    index = np.arange(num_groups * size) % num_games  # the last group is filled up with others
    groups = jax.tree.map(
        lambda leaf: leaf[index].reshape(num_groups, size, *leaf.shape[1:]), (keys, views)
    )
    cards = jax.lax.map(lambda group: _act(samples, *group), groups)
    return cards.reshape(-1)[:num_games]


def _act(samples: int, keys: jax.Array, views: PublicView) -> jax.Array:
    """The cards of one group, int8[G]."""
    keys = jax.vmap(jax.random.split)(keys)
    total = totals(views, _over_deals(samples, keys[:, 0], views), samples)
    best = total == jnp.max(total, axis=1, keepdims=True)
    # Playing last, nothing is left to chance and ties go to the first card.
    first = jnp.argmax(best, axis=1).astype(jnp.int8)
    drawn = jax.vmap(lambda key, mask: draw_card(key, evenly(mask)))(keys[:, 1], best)
    return jnp.where(_is_last(views), first, drawn)


def _over_deals(samples: int, keys: jax.Array, views: PublicView) -> jax.Array:
    """Sums, int32[G, 52], over the deals that each game needs: sampled, or all of them if few."""

    def draw():
        tables = jax.vmap(lambda view: sampling.count_deals(constraints(view)))(views)
        return tables, jax.vmap(lambda key, deals: sampling.draw(key, deals, samples))(keys, tables)

    def draw_nothing():
        return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), jax.eval_shape(draw))

    last = _is_last(views)
    tables, drawn = jax.lax.cond(jnp.all(last), draw_nothing, draw)
    few = (tables.total <= MAX_ENUMERATED) & ~last
    needed = jnp.where(few, tables.total.astype(jnp.int32), jnp.where(last, 1, samples))

    def add_block(block, total):
        number = block * samples + jnp.arange(samples)
        opponent = jax.lax.cond(
            jnp.any(few),
            lambda: jnp.where(few[:, None, None], _numbered(tables, number), drawn),
            lambda: drawn,
        )
        deals = jax.vmap(holders)(views, opponent)
        return total + sum_of_values(views, deals, number[None] < needed[:, None])

    # One block; more only where deals are enumerated and outnumber the samples.
    blocks = jnp.max(-(-needed // samples))
    return jax.lax.fori_loop(0, blocks, add_block, jnp.zeros((len(needed), NUM_CARDS), jnp.int32))


def _numbered(tables: sampling.DealCounts, number: jax.Array) -> jax.Array:
    """Deals of the given numbers, [G, D, 52], for each game."""
    return jax.vmap(jax.vmap(sampling.nth, (None, 0)), (0, None))(tables, number)


def _is_last(views: PublicView) -> jax.Array:
    """Whether the player to move is the last of the trick, bool[G]."""
    return views.stage % NUM_SEATS == NUM_SEATS - 1


def totals(views: PublicView, sums: jax.Array, samples: int) -> jax.Array:
    """Total of each card, float32[G, 52], from the sums of its values over `samples` deals; -inf
    for illegal cards."""
    early_lead = (views.stage % NUM_SEATS == 0) & (views.stage < _BONUS_TRICKS * NUM_SEATS)
    bonus = jax.vmap(lambda view: _lead_bonus(view, samples))(views)
    total = (sums + jnp.where(early_lead[:, None], bonus, 0)).astype(jnp.float32)
    return jnp.where(jax.vmap(legal_mask)(views), total, -jnp.inf)


def _lead_bonus(view: PublicView, samples: int) -> jax.Array:
    """The bonus for leading a suit of which the others have more each than I, int32[52]."""
    masks = (played_mask(view.plays), view.hand)
    played, mine = (jnp.sum(mask.reshape(NUM_SUITS, NUM_RANKS), axis=1) for mask in masks)
    return jnp.repeat(jnp.asarray(_bonus_table(samples))[played, mine], NUM_RANKS)


def _bonus_table(samples: int) -> np.ndarray:
    """The bonus by [played, mine], in Python's floats, whose rounding before the truncation is part
    of the rule."""
    table = np.zeros((NUM_RANKS + 1, NUM_RANKS + 1), np.int32)
    for played in range(NUM_RANKS + 1):
        for mine in range(NUM_RANKS + 1 - played):
            others = (NUM_RANKS - played - mine) / 3
            table[played, mine] = int((others - mine) * _BONUS_WEIGHT * samples)
    return table
