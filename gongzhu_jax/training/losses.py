"""The loss of the paper: KL of the masked policy plus the weighted value error."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.scipy.special as special

from gongzhu_jax.game import env
from gongzhu_jax.network.features import encode
from gongzhu_jax.network.policy_value import Network, Params
from gongzhu_jax.training.config import LearnerConfig
from gongzhu_jax.training.selfplay import Positions, empty_positions


class LossParts(NamedTuple):
    """Means over a minibatch."""

    total: jax.Array
    policy: jax.Array  # KL in nats
    value: jax.Array  # value error in points, by the configured measure


def policy_divergence(
    target: jax.Array, logits: jax.Array, legal: jax.Array, *, mask: str = "before"
) -> jax.Array:
    """KL(target || policy), all [52].

    Masked before the softmax, as in the paper, the policy is softmax(logits x legal): illegal cards
    keep a logit of 0, not of minus infinity, and so stay in the softmax. Masked after it, the
    policy is legal x softmax(logits), which is not normalised; the target is 0 at illegal cards, so
    that only what they take away from the others counts.
    """
    masked = logits * legal.astype(jnp.float32) if mask == "before" else logits
    log_policy = jax.nn.log_softmax(masked)
    return jnp.sum(special.xlogy(target, target) - target * log_policy)


def value_error(
    target: jax.Array, value: jax.Array, kind: str, axis: str | None = None
) -> jax.Array:
    """Error in points over a minibatch, [M]: mean absolute, or root mean square. On devices along
    `axis`, each with its share [M], the parts of it that sum to the whole."""
    devices = 1 if axis is None else jax.lax.axis_size(axis)
    error = value - target
    if kind == "absolute":
        return jnp.mean(jnp.abs(error)) / devices
    share = jnp.mean(jnp.square(error)) / devices
    fixed = jax.lax.stop_gradient(share)
    # The root needs the sum before there is a gradient.
    root = safe_root(fixed if axis is None else jax.lax.psum(fixed, axis))
    return root / devices + (share - fixed) / (2 * root)


def safe_root(mean_square: jax.Array) -> jax.Array:
    """The square root; by that of zero one can divide."""
    return jnp.sqrt(mean_square + 1e-12)


def loss(
    params: Params,
    batch: Positions,
    network: Network,
    config: LearnerConfig,
    axis: str | None = None,
    searched: jax.Array | None = None,
) -> tuple[jax.Array, tuple[LossParts, Params]]:
    """Loss of a minibatch [M], its parts, and the parameters with new running statistics.

    Where the minibatch is split over the devices of a mesh axis, named `axis`, loss, parts and
    gradient are this device's, and their sums over the devices are those of the whole, of which
    `searched` positions were searched.
    """
    (policy, value), updated = policy_and_values(params, batch, network, config, searched)
    error = value_error(batch.value, value, config.value_loss, axis)
    total = policy + config.value_weight * error
    return total, (LossParts(total, policy, error), updated)


def policy_and_values(
    params: Params,
    batch: Positions,
    network: Network,
    config: LearnerConfig,
    searched: jax.Array | None = None,
) -> tuple[tuple[jax.Array, jax.Array], Params]:
    """The divergence of the policy on a minibatch, the values [M], and the parameters with new
    running statistics; `searched` as in `loss`."""
    env.assert_batch(batch, jax.eval_shape(empty_positions), batch.value)
    (logits, value), updated = network.apply_train(params, jax.vmap(encode)(batch.state))
    legal = jax.vmap(env.legal_mask)(batch.state)
    of_position = functools.partial(policy_divergence, mask=config.mask)
    divergence = jax.vmap(of_position)(batch.policy, logits, legal)
    chosen = batch.searched.astype(jnp.float32)
    count = jnp.sum(chosen) if searched is None else searched.astype(jnp.float32)
    return (jnp.sum(divergence * chosen) / jnp.maximum(count, 1.0), value), updated
