"""ScrofaZero and its simpler relatives: players that have a network.

name            scenarios             weights   search
raw             5 uniform             none      one visit per legal card
policy          none needed           -         none: the best logit on the averaged input
scrofa-simple   SS, up to 9           none      10 + 2 x legal
scrofa          SS, up to 9           IEC       10 + 2 x legal
scrofa-strong   64 of 128 by belief   *         one visit per legal card, rollouts, racing

* a pool of the belief and the opponent model. The first four are the paper's; the last has the best
settings that we know (docs/results.md).
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from gongzhu_jax.errors import ConfigError, PlayerError, check_choice
from gongzhu_jax.game.public_view import PublicView, legal_mask, with_deal
from gongzhu_jax.inference.config import (
    InferenceConfig,
    LearnedModel,
    ScenarioConfig,
    WeightConfig,
    make_params,
)
from gongzhu_jax.inference.decision import Decision, decide
from gongzhu_jax.inference.sampling import sample
from gongzhu_jax.network.features import encode, encode_view_averaged
from gongzhu_jax.network.policy_value import NetworkConfig, Params
from gongzhu_jax.network.policy_value import make as make_network
from gongzhu_jax.network.weights import CRITIC, load_weights
from gongzhu_jax.opponents.card_belief import KIND as BELIEF
from gongzhu_jax.opponents.distilled_policy import KIND as DISTILLED
from gongzhu_jax.opponents.opponent_model import KIND as OPPONENT_MODEL
from gongzhu_jax.players import options
from gongzhu_jax.players.protocol import BatchFn, Player, as_batch
from gongzhu_jax.search.config import RacingConfig, SearchConfig
from gongzhu_jax.search.mcts import best_card


@dataclass(frozen=True)
class PolicyConfig:
    """Options of the player that has no search."""

    inputs: str = "averaged"  # "averaged" (1/3 at each other seat) or "onehot"
    draws: int = 5  # of "onehot": uniform scenarios over which the logits are averaged

    def __post_init__(self) -> None:
        check_choice("inputs", self.inputs, ("averaged", "onehot"))
        if self.draws < 1:
            raise ConfigError("draws must be at least 1")


_ONE_VISIT = SearchConfig(base=0, per_legal=1)

PRESETS: Mapping[str, InferenceConfig | PolicyConfig] = {
    "raw": InferenceConfig(
        ScenarioConfig(stratified=False, draws=5), WeightConfig(rule="none"), _ONE_VISIT
    ),
    "policy": PolicyConfig(),
    "scrofa-simple": InferenceConfig(weights=WeightConfig(rule="none")),
    "scrofa": InferenceConfig(),
    "scrofa-strong": InferenceConfig(
        ScenarioConfig(proposal="belief", stratified=False, draws=64, candidates=128),
        WeightConfig(rule="opponent-model", rule_power=0.7, belief_power=0.3),
        replace(_ONE_VISIT, rollout="trick"),
        RacingConfig(block=16),
    ),
}
"""Settings of each player; every field of the parts can be set as an option."""

WEIGHTS: Mapping[str, str] = {"scrofa-strong": CRITIC}
"""The shipped network of a player, where it is not that of perfect information."""


def files(name: str) -> tuple[str, ...]:
    """Options of a player that name weights files or checkpoints."""
    return (
        ("checkpoint",)
        if name == "policy"
        else ("checkpoint", "belief", "opponent_model", "distilled")
    )


def make(
    name: str, config: Any, *, checkpoint: str | Path | None = None, **models: str | Path | None
) -> Player:
    """A player with the network of a checkpoint, or of the weights shipped with the package."""
    return _build(name, config, *load_weights(checkpoint or WEIGHTS.get(name)), **models)


def from_network(
    name: str,
    network: NetworkConfig,
    params: Params,
    *,
    belief: str | Path | None = None,
    opponent_model: str | Path | None = None,
    distilled: str | Path | None = None,
    **chosen: Any,
) -> Player:
    """A player with this network, and where it uses them, the belief, the opponent model and the
    distilled policy of those files (None: shipped). Players that differ in parameters only share
    their program."""
    config = options.updated(PRESETS[name], chosen, name, also=files(name)[1:])
    return _build(name, config, network, params, belief, opponent_model, distilled)


def _build(
    name: str,
    config: Any,
    network: NetworkConfig,
    params: Params,
    belief: str | Path | None = None,
    opponent_model: str | Path | None = None,
    distilled: str | Path | None = None,
) -> Player:
    if isinstance(config, PolicyConfig):
        return Player(name, config, _act_by_policy(network, config), params)
    models: dict[str, LearnedModel] = {}
    if config.uses_belief:
        models["belief"] = LearnedModel(*load_weights(belief, BELIEF))
    if config.weights.rule == "opponent-model":
        models["opponent_model"] = LearnedModel(*load_weights(opponent_model, OPPONENT_MODEL))
    if config.prior.share > 0:
        models["distilled"] = LearnedModel(*load_weights(distilled, DISTILLED))
    traced = make_params(params, config, **models)
    return Player(name, config, _search_act(network, _without_numbers(config)), traced)


def _without_numbers(config: InferenceConfig) -> InferenceConfig:
    """`config` without the numbers that are traced, which must not make a program of their own."""
    uses_belief = config.weights.belief_power > 0
    return InferenceConfig(
        replace(config.scenarios, proposal_power=1.0),
        replace(config.weights, beta=0.0, rule_power=1.0, belief_power=1.0 * uses_belief),
        replace(config.search, exploration=0.0),
        config.racing if config.races else RacingConfig(),
        config.prior,
    )


@dataclass(frozen=True)
class SearchAct:
    """The choice of a searching player; equal ones are one program to `jit` and its caches."""

    network: NetworkConfig
    config: InferenceConfig

    def __call__(self, params: Any, keys: jax.Array, views: PublicView) -> jax.Array:
        return self.decide(params, keys, views).card

    def decide(self, params: Any, keys: jax.Array, views: PublicView) -> Decision:
        return decide(params, keys, views, make_network(self.network), self.config)


# Cached because jit keys its cache on the function object.
_search_act = functools.cache(SearchAct)


@functools.cache
def compiled_decide(act: SearchAct) -> Callable[..., Decision]:
    """`(params, keys, views) -> decisions`, compiled once for players that differ in numbers."""
    return jax.jit(act.decide)


def decision_of(player: Player, view: PublicView, key: jax.Array | None = None) -> Decision:
    """The whole decision, leading axis 1, behind `player.act(view, key)`."""
    if not isinstance(player.act_batch, SearchAct):
        raise PlayerError(f"player {player.name!r} does not search, so it has nothing to explain")
    return compiled_decide(player.act_batch)(player.params, *as_batch(view, key))


@functools.cache
def _act_by_policy(network_config: NetworkConfig, config: PolicyConfig) -> BatchFn:
    network = make_network(network_config)

    def features(key: jax.Array, view: PublicView) -> jax.Array:
        """The inputs of the scenarios that are averaged over, [D, 434]."""
        if config.inputs == "onehot":
            deals = sample(key, view, config.draws)
            return jax.vmap(lambda deal: encode(with_deal(view, deal)))(deals)
        return encode_view_averaged(view)[None]

    def act_batch(params, keys, views):
        split = jax.vmap(jax.random.split)(keys)
        logits, _ = network.apply(params, jax.vmap(features)(split[:, 0], views))
        legal = jax.vmap(legal_mask)(views)
        mean = jnp.where(legal, jnp.mean(logits, axis=1), -jnp.inf)
        return jax.vmap(best_card)(split[:, 1], mean, legal)

    return act_batch
