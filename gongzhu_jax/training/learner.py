"""Learning from a window of games: optimiser, minibatches, averaged parameters."""

import functools
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import optax
from flax import struct
from jax.flatten_util import ravel_pytree
from jax.sharding import Mesh, PartitionSpec

from gongzhu_jax.checkpoint import digest
from gongzhu_jax.device_profile import profile
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.network.policy_value import Network, Params, make
from gongzhu_jax.runtime import GAMES, on_all, usual_promotion
from gongzhu_jax.training.config import LearnerConfig, TrainingConfig
from gongzhu_jax.training.losses import LossParts, loss, policy_and_values, safe_root
from gongzhu_jax.training.selfplay import Positions

T = TypeVar("T")


class Learner(struct.PyTreeNode):
    """What learning changes."""

    params: Params
    average: Params  # averaged over updates; these play. The same as `params` without averaging
    optimiser: Any


def make_optimiser(config: TrainingConfig) -> optax.GradientTransformation:
    """Adam with an L2 term, as the original runs had it, and cosine decay of the rate."""
    learner = config.learner
    rate = optax.cosine_decay_schedule(
        learner.learning_rate,
        max(config.total_updates, 1),
        alpha=learner.final_learning_rate / learner.learning_rate,
    )
    return optax.chain(
        optax.add_decayed_weights(learner.weight_decay),
        optax.scale_by_adam(learner.adam_b1, learner.adam_b2, learner.adam_eps),
        optax.scale_by_learning_rate(rate),
    )


def init_learner(params: Params, optimiser: optax.GradientTransformation) -> Learner:
    """The learner before its first update."""
    # A copy: the two are donated separately.
    return Learner(params, jax.tree.map(jnp.copy, params), optimiser.init(params["params"]))


def step(
    learner: Learner,
    gradients: Params,
    optimiser: optax.GradientTransformation,
    average: float,
    statistics: Params | None = None,
) -> Learner:
    """The learner after one step of the optimiser.

    Args:
      average: the decay per update of the averaged parameters; 0: none are kept.
      statistics: parameters whose running statistics are the new ones, if there are any.
    """
    trained = learner.params["params"]
    with usual_promotion():
        changes, state = optimiser.update(gradients, learner.optimiser, trained)
    params = {**(statistics or {}), "params": optax.apply_updates(trained, changes)}
    averaged = optax.incremental_update(params, learner.average, step_size=1.0 - average)
    return Learner(params, averaged, state)


def learn(
    learner: Learner,
    window: Positions,
    filled: jax.Array,
    key: jax.Array,
    config: TrainingConfig,
    mesh: Mesh,
) -> tuple[Learner, LossParts]:
    """`passes` passes over the first `filled` epochs of a window, leaves [review, G, T, ...].

    Every pass takes each position once, in random order. The order, and so the result, does not
    depend on the number of devices; each computes its share of every minibatch.
    """
    # Once per epoch everybody gets everything; minibatches then move nothing but the gradient.
    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[3:]), window)
    flat = jax.lax.with_sharding_constraint(flat, on_all(mesh))
    one = PartitionSpec()
    on_device = functools.partial(_learn_on_device, config=config, devices=mesh.size)
    return jax.shard_map(
        on_device, mesh=mesh, in_specs=(one, one, one, one), out_specs=(one, one), check_vma=False
    )(learner, flat, filled, key)


