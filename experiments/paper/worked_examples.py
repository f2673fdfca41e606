"""The worked positions of the original program: the weights of the strata, and the choice.

    python -m experiments.paper.worked_examples repeats=16

Each position is decided `repeats` times by ScrofaZero of the paper (SS with IEC, 9 scenarios,
10 + 2 x legal simulations) with different draws of the hidden cards. A stratum is one placement of
the key cards; its score is the product of the correction factors, 1 for a history without regret.

The result has `examples` by name: the position, key_cards, and of every scenario drawn, `draws`:
repeat, holders of the key cards, score, normalised weight; and `q` by card and repeat; `chosen`.
"""

from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.common.cli import Result, experiment
from experiments.common.progress import progress
from experiments.common.results import Workplace
from experiments.common.settings import KeptSettings, at_least
from experiments.paper.published import worked_positions
from gongzhu_jax.game import PublicView, make_view
from gongzhu_jax.game.cards import CARD_NAMES, NO_CARD
from gongzhu_jax.inference.config import InferenceConfig, InferenceParams, make_params
from gongzhu_jax.inference.correction import log_weights
from gongzhu_jax.inference.decision import Decision, decide
from gongzhu_jax.inference.key_cards import key_cards
from gongzhu_jax.network.policy_value import make as make_network
from gongzhu_jax.network.weights import load_weights
from gongzhu_jax.search.config import SearchConfig


@dataclass(frozen=True, kw_only=True)
class WorkedSettings(KeptSettings):
    checkpoint: str | None
    repeats: int = field(metadata=at_least(1))
    search: SearchConfig = field(default_factory=SearchConfig)


def plain_decision(decision: Decision, score: np.ndarray, cards: list[int]) -> dict[str, Any]:
    """What was drawn and thought, [repeats, ...], as plain types."""
    draws = [
        {
            "repeat": int(repeat),
            "holders": decision.scenarios.holder[repeat, draw, cards].tolist(),
            "score": round(float(score[repeat, draw]), 5),
            "weight": round(float(decision.weight[repeat, draw]), 5),
        }
        for repeat, draw in np.argwhere(decision.scenarios.valid)
    ]
    legal = np.flatnonzero(np.isfinite(decision.q[0])).tolist()
    q = {CARD_NAMES[card]: np.round(decision.q[:, card], 3).tolist() for card in legal}
    return {"draws": draws, "q": q, "chosen": [CARD_NAMES[card] for card in decision.card]}


def run(settings: WorkedSettings, work: Workplace) -> Result:
    network_config, weights = load_weights(settings.checkpoint)
    network, config = make_network(network_config), InferenceConfig(search=settings.search)

    @jax.jit
    def think(params: InferenceParams, keys: jax.Array, views: PublicView):
        decision = decide(params, keys, views, network, config)
        rule = log_weights(
            params.network, views, decision.scenarios.holder, params.beta, network, config.weights
        )
        return decision, jnp.exp(rule.log_weight)

    keys = jax.random.split(jax.random.key(settings.seed), settings.repeats)
    examples = {}
    with progress("examples") as advance:
        for name, given in worked_positions().items():
            view = make_view(**given)
            views = jax.tree.map(lambda leaf: jnp.stack([leaf] * settings.repeats), view)
            thought = jax.tree.map(np.asarray, think(make_params(weights, config), keys, views))
            cards = [card for card in np.asarray(key_cards(view, 2)).tolist() if card != NO_CARD]
            names = {"key_cards": [CARD_NAMES[card] for card in cards]}
            examples[name] = {**given, **names, **plain_decision(*thought, cards)}
            advance(len(examples), len(worked_positions()))
    return {"examples": examples}


main = experiment("paper/worked_examples", WorkedSettings, run)

if __name__ == "__main__":
    raise SystemExit(main())
