"""The distilled policy: what players that search would do, in one forward pass over a view.

Every decision of a player that searches comes with the averaged Q of all legal cards. This network
learns them from what the seat may know, together with the card that was played and who held what
(policy distillation). It is a player of its own, and the card it expects is an opponent model of
strong players.

Two trained networks are its first guess: the belief says how likely each opponent holds each card,
and a policy-value network, given these shares in place of the hidden hands, how good each card is.
Further layers correct this guess, which they leave alone before they have learnt.
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
from gongzhu_jax.inference.config import DISTILLED, InferenceParams
from gongzhu_jax.inference.constraints import NUM_OPPONENTS, constraints
from gongzhu_jax.inference.registry import PRIORS
from gongzhu_jax.network.features import encode_view_averaged, with_shares
from gongzhu_jax.network.policy_value import (
    POLICY_SHARPNESS,
    VALUE_SCALE,
    NetworkConfig,
    Params,
    SkipBlock,
    init_module,
    make,
)
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
    policy_value: NetworkConfig = field(default_factory=NetworkConfig)
    width: int = 384  # width of the skip blocks that correct the first guess
    blocks: int = 2  # skip blocks of two layers each

    def __post_init__(self) -> None:
        parts = {"belief": BeliefConfig, "policy_value": NetworkConfig}
        for name, config_type in parts.items():
            part = getattr(self, name)
            if isinstance(part, dict):  # as it stands in the header of a weights file
                object.__setattr__(self, name, config_type(**part))
        if min(self.width, self.blocks) < 1:
            raise ConfigError("width and blocks of a distilled policy must be at least 1")


class DistilledOutput(struct.PyTreeNode):
    """What the network says of views with leading axes [...]."""

    q: jax.Array  # [..., 52] points, up to a constant of the decision
    logits: jax.Array  # [..., 52] of the card that is played
    log_odds: jax.Array  # [..., 52, 3] of who holds what, as the belief gives them


class CorrectionNet(nn.Module):
    """Maps inputs, and which opponents may hold each card, bool[..., 52, 3], to the log odds and to
    the corrections of q and logits."""

    config: DistilledConfig

    @nn.compact
    def __call__(self, known: BeliefInput, may_hold: jax.Array) -> DistilledOutput:
        belief = CardBeliefNet(self.config.belief, name="belief")
        log_odds, features = belief.odds_and_features(known)
        shares = _shares(log_odds, may_hold)
        shares = shares.reshape(*shares.shape[:-2], NUM_CARDS * NUM_OPPONENTS)
        x = jnp.concatenate([known.position, features, shares], axis=-1)
        x = nn.relu(nn.Dense(self.config.width, name="stem")(x))
        for number in range(self.config.blocks):
            x = SkipBlock(self.config.width, jnp.dtype(jnp.float32), name=f"block_{number}")(x)
        zeros = nn.initializers.zeros
        out = nn.Dense(2 * NUM_CARDS, kernel_init=zeros, name="q_and_logits")(x)
        return DistilledOutput(VALUE_SCALE * out[..., :NUM_CARDS], out[..., NUM_CARDS:], log_odds)


def _shares(log_odds: jax.Array, may_hold: jax.Array) -> jax.Array:
    """How likely each opponent holds each card, [..., 52, 3]."""
    return jnp.where(may_hold, jax.nn.softmax(jnp.where(may_hold, log_odds, -1e9)), 0.0)


def init_distilled(key: jax.Array, config: DistilledConfig) -> Params:
    """Parameters of an untrained distilled policy."""
    may_hold = jnp.ones((NUM_CARDS, NUM_OPPONENTS), bool)
    corrections = init_module(CorrectionNet(config), key, empty_input(), may_hold)
    guess = make(config.policy_value).init(key)
    return {"params": {**corrections["params"], "policy_value": guess["params"]}}


def _apply(
    params: Params, known: BeliefInput, views: PublicView, config: DistilledConfig
) -> DistilledOutput:
    """The outputs for inputs and views with leading axes [...]."""
    shape = views.stage.shape
    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[len(shape) :]), views)
    may_hold = jax.vmap(lambda view: possible(constraints(view)))(flat)
    may_hold = may_hold.reshape(*shape, NUM_CARDS, NUM_OPPONENTS)
    averaged = jax.vmap(encode_view_averaged)(flat).reshape(*shape, -1)
    correction: Any = CorrectionNet(config).apply(params, known, may_hold)
    believed = with_shares(averaged, _shares(correction.log_odds, may_hold))
    network = make(config.policy_value)
    guess, _ = network.apply({"params": params["params"]["policy_value"]}, believed)
    return correction.replace(
        q=correction.q + guess / POLICY_SHARPNESS, logits=correction.logits + guess
    )


def apply_views(params: Params, views: PublicView, config: DistilledConfig) -> DistilledOutput:
    """The outputs for views [B]."""
    assert_views(views)
    return _apply(params, jax.vmap(encode_view)(views), views, config)


def apply_games(
    params: Params, games: PublicView, views: PublicView, config: DistilledConfig
) -> DistilledOutput:
    """The outputs for views [G, K] of games whose whole histories are `games`, [G]. They are those
    of `apply_views`, but plays are read once per game."""
    return _apply(params, encode_games(games, views), views, config)


def prior(params: InferenceParams, views: PublicView) -> jax.Array:
    """What the distilled policy thinks of the cards, [B, 52]."""
    model = params.distilled
    if model is None:
        raise ConfigError("the prior needs the distilled policy")
    return apply_views(model.params, views, model.config).q


PRIORS[DISTILLED] = prior

KIND = register(
    NetworkKind(
        "distilled_policy",
        Path(__file__).with_name(f"distilled_policy{SUFFIX}"),
        DistilledConfig,
        init_distilled,
        "what players that search would do: Q and probability of every card from a view",
    )
)
