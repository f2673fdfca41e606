"""Mr. Random: uniform over the legal cards."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from gongzhu_jax.game.public_view import PublicView, legal_mask
from gongzhu_jax.players.protocol import Player, from_single


@dataclass(frozen=True)
class NoOptions:
    """The player has no options."""


@functools.cache  # because jit keys its cache on the function object
def make(config: NoOptions) -> Player:
    """The player named "random"."""
    return from_probabilities("random", config, probabilities)


def from_probabilities(
    name: str, config: Any, probabilities: Callable[[PublicView], jax.Array]
) -> Player:
    """The player that draws its cards with the probabilities, float32[52], of a function."""
    return Player(
        name,
        config,
        from_single(lambda key, view: draw_card(key, probabilities(view))),
        probabilities_fn=lambda params, view: probabilities(view),
    )


def probabilities(view: PublicView) -> jax.Array:
    """Probability of each card, float32[52]."""
    return evenly(legal_mask(view))


def evenly(mask: jax.Array) -> jax.Array:
    """The uniform distribution over the cards of `mask`, float32[52]; all 0 if there is none."""
    return mask.astype(jnp.float32) / jnp.maximum(jnp.sum(mask, dtype=jnp.float32), 1.0)


def draw_card(key: jax.Array, probability: jax.Array) -> jax.Array:
    """One card, int8, with the given probabilities, [52]; one of probability 0 is never drawn."""
    return jax.random.categorical(key, jnp.log(probability)).astype(jnp.int8)
