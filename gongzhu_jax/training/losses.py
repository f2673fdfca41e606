"""The loss of the paper: KL of the masked policy plus the weighted value error."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.scipy.special as special

from gongzhu_jax.game import env
from gongzhu_jax.network.features import encode
from gongzhu_jax.network.registry import Network, Params
from gongzhu_jax.training.config import LearnerConfig
from gongzhu_jax.training.selfplay import Positions


class LossParts(NamedTuple):
    """Means over a minibatch."""

    total: jax.Array
    policy: jax.Array  # KL in nats
    value: jax.Array  # value error in points, by the configured measure


def policy_divergence(target: jax.Array, logits: jax.Array, legal: jax.Array) -> jax.Array:
    """KL(target || softmax(logits x legal)), all [52].

    The mask multiplies the logits, as in the paper: illegal cards keep a logit of 0, not of minus
    infinity, and so stay in the softmax.
    """
    log_policy = jax.nn.log_softmax(logits * legal)
    return jnp.sum(special.xlogy(target, target) - target * log_policy)


def value_error(
    target: jax.Array, value: jax.Array, kind: str, axis: str | None = None
) -> jax.Array:
    """Error in points over a minibatch, [M]: mean absolute, or root mean square."""
    # A target that is not a number is none: such a position teaches no value.
    known = ~jnp.isnan(target)
    share = _mean(known.astype(jnp.float32), axis)
    error = jnp.where(known, value - jnp.where(known, target, 0.0), 0.0) / share
    error *= jnp.sqrt(share) if kind == "rmse" else 1.0
    if kind == "absolute":
        return _mean(jnp.abs(error), axis)
    # The gradient at zero error is finite.
    return jnp.sqrt(_mean(jnp.square(error), axis) + 1e-12)


def _mean(x: jax.Array, axis: str | None) -> jax.Array:
    return jnp.mean(x) if axis is None else jax.lax.pmean(jnp.mean(x), axis)


def loss(
    params: Params,
    batch: Positions,
    network: Network,
    config: LearnerConfig,
    axis: str | None = None,
) -> tuple[jax.Array, tuple[LossParts, Params]]:
    """Loss of a minibatch [M], its parts, and the parameters with new running statistics.

    Where the minibatch is split over devices, `axis` names the mesh axis and the loss is that of
    the whole; the mean over the devices of each one's gradient is then the gradient of it.
    """
    (logits, value), updated = network.apply_train(params, jax.vmap(encode)(batch.state))
    legal = jax.vmap(env.legal_mask)(batch.state)
    divergence = jax.vmap(policy_divergence)(batch.policy, logits, legal)
    chosen = batch.searched.astype(jnp.float32)
    policy = _mean(divergence * chosen, axis) / jnp.maximum(_mean(chosen, axis), 1e-9)
    error = value_error(batch.value, value, config.value_loss, axis)
    total = policy + config.value_weight * error
    return total, (LossParts(total, policy, error), updated)