def _learn_on_device(
    learner: Learner, flat: Positions, filled: jax.Array, key: jax.Array, *, config, devices: int
) -> tuple[Learner, LossParts]:
    settings = config.learner
    network = make(config.network, GAMES)
    capacity = settings.review * config.positions_per_epoch
    # Without review the number of updates is known now, and accelerators need not ask in each.
    present = capacity if settings.review == 1 else filled * config.positions_per_epoch
    per_pass = present // settings.minibatch
    share = settings.minibatch // devices
    offset = jax.lax.axis_index(GAMES) * share

    def one_pass(number, carry):
        noise = jax.random.uniform(jax.random.fold_in(key, number), (capacity,))
        # The positions present come first, in random order; the rest is not reached.
        order = jnp.argsort(jnp.where(jnp.arange(capacity) < present, noise, 2.0))

        def update(index, carry):
            learner, sums = carry
            rows = jax.lax.dynamic_slice_in_dim(
                order, index * settings.minibatch, settings.minibatch
            )
            searched = jnp.sum(flat.searched[rows])
            rows = jax.lax.dynamic_slice_in_dim(rows, offset, share)
            batch = jax.tree.map(lambda leaf: leaf[rows], flat)
            learner, parts = update_once(learner, batch, network, config, GAMES, searched)
            return learner, jax.tree.map(jnp.add, sums, parts)

        return jax.lax.fori_loop(0, per_pass, update, carry)

    zeros = LossParts(*(jnp.zeros(()) for _ in LossParts._fields))
    learner, sums = jax.lax.fori_loop(0, settings.passes, one_pass, (learner, zeros))
    updates = jnp.float32(settings.passes * per_pass)
    return learner, jax.tree.map(lambda leaf: leaf / updates, sums)


def update_once(
    learner: Learner,
    batch: Positions,
    network: Network,
    config: TrainingConfig,
    axis: str | None = None,
    searched: jax.Array | None = None,
) -> tuple[Learner, LossParts]:
    """One step of the optimiser on one minibatch, or on a device's share of it (`axis`,
    `searched`)."""
    settings, trained = config.learner, learner.params["params"]

    def batch_loss(trained):
        params = {**learner.params, "params": trained}
        return loss(params, batch, network, settings, axis, searched)

    several = axis is not None and jax.lax.axis_size(axis) > 1
    if several and settings.value_loss == "rmse" and profile().messages == 1:
        gradients, parts, updated = _one_message(learner, batch, network, settings, axis, searched)
    else:
        gradients, (parts, updated) = jax.grad(batch_loss, has_aux=True)(trained)
        if axis is not None:
            gradients, parts = sum_over((gradients, parts), axis)
    return step(learner, gradients, make_optimiser(config), settings.average, updated), parts


def _one_message(learner, batch, network, config: LearnerConfig, axis: str, searched):
    """Gradients, parts of the loss and running statistics with the root mean square over the whole
    minibatch, for one message: the gradients of the policy's divergence and of the mean square are
    summed apart, since the root that divides the second is known only then."""

    def shares(trained):
        params = {**learner.params, "params": trained}
        (policy, value), updated = policy_and_values(params, batch, network, config, searched)
        mean_square = jnp.mean(jnp.square(value - batch.value))
        return (policy, mean_square / jax.lax.axis_size(axis)), updated

    sums, pull, updated = jax.vjp(shares, learner.params["params"], has_aux=True)
    (of_each,) = jax.vmap(pull)((jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0])))
    (policy, mean_square), of_each = sum_over((sums, of_each), axis)
    root = safe_root(mean_square)
    scale = config.value_weight / (2 * root)
    gradients = jax.tree.map(lambda leaf: leaf[0] + scale * leaf[1], of_each)
    return gradients, LossParts(policy + config.value_weight * root, policy, root), updated


def sum_over(arrays: T, axis: str) -> T:
    """The sum over a mesh axis, sent as one vector: a message for each of the many small arrays
    costs far more. It stays one where there is nobody to send it to: an accelerator then updates
    many parameters by one kernel."""
    vector, unravel = ravel_pytree(arrays)
    return unravel(jax.lax.optimization_barrier(jax.lax.psum(vector, axis)))


def started(learner: Learner, start: str | None, params: Params | None) -> Learner:
    """The learner of a run that starts from `params`, whose digest is `start`, in the place of
    random ones; itself if both are None."""
    if start != (None if params is None else digest(params)):
        raise ConfigError("the parameters are not the ones that the run starts from")
    if params is None:
        return learner
    if jax.tree.map(jnp.shape, params) != jax.tree.map(jnp.shape, learner.params):
        raise ConfigError("the parameters to start from belong to another network")

    def placed() -> Params:  # a copy each: the two are donated separately
        return jax.tree.map(
            lambda new, old: jax.device_put(jnp.array(new, old.dtype), old.sharding),
            params,
            learner.params,
        )

    return learner.replace(params=placed(), average=placed())
