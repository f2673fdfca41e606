"""The programs that `experiments.compile_check` compiles, at the sizes of a device profile."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding

from experiments import train_belief, train_critic, train_opponent_model  # noqa: F401
from experiments.common.cli import changed_settings
from experiments.speed.inference import views_with_choice
from experiments.speed.rates import SAME, SPLIT, on_devices
from experiments.speed.search import compile_search
from experiments.train import load_preset
from gongzhu_jax import network, players, runtime
from gongzhu_jax.device_profile import CPU, DeviceProfile
from gongzhu_jax.evaluation.games import SPREAD, compile_games
from gongzhu_jax.game.cards import NUM_CARDS, NUM_SEATS
from gongzhu_jax.game.random_play import random_position
from gongzhu_jax.inference.config import InferenceConfig
from gongzhu_jax.mixture_training import compile_learn
from gongzhu_jax.mixture_training import init_state as init_mixture
from gongzhu_jax.players.registry import PLAYERS
from gongzhu_jax.players.scrofazero import SearchAct
from gongzhu_jax.search import SearchConfig, budgets_of
from gongzhu_jax.training.epoch import compile_epoch, state_shapes

LEARNT = ("belief", "opponent_model", "critic")
"""Networks that learn from games of a mixture; importing their commands registers the settings."""
TREE_DEPTH = 4.0
"""Nodes on the longest way down the trees of a batch, assumed."""
IMPORTANT_SLICES = 70.0
"""Plays of a decision that IEC evaluates, assumed."""
GREED_BLOCKS = 2.0
"""Blocks of deals in a batch of Mr. Greed: the most that there are, where one of its positions has
all of its deals enumerated."""


@dataclass(frozen=True)
class Work:
    """A program and what one run of it does on all devices."""

    lowered: Any
    # Turns of the loops that do not say how often they run, in the order of `hlo.Program.loops`.
    turns: list[float]
    evaluations: float  # of the network that plays
    games: float | None = None
    what: str = ""


def _shapes(tree: Any, sharding: Any) -> Any:
    return jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct(jnp.shape(leaf), leaf.dtype, sharding=sharding), tree
    )


@functools.cache
def _random_states(count: int = 2048) -> Any:
    return jax.jit(jax.vmap(random_position))(jax.random.split(jax.random.key(0), count))


def mean_budget(config: SearchConfig) -> float:
    """Simulations for a position of a random game."""
    return float(np.mean(budgets_of(_random_states(), config)))


def epoch(mesh: Mesh, sizes: DeviceProfile) -> Work:
    """Self-play and learning, by the preset for these sizes."""
    preset = "compact" if sizes == CPU else "gpu" if mesh.size == 1 else "gpu8"
    config = load_preset(preset)
    games = config.selfplay.games
    evaluations = games * NUM_CARDS * mean_budget(config.search)
    # The last chunk of a stage is half full on the mean.
    chunks = evaluations / mesh.size / NUM_CARDS / sizes.selfplay_states + 0.5
    lowered = compile_epoch(config, mesh).lower(state_shapes(config, mesh))
    # Of presets with review, the program does not say how many updates there are.
    turns = [chunks] if config.learner.review == 1 else [chunks, config.updates_per_epoch]
    return Work(lowered, turns, evaluations, games, f"preset={preset}")


def search(mesh: Mesh, sizes: DeviceProfile) -> Work:
    """The tree search of the paper's player: 10 + 2 x legal cards, of 32 batches of roots."""
    net, config = network.make(), SearchConfig(base=10)
    roots = 32 * sizes.states
    params = _shapes(jax.eval_shape(net.init, jax.random.key(0)), runtime.on_all(mesh))
    one = jax.tree.map(lambda leaf: leaf[0], _random_states())
    states = jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct(
            (roots * mesh.size, *leaf.shape), leaf.dtype, sharding=runtime.over_games(mesh)
        ),
        one,
    )
    budget = mean_budget(config)
    lowered = compile_search(net, config, mesh).lower(params, states)
    turns = [budget, TREE_DEPTH, TREE_DEPTH]
    return Work(lowered, turns, roots * mesh.size * budget, None, "10 + 2 x legal")


