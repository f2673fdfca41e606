"""The distilled policy: what players that search would do, in one forward pass over a view.

Every decision of a player that searches comes with the averaged Q of all legal cards. This network
learns them from what the seat may know, together with the card that was played and who held what
(policy distillation). It is a player of its own, and the card it expects is an opponent model of
strong players. It stands on the network of the belief, which it may start from.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import struct

from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game.cards import NUM_CARDS
from gongzhu_jax.game.public_view import PublicView, assert_views
from gongzhu_jax.inference.constraints import NUM_OPPONENTS, constraints
from gongzhu_jax.network.policy_value import VALUE_SCALE, SkipBlock, init_module
from gongzhu_jax.network.weights import SUFFIX, NetworkKind, register
from gongzhu_jax.opponents.card_belief import (
    BeliefConfig,
    BeliefInput,
    CardBeliefNet,
    empty_input,
    encode_games,
    encode_view,
)
from gongzhu_jax.opponents.odds import possible


@dataclass(frozen=True)
class DistilledConfig:
    """The size of the network."""

    belief: BeliefConfig = field(default_factory=lambda: BeliefConfig(reader=256))
    width: int = 384  # width of the skip blocks on top of the belief
    blocks: int = 2  # skip blocks of two layers each

    def __post_init__(self) -> None:
        if isinstance(self.belief, dict):  # as it stands in the header of a weights file
            object.__setattr__(self, "belief", BeliefConfig(**self.belief))
        if min(self.width, self.blocks) < 1:
            raise ConfigError("width and blocks of a distilled policy must be at least 1")


class DistilledOutput(struct.PyTreeNode):
    """What the network says of views with leading axes [...]."""

    q: jax.Array  # [..., 52] points, up to a constant of the decision
    logits: jax.Array  # [..., 52] of the card that is played
    log_odds: jax.Array  # [..., 52, 3] of who holds what, as the belief gives them


class DistilledNet(nn.Module):
    """Maps inputs, and which opponents may hold each card, bool[..., 52, 3], to the outputs."""

    config: DistilledConfig

    @nn.compact
    def __call__(self, known: BeliefInput, may_hold: jax.Array) -> DistilledOutput:
        belief = CardBeliefNet(self.config.belief, name="belief")
        log_odds, features = belief.odds_and_features(known)
        shares = jnp.where(may_hold, jax.nn.softmax(jnp.where(may_hold, log_odds, -1e9)), 0.0)
        shares = shares.reshape(*shares.shape[:-2], NUM_CARDS * NUM_OPPONENTS)
        x = jnp.concatenate([known.position, features, shares], axis=-1)
        x = nn.relu(nn.Dense(self.config.width, name="stem")(x))
        for number in range(self.config.blocks):
            x = SkipBlock(self.config.width, jnp.dtype(jnp.float32), name=f"block_{number}")(x)
        out = nn.Dense(2 * NUM_CARDS, name="q_and_logits")(x)
        return DistilledOutput(VALUE_SCALE * out[..., :NUM_CARDS], out[..., NUM_CARDS:], log_odds)


def init_distilled(key: jax.Array, config: DistilledConfig) -> Any:
    """Parameters of an untrained distilled policy."""
    may_hold = jnp.ones((NUM_CARDS, NUM_OPPONENTS), bool)
    return init_module(DistilledNet(config), key, empty_input(), may_hold)


def _may_hold(view: PublicView) -> jax.Array:
    return possible(constraints(view))


def apply_views(params: Any, views: PublicView, config: DistilledConfig) -> DistilledOutput:
    """The outputs for views [B]."""
    assert_views(views)
    known = jax.vmap(encode_view)(views)
    return DistilledNet(config).apply(params, known, jax.vmap(_may_hold)(views))  # ty: ignore[invalid-return-type]


def apply_games(
    params: Any, games: PublicView, views: PublicView, config: DistilledConfig
) -> DistilledOutput:
    """The outputs for views [G, K] of games whose whole histories are `games`, [G]. They are those
    of `apply_views`, but plays are read once per game."""
    may_hold = jax.vmap(jax.vmap(_may_hold))(views)
    return DistilledNet(config).apply(params, encode_games(games, views), may_hold)  # ty: ignore[invalid-return-type]


KIND = register(
    NetworkKind(
        "distilled_policy",
        Path(__file__).with_name(f"distilled_policy{SUFFIX}"),
        DistilledConfig,
        init_distilled,
        "what players that search would do: Q and probability of every card from a view",
    )
)
