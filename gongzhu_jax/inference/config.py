"""Settings of the inference player: which hidden deals it imagines and how much each counts."""

from dataclasses import dataclass, field

from gongzhu_jax.errors import ConfigError
from gongzhu_jax.inference.belief import BeliefConfig
from gongzhu_jax.inference.habits import HabitsConfig
from gongzhu_jax.search.config import SearchConfig

CHUNK = 128
"""States per network batch: larger ones gain little on CPUs, and a single decision, with nine
roots and some seventy slices, would mostly evaluate padding. Accelerators want more."""

_RULES = ("iec", "bayes", "habits")
"""How plays of the history are judged: by the network that plays, or by learned habits."""
_CHOICES = {
    "sampler": ("uniform", "stratified", "belief", "stratified-belief"),
    "stratum_weights": ("equal", "exact"),
    "weights": ("none", *_RULES, "belief", *(f"belief-{rule}" for rule in _RULES)),
    "factor": ("exponential", "clipped"),
    "regret": ("all", "suit"),
    "inputs": ("averaged", "onehot"),
    "slices": ("important", "every"),
}


@dataclass(frozen=True)
class ScenarioConfig:
    """How scenarios are drawn (section 5, stratified sampling)."""

    # "uniform" (US), "stratified" (SS), "belief": drawn by the learned belief, or
    # "stratified-belief": so within strata. Draws by belief carry the weight that makes up for it:
    # the sampler says how deals are found, `weights` which are believed.
    sampler: str = "stratified"
    draws: int = 9  # deals; with strata the largest number, shared equally among them
    key_cards: int = 2  # cards whose placement makes the strata
    stratum_weights: str = "equal"  # "equal" (paper) or "exact": each stratum's share of deals
    temper: float = 1.0  # of draws by belief: its log odds are multiplied by this
    # Deals drawn and weighed, of which `draws` are kept for the search by their weights; 0: `draws`
    # are drawn and all are searched.
    candidates: int = 0

    def __post_init__(self) -> None:
        _check_choices(self)
        if self.draws < 1 or self.key_cards < 0 or self.temper < 0:
            raise ConfigError("draws must be at least 1, key_cards and temper at least 0")
        if self.candidates and self.candidates < self.draws:
            raise ConfigError(f"candidates must be 0 or at least draws, {self.draws}")
        if self.stratified and self.drawn < self.strata:
            raise ConfigError(
                f"{self.key_cards} key cards make up to {self.strata} strata, "
                f"so draws must be at least {self.strata}, not {self.drawn}"
            )

    @property
    def stratified(self) -> bool:
        return self.sampler.startswith("stratified")

    @property
    def by_belief(self) -> bool:
        return self.sampler.endswith("belief")

    @property
    def drawn(self) -> int:
        """Deals drawn for a decision."""
        return self.candidates or self.draws

    @property
    def strata(self) -> int:
        return 3**self.key_cards


@dataclass(frozen=True)
class WeightConfig:
    """How scenarios are weighted by the history (section 5, integral over equivalent class)."""

    # "none", "iec", "bayes": the normalised product, "habits": the product by learned habits,
    # "belief": the learned belief, or the belief times one of the three: "belief-iec" and so on
    weights: str = "iec"
    beta: float = 0.015  # certainty of the belief, per point of regret
    factor: str = "exponential"  # exp(-beta regret) (paper) or max(1 - beta regret, 0.1), "clipped"
    regret: str = "all"  # against all legal cards (paper) or those of the "suit" played
    slices: str = "important"  # which plays of the others count; "every" is all of them
    min_rank: int = 8  # of important slices: the lowest rank that counts, 2 to 14 for the ace
    suit_rule: bool = True  # of important slices: when following, only the suit led counts
    temper: float = 1.0  # of the belief: its log odds are multiplied by this
    # In habits: their log likelihood is multiplied by this, and with the belief, its log odds by
    # what is left to 1.
    trust: float = 1.0
    inputs: str = "averaged"  # "averaged": what the actor knew; "onehot": the scenario's hands
    chunk: int = CHUNK  # slices per network batch

    def __post_init__(self) -> None:
        _check_choices(self)
        if min(self.beta, self.temper) < 0 or not 0 <= self.trust <= 1:
            raise ConfigError("beta and temper must be >= 0, trust from 0 to 1")
        if not 2 <= self.min_rank <= 14 or self.chunk < 1:
            raise ConfigError("wanted: min_rank from 2 to 14, chunk >= 1")

    @property
    def by_belief(self) -> bool:
        return self.weights.startswith("belief")

    @property
    def by_habits(self) -> bool:
        return self.weights.endswith("habits")

    @property
    def by_slices(self) -> str | None:
        """How the network that plays weighs single plays: "iec", "bayes" or not at all."""
        rule = self.weights.removeprefix("belief-")
        return rule if rule in ("iec", "bayes") else None


def _check_choices(config: object) -> None:
    for name, choices in _CHOICES.items():
        value = getattr(config, name, choices[0])
        if value not in choices:
            raise ConfigError(f"{name} must be one of {', '.join(choices)}, not {value!r}")


@dataclass(frozen=True)
class InferenceConfig:
    """A whole decision. Defaults: ScrofaZero of the paper, SS with IEC, 10 + 2 x legal."""

    scenarios: ScenarioConfig = field(default_factory=ScenarioConfig)
    weights: WeightConfig = field(default_factory=WeightConfig)
    search: SearchConfig = field(default_factory=lambda: SearchConfig(base=10, chunk=CHUNK))
    belief: BeliefConfig | None = None  # the network of the learned belief, where it is used
    habits: HabitsConfig | None = None  # that of the learned habits, where they are used

    @property
    def uses_belief(self) -> bool:
        return self.scenarios.by_belief or self.weights.by_belief
