"""The paper's irrelevant cards: its two examples on our network, and a search for others.

    python -m experiments.paper.irrelevant_cards deals=64

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

The result has `examples`: by irrelevant card and group, sums over blocks of fills by guessed card
(count, without, with, change and its square); and `blocks`: sums over blocks of games by card.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from experiments.common.blocks import in_blocks
from experiments.common.cli import Result, experiment
from experiments.common.positions import (
    FactorSettings,
    Figures,
    Looked,
    correction_factors,
    measure_games,
)
from experiments.common.results import Workplace
from experiments.common.settings import at_least
from experiments.paper.published import irrelevant_examples
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import (
    NO_CARD,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SEATS,
    NUM_SUITS,
    SUIT,
    card_id,
    card_ids,
)
from gongzhu_jax.network.features import encode_averaged
from gongzhu_jax.network.policy_value import Network
from gongzhu_jax.network.policy_value import make as make_network
from gongzhu_jax.network.weights import load_weights

GUESSER = 1
"""The seat whose cards are guessed; seat 0 leads."""


@dataclass(frozen=True, kw_only=True)
class IrrelevantSettings(FactorSettings):
    fills: int = field(metadata=at_least(2))


class GuessedHands(NamedTuple):
    """Deals that differ in who holds the irrelevant card, and the card that seat 0 leads."""

    without: np.ndarray  # [fills, 52] int8, owner of each card
    present: np.ndarray  # [fills, 52] int8, with the irrelevant card in the guessed hand
    leads: np.ndarray  # [fills] int8


def draw_hands(seed: int, irrelevant: str, group: Mapping[str, object], fills: int) -> GuessedHands:
    """`fills` deals around one of the paper's groups, which names the irrelevant card too."""
    moved = card_id(irrelevant)
    guessed = [card for card in card_ids(group) if card != moved]
    named = {card for cards in irrelevant_examples()[irrelevant] for card in card_ids(cards)}
    suit = SUIT[moved]
    leads = [card for card in range(NUM_CARDS) if SUIT[card] == suit and card not in named]
    others = np.delete(np.repeat(np.arange(NUM_SEATS, dtype=np.int8), NUM_RANKS), 0)
    others = others[others != GUESSER]  # places of the cards that are left; seat 0 has its lead
    rng = np.random.default_rng(seed)
    without = np.full((fills, NUM_CARDS), -1, np.int8)
    present = np.zeros_like(without)
    chosen = np.zeros(fills, np.int8)
    for fill, owners in enumerate(without):
        chosen[fill] = rng.choice(leads)
        # Card by card in one random order, so that all groups have the same hands beside them.
        order = rng.permutation(NUM_CARDS)
        fillers = [card for card in order if SUIT[card] != suit][: NUM_RANKS - len(guessed)]
        owners[[*guessed, *fillers]] = GUESSER
        owners[chosen[fill]] = 0
        owners[[card for card in order if owners[card] < 0]] = others
        present[fill] = owners
        present[fill, fillers[-1]] = owners[moved]
        present[fill, moved] = GUESSER
    return GuessedHands(without, present, chosen)


def factors_of(network: Network, params: Any, states: env.GameState, beta: float) -> jax.Array:
    """Correction factors of all cards in positions [n, 52]."""
    logits, _ = network.apply(params, jax.vmap(encode_averaged)(states))
    return jax.vmap(correction_factors, (0, 0, None))(logits, states, beta)


def examples(network: Network, params: Any, settings: IrrelevantSettings) -> dict[str, list]:
    """The paper's groups, with and without the irrelevant card."""

    @jax.jit
    def after_lead(params, owners, leads):
        states = jax.vmap(lambda owners, lead: env.step(env.from_owners(owners, 0), lead))
        return factors_of(network, params, states(owners, leads), settings.beta)

    rows: dict[str, list] = {}
    for name, groups in irrelevant_examples().items():
        rows[name] = []
        for group in groups:
            hands = draw_hands(settings.seed, name, group, settings.fills)
            without, present = (
                np.asarray(after_lead(params, owners, hands.leads))
                for owners in (hands.without, hands.present)
            )
            sums = {
                "count": np.ones_like(without),
                "without": without,
                "with": present,
                "square_of_change": np.square(present - without),
            }
            rows[name].append(
                {
                    card: in_blocks({key: of[:, card_id(card)] for key, of in sums.items()})
                    for card in group
                }
            )
    return rows


def measure(at: Looked, network: Network, beta: float) -> Figures:
    """Sums of changes at one stage, [games, 52]."""
    keys = jax.random.split(at.key, len(at.states.stage))
    return jax.vmap(lambda k, state: _changes(network, at.params, k, state, beta))(keys, at.states)


def _changes(network: Network, params: Any, key: jax.Array, state: env.GameState, beta: float):
    """The changes in one position, by card [52]."""
    mover, lead = env.player_to_move(state), state.trick[0]
    suit = jnp.maximum(lead, 0) // NUM_RANKS
    legal = env.legal_mask(state)
    follows = (lead != NO_CARD) & jnp.all(~legal | (suit == SUIT)) & (jnp.sum(legal) > 2)
    # What comes in exchange: an unseen card of another suit.
    others = (state.holder >= 0) & (state.holder != mover) & (suit != SUIT)
    incoming = jnp.argmax(jnp.where(others, jax.random.uniform(key, others.shape), -1.0))
    ranks = suit * NUM_RANKS + np.arange(NUM_RANKS, dtype=np.int8)  # [13] cards of the suit

    def without(card):
        holder = state.holder.at[card].set(state.holder[incoming]).at[incoming].set(mover)
        return state.replace(holder=holder)

    one = jax.tree.map(lambda leaf: leaf[None], state)
    before = factors_of(network, params, one, beta)[0, ranks]  # [13]
    after = factors_of(network, params, jax.vmap(without)(ranks), beta)[:, ranks]  # [gone, staying]
    mine = legal[ranks]
    pairs = mine[:, None] & mine[None, :] & ~np.eye(NUM_RANKS, dtype=bool)
    change = jnp.where(pairs, jnp.abs(after - before[None, :]), 0.0)
    others_count = jnp.maximum(jnp.sum(mine) - 1, 1).astype(jnp.float32)
    counted = follows & jnp.any(others) & mine

    def by_card(values):
        rows = np.arange(NUM_SUITS, dtype=np.int8)[:, None] == suit
        return jnp.where(rows & counted[None], values[None], 0.0).reshape(-1)

    return {
        "count": by_card(jnp.ones(NUM_RANKS)),
        "moved": by_card(jnp.sum(change, axis=1) / others_count),
        "staying": by_card(jnp.sum(change, axis=0) / others_count),
    }


def run(settings: IrrelevantSettings, work: Workplace) -> Result:
    config, params = load_weights(settings.checkpoint)
    groups = examples(make_network(config), params, settings)
    return {"examples": groups, **measure_games(settings, measure, "beta")}


main = experiment("paper/irrelevant_cards", IrrelevantSettings, run)

if __name__ == "__main__":
    raise SystemExit(main())
