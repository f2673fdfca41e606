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


def value_error(target: jax.Array, value: jax.Array, kind: str) -> jax.Array:
    """Error in points over a minibatch, [M]: mean absolute, or root mean square."""
    error = value - target
    if kind == "absolute":
        return jnp.mean(jnp.abs(error))
    return jnp.sqrt(jnp.mean(jnp.square(error)) + 1e-12)  # the gradient at zero error is finite


def loss(
    params: Params, batch: Positions, network: Network, config: LearnerConfig
) -> tuple[jax.Array, tuple[LossParts, Params]]:
    """Loss of a minibatch [M], its parts, and the parameters with new running statistics."""
    (logits, value), updated = network.apply_train(params, jax.vmap(encode)(batch.state))
    legal = jax.vmap(env.legal_mask)(batch.state)
    divergence = jax.vmap(policy_divergence)(batch.policy, logits, legal)
    chosen = batch.searched.astype(jnp.float32)
    policy = jnp.sum(divergence * chosen) / jnp.maximum(jnp.sum(chosen), 1.0)
    error = value_error(batch.value, value, config.value_loss)
    total = policy + config.value_weight * error
    return total, (LossParts(total, policy, error), updated)
