"""Is the belief any good? How likely the true hands are under each weighting, by stage.

    python -m experiments.belief_quality deals=64 players=[greed,scrofa-simple]

In games of each player against itself, once in every trick, `scenarios` deals are drawn
uniformly for the player to move and as many by the belief, with half its log odds; weightings are
measured on all of them, each deal counting by how rarely it is drawn. The opponent model is sharper
and cheaper than the others, so it is measured on more (`scenarios_of_opponent_model`): what few
deals state is surer than it should be.

The result has `stages` by player, stage and weighting: `deal`, log probability of the true deal per
unseen card, its weight against the sum of all weights as the draws estimate it, so a little too
high with few draws, and exact for "uniform" and "belief", as means over blocks of games; `owners`,
the mean log probability of the true holder of an unseen card, floored at half a deal; `share`, the
effective sample size of the uniform draws so weighted, as a share. And `calibration` of what is
learned: of all pairs of unseen card and opponent, by tenths of the probability stated: how many,
the sum stated, and how many were true.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from experiments.common.blocks import in_blocks
from experiments.common.cli import Result, experiment
from experiments.common.plots import plot_belief
from experiments.common.positions import final_states
from experiments.common.progress import progress
from experiments.common.results import Workplace
from experiments.common.settings import PlaySettings, at_least
from gongzhu_jax.game import env
from gongzhu_jax.game.public_view import PublicView, unseen_mask, view
from gongzhu_jax.inference.config import ScenarioConfig, WeightConfig
from gongzhu_jax.inference.constraints import constraints, holders, opponent_seats, opponents
from gongzhu_jax.inference.correction import (
    counted_slices,
    log_weights,
    slice_log_factor,
    sum_slices,
)
from gongzhu_jax.inference.decision import effective_sample_size, normalise
from gongzhu_jax.inference.explanation import believed_holders
from gongzhu_jax.inference.sampling import log_count
from gongzhu_jax.inference.scenarios import draw_scenarios
from gongzhu_jax.network.policy_value import make as make_network
from gongzhu_jax.network.weights import load_weights
from gongzhu_jax.opponents import odds
from gongzhu_jax.opponents.card_belief import KIND as BELIEF_KIND
from gongzhu_jax.opponents.card_belief import log_odds
from gongzhu_jax.opponents.opponent_model import KIND as OPPONENT_MODEL_KIND
from gongzhu_jax.opponents.opponent_model import log_likelihood
from gongzhu_jax.players.labels import make_labelled

UNIFORM, BELIEF, OPPONENT_MODEL = "uniform", "belief", "opponent-model"
PROPOSAL_POWER = 0.5
"""Power of the belief when it draws deals to measure by: between uniform and what it believes."""
PARTS = {"trick 1": (0, 1), "trick 2": (1, 2)} | {
    f"tricks {first + 1}-{first + 2}": (first, first + 2) for first in range(2, 12, 2)
}
"""Stages of the game: the tricks of each, counted from 0."""
BINS = 10


@dataclass(frozen=True, kw_only=True)
class BeliefSettings(PlaySettings):
    players: list[str] = field(metadata=at_least(1))
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    checkpoint: str | None
    belief: str | None
    scenarios: int = field(metadata=at_least(2))
    scenarios_of_opponent_model: int = field(metadata=at_least(2))
    iec: list[float]
    iec_class: list[float]
    bayes: list[float]
    opponent_model: str | None
    belief_powers: list[float]
    rule_powers: list[float]


LogsFn = Callable[[PublicView, jax.Array], dict[str, jax.Array]]
"""(views [G], holders [G, N, 52]) -> log weights [G, N] by name of the weighting"""


def asked_weightings(settings: BeliefSettings) -> dict[str, WeightConfig]:
    """IEC, with and without its denominators, and Bayes of the settings by name."""
    asked = [("iec", part, beta) for part in ("important", "every") for beta in settings.iec]
    asked += [("iec-class", "important", beta) for beta in settings.iec_class]
    asked += [("bayes", "every", beta) for beta in settings.bayes]
    return {
        f"{rule} {beta:g}, {slices}": WeightConfig(rule=rule, slices=slices, beta=beta)
        for rule, slices, beta in asked
    }


def weigh_all(checkpoint: str | None, weightings: Mapping[str, WeightConfig]) -> LogsFn:
    """All weightings but IEC with denominators, which lends cards to the players, share what the
    network says of each slice."""
    config, params = load_weights(checkpoint)
    network = make_network(config)
    alone = {name: each for name, each in weightings.items() if each.rule == "iec-class"}
    together = {name: each for name, each in weightings.items() if name not in alone}

    def logs_together(views: PublicView, holder: jax.Array) -> dict[str, jax.Array]:
        count = jax.vmap(counted_slices, (0, None))
        counts = [(each, count(views, each)) for each in together.values()]

        def factor(logits, before, card, decision, stage):
            return jnp.stack(
                [
                    slice_log_factor(logits, before, card, each.beta, each)
                    * counted[decision, stage].astype(jnp.float32)
                    for each, counted in counts
                ]
            )

        every, shape = count(views, WeightConfig(slices="every")), (len(counts),)
        logs, _, _ = sum_slices(
            params, views, holder, every, factor, network, WeightConfig(), shape=shape
        )
        return {name: logs[..., i] for i, name in enumerate(together)}

    def logs_of(views: PublicView, holder: jax.Array) -> dict[str, jax.Array]:
        logs = logs_together(views, holder) if together else {}
        for name, each in alone.items():
            beta = jnp.float32(each.beta)
            logs[name] = log_weights(params, views, holder, beta, network, each).log_weight
        return logs

    return logs_of


def measure(settings: BeliefSettings, player: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Figures of one player by stage and weighting, and calibration by weighting."""
    by_network = weigh_all(settings.checkpoint, asked_weightings(settings))
    model_config, model = load_weights(settings.opponent_model, OPPONENT_MODEL_KIND)
    belief_config, belief = load_weights(settings.belief, BELIEF_KIND)
    finals = final_states(make_labelled(player, settings.options), settings)

    @jax.jit
    def compiled(key, states):
        def by_model(views, holder):
            return log_likelihood(model, views, holder, model_config)

        def odds_of(views):
            return log_odds(belief, views, belief_config)

        return _at_stage(key, states, settings, by_network, by_model, odds_of)

    by_trick = []
    with progress(f"tricks of {player}") as advance:
        for trick in range(12):
            stage = jnp.int8(4 * trick + (trick + 1) % 4)
            states = jax.vmap(env.rewind, (0, None))(finals, stage)
            key = jax.random.fold_in(jax.random.key(settings.seed), trick)
            by_trick.append(jax.tree.map(np.asarray, compiled(key, states)))
            advance(trick + 1, 12)
    stacked: Any = jax.tree.map(lambda *parts: np.stack(parts), *by_trick)  # [trick, ...]
    figures, bins = stacked
    stages: dict[str, Any] = {part: {} for part in PARTS}
    for part, (first, last) in PARTS.items():
        for name, values in {UNIFORM: figures[UNIFORM], **figures}.items():  # first in the tables
            owners, deal, share = values[first:last].mean(axis=0)  # [game] each
            stages[part][name] = {
                **in_blocks({"deal": deal, "count": np.ones(len(deal))}),
                "owners": round(float(owners.mean()), 6),
                "share": round(float(share.mean()), 6),
            }
    return stages, {name: by.sum(axis=0).tolist() for name, by in bins.items()}


