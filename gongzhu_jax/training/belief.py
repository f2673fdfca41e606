"""Training of the belief: games of a mixture of players, whose hidden hands are the labels.

Every epoch plays new games and then learns from positions of all games so far, as the players to
move saw them. Axes: M positions of a minibatch.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import struct
from jax.sharding import Mesh, PartitionSpec

from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation.games import play_games
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_CARDS, NUM_SEATS
from gongzhu_jax.game.view import unseen_mask, view
from gongzhu_jax.inference.belief import BeliefConfig, init_belief, log_odds
from gongzhu_jax.inference.constraints import constraints, opponents
from gongzhu_jax.inference.odds import log_weight, weigh
from gongzhu_jax.inference.sampling import log_count
from gongzhu_jax.players.protocol import Player
from gongzhu_jax.runtime import GAMES, on_all
from gongzhu_jax.training.learner import Learner, mean_over

LAST_STAGE = NUM_CARDS - NUM_SEATS
"""In the last trick nothing is left to decide."""


@dataclass(frozen=True)
class BeliefTrainingConfig:
    """A whole run; everything that its result depends on, but for the players' weights."""

    epochs: int = 300
    seed: int = 0
    network: BeliefConfig = field(default_factory=BeliefConfig)
    games: int = 128  # new games per epoch
    window: int = 65536  # games kept to learn from
    updates: int = 48  # of the optimiser per epoch
    minibatch: int = 512  # positions per update
    learning_rate: float = 1e-3
    final_learning_rate: float = 2e-5  # reached by cosine decay at the last epoch
    average: float = 0.998  # decay per update of the averaged parameters that are used
    # Player to its share of the seats, and the options of those that have any.
    mixture: Mapping[str, float] = field(default_factory=lambda: {"greed": 1.0})
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if min(self.epochs, self.games, self.updates, self.minibatch) < 1:
            raise ConfigError("epochs, games, updates and minibatch must be at least 1")
        if self.window < self.games or self.window % self.games:
            raise ConfigError("window must be a multiple of the games per epoch")
        if not 0 < self.final_learning_rate <= self.learning_rate:
            raise ConfigError("learning rates must satisfy 0 < final <= first")
        if not 0 <= self.average < 1:
            raise ConfigError("average lies in 0..1")
        if not self.mixture or min(self.mixture.values()) <= 0:
            raise ConfigError("mixture needs players with positive shares")


class BeliefState(struct.PyTreeNode):
    """All that a run is, between two epochs."""

    learner: Learner
    games: env.GameState  # [window] finished games; the oldest is overwritten first
    epoch: jax.Array  # [] int32, epochs finished


def init_state(config: BeliefTrainingConfig, mesh: Mesh) -> BeliefState:
    """The state before the first epoch, on all devices."""

    def init() -> BeliefState:
        params = init_belief(jax.random.key(config.seed), config.network)
        one = env.deal(jax.random.key(0))
        games = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (config.window, *leaf.shape)), one)
        learner = Learner(
            params, jax.tree.map(jnp.copy, params), _optimiser(config).init(params["params"])
        )
        return BeliefState(learner, games, jnp.zeros((), jnp.int32))

    return jax.jit(init, out_shardings=on_all(mesh))()


def _optimiser(config: BeliefTrainingConfig) -> optax.GradientTransformation:
    rate = optax.cosine_decay_schedule(
        config.learning_rate,
        config.epochs * config.updates,
        alpha=config.final_learning_rate / config.learning_rate,
    )
    return optax.adam(rate)


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


def play_mixture(
    seed: Sequence[int],
    count: int,
    players: Sequence[Player],
    shares: Sequence[float],
    mesh: Mesh,
    chunk: int | None = None,
) -> env.GameState:
    """`count` finished games, on the host. At half of the tables partners are of one kind, at the
    others every seat is drawn for itself."""
    random = np.random.default_rng(list(seed))
    p = np.asarray(shares, np.float64) / np.sum(shares)
    seats = random.choice(len(players), (count, NUM_SEATS), p=p)
    as_teams = random.random(count) < 0.5
    seats = np.where(as_teams[:, None], seats[:, [0, 1, 0, 1]], seats)
    key = jax.random.key(int(random.integers(2**31)))
    deals = _deal(jax.random.split(jax.random.fold_in(key, 0), count))
    keys = jax.random.split(jax.random.fold_in(key, 1), count)
    owners, leaders = np.asarray(deals.holder), np.asarray(deals.leaders[:, 0])
    return play_games(players, seats, owners, leaders, keys, mesh=mesh, chunk=chunk).states


@jax.jit
def _deal(keys: jax.Array) -> env.GameState:
    return jax.vmap(env.deal)(keys)


def compile_epoch(
    config: BeliefTrainingConfig, players: Sequence[Player], mesh: Mesh, chunk: int | None = None
) -> Callable[[BeliefState], tuple[BeliefState, Mapping[str, float]]]:
    """`state -> (state, figures)`: new games, then learning from all."""
    learn = compile_learn(config, mesh)
    shares = list(config.mixture.values())

    @functools.partial(jax.jit, donate_argnums=0, out_shardings=on_all(mesh))
    def put(games, new, first):
        return jax.tree.map(
            lambda old, leaf: jax.lax.dynamic_update_slice_in_dim(old, leaf, first, 0), games, new
        )

    def run_epoch(state: BeliefState) -> tuple[BeliefState, Mapping[str, float]]:
        epoch = int(state.epoch)
        new = play_mixture((config.seed, epoch), config.games, players, shares, mesh, chunk)
        games = put(state.games, new, epoch * config.games % config.window)
        filled = min((epoch + 1) * config.games, config.window)
        key = jax.random.fold_in(jax.random.key(config.seed), epoch)
        learner, loss = learn(state.learner, games, filled, key)
        return BeliefState(learner, games, state.epoch + 1), {"loss": float(loss)}

    return run_epoch
