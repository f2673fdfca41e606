"""Learning from positions of games of a mixture. Axes: G games of a minibatch, K positions of each,
as the players to move saw them."""

import jax
import jax.numpy as jnp
import optax
from jax.sharding import Mesh, PartitionSpec

from gongzhu_jax.errors import ConfigError
from gongzhu_jax.mixture_training.config import MixtureTrainingConfig
from gongzhu_jax.mixture_training.losses import random_stages, training_loss
from gongzhu_jax.network.weights import kind_of
from gongzhu_jax.runtime import GAMES
from gongzhu_jax.training.learner import Learner, init_learner, step, sum_over


def _optimiser(config: MixtureTrainingConfig) -> optax.GradientTransformation:
    rate = optax.cosine_decay_schedule(
        config.learning_rate,
        config.epochs * config.updates,
        alpha=config.final_learning_rate / config.learning_rate,
    )
    return optax.adam(rate)


def new_learner(config: MixtureTrainingConfig) -> Learner:
    """The learner of an untrained network of any kind."""
    params = kind_of(config.network).init(jax.random.key(config.seed), config.network)
    return init_learner(params, _optimiser(config))


def compile_learn(config: MixtureTrainingConfig, mesh: Mesh):
    """`(learner, games, filled, key) -> (learner, loss)`: the updates of one epoch."""
    in_minibatch = config.minibatch // config.positions  # games
    if in_minibatch % mesh.size:
        raise ConfigError(
            f"minibatches of {in_minibatch} games do not divide over {mesh.size} devices"
        )
    share = in_minibatch // mesh.size
    optimiser = _optimiser(config)

    def loss(trained, games, stages):
        losses, count = training_loss({"params": trained}, games, stages, config.network)
        return jnp.sum(losses), jnp.sum(count, dtype=jnp.float32)

    def on_device(learner: Learner, games, filled, key):
        first = jax.lax.axis_index(GAMES) * share

        def update(number, carry):
            learner, total = carry
            game_key, stage_key = jax.random.split(jax.random.fold_in(key, number))
            rows = jax.random.randint(game_key, (in_minibatch,), 0, filled)
            stages = random_stages(stage_key, in_minibatch, config.positions)
            rows, stages = (jax.lax.dynamic_slice_in_dim(x, first, share) for x in (rows, stages))
            chosen = jax.tree.map(lambda leaf: leaf[rows], games)
            differentiate = jax.value_and_grad(loss, has_aux=True)
            sums = differentiate(learner.params["params"], chosen, stages)
            # Over the whole minibatch, so that the number of devices does not matter.
            (value, count), gradients = sum_over(sums, GAMES)
            gradients = jax.tree.map(lambda leaf: leaf / count, gradients)
            return step(learner, gradients, optimiser, config.average), total + value / count

        learner, total = jax.lax.fori_loop(0, config.updates, update, (learner, jnp.float32(0)))
        return learner, total / config.updates

    one = PartitionSpec()
    sharded = jax.shard_map(
        on_device, mesh=mesh, in_specs=(one,) * 4, out_specs=(one, one), check_vma=False
    )
    return jax.jit(sharded, donate_argnums=0)
