"""ScrofaZero and its simpler relatives: players that have a network.

name            scenarios            weights   search
raw             5 uniform deals      none      one visit per legal card
policy          none needed          -         none: the best logit on the averaged input
scrofa-simple   SS, up to 9 deals    none      10 + 2 x legal
scrofa          SS, up to 9 deals    IEC       10 + 2 x legal
scrofa-strong   64 of 128 by belief  *         one visit per legal card

* the belief and habits, pooled. The first four are the paper's; the last has the best settings we
found (docs/results.md).
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from gongzhu_jax.errors import ConfigError, PlayerError
from gongzhu_jax.game.view import PublicView, legal_mask, with_deal
from gongzhu_jax.inference.belief import load_belief
from gongzhu_jax.inference.config import CHUNK, InferenceConfig, ScenarioConfig, WeightConfig
from gongzhu_jax.inference.decision import Decision, decide, make_params
from gongzhu_jax.inference.habits import load_habits
from gongzhu_jax.inference.sampling import sample
from gongzhu_jax.network import NetworkConfig, encode, encode_averaged
from gongzhu_jax.network.registry import Params
from gongzhu_jax.network.registry import make as make_network
from gongzhu_jax.network.weights import load_weights
from gongzhu_jax.players.protocol import BatchFn, Player
from gongzhu_jax.search.config import SearchConfig
from gongzhu_jax.search.mcts import best_card

PRESETS: Mapping[str, InferenceConfig] = {
    "raw": InferenceConfig(
        ScenarioConfig(sampler="uniform", draws=5),
        WeightConfig(weights="none"),
        SearchConfig(base=0, per_legal=1, chunk=CHUNK),
    ),
    "scrofa-simple": InferenceConfig(weights=WeightConfig(weights="none")),
    "scrofa": InferenceConfig(),
    "scrofa-strong": InferenceConfig(
        ScenarioConfig(sampler="belief", draws=64, candidates=128),
        WeightConfig(weights="belief-habits", trust=0.7),
        SearchConfig(base=0, per_legal=1, chunk=CHUNK),
    ),
}
"""Settings of each player; every field of the parts can be set as an option."""


@dataclass(frozen=True)
class PolicyConfig:
    """Options of the player that has no search."""

    inputs: str = "averaged"  # "averaged" (1/3 at each other seat) or "onehot"
    draws: int = 5  # of "onehot": uniform deals over which the logits are averaged

    def __post_init__(self) -> None:
        if self.inputs not in ("averaged", "onehot"):
            raise ConfigError(f"inputs must be averaged or onehot, not {self.inputs!r}")
        if self.draws < 1:
            raise ConfigError("draws must be at least 1")


NAMES = (*PRESETS, "policy")
PARTS = ("scenarios", "weights", "search")
"""Of an `InferenceConfig`: those whose fields are options of a player."""


def option_names(name: str) -> list[str]:
    """What `make` and `from_network` accept for a player."""
    parts = (PolicyConfig,) if name == "policy" else (ScenarioConfig, WeightConfig, SearchConfig)
    files = {"checkpoint"} if name == "policy" else {"checkpoint", "belief", "habits"}
    return sorted({field.name for part in parts for field in fields(part)} | files)


def make(name: str, *, checkpoint: str | Path | None = None, **options: Any) -> Player:
    """A player with the network of a checkpoint, or of the weights shipped with the package."""
    network, params = load_weights(checkpoint)
    return from_network(name, network, params, **options)


def from_network(
    name: str,
    network: NetworkConfig,
    params: Params,
    *,
    belief: str | Path | None = None,
    habits: str | Path | None = None,
    **options: Any,
) -> Player:
    """A player with this network, and where it uses them, the belief and the habits of those files
    (None: shipped). Players that differ in parameters only share their program."""
    if unknown := sorted(set(options) - set(option_names(name)) - {"checkpoint"}):
        raise PlayerError(
            f"player {name!r} has no option {unknown[0]!r}; there are "
            f"{', '.join(option_names(name))}"
        )
    if name == "policy":
        config = _updated(PolicyConfig(), options)
        return Player(name, config, _act_by_policy(network, config), params)
    config = with_options(PRESETS[name], options)
    belief_params: Params = ()
    habits_params: Params = ()
    if config.uses_belief:
        belief_config, belief_params = load_belief(belief)
        config = replace(config, belief=belief_config)
    if config.weights.by_habits:
        habits_config, habits_params = load_habits(habits)
        config = replace(config, habits=habits_config)
    # Numbers that are traced must not make a program of their own.
    numbers = ("beta", "exploration", "temper", "trust")
    program = with_options(config, dict.fromkeys(numbers, 0.0))
    traced = make_params(params, config, belief_params, habits_params)
    return Player(name, config, _search_act(network, program), traced)


def with_options(config: InferenceConfig, options: Mapping[str, Any]) -> InferenceConfig:
    """`config` with each option put into the parts that have a field of its name."""

    parts = {name: _updated(getattr(config, name), options) for name in PARTS}
    return replace(config, **parts)


def _updated(part: Any, options: Mapping[str, Any]) -> Any:
    """A part with those of the options that it has; values of another type are errors."""
    mine = {f.name: options[f.name] for f in fields(part) if f.name in options}
    for name, value in mine.items():
        wanted = type(getattr(part, name))
        if wanted is float and type(value) is int:
            mine[name] = float(value)
        elif type(value) is not wanted:
            raise ConfigError(f"{name} must be of type {wanted.__name__}, not {value!r}")
    return replace(part, **mine)


@dataclass(frozen=True)
class SearchAct:
    """The choice of a searching player; equal ones are one program to `jit` and its caches."""

    network: NetworkConfig
    config: InferenceConfig

    def __call__(self, params: Any, keys: jax.Array, views: PublicView) -> jax.Array:
        return self.decide(params, keys, views).card

    def decide(self, params: Any, keys: jax.Array, views: PublicView) -> Decision:
        return decide(params, keys, views, make_network(self.network), self.config)


# Kept for good: jit forgets a program together with the function that it was made of.
_search_act = functools.cache(SearchAct)


@functools.cache
def _compiled_decide(act: SearchAct) -> Callable[..., Decision]:
    return jax.jit(act.decide)


def explain(player: Player, key: jax.Array, view: PublicView) -> Decision:
    """The whole decision, leading axis 1, behind `player.act(key, view)`."""
    if not isinstance(player.act_batch, SearchAct):
        raise PlayerError(f"player {player.name!r} does not search, so it has nothing to explain")
    batch = jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], (key, view))
    return _compiled_decide(player.act_batch)(player.params, *batch)


@functools.cache
def _act_by_policy(network_config: NetworkConfig, config: PolicyConfig) -> BatchFn:
    network = make_network(network_config)

    def features(key: jax.Array, view: PublicView) -> jax.Array:
        """[D, 434] of the deals that are averaged over."""
        if config.inputs == "onehot":
            deals = sample(key, view, config.draws)
            return jax.vmap(lambda deal: encode(with_deal(view, deal)))(deals)
        # Who holds an unseen card does not matter to the averaged input, only that it is held.
        anybody = jnp.broadcast_to((view.seat + 1) % 4, view.hand.shape)
        return encode_averaged(with_deal(view, anybody))[None]

    def act_batch(params, keys, views):
        split = jax.vmap(jax.random.split)(keys)
        logits, _ = network.apply(params, jax.vmap(features)(split[:, 0], views))
        legal = jax.vmap(legal_mask)(views)
        mean = jnp.where(legal, jnp.mean(logits, axis=1), -jnp.inf)
        return jax.vmap(best_card)(split[:, 1], mean, legal)

    return act_batch
