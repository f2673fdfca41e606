"""Where one-ply values go wrong: predicted against what happens when play goes on honestly.

    python -m experiments.value_bias deals=256 networks.mine=runs/critic

In games of a player that searches, one of its decisions is picked at random. Each legal card is
then played in turn (honest deviation) and the game goes on to its end between players who do not
see each other's hands. Every network says what it thinks of the true position after each card; its
error is that minus what happened. Only the errors *between the cards of one decision* matter to a
choice, so the mean error of the decision is taken off.

The result has by opponent and network, summed over blocks of games: `cards`, these errors by kind
of card; and `parts`, for all decisions, for leading and following and for each trick: `squared`,
the squares of the errors, and `choice`, the points that the card with the best value wins over the
mean of all legal cards, by what happened.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import numpy as np

from experiments.common.cli import Result, experiment
from experiments.common.plots import plot_value_bias
from experiments.common.positions import STAGES, visit_once
from experiments.common.progress import progress
from experiments.common.results import Workplace
from experiments.common.settings import PlaySettings, at_least
from gongzhu_jax.evaluation.deals import Deals
from gongzhu_jax.evaluation.games import play_games
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import CARD_NAMES, NO_CARD, NUM_CARDS, NUM_SEATS
from gongzhu_jax.network.policy_value import make as make_network
from gongzhu_jax.network.weights import load_weights
from gongzhu_jax.players import Player
from gongzhu_jax.players.labels import make_labelled

BLOCKS = 32
"""Blocks of decisions over which errors of the figures are estimated."""


@dataclass(frozen=True, kw_only=True)
class ValueBiasSettings(PlaySettings):
    player: str
    opponents: list[str] = field(metadata=at_least(1))
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    networks: dict[str, str | None] = field(metadata=at_least(1))


class Deviations(NamedTuple):
    """Legal cards of decisions, one row for each: axis C."""

    decision: np.ndarray  # [C] number of the decision
    card: np.ndarray  # [C]
    stage: np.ndarray  # [C]
    outcome: np.ndarray  # [C] final margin of the mover's team
    states: env.GameState  # [D], the positions before the decisions


def deviate(player: Player, opponent: Player, deals: Deals, seed: int, options: Any) -> Deviations:
    """One random decision of the player, who has seats 0 and 2, in each deal, and what happens
    after each of its legal cards."""
    count = len(deals.owners)
    keys = jax.random.split(jax.random.key(seed), count)
    seats = np.tile(np.array([0, 1, 0, 1], np.int8), (count, 1))
    seated = [player, opponent]
    games = play_games(seated, seats, deals.owners, deals.leaders, keys, **options).states
    stage, legal = pick_decisions(games, np.random.default_rng([seed, count]))
    decision, card = np.nonzero(legal)
    opening = np.where(np.arange(NUM_CARDS) < stage[:, None], np.asarray(games.plays), NO_CARD)
    opening = opening[decision]
    opening[np.arange(len(card)), stage[decision]] = card
    # Every card has the same keys, so that what follows differs by the card alone.
    played = play_games(
        *(seated, seats[decision], deals.owners[decision], deals.leaders[decision], keys[decision]),
        opening=opening,
        **options,
    )
    points = np.asarray(played.points)
    states = jax.device_get(jax.jit(jax.vmap(env.rewind))(games, stage.astype(np.int8)))
    return Deviations(
        decision=decision,
        card=card,
        stage=stage[decision],
        outcome=points[:, ::2].sum(axis=1) - points[:, 1::2].sum(axis=1),
        states=states,
    )


def pick_decisions(
    games: env.GameState, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """A stage of each game, [D], at which seat 0 or 2 has a choice, and the legal cards then,
    bool[D, 52]; none where there is no such stage."""
    stages = np.arange(STAGES, dtype=np.int8)
    states = jax.jit(jax.vmap(jax.vmap(env.rewind, (None, 0)), (0, None)))(games, stages)
    mover = np.asarray(jax.jit(jax.vmap(jax.vmap(env.player_to_move)))(states))
    legal = np.asarray(jax.jit(jax.vmap(jax.vmap(env.legal_mask)))(states))
    choice = (legal.sum(axis=2) > 1) & (mover % 2 == 0)
    stage = np.argmax(np.where(choice, random.random(choice.shape), -1.0), axis=1)
    rows = np.arange(len(stage))
    return stage, legal[rows, stage] & choice[rows, stage][:, None]


def kind_of_card(card: int) -> str:
    """How the rules and players tell cards apart."""
    name = CARD_NAMES[card]
    kinds = {"SQ": "pig", "DJ": "sheep", "C10": "transformer", "SK": "SK SA", "SA": "SK SA"}
    high = name[1:] in ("J", "Q", "K", "A")
    return kinds.get(name) or f"{'high' if high else 'low'} {'SHDC'[card // 13]}"


def kinds_of_rows(deviations: Deviations) -> dict[str, np.ndarray]:
    """Kinds of cards, led or played to a trick, and which rows are of them, bool[C]."""
    leads = deviations.stage % NUM_SEATS == 0
    kinds = np.array([kind_of_card(card) for card in deviations.card])
    return {
        **{f"lead {kind}": leads & (kinds == kind) for kind in sorted(set(kinds[leads]))},
        **{f"play {kind}": ~leads & (kinds == kind) for kind in sorted(set(kinds[~leads]))},
    }


def parts_of_game(deviations: Deviations) -> dict[str, np.ndarray]:
    """Parts of the game, and which rows are in them, bool[C]."""
    trick, place = np.divmod(deviations.stage, NUM_SEATS)
    return {
        "all decisions": trick >= 0,
        "leading": place == 0,
        "following": place > 0,
        **{f"trick {number + 1}": trick == number for number in np.unique(trick)},
    }


def centred(values: np.ndarray, decision: np.ndarray) -> np.ndarray:
    """Values [C] minus the mean over the cards of their decision."""
    count = np.maximum(np.bincount(decision), 1)
    return values - (np.bincount(decision, weights=values) / count)[decision]


def measure(deviations: Deviations, predicted: np.ndarray) -> dict[str, Any]:
    """What one network's values of all rows, [C], are worth."""
    decision = deviations.decision
    error = centred(predicted - deviations.outcome, decision)
    won = centred(deviations.outcome.astype(np.float64), decision)
    order = np.lexsort((-predicted, decision))
    best = np.zeros(len(decision), bool)
    best[order[np.unique(decision[order], return_index=True)[1]]] = True
    block = decision * BLOCKS // (decision.max() + 1)

    def sums(values: np.ndarray, rows: np.ndarray) -> dict[str, list[float]]:
        total = np.bincount(block[rows], weights=values[rows], minlength=BLOCKS)
        return {"sum": total.tolist(), "count": np.bincount(block[rows], minlength=BLOCKS).tolist()}

    return {
        "cards": {name: sums(error, rows) for name, rows in kinds_of_rows(deviations).items()},
        "parts": {
            name: {"squared": sums(np.square(error), rows), "choice": sums(won, rows & best)}
            for name, rows in parts_of_game(deviations).items()
        },
    }


