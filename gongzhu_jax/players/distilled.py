"""The distilled player: one forward pass of the distilled policy, no scenarios and no search."""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game.public_view import PublicView, legal_mask
from gongzhu_jax.network.weights import load_weights
from gongzhu_jax.opponents.distilled_policy import KIND, DistilledConfig, apply_views
from gongzhu_jax.players.protocol import BatchFn, Player
from gongzhu_jax.search.mcts import best_card


@dataclass(frozen=True)
class DistilledPlayerConfig:
    """Options of the distilled player."""

    temperature: float = 0.0  # in points: cards are drawn by softmax(Q / temperature); 0: the best

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf"):
            raise ConfigError(f"temperature must be 0 or more, not {self.temperature}")


def make(config: DistilledPlayerConfig, checkpoint: str | Path | None = None) -> Player:
    """The player with the network of that file or run (None: shipped)."""
    return from_network(*load_weights(checkpoint, KIND), config)


def from_network(
    network: DistilledConfig, params: Any, config: DistilledPlayerConfig | None = None
) -> Player:
    """The player with this network."""
    config = config or DistilledPlayerConfig()
    return Player("distilled", config, _act(network, config), params)


@functools.cache  # because jit keys its cache on the function object
def _act(network: DistilledConfig, config: DistilledPlayerConfig) -> BatchFn:
    def act_batch(params: Any, keys: jax.Array, views: PublicView) -> jax.Array:
        legal = jax.vmap(legal_mask)(views)
        q = jnp.where(legal, apply_views(params, views, network).q, -jnp.inf)
        if config.temperature:
            return jax.vmap(jax.random.categorical)(keys, q / config.temperature).astype(jnp.int8)
        return jax.vmap(best_card)(keys, q, legal)

    return act_batch
