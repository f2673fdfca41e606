"""Habits learned from play: how likely a player is to play each card, given its hand.

They weigh deals: had an opponent held this hand, would it have played as it did? The network
answers for several kinds of players at once, from the hand of the actor and from what all could
see. Nobody says which kind an opponent is, so each kind counts by how well it explains all of its
plays:

  P(plays | hand) = mean over kinds of the product over plays of P(play | hand then, kind).

The two seats of the other team are of one kind as often as not, as they are where the network
learns (`belief_training.mixture`), so each tells of the other's.

Unlike the odds of the belief (`inference.belief`) this sees whole hands, so it knows what goes
together in one; but it can only weigh deals, not draw them. Axes: B decisions, N scenarios each.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax import ragged
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NO_CARD, NUM_CARDS, NUM_SEATS, NUM_SUITS
from gongzhu_jax.game.view import PublicView, unseen_mask
from gongzhu_jax.inference.constraints import NUM_OPPONENTS, opponent_seats
from gongzhu_jax.inference.evidence import NUM_CONTEXT_FEATURES, encode_contexts, voids_before
from gongzhu_jax.network.weights import SUFFIX, load_network

_STAGES = np.arange(NUM_CARDS, dtype=np.int8)
_CARDS = np.arange(NUM_CARDS, dtype=np.int8)

NUM_SITUATION_FEATURES = NUM_CONTEXT_FEATURES + NUM_OPPONENTS * NUM_SUITS  # and shown voids

PLAYS_AT_ONCE = 8
"""Plays in a batch, each with all scenarios: few, as a single decision has some twenty."""


@dataclass(frozen=True)
class HabitsConfig:
    """Size of the network."""

    kinds: int = 1  # of players
    reader: int = 256  # width of the layers that read what all could see, once for all deals
    width: int = 128  # of the layer that sees a hand
    rank: int = 32  # of the summary of that layer from which cards are chosen

    def __post_init__(self) -> None:
        if min(self.kinds, self.reader, self.width, self.rank) < 1:
            raise ConfigError("kinds, reader, width and rank of habits must be at least 1")


def encode_situations(view: PublicView) -> jax.Array:
    """float32[52, 244]: what all could see when each play was made, counted from its actor; rows
    from `view.stage` on mean nothing."""
    voids = voids_before(view).reshape(NUM_CARDS, -1).astype(jnp.float32)
    return jnp.concatenate([encode_contexts(view), voids], axis=1)


def hands_then(view: PublicView, holder: jax.Array, stage: jax.Array) -> jax.Array:
    """The hand of the actor of play number `stage` before it, bool[..., 52], in deals of holders
    [..., 52]; of cards that the viewer sees `holder` is not read."""
    actor = view.seats[stage]
    since = (view.seats == actor) & (stage <= _STAGES)
    played = jnp.any(since[:, None] & (view.plays[:, None] == _CARDS), axis=0)
    return played | (unseen_mask(view) & (holder == actor))


def lead_of(view: PublicView, stage: jax.Array) -> jax.Array:
    """The card led to the trick of play number `stage`; NO_CARD if it is the lead itself."""
    place = stage % NUM_SEATS
    return jnp.where(place > 0, view.plays[stage - place], jnp.int8(NO_CARD))


class HabitsNet(nn.Module):
    """Situations [..., 244] and hands [..., 52] to logits of all cards, [..., kinds, 52].

    Leading axes of situations may be 1: nearly all of the network reads the situation, which all
    deals share. What it makes of a hand is one layer and a summary of it, both scaled by what was
    read.
    """

    config: HabitsConfig

    @nn.compact
    def __call__(self, situations: jax.Array, hands: jax.Array) -> jax.Array:
        config, outputs = self.config, self.config.kinds * NUM_CARDS
        read = nn.relu(nn.Dense(config.reader, name="reader_0")(situations))
        read = nn.relu(nn.Dense(config.reader, name="reader_1")(read))
        seen = nn.Dense(config.width, use_bias=False, name="hand")(hands.astype(jnp.float32))
        seen *= _scale(config.width, "scale")(read)
        x = nn.relu(nn.Dense(config.width, name="shift")(read) + seen)
        summary = nn.Dense(config.rank, name="summary")(x)
        summary *= _scale(config.rank, "summary_scale")(read)
        logits = nn.Dense(outputs, use_bias=False, name="by_hand")(summary)
        logits += nn.Dense(outputs, name="by_situation")(read)
        return logits.reshape(*logits.shape[:-1], config.kinds, NUM_CARDS)


def _scale(width: int, name: str) -> nn.Dense:
    """Untrained, all factors are 1."""
    zeros, ones = nn.initializers.zeros, nn.initializers.ones
    return nn.Dense(width, kernel_init=zeros, bias_init=ones, name=name)


def init_habits(key: jax.Array, config: HabitsConfig) -> Any:
    return HabitsNet(config).init(key, jnp.zeros(NUM_SITUATION_FEATURES), jnp.zeros(NUM_CARDS))


def log_share(logits: jax.Array, legal: jax.Array, card: jax.Array) -> jax.Array:
    """log probability of `card` among the legal ones for each kind: [kinds, 52], [52], [] to
    [kinds]."""
    # Half as much work as a logsumexp, which seeks the largest first. The bound is never reached by
    # a card that anybody played: its probability would be e**-80.
    ahead = jnp.minimum(logits - logits[:, card][:, None], 80.0)
    return -jnp.log(jnp.sum(jnp.where(legal, jnp.exp(ahead), 0.0), axis=1))


def over_kinds(by_kind: jax.Array) -> jax.Array:
    """log of the mean over kinds of exp(`by_kind`), [..., kinds]: nobody says which one it is."""
    return jax.nn.logsumexp(by_kind, axis=-1) - np.log(by_kind.shape[-1])


def of_a_team(first: jax.Array, second: jax.Array) -> jax.Array:
    """The same for two partners, [..., kinds] each: of one kind or each of its own, even odds."""
    of_one_kind = over_kinds(first + second)
    return jnp.logaddexp(of_one_kind, over_kinds(first) + over_kinds(second)) - np.log(2)


def log_likelihood(
    params: Any,
    views: PublicView,
    holder: jax.Array,
    config: HabitsConfig,
    active: jax.Array | None = None,
) -> jax.Array:
    """log probability of the plays of the three others in each scenario, float32[B, N].

    Args:
      views: [B].
      holder: [B, N, 52], the scenarios.
      active: bool[B]; the other decisions cost nothing, their scenarios get 0.
    """
    net = HabitsNet(config)
    batch, draws = holder.shape[:2]
    situations = jax.vmap(encode_situations)(views)
    counts = (views.plays != NO_CARD) & (views.seats != views.seat[:, None])
    if active is not None:
        counts &= active[:, None]
    stages = jnp.argsort(~counts, axis=1, stable=True)  # those that count come first

    def add(total, decision, number, live):
        stage = stages[decision, number]
        view = jax.tree.map(lambda leaf: leaf[decision], views)
        hands = jax.vmap(hands_then)(view, holder[decision], stage)  # [plays, N, 52]
        lead = jax.vmap(lead_of)(view, stage)
        legal = jax.vmap(jax.vmap(env.legal_cards, (0, None)))(hands, lead)
        logits: Any = net.apply(params, situations[decision, stage][:, None], hands)
        card, seat = views.plays[decision, stage], views.seats[decision, stage]
        found = jax.vmap(jax.vmap(log_share, (0, 0, None)))(logits, legal, card)
        return total.at[jnp.where(live, decision, batch), seat].add(found, mode="drop")

    start = jnp.zeros((batch, NUM_SEATS, draws, config.kinds))
    total, _ = ragged.loop(jnp.sum(counts, axis=1), PLAYS_AT_ONCE, add, start)
    left, partner, right = jnp.moveaxis(
        jax.vmap(lambda by_seat, seat: by_seat[opponent_seats(seat)])(total, views.seat), 1, 0
    )
    return of_a_team(left, right) + over_kinds(partner)


KIND = "habits"
"""Of weights files."""


def shipped() -> Path:
    """The habits that come with the package."""
    return Path(__file__).parent / f"habits{SUFFIX}"


def load_habits(checkpoint: str | Path | None = None) -> tuple[HabitsConfig, Any]:
    """The network and parameters of habits: from a run's folder, one of its checkpoints, or a
    weights file; None: the habits shipped with the package."""
    path = shipped() if checkpoint is None else Path(checkpoint)
    return load_network(path, KIND, HabitsConfig, lambda c: lambda key: init_habits(key, c))
