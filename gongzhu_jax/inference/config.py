"""Settings of the inference player: which scenarios it draws and how much each counts.

Three settings are variants that the original program had beside the paper's: `weights.factor`
"clipped", `weights.regret` "suit", and `search.ucb_factor` 2.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

from gongzhu_jax.device_profile import check_sizes
from gongzhu_jax.errors import ConfigError, check_choice
from gongzhu_jax.inference.key_cards import ORDERS
from gongzhu_jax.inference.registry import PROPOSALS, RULES
from gongzhu_jax.search.config import RacingConfig, SearchConfig

MOST_SCENARIOS = 65_536
"""Scenarios of one decision: more would take gigabytes, and hours."""

BELIEF = "belief"
"""The proposal whose density is also the belief in `weights.belief_power`."""
DISTILLED = "distilled"
"""The prior that `prior.share` is about."""


@dataclass(frozen=True)
class ScenarioConfig:
    """How scenarios are drawn (section 5, stratified sampling)."""

    # The distribution that deals are drawn from: "uniform" (paper) or "belief", the learned one.
    # Importance weights correct for it: the proposal sets how deals are drawn, and `weights` how
    # likely they are.
    proposal: str = "uniform"
    proposal_power: float = 1.0  # power to which the odds of the belief are raised when drawing
    stratified: bool = True  # True: stratified (SS of the paper); False: uniform (US)
    draws: int = 9  # scenarios searched; with strata at most so many, shared equally among them
    # Scenarios drawn and weighed, of which `draws` are chosen for the search by their weights; 0:
    # `draws` are drawn and all are searched.
    candidates: int = 0
    key_cards: int = 2  # cards whose placement makes the strata
    # How key cards are chosen: by the fixed "list" of the original program, or by "statistics" of
    # the network (paper).
    key_card_order: str = field(default="list", metadata={"added": True})
    stratum_weights: str = "equal"  # "equal" (paper) or "exact": each stratum's share of deals

    def __post_init__(self) -> None:
        check_choice("proposal", self.proposal, PROPOSALS)
        check_choice("key_card_order", self.key_card_order, ORDERS)
        check_choice("stratum_weights", self.stratum_weights, ("equal", "exact"))
        if self.draws < 1 or self.key_cards < 0 or not 0 <= self.proposal_power < math.inf:
            raise ConfigError("draws must be at least 1, key_cards and proposal_power at least 0")
        if self.drawn > MOST_SCENARIOS:
            raise ConfigError(f"draws and candidates must be at most {MOST_SCENARIOS}")
        if self.candidates and self.candidates < self.draws:
            raise ConfigError(f"candidates must be 0 or at least draws, {self.draws}")
        if self.stratified and self.drawn < self.strata:
            raise ConfigError(
                f"{self.key_cards} key cards make up to {self.strata} strata, "
                f"so draws must be at least {self.strata}, not {self.drawn}"
            )

    @property
    def drawn(self) -> int:
        """Scenarios drawn for a decision."""
        return self.candidates or self.draws

    @property
    def strata(self) -> int:
        return 3**self.key_cards


@dataclass(frozen=True)
class WeightConfig:
    """How likely scenarios are after the history (section 5, integral over equivalent class).

    The weight of a scenario is a log-linear pool, belief^belief_power x rule^rule_power, divided by
    the probability with which the scenario was drawn.
    """

    # How scenarios are weighed: "none"; "iec" (paper); "iec-class", IEC with the denominators that
    # the paper drops; "bayes", the normalised product; or "opponent-model", the likelihood of all
    # plays by the learned model.
    rule: str = "iec"
    rule_power: float = 1.0  # power of the rule in the pool; 0: it does not count
    belief_power: float = 0.0  # power of the learned belief in the pool; 0: it is not used
    beta: float = 0.015  # certainty of "iec" and "bayes", per point of regret
    factor: str = "exponential"  # exp(-beta regret) (paper) or max(1 - beta regret, 0.1), "clipped"
    regret: str = "all"  # regret against "all" legal cards (paper) or those of the "suit" played
    slices: str = "important"  # which plays of the others count; "every" is all of them
    min_rank: int = 8  # the lowest rank that makes a slice important, from 2 to 14 (ace)
    suit_rule: bool = True  # whether, when following, only plays of the suit led are important
    inputs: str = "averaged"  # "averaged": what the actor knew; "onehot": the scenario's hands
    chunk: int | None = None  # slices per network batch; null: usual

    def __post_init__(self) -> None:
        check_choice("rule", self.rule, RULES)
        check_choice("factor", self.factor, ("exponential", "clipped"))
        check_choice("regret", self.regret, ("all", "suit"))
        check_choice("slices", self.slices, ("important", "every"))
        check_choice("inputs", self.inputs, ("averaged", "onehot"))
        if not all(0 <= x < math.inf for x in (self.beta, self.rule_power, self.belief_power)):
            raise ConfigError("beta, rule_power and belief_power must be >= 0")
        if self.rule == "iec-class" and (self.factor, self.regret) != ("exponential", "all"):
            raise ConfigError("the rule iec-class has the paper's factor and regret only")
        if not 2 <= self.min_rank <= 14:
            raise ConfigError("wanted: min_rank from 2 to 14")
        check_sizes(chunk=self.chunk)


@dataclass(frozen=True)
class PriorConfig:
    """How much counts what the distilled policy thinks of the cards before any search."""

    share: float = 0.0  # of the distilled policy's Q in the choice; the rest is that of the search

    def __post_init__(self) -> None:
        if not 0 <= self.share < 1:
            raise ConfigError("the share of a prior must be at least 0 and below 1")


@dataclass(frozen=True)
class InferenceConfig:
    """A whole decision. Defaults: ScrofaZero of the paper, SS with IEC, 10 + 2 x legal."""

    scenarios: ScenarioConfig = field(default_factory=ScenarioConfig)
    weights: WeightConfig = field(default_factory=WeightConfig)
    search: SearchConfig = field(default_factory=lambda: SearchConfig(base=10))
    racing: RacingConfig = field(default=RacingConfig(), metadata={"added": True})
    prior: PriorConfig = field(default=PriorConfig(), metadata={"added": True})

    def __post_init__(self) -> None:
        self.search.check_player()
        if self.search.rollout != "none" and not (
            self.search.one_visit and self.weights.rule == "opponent-model"
        ):
            raise ConfigError(
                "a rollout needs one visit per legal card (search.base=0, search.per_legal=1) and "
                "the opponent model (weights.rule=opponent-model)"
            )
        if not self.races:
            return
        if not self.search.one_visit or self.scenarios.stratified:
            raise ConfigError(
                "racing needs one visit per legal card (search.base=0, search.per_legal=1) and "
                "scenarios in random order (scenarios.stratified=false); racing.block=0 is none"
            )
        if self.scenarios.draws % self.racing.block:
            raise ConfigError(
                f"draws, {self.scenarios.draws}, must be a multiple of racing.block, "
                f"{self.racing.block}"
            )

    @property
    def races(self) -> bool:
        """Whether cards may be dropped: where all scenarios are one block, there is no race."""
        return 0 < self.racing.block < self.scenarios.draws

    @property
    def uses_belief(self) -> bool:
        return self.scenarios.proposal == BELIEF or self.weights.belief_power > 0


class LearnedModel(struct.PyTreeNode):
    """A network that a proposal or a rule needs beside the one that plays."""

    config: Any = struct.field(pytree_node=False)  # frozen dataclass
    params: Any


class InferenceParams(struct.PyTreeNode):
    """What may change without compiling anew: parameters, and numbers that sweeps vary."""

    network: Any
    beta: jax.Array  # [] float32
    exploration: jax.Array  # [] float32, c of UCB1
    proposal_power: jax.Array  # [] float32
    rule_power: jax.Array  # [] float32
    belief_power: jax.Array  # [] float32
    belief: LearnedModel | None = None
    opponent_model: LearnedModel | None = None
    distilled: LearnedModel | None = None


def make_params(
    network_params: Any,
    config: InferenceConfig,
    belief: LearnedModel | None = None,
    opponent_model: LearnedModel | None = None,
    distilled: LearnedModel | None = None,
) -> InferenceParams:
    """The parameters of a decision, with the numbers of `config`."""
    return InferenceParams(
        network=network_params,
        beta=jnp.float32(config.weights.beta),
        exploration=jnp.float32(config.search.exploration),
        proposal_power=jnp.float32(config.scenarios.proposal_power),
        rule_power=jnp.float32(config.weights.rule_power),
        belief_power=jnp.float32(config.weights.belief_power),
        belief=belief,
        opponent_model=opponent_model,
        distilled=distilled,
    )