class Drawn(NamedTuple):
    """Deals to measure by: N drawn uniformly, N by the belief, and the true one."""

    holder: jax.Array  # [G, 2 N + 1, 52]
    log_belief: jax.Array  # [G, 2 N + 1] sum of log odds
    log_rare: jax.Array  # [G, 2 N] minus log probability that such a deal is drawn


def draw_both(key, views: PublicView, numbers: jax.Array, true: jax.Array, count: int) -> Drawn:
    """Draws half of the deals uniformly and half by the belief; a deal has the mean of the two
    probabilities."""
    draw = ScenarioConfig(stratified=False, draws=count)
    scaled = PROPOSAL_POWER * numbers

    def of_game(key, view, numbers, true):
        table = odds.weigh(numbers, constraints(view))
        first, second = jax.random.split(key)
        uniform = draw_scenarios(first, view, draw).holder
        believed = holders(view, odds.draw(second, table, count)[0])
        holder = jnp.concatenate([uniform, believed, true[None]])
        log_sum = odds.log_weight(numbers, opponents(view, holder))
        share = jnp.logaddexp(-log_count(view), log_sum[:-1] - table.log_total) - jnp.log(2)
        return Drawn(holder, log_sum / PROPOSAL_POWER, -share)

    return jax.vmap(of_game)(jax.random.split(key, len(true)), views, scaled, true)


