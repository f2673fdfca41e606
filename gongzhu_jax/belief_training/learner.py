"""Learning of the belief by maximum likelihood of the true hidden hands. Axes: M positions of a
minibatch, as the players to move saw them."""

from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax.sharding import Mesh, PartitionSpec

from gongzhu_jax.belief_training.config import BeliefTrainingConfig
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_CARDS, NUM_SEATS
from gongzhu_jax.game.view import unseen_mask, view
from gongzhu_jax.inference.belief import BeliefConfig, init_belief, log_odds
from gongzhu_jax.inference.constraints import constraints, opponents
from gongzhu_jax.inference.odds import log_weight, weigh
from gongzhu_jax.inference.sampling import log_count
from gongzhu_jax.runtime import GAMES
from gongzhu_jax.training.learner import Learner, mean_over

LAST_STAGE = NUM_CARDS - NUM_SEATS
"""In the last trick nothing is left to decide."""


def _optimiser(config: BeliefTrainingConfig) -> optax.GradientTransformation:
    rate = optax.cosine_decay_schedule(
        config.learning_rate,
        config.epochs * config.updates,
        alpha=config.final_learning_rate / config.learning_rate,
    )
    return optax.adam(rate)


def init_learner(config: BeliefTrainingConfig) -> Learner:
    params = init_belief(jax.random.key(config.seed), config.network)
    # A copy: the two are donated separately.
    average = jax.tree.map(jnp.copy, params)
    return Learner(params, average, _optimiser(config).init(params["params"]))


def nll(params: Any, states: env.GameState, config: BeliefConfig):
    """For positions [M]: minus log probability of the true hidden hands as the player to move
    believes, the same if all deals were alike, and the number of unseen cards; each [M]."""
    views = jax.vmap(lambda state: view(state, env.player_to_move(state)))(states)
    numbers = log_odds(params, views, config)
    true = jax.vmap(opponents)(views, states.holder)
    total = jax.vmap(lambda n, v: weigh(n, constraints(v)).log_total)(numbers, views)
    believed = total - jax.vmap(log_weight)(numbers, true)
    uniform = jax.vmap(log_count)(views)
    return believed, uniform, jnp.sum(jax.vmap(unseen_mask)(views), axis=1)


def random_positions(
    key: jax.Array, filled: jax.Array | int, count: int
) -> tuple[jax.Array, jax.Array]:
    """`count` pairs of a game, of the first `filled`, and a stage before the last trick."""
    game_key, stage_key = jax.random.split(key)
    rows = jax.random.randint(game_key, (count,), 0, filled)
    return rows, jax.random.randint(stage_key, (count,), 0, LAST_STAGE).astype(jnp.int8)


def compile_learn(config: BeliefTrainingConfig, mesh: Mesh):
    """`(learner, games, filled, key) -> (learner, loss)`: the updates of one epoch."""
    if config.minibatch % mesh.size:
        raise ConfigError(
            f"minibatches of {config.minibatch} do not divide over {mesh.size} devices"
        )
    share = config.minibatch // mesh.size
    optimiser = _optimiser(config)

    def loss(trained, states):
        believed, _, unseen = nll({"params": trained}, states, config.network)
        # Over the whole minibatch, so that the number of devices does not matter.
        return jax.lax.pmean(jnp.sum(believed), GAMES) / jax.lax.pmean(jnp.sum(unseen), GAMES)

    def on_device(learner: Learner, games, filled, key):
        first = jax.lax.axis_index(GAMES) * share

        def update(number, carry):
            learner, total = carry
            places = random_positions(jax.random.fold_in(key, number), filled, config.minibatch)
            rows, stages = (jax.lax.dynamic_slice_in_dim(x, first, share) for x in places)
            chosen = jax.tree.map(lambda leaf: leaf[rows], games)
            states = jax.vmap(env.rewind)(chosen, stages)
            trained = learner.params["params"]
            value, gradients = jax.value_and_grad(loss)(trained, states)
            gradients = mean_over(gradients, GAMES)
            changes, state = optimiser.update(gradients, learner.optimiser, trained)
            params = {"params": optax.apply_updates(trained, changes)}
            average = optax.incremental_update(params, learner.average, 1 - config.average)
            return Learner(params, average, state), total + value

        learner, total = jax.lax.fori_loop(0, config.updates, update, (learner, jnp.float32(0)))
        return learner, total / config.updates

    one = PartitionSpec()
    sharded = jax.shard_map(
        on_device, mesh=mesh, in_specs=(one,) * 4, out_specs=(one, one), check_vma=False
    )
    return jax.jit(sharded, donate_argnums=0)
