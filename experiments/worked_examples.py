"""The paper's worked positions: the weights of the strata, and the choice.

    python -m experiments.worked_examples checkpoint=runs/train repeats=16

Each position is decided `repeats` times by ScrofaZero of the paper (SS with IEC, 9 scenarios,
10 + 2 x legal simulations) with different draws of the hidden cards. A stratum is one placement of
the key cards; its score is the product of the correction factors, 1 for a history without regret.

The result has `examples` by name: seat, hand, leader, plays; key_cards; `strata` (holders of the
key cards, mean score with its standard_error over draws, share: mean normalised weight, draws),
`candidates` (card, q with its standard_error over repeats, chosen: share of the repeats), choice,
and what the paper says of the weights; `interrupted`.
"""

import functools
import sys
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.cli import command, finish
from experiments.progress import progress
from experiments.results import print_table
from experiments.settings import KeptSettings
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation import estimate
from gongzhu_jax.evaluation.stats import number
from gongzhu_jax.game import PublicView, make_view
from gongzhu_jax.game.cards import CARD_NAMES, NO_CARD
from gongzhu_jax.inference.config import CHUNK, InferenceConfig, InferenceParams, make_params
from gongzhu_jax.inference.correction import log_weights
from gongzhu_jax.inference.decision import Decision, decide
from gongzhu_jax.inference.scenarios import key_cards
from gongzhu_jax.network.policy_value import NetworkConfig
from gongzhu_jax.network.policy_value import make as make_network
from gongzhu_jax.network.weights import load_weights
from gongzhu_jax.search.config import SearchConfig

EXAMPLES: dict[str, dict[str, Any]] = {
    "DJ cooperation": {
        "seat": 3,
        "hand": "HQ HJ H8 SA S5 S4 S3 CQ CJ C4",
        "leader": 0,
        "plays": "H3 H5 H4 H7 S6 SJ HK S10 DQ DA D9 D3 DJ D8",
        "paper": "scores .95 .91 .91 where the partner (seat 1) holds DK, .27 to .38 where the "
        "next opponent (seat 0) does",
    },
    "SQ evasion": {
        "seat": 3,
        "hand": "HQ HJ H8 H7 SA S6 S5 S4 S3 CQ CJ D3",
        "leader": 1,
        "plays": "C9 C7 C4 H9 S7 SJ",
        "paper": "scores .89 .99 .20",
    },
    "SQ evasion 2": {
        "seat": 3,
        "hand": "HQ HJ H8 H7 SA S3 CJ C4 CQ D3 D10",
        "leader": 0,
        "plays": "S7 SK S10 S8 C2 C9 C8 C7 S6",
        "paper": "no numbers",
    },
}


@dataclass(frozen=True, kw_only=True)
class WorkedSettings(KeptSettings):
    checkpoint: str | None
    repeats: int
    base: int
    per_legal: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.repeats < 1:
            raise ConfigError("repeats must be at least 1")


@functools.cache
def _compiled(network_config: NetworkConfig, config: InferenceConfig):
    network = make_network(network_config)

    def think(params: InferenceParams, keys: jax.Array, views: PublicView):
        decision = decide(params, keys, views, network, config)
        logs, _, _ = log_weights(
            params.network, views, decision.scenarios.holder, params.beta, network, config.weights
        )
        return decision, jnp.exp(logs)

    return jax.jit(think)


def explain(
    name: str,
    network: NetworkConfig,
    params: Any,
    config: InferenceConfig,
    settings: WorkedSettings,
) -> dict[str, Any]:
    """One example as plain types."""
    given = EXAMPLES[name]
    view = make_view(given["seat"], given["hand"], given["leader"], given["plays"])
    views = jax.tree.map(lambda leaf: jnp.stack([leaf] * settings.repeats), view)
    keys = jax.random.split(jax.random.key(settings.seed), settings.repeats)
    thought = _compiled(network, config)(make_params(params, config), keys, views)
    decision, score = jax.tree.map(np.asarray, thought)
    cards = [card for card in np.asarray(key_cards(view, 2)).tolist() if card != NO_CARD]
    candidates = _candidates(decision)
    return {
        **given,
        "key_cards": [CARD_NAMES[card] for card in cards],
        "strata": _strata(decision, score, cards),
        "candidates": candidates,
        "choice": max(candidates, key=lambda row: row["chosen"])["card"],
    }


def _strata(decision: Decision, score: np.ndarray, cards: list[int]) -> list[dict[str, Any]]:
    """One row for each placement of the key cards that was drawn, by holders."""
    drawn: dict[tuple[int, ...], list[float]] = {}
    share: dict[tuple[int, ...], float] = {}
    repeats = len(score)
    for repeat, draw in np.argwhere(decision.scenarios.valid):
        holders = tuple(decision.scenarios.holder[repeat, draw, cards].tolist())
        drawn.setdefault(holders, []).append(float(score[repeat, draw]))
        weight = float(decision.weight[repeat, draw]) / repeats
        share[holders] = share.get(holders, 0.0) + weight
    rows = []
    for holders in sorted(drawn):
        found = estimate(np.array(drawn[holders]))
        rows.append(
            {
                "holders": list(holders),
                "score": found.mean,
                "standard_error": number(found.standard_error),
                "share": share[holders],
                "draws": found.count,
            }
        )
    return rows


def _candidates(decision: Decision) -> list[dict[str, Any]]:
    """The legal cards, the best first."""
    legal = np.flatnonzero(np.isfinite(decision.q[0]))
    rows = []
    for card in legal.tolist():
        found = estimate(np.asarray(decision.q)[:, card])
        rows.append(
            {
                "card": CARD_NAMES[card],
                "q": found.mean,
                "standard_error": number(found.standard_error),
                "chosen": float(np.mean(decision.card == card)),
            }
        )
    return sorted(rows, key=lambda row: -row["q"])


@command("worked_examples", WorkedSettings)
def main(settings: WorkedSettings, line: str) -> int:
    network, params = load_weights(settings.checkpoint)
    config = InferenceConfig(
        search=SearchConfig(base=settings.base, per_legal=settings.per_legal, chunk=CHUNK)
    )
    found = {}
    with progress("examples") as advance:
        for name in EXAMPLES:
            found[name] = explain(name, network, params, config, settings)
            advance(len(found), len(EXAMPLES))
    for name, example in found.items():
        print_table(f"{name}: holders of {' '.join(example['key_cards'])}", example["strata"])
        print_table(f"{name}: candidates", example["candidates"])
    return finish("worked_examples", {"examples": found, "interrupted": False}, settings, line)


if __name__ == "__main__":
    sys.exit(main())