def _at_stage(key, states: env.GameState, settings: BeliefSettings, by_network, by_model, odds_of):
    """Figures by weighting, each [3, G]: owners, deal, effective share; and calibration bins."""
    views = jax.vmap(lambda state: view(state, env.player_to_move(state)))(states)
    numbers = odds_of(views)
    drawn = draw_both(key, views, numbers, states.holder, settings.scenarios)
    unseen = jax.vmap(unseen_mask)(views)
    true = jax.vmap(opponents)(views, states.holder)
    logs = by_network(views, drawn.holder)
    by_bayes = {name: log for name, log in logs.items() if name.startswith("bayes")}
    logs[UNIFORM] = jnp.zeros_like(drawn.log_belief)
    for power in settings.belief_powers:
        for name, log in by_bayes.items():
            logs[f"{BELIEF}-{name}{_note(power)}"] = log + power * drawn.log_belief
    figures, bins = {}, {}
    for name, log in logs.items():
        figures[name], _ = weigh_draws(views, states, drawn, log)
    more = draw_both(key, views, numbers, states.holder, settings.scenarios_of_opponent_model)
    log_likelihoods = by_model(views, more.holder)
    for power in settings.rule_powers:
        name = OPPONENT_MODEL if power == 1 else f"{BELIEF}-{OPPONENT_MODEL}{_note(power)}"
        pooled = power * log_likelihoods + (1 - power) * more.log_belief
        figures[name], shares = weigh_draws(views, states, more, pooled)
        if power != 1:
            bins[name] = _bins(shares, _is(true), unseen)
    unseen_count = jnp.sum(unseen, axis=1).astype(jnp.float32)
    uniform = -jax.vmap(log_count)(views) / unseen_count
    figures[UNIFORM] = figures[UNIFORM].at[1].set(uniform)
    for power in settings.belief_powers:
        name = f"{BELIEF}{_note(power)}"
        scaled = power * numbers
        figure, _ = weigh_draws(views, states, drawn, power * drawn.log_belief)
        total = jax.vmap(lambda n, v: odds.weigh(n, constraints(v)).log_total)(scaled, views)
        deal = jax.vmap(odds.log_weight)(scaled, true) - total
        shares = jax.vmap(lambda n, v: odds.marginals(n, constraints(v)))(scaled, views)
        owners = jnp.sum(jnp.where(_is(true), jnp.log(jnp.maximum(shares, 1e-9)), 0.0), (1, 2))
        exact = jnp.stack([owners, deal]) / unseen_count[None]
        figures[name] = jnp.concatenate([exact, figure[2:]])
        if power == 1:
            bins[name] = _bins(shares, _is(true), unseen)
    return figures, bins


def _note(power: float) -> str:
    return "" if power == 1 else f", power {power:g}"


def weigh_draws(views, states, drawn: Drawn, logs: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Figures of a weighting, logs [G, 2 N + 1]; and who holds what by it, [G, 52, 3]."""
    log_weight = logs[:, :-1] + drawn.log_rare
    count = log_weight.shape[1]
    log_sum = jax.nn.logsumexp(log_weight, axis=1) - jnp.log(count)
    hidden = jax.vmap(unseen_mask)(views)
    unseen = jnp.sum(hidden, axis=1).astype(jnp.float32)
    believed = jax.vmap(believed_holders)(drawn.holder[:, :-1], normalise(log_weight))
    truth = states.holder[..., None] == np.arange(4, dtype=np.int8)[None, None]
    probability = jnp.sum(jnp.where(truth, believed, 0.0), axis=2)
    # A holder that no deal had is less likely than one of them.
    log = jnp.log(jnp.maximum(probability, 0.5 / count))
    owners = jnp.sum(jnp.where(hidden, log, 0.0), axis=1) / unseen
    half = count // 2  # those drawn uniformly
    share = effective_sample_size(normalise(logs[:, :half])) / half
    others = jax.vmap(opponent_seats)(views.seat).astype(jnp.int32)
    shares = jnp.take_along_axis(believed, others[:, None], axis=2)
    return jnp.stack([owners, (logs[:, -1] - log_sum) / unseen, share]), shares


def _is(opponent: jax.Array) -> jax.Array:
    """[G, 52, 3] whether each opponent is the one."""
    return opponent[..., None] == np.arange(3, dtype=np.int8)[None, None]


def _bins(shares, true, unseen) -> jax.Array:
    """[BINS, 3]: how many (card, opponent) are stated in each tenth, sum stated, number true."""
    number = jnp.clip((shares * BINS).astype(jnp.int32), 0, BINS - 1)
    counted = unseen[..., None] & (shares > 0)  # a place that is impossible is no statement
    parts = [jnp.ones_like(shares), shares, true.astype(jnp.float32)]
    tenth = np.arange(BINS, dtype=np.int32)[None, None, None]
    inside = (number[..., None] == tenth) & counted[..., None]
    return jnp.stack(
        [jnp.sum(jnp.where(inside, part[..., None], 0.0), (0, 1, 2)) for part in parts], axis=1
    )


def run(settings: BeliefSettings, work: Workplace) -> Result:
    measured = {player: measure(settings, player) for player in settings.players}
    return {
        "stages": {player: stages for player, (stages, _) in measured.items()},
        "calibration": {player: bins for player, (_, bins) in measured.items()},
    }


main = experiment("belief_quality", BeliefSettings, run, plot_belief)

if __name__ == "__main__":
    raise SystemExit(main())
