"""The paper's irrelevant cards: its two examples on our network, and a search for others.

    python -m experiments.irrelevant_cards checkpoint=runs/train deals=64

Irrelevant is a card that, moved to another hand, leaves the correction factors of the other cards
as they are, and whose own factor stays when other cards are moved. Factors are those of IEC:
exp(-beta regret) over the legal cards by the policy on the averaged input.

Examples: the paper gives the cards guessed in a hand and not the game, so the factors here are
means over `fills` positions: the second player of the first trick follows suit with the guessed
cards, its other cards are drawn at random from the other suits, and the lead is drawn from the
cards of the suit that are in none of the groups. With the irrelevant card, it takes the place of
one card of another suit.

Search: in positions of games of `player` against itself in which the player to move follows suit
with three legal cards or more, each of them in turn is exchanged for an unseen card of another
suit. `moved` is the mean absolute change of the factors of the other legal cards when this card
goes, `staying` that of its own factor when another one goes; a card is as irrelevant as the larger
of the two is small.

The result has `examples` by card, lists of groups with rows (card, without, with, their
standard_errors over fills, mean_change and rms_change of the pairs, the paper's two); `cards` by
name (positions, moved, staying, their standard_errors over games, change: the larger);
`most_irrelevant`, ten names; `interrupted`.
"""

import sys
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.cli import command, finish
from experiments.correction import correction_factors
from experiments.guessed_hands import EXAMPLES, GuessedHands, draw_hands
from experiments.positions import MeasureFn, final_states, sums_over_positions
from experiments.resampling import mean_of, with_errors
from experiments.results import print_table
from experiments.settings import PlaySettings
from gongzhu_jax import players
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation import estimate
from gongzhu_jax.evaluation.stats import number
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import CARD_NAMES, NO_CARD, NUM_RANKS, NUM_SUITS, SUIT, card_id
from gongzhu_jax.network.features import encode_averaged
from gongzhu_jax.network.policy_value import Network
from gongzhu_jax.network.policy_value import make as make_network
from gongzhu_jax.network.weights import load_weights

LISTED = 10


@dataclass(frozen=True, kw_only=True)
class IrrelevantSettings(PlaySettings):
    checkpoint: str | None
    player: str
    beta: float
    fills: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fills < 2 or self.beta < 0:
            raise ConfigError("fills must be at least 2 and beta 0 or more")


def examples(network: Network, params: Any, settings: IrrelevantSettings) -> dict[str, list]:
    """The paper's groups, with and without the irrelevant card."""

    @jax.jit
    def factors(params, states):
        logits, _ = network.apply(params, jax.vmap(encode_averaged)(states))
        return correction_factors(logits, jax.vmap(env.legal_mask)(states), settings.beta)

    found: dict[str, list] = {}
    for name, groups in EXAMPLES.items():
        found[name] = []
        for group in groups:
            hands = draw_hands(settings.seed, name, group, settings.fills)
            without, present = (np.asarray(factors(params, states)) for states in _states(hands))
            found[name].append(
                [_example_row(card, name, without, present, group) for card in group]
            )
    return found


def _states(hands: GuessedHands) -> tuple[env.GameState, env.GameState]:
    """The positions [fills] without and with the irrelevant card."""
    start = jax.jit(jax.vmap(lambda owners, lead: env.step(env.from_owners(owners, 0), lead)))
    return start(hands.without, hands.leads), start(hands.present, hands.leads)


def _example_row(
    card: str, irrelevant: str, without: np.ndarray, present: np.ndarray, group: dict[str, tuple]
) -> dict[str, Any]:
    here = card_id(card)
    after = estimate(present[:, here])
    row: dict[str, Any] = {
        "card": card,
        "with": after.mean,
        "with_standard_error": after.standard_error,
        "paper_without": group[card][0],
        "paper_with": group[card][1],
    }
    if card == irrelevant:
        return row
    before, change = estimate(without[:, here]), present[:, here] - without[:, here]
    return row | {
        "without": before.mean,
        "without_standard_error": before.standard_error,
        "mean_change": float(change.mean()),
        "rms_change": float(np.sqrt(np.square(change).mean())),
    }


