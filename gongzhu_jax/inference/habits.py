"""Habits learned from play: how likely a player is to play each card, given its hand.

They weigh deals: had an opponent held this hand, would it have played as it did? The network
answers for several kinds of players at once, from the hand of the actor and from what all could
see. Nobody says which kind an opponent is, so each kind counts by how well it explains all of its
plays:

  P(plays | hand) = mean over kinds of the product over plays of P(play | hand then, kind).

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
from flax import struct

from gongzhu_jax import ragged
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NO_CARD, NUM_CARDS, NUM_SEATS, NUM_SUITS
from gongzhu_jax.game.view import PublicView, unseen_mask
from gongzhu_jax.inference.constraints import NUM_OPPONENTS
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


class Reading(struct.PyTreeNode):
    """What does not depend on the hand: read once for all deals."""

    shift: jax.Array  # [..., width] of what is seen of the hand
    scale: jax.Array  # [..., width]
    summary_scale: jax.Array  # [..., rank]
    logits: jax.Array  # [..., kinds * 52] to be added to


class HabitsNet(nn.Module):
    """Situations [..., 244] and hands [..., 52] to logits of all cards, [..., kinds, 52].

    Nearly all of the network reads the situation, which all deals share; what it makes of a hand,
    many of which are looked at, is one layer and a summary of it.
    """

    config: HabitsConfig

    def setup(self) -> None:
        config = self.config
        self.reader = [nn.Dense(config.reader) for _ in range(2)]
        self.shift = nn.Dense(config.width)
        self.scale = _scale(config.width)
        self.summary_scale = _scale(config.rank)
        self.by_situation = nn.Dense(config.kinds * NUM_CARDS)
        self.hand = nn.Dense(config.width, use_bias=False)
        self.summary = nn.Dense(config.rank)
        self.by_hand = nn.Dense(config.kinds * NUM_CARDS, use_bias=False)

    def read(self, situations: jax.Array) -> Reading:
        x = situations
        for layer in self.reader:
            x = nn.relu(layer(x))
        return Reading(self.shift(x), self.scale(x), self.summary_scale(x), self.by_situation(x))

    def choose(self, reading: Reading, hands: jax.Array) -> jax.Array:
        seen = self.hand(hands.astype(jnp.float32))
        x = nn.relu(reading.shift + reading.scale * seen)
        logits = self.by_hand(reading.summary_scale * self.summary(x)) + reading.logits
        return logits.reshape(*logits.shape[:-1], self.config.kinds, NUM_CARDS)

    def __call__(self, situations: jax.Array, hands: jax.Array) -> jax.Array:
        return self.choose(self.read(situations), hands)


def _scale(width: int) -> nn.Dense:
    """Untrained, all factors are 1."""
    return nn.Dense(width, kernel_init=nn.initializers.zeros, bias_init=nn.initializers.ones)


def init_habits(key: jax.Array, config: HabitsConfig) -> Any:
    return HabitsNet(config).init(key, jnp.zeros(NUM_SITUATION_FEATURES), jnp.zeros(NUM_CARDS))


def log_share(logits: jax.Array, legal: jax.Array, card: jax.Array) -> jax.Array:
    """log probability of `card` among the legal ones for each kind: [kinds, 52], [52], [] to
    [kinds]."""
    return logits[:, card] - jax.nn.logsumexp(jnp.where(legal, logits, -jnp.inf), axis=1)


def over_kinds(by_kind: jax.Array) -> jax.Array:
    """log of the mean over kinds of exp(`by_kind`), [..., kinds]: nobody says which one it is."""
    return jax.nn.logsumexp(by_kind, axis=-1) - np.log(by_kind.shape[-1])


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
    readings: Any = net.apply(params, situations, method="read")  # leading axes [B, 52]
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
        reading = jax.tree.map(lambda leaf: leaf[decision, stage][:, None], readings)
        logits: Any = net.apply(params, reading, hands, method="choose")
        card = jax.vmap(lambda view, stage: view.plays[stage])(view, stage)
        found = jax.vmap(jax.vmap(log_share, (0, 0, None)))(logits, legal, card)
        seat = jax.vmap(lambda view, stage: view.seats[stage])(view, stage)
        return total.at[jnp.where(live, decision, batch), seat].add(found, mode="drop")

    start = jnp.zeros((batch, NUM_SEATS, draws, config.kinds))
    total, _ = ragged.loop(jnp.sum(counts, axis=1), PLAYS_AT_ONCE, add, start)
    return jnp.sum(over_kinds(total), axis=1)  # the viewer's own plays add nothing


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