def predict(checkpoint: str | None, deviations: Deviations) -> np.ndarray:
    """The final margin that a network expects after each row's card, all hands known, [C]."""
    config, params = load_weights(checkpoint)
    network = make_network(config)
    key = jax.random.key(0)
    q = jax.jit(lambda params, states: visit_once(network, params, key, states))
    return np.asarray(q(params, deviations.states))[deviations.decision, deviations.card]


def run(settings: ValueBiasSettings, work: Workplace) -> Result:
    deals = settings.choose_deals().deals
    player = make_labelled(settings.player, settings.options)
    options = {"chunk": settings.chunk}
    by_opponent: dict[str, Any] = {}
    with progress("opponents") as advance:
        for number, name in enumerate(settings.opponents):
            opponent = make_labelled(name, settings.options)
            deviations = deviate(player, opponent, deals, settings.seed, options)
            by_opponent[name] = {
                "decisions": len(np.unique(deviations.decision)),
                "cards": len(deviations.card),
                "networks": {
                    label: measure(deviations, predict(checkpoint, deviations))
                    for label, checkpoint in settings.networks.items()
                },
            }
            advance(number + 1, len(settings.opponents))
    return {"player": settings.player, "opponents": by_opponent}


main = experiment("value_bias", ValueBiasSettings, run, plot_value_bias)

if __name__ == "__main__":
    raise SystemExit(main())
