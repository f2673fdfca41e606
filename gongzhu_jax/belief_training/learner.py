"""Learning of the belief by maximum likelihood of the true hidden hands. Axes: G games of a
minibatch, K positions of each, as the players to move saw them."""

from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax.sharding import Mesh, PartitionSpec

from gongzhu_jax.belief_training.config import BeliefTrainingConfig
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_CARDS, NUM_SEATS
from gongzhu_jax.game.view import view
from gongzhu_jax.inference.belief import BeliefConfig, init_belief, log_odds_of_games
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


def nll(params: Any, games: env.GameState, stages: jax.Array, config: BeliefConfig):
    """For finished games [G] at stages [G, K]: minus log probability of the true hidden hands as
    the player to move believes, the same if all deals were alike, and the number of unseen cards;
    each [G, K]."""
    states = jax.vmap(jax.vmap(env.rewind, (None, 0)))(games, stages)
    views = jax.vmap(jax.vmap(lambda state: view(state, env.player_to_move(state))))(states)
    whole = jax.vmap(view, (0, None))(games, 0)
    numbers = log_odds_of_games(params, whole, views, config)

    def of_position(numbers, view, holder):
        known = constraints(view)
        believed = weigh(numbers, known).log_total - log_weight(numbers, opponents(view, holder))
        return believed, log_count(view), jnp.sum(known.unseen)

    return jax.vmap(jax.vmap(of_position))(numbers, views, states.holder)


def random_stages(key: jax.Array, games: int, positions: int) -> jax.Array:
    """int8[G, K]: stages before the last trick, spread evenly over each game."""
    shift = jax.random.uniform(key, (games, positions))
    stages = (jnp.arange(positions) + shift) * (LAST_STAGE / positions)
    # Rounding may reach the end of the last part.
    return jnp.minimum(stages, LAST_STAGE - 1).astype(jnp.int8)


def compile_learn(config: BeliefTrainingConfig, mesh: Mesh):
    """`(learner, games, filled, key) -> (learner, loss)`: the updates of one epoch."""
    in_minibatch = config.minibatch // config.positions  # games
    if in_minibatch % mesh.size:
        raise ConfigError(
            f"minibatches of {in_minibatch} games do not divide over {mesh.size} devices"
        )
    share = in_minibatch // mesh.size
    optimiser = _optimiser(config)

    def loss(trained, games, stages):
        believed, _, unseen = nll({"params": trained}, games, stages, config.network)
        # Over the whole minibatch, so that the number of devices does not matter.
        return jax.lax.pmean(jnp.sum(believed), GAMES) / jax.lax.pmean(jnp.sum(unseen), GAMES)

    def on_device(learner: Learner, games, filled, key):
        first = jax.lax.axis_index(GAMES) * share

        def update(number, carry):
            learner, total = carry
            game_key, stage_key = jax.random.split(jax.random.fold_in(key, number))
            rows = jax.random.randint(game_key, (in_minibatch,), 0, filled)
            stages = random_stages(stage_key, in_minibatch, config.positions)
            rows, stages = (jax.lax.dynamic_slice_in_dim(x, first, share) for x in (rows, stages))
            chosen = jax.tree.map(lambda leaf: leaf[rows], games)
            trained = learner.params["params"]
            value, gradients = jax.value_and_grad(loss)(trained, chosen, stages)
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
