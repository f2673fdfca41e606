"""The denominators Y + J / 3 of IEC, which the paper derives and then drops: are they as it says?

    python -m experiments.paper.denominators deals=64

The paper drops them because Y and J, sums of correction factors of a player's legal cards, are
"always greater than 1", and so the product of the denominators is insensitive to the scenario. Both
are measured at the plays that IEC counts, in scenarios drawn uniformly for the player to move, in
positions with a choice of games of `player` against itself. What dropping the denominators changes
is how much their product differs among the scenarios of one decision, so its standard deviation
there stands beside that of the product of the correction factors, which is kept. Both are of
logarithms.

The result has `blocks`: sums over blocks of games.
"""

from dataclasses import dataclass, field

import jax
import jax.numpy as jnp

from experiments.common.cli import Result, experiment
from experiments.common.positions import FactorSettings, Figures, Looked, measure_games
from experiments.common.results import Workplace
from experiments.common.settings import at_least
from gongzhu_jax.game import env
from gongzhu_jax.game.public_view import view
from gongzhu_jax.inference.config import WeightConfig
from gongzhu_jax.inference.correction import ClassSums, counted_slices, sum_class_slices
from gongzhu_jax.inference.sampling import sample
from gongzhu_jax.network.policy_value import Network

SLICE_SUMS = ("slices", "y", "j", "y_above_1", "j_above_1", "log_gamma", "log_denominator")


@dataclass(frozen=True, kw_only=True)
class DenominatorSettings(FactorSettings):
    scenarios: int = field(metadata=at_least(2))


def of_slice(sums: ClassSums, card: jax.Array) -> jax.Array:
    """What SLICE_SUMS names, of one slice."""
    figures = (
        *(1.0, sums.y, sums.j, sums.y > 1, sums.j > 1),
        *(sums.log_gamma[card], sums.log_denominator),
    )
    return jnp.stack([jnp.asarray(figure, jnp.float32) for figure in figures])


def measure(at: Looked, network: Network, beta: float, scenarios: int) -> Figures:
    """Sums at one stage, [games]: of slices as means over the scenarios, and of variances."""
    config = WeightConfig(rule="iec-class")
    views = jax.vmap(lambda state: view(state, env.player_to_move(state)))(at.states)
    keys = jax.random.split(at.key, len(at.states.stage))
    holder = jax.vmap(lambda one, view: sample(one, view, scenarios))(keys, views)
    counts = jax.vmap(counted_slices, (0, None))(views, config)
    legal = jax.vmap(env.legal_mask)(at.states)
    measured = (jnp.sum(legal, axis=1) > 1) & jnp.any(counts, axis=1)
    sums, _, _ = sum_class_slices(
        *(at.params, views, holder, counts & measured[:, None], of_slice, jnp.float32(beta)),
        *(network, config),
        shape=(len(SLICE_SUMS),),
    )  # [games, scenarios, figures]
    of_gamma, of_denominators = sums[..., -2], sums[..., -1]
    return {
        **{name: jnp.mean(sums[..., i], axis=1) for i, name in enumerate(SLICE_SUMS)},
        "decisions": measured.astype(jnp.float32),
        "variance_of_gamma": jnp.var(of_gamma, axis=1, ddof=1),
        "variance_of_denominators": jnp.var(of_denominators, axis=1, ddof=1),
        "variance_of_both": jnp.var(of_gamma - of_denominators, axis=1, ddof=1),
    }


def run(settings: DenominatorSettings, work: Workplace) -> Result:
    return measure_games(settings, measure, "beta", "scenarios")


main = experiment("paper/denominators", DenominatorSettings, run)

if __name__ == "__main__":
    raise SystemExit(main())