def decision(mesh: Mesh, sizes: DeviceProfile, name: str) -> Work:
    """Decisions of a player; those of players without a network count as one evaluation."""
    player = players.make(name)
    count = sizes.decisions * mesh.size
    views = _shapes(views_with_choice(jax.random.key(0), count), runtime.over_games(mesh))
    keys = _shapes(jax.random.split(jax.random.key(0), count), runtime.over_games(mesh))
    params = _shapes(player.params, runtime.on_all(mesh))
    decide: Any = on_devices(player.act_batch, mesh, (SAME, SPLIT, SPLIT))
    lowered = decide.lower(params, keys, views)
    evaluations, turns = _of_decisions(player, sizes.decisions, sizes)
    what = f"{sizes.decisions} decisions"
    return Work(lowered, turns, evaluations * mesh.size, None, what)


def _of_decisions(
    player: players.Player, count: int, sizes: DeviceProfile
) -> tuple[float, list[float]]:
    """Evaluations of `count` decisions, and turns of the loops that do not say how often."""
    if not isinstance(player.act_batch, SearchAct):
        return count, [GREED_BLOCKS] if player.name == "greed" else []
    config: InferenceConfig = player.config
    evaluations = count * config.scenarios.draws * mean_budget(config.search)
    seen = float(np.mean(_random_states().stage)) * (NUM_SEATS - 1) / NUM_SEATS
    plays = [count * seen / sizes.plays + 0.5] if config.weights.rule == "opponent-model" else []
    if config.search.one_visit:
        return evaluations, [*plays, evaluations / sizes.states + 0.5]
    turns = [*plays, mean_budget(config.search), TREE_DEPTH, TREE_DEPTH]
    if config.weights.rule != "iec":
        return evaluations, turns
    slices = count * IMPORTANT_SLICES
    return evaluations + slices, [*turns, slices / sizes.states + 0.5]


def match(mesh: Mesh, sizes: DeviceProfile) -> Work:
    """A batch of a match of the raw network against Mr. If, each deal played twice."""
    pair = [players.make("raw"), players.make("if")]
    games = 2 * sizes.deals
    play = compile_games(
        tuple(player.act_batch for player in pair), mesh, sizes.decisions, "threefry2x32", 0, False
    )
    spread = NamedSharding(mesh, SPREAD)
    shapes = (((NUM_SEATS,), "int8"), ((NUM_CARDS,), "int8"), ((), "int8"), ((2,), "uint32"))
    tables = [
        jax.ShapeDtypeStruct((games, mesh.size, *shape), dtype, sharding=spread)
        for shape, dtype in (*shapes, shapes[1])
    ]
    params = _shapes([player.params for player in pair], runtime.on_all(mesh))
    # Of every stage each player has half of the games, as far as there is a choice.
    asked = games / 2 * float(np.mean(budgets_of(_random_states(), SearchConfig()) > 0))
    evaluations, inner = _of_decisions(pair[0], sizes.decisions, sizes)
    chunks = asked / sizes.decisions + 0.5
    total = NUM_CARDS * asked / sizes.decisions * evaluations * mesh.size
    turns = [chunks, *inner, chunks]
    lowered = play.lower(params, *tables)
    return Work(lowered, turns, total, games * mesh.size, "raw against if")


def _learning(mesh: Mesh, sizes: DeviceProfile, name: str) -> Work:
    """The updates of an epoch on a mixture; its evaluations are positions learnt from."""
    chosen = "usual" if sizes == CPU else f"{name}_gpu"
    settings = changed_settings(f"train_{name}", {}, [f"sizes={chosen}"])
    config = settings.config()
    state = jax.eval_shape(lambda: init_mixture(config, runtime.games_mesh()))
    learner, window = _shapes((state.learner, state.window), runtime.on_all(mesh))
    key = _shapes(jax.random.key(0), runtime.on_all(mesh))
    lowered = compile_learn(config, mesh).lower(learner, window, config.window, key)
    return Work(lowered, [], config.updates * config.minibatch, None, f"sizes={chosen}")


PROGRAMS: dict[str, Callable[[Mesh, DeviceProfile], Work]] = {
    "epoch": epoch,
    "search": search,
    **{f"decision-{name}": functools.partial(decision, name=name) for name in PLAYERS},
    "match": match,
    **{name: functools.partial(_learning, name=name) for name in LEARNT},
}
