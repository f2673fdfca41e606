"""A policy distilled from players that search: one forward pass from what a seat may know.

Every decision of honest self-play comes with the averaged Q of all legal cards. This network learns
them from the view alone, and beside them which card was played and who held what.
"""

from dataclasses import dataclass
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import struct

from gongzhu_jax.game.cards import NUM_CARDS
from gongzhu_jax.game.view import PublicView
from gongzhu_jax.inference.belief import (
    NUM_VIEW_FEATURES,
    BeliefInput,
    encode_view,
)
from gongzhu_jax.inference.constraints import NUM_OPPONENTS, constraints
from gongzhu_jax.inference.evidence import NUM_PLAY_FEATURES, encode_plays
from gongzhu_jax.inference.odds import possible
from gongzhu_jax.network.policy_value import SkipBlock

Q_SCALE = 10.0


@dataclass(frozen=True)
class DistilledConfig:
    reader: int = 128
    width: int = 256
    blocks: int = 2
    policy_width: int = 384
    policy_blocks: int = 2


class DistilledOutput(struct.PyTreeNode):
    q: jax.Array  # [..., 52] points, relative to the other cards of the decision
    logits: jax.Array  # [..., 52] of the card played
    odds: jax.Array  # [..., 52, 3] of who holds what


class DistilledNet(nn.Module):
    config: DistilledConfig

    @nn.compact
    def __call__(self, known: BeliefInput, may_hold: jax.Array) -> DistilledOutput:
        c = self.config
        reading = nn.relu(nn.Dense(c.reader, name="reader_0")(known.plays))
        reading = nn.relu(nn.Dense(c.reader, name="reader_1")(reading))
        says = nn.Dense(2 * NUM_CARDS, kernel_init=nn.initializers.zeros, name="says")(reading)
        says = jnp.where(known.alternatives, says[..., :NUM_CARDS], says[..., NUM_CARDS:])
        actors = known.actors.astype(jnp.float32)
        evidence = actors @ says
        readings = actors @ reading
        flat = [part.reshape(*part.shape[:-2], -1) for part in (evidence, readings)]
        x = jnp.concatenate([known.position, *flat], axis=-1)
        x = nn.relu(nn.Dense(c.width, name="stem")(x))
        for number in range(c.blocks):
            x = SkipBlock(c.width, jnp.dtype(jnp.float32), name=f"block_{number}")(x)
        odds = nn.Dense(NUM_CARDS * NUM_OPPONENTS, kernel_init=nn.initializers.zeros, name="odds")(
            x
        )
        odds = odds.reshape(*x.shape[:-1], NUM_CARDS, NUM_OPPONENTS)
        odds = odds + jnp.swapaxes(evidence, -1, -2)
        share = jax.nn.softmax(jnp.where(may_hold, odds, -1e9), axis=-1) * may_hold
        share = share.reshape(*share.shape[:-2], -1)
        y = jnp.concatenate([x, share, known.position], axis=-1)
        y = nn.relu(nn.Dense(c.policy_width, name="policy_stem")(y))
        for number in range(c.policy_blocks):
            y = SkipBlock(c.policy_width, jnp.dtype(jnp.float32), name=f"policy_block_{number}")(y)
        out = nn.Dense(2 * NUM_CARDS, name="heads")(y)
        return DistilledOutput(Q_SCALE * out[..., :NUM_CARDS], out[..., NUM_CARDS:], odds)


def init_distilled(key: jax.Array, config: DistilledConfig) -> Any:
    known = BeliefInput(
        jnp.zeros(NUM_VIEW_FEATURES),
        jnp.zeros((NUM_CARDS, NUM_PLAY_FEATURES)),
        jnp.zeros((NUM_CARDS, NUM_CARDS), bool),
        jnp.zeros((NUM_OPPONENTS, NUM_CARDS), bool),
    )
    return DistilledNet(config).init(key, known, jnp.ones((NUM_CARDS, NUM_OPPONENTS), bool))


def apply_views(params: Any, views: PublicView, config: DistilledConfig) -> DistilledOutput:
    """For views [B]."""
    may = jax.vmap(lambda v: possible(constraints(v)))(views)
    return DistilledNet(config).apply(params, jax.vmap(encode_view)(views), may)


def apply_games(
    params: Any, games: PublicView, views: PublicView, config: DistilledConfig
) -> DistilledOutput:
    """For views [G, K] of games [G]: plays are read once for all views of a game."""
    plays = jax.vmap(encode_plays)(games)
    known = jax.vmap(jax.vmap(encode_view, (0, None)))(views, plays)
    may = jax.vmap(jax.vmap(lambda v: possible(constraints(v))))(views)
    return DistilledNet(config).apply(params, known.replace(plays=plays[:, None]), may)