def make_measure(network: Network, beta: float) -> MeasureFn:
    """Sums of changes at one stage, [games, 52]."""

    def measure(params: Any, key: jax.Array, states: env.GameState) -> dict[str, jax.Array]:
        keys = jax.random.split(key, len(states.stage))
        return jax.vmap(lambda k, state: _changes(network, params, k, state, beta))(keys, states)

    return measure


def _changes(network: Network, params: Any, key: jax.Array, state: env.GameState, beta: float):
    """Of one position, by card [52]."""
    mover, lead = env.player_to_move(state), state.trick[0]
    suit = jnp.maximum(lead, 0) // NUM_RANKS
    legal = env.legal_mask(state)
    follows = (lead != NO_CARD) & jnp.all(~legal | (suit == SUIT)) & (jnp.sum(legal) > 2)
    # What comes in exchange: an unseen card of another suit.
    others = (state.holder >= 0) & (state.holder != mover) & (suit != SUIT)
    incoming = jnp.argmax(jnp.where(others, jax.random.uniform(key, others.shape), -1.0))
    ranks = suit * NUM_RANKS + np.arange(NUM_RANKS)  # [13] cards of the suit

    def without(card):
        holder = state.holder.at[card].set(state.holder[incoming]).at[incoming].set(mover)
        return encode_averaged(state.replace(holder=holder))

    features = jnp.concatenate([encode_averaged(state)[None], jax.vmap(without)(ranks)])
    logits = network.apply(params, features)[0][:, ranks]  # [14, 13]
    mine = legal[ranks]
    left = mine[None, :] & ~np.eye(NUM_RANKS, dtype=bool)  # [gone, staying]
    before = correction_factors(logits[0], mine, beta)
    after = correction_factors(logits[1:], left, beta)
    change = jnp.where(left & mine[:, None], jnp.abs(after - before[None, :]), 0.0)
    pairs = jnp.maximum(jnp.sum(mine) - 1, 1)
    counted = follows & jnp.any(others) & mine

    def by_card(values):
        rows = jnp.arange(NUM_SUITS)[:, None] == suit
        return jnp.where(rows & counted, values, 0.0).reshape(-1)

    return {
        "count": by_card(jnp.ones(NUM_RANKS)),
        "moved": by_card(jnp.sum(change, axis=1) / pairs),
        "staying": by_card(jnp.sum(change, axis=0) / pairs),
    }


def summarise(sums: dict[str, np.ndarray]) -> dict[str, Any]:
    """By card, from sums over games, [games, 52]."""
    count = sums["count"].sum(axis=0)
    (moved, moved_error), (staying, staying_error) = (
        with_errors(mean_of(name), sums) for name in ("moved", "staying")
    )
    change = np.maximum(moved, staying)
    order = [card for card in np.argsort(change) if np.isfinite(change[card])]
    return {
        "cards": {
            name: {
                "positions": int(count[card]),
                "moved": number(moved[card]),
                "moved_standard_error": number(moved_error[card]),
                "staying": number(staying[card]),
                "staying_standard_error": number(staying_error[card]),
                "change": number(change[card]),
            }
            for card, name in enumerate(CARD_NAMES)
        },
        "most_irrelevant": [CARD_NAMES[card] for card in order[:LISTED]],
    }


@command("irrelevant_cards", IrrelevantSettings)
def main(settings: IrrelevantSettings, line: str) -> int:
    config, params = load_weights(settings.checkpoint)
    network = make_network(config)
    found = examples(network, params, settings)
    player = players.make(settings.player, checkpoint=settings.checkpoint)
    finals = final_states(player, settings)
    measure = make_measure(network, settings.beta)
    search = summarise(sums_over_positions(finals, measure, params, settings.seed))
    result = {"examples": found, **search, "interrupted": False}
    for name, groups in found.items():
        print_table(f"correction factors without and with {name}", _printed(groups))
    listed = [{"card": name, **search["cards"][name]} for name in search["most_irrelevant"]]
    if listed:
        print_table("the most irrelevant cards", listed)
    return finish("irrelevant_cards", result, settings, line)


def _printed(groups: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [
        {name: row.get(name) for name in ("card", "without", "with", "paper_without", "paper_with")}
        for rows in groups
        for row in rows
    ]


if __name__ == "__main__":
    sys.exit(main())
