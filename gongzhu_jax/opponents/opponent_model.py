"""The opponent model: how likely a player is to play each card, given its hand.

It weighs scenarios: had an opponent held this hand, would it have played as it did? The network
answers for several player types at once, from the hand of the actor and from what all could see.
The type of an opponent is hidden, so each type counts by how well it explains all of its plays:

  P(plays | hand) = mean over types of the product over plays of P(play | hand then, type).

The two seats of the other team are of one type as often as not, as they are where the network
learns (`mixture_training.mixture`), so the plays of each tell of the other's type.

Unlike the odds of the belief (`opponents.card_belief`) this sees whole hands, so it knows what goes
together in one; but it can only weigh scenarios, not draw them. Axes: B decisions, N scenarios
each.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chex
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax import ragged
from gongzhu_jax.device_profile import profile
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import CARDS, NO_CARD, NUM_CARDS, NUM_SEATS, NUM_SUITS
from gongzhu_jax.game.public_view import PublicView, assert_views, unseen_mask
from gongzhu_jax.inference.config import InferenceConfig, InferenceParams
from gongzhu_jax.inference.constraints import NUM_OPPONENTS, opponent_seats
from gongzhu_jax.inference.registry import RULES, LogWeights, PlayerTypes
from gongzhu_jax.inference.scenarios import Scenarios
from gongzhu_jax.network.policy_value import Network, init_module
from gongzhu_jax.network.weights import SUFFIX, NetworkKind, register
from gongzhu_jax.opponents.play_features import NUM_CONTEXT_FEATURES, encode_contexts, voids_before

_STAGES = np.arange(NUM_CARDS, dtype=np.int32)

NUM_SITUATION_FEATURES = NUM_CONTEXT_FEATURES + NUM_OPPONENTS * NUM_SUITS  # and shown voids


SEVEN_TYPES = "seven-types"
"""The shipped network that was trained before there was a distilled policy among the players."""


@dataclass(frozen=True)
class OpponentModelConfig:
    """The size of the network."""

    player_types: int = 1  # types of players in the mixture that it learns from
    reader: int = 256  # width of the layers that read what all could see, once for all scenarios
    width: int = 128  # width of the layer that sees a hand
    rank: int = 32  # size of the summary of that layer from which cards are chosen

    def __post_init__(self) -> None:
        if min(self.player_types, self.reader, self.width, self.rank) < 1:
            raise ConfigError(
                "player_types, reader, width and rank of an opponent model must be at least 1"
            )


def encode_situations(view: PublicView) -> jax.Array:
    """What all could see when each play was made, as its actor counts seats, float32[52, 244]; rows
    from `view.stage` on mean nothing."""
    voids = voids_before(view).reshape(NUM_CARDS, -1).astype(jnp.float32)
    return jnp.concatenate([encode_contexts(view), voids], axis=1)


def hands_then(view: PublicView, holder: jax.Array, stage: jax.Array) -> jax.Array:
    """The hand of the actor of play number `stage` before it, bool[..., 52], in deals of holders
    [..., 52]; of cards that the viewer sees `holder` is not read."""
    actor = view.seats[stage]
    since = (view.seats == actor) & (jnp.asarray(stage, jnp.int32) <= _STAGES)
    played = jnp.any(since[:, None] & (view.plays[:, None] == CARDS[None]), axis=0)
    played, unseen = (jnp.broadcast_to(x, holder.shape) for x in (played, unseen_mask(view)))
    return played | (unseen & (holder == actor))


def lead_of(view: PublicView, stage: jax.Array) -> jax.Array:
    """The card led to the trick of play number `stage`; NO_CARD if it is the lead itself."""
    place = stage % NUM_SEATS
    return jnp.where(place > 0, view.plays[stage - place], jnp.int8(NO_CARD))


class OpponentModelNet(nn.Module):
    """Maps situations [..., 244] and hands [..., 52] to logits of all cards,
    [..., player_types, 52].

    Leading axes of situations may be 1: nearly all of the network reads the situation, which all
    deals share. What it makes of a hand is one layer and a summary of it, both scaled by what was
    read.
    """

    config: OpponentModelConfig

    @nn.compact
    def __call__(self, situations: jax.Array, hands: jax.Array) -> jax.Array:
        config, outputs = self.config, self.config.player_types * NUM_CARDS
        read = nn.relu(nn.Dense(config.reader, name="reader_0")(situations))
        read = nn.relu(nn.Dense(config.reader, name="reader_1")(read))
        seen = nn.Dense(config.width, use_bias=False, name="hand")(hands.astype(jnp.float32))
        seen *= _scale(config.width, "scale")(read)
        x = nn.relu(nn.Dense(config.width, name="shift")(read) + seen)
        summary = nn.Dense(config.rank, name="summary")(x)
        summary *= _scale(config.rank, "summary_scale")(read)
        logits = nn.Dense(outputs, use_bias=False, name="by_hand")(summary)
        logits += nn.Dense(outputs, name="by_situation")(read)
        return logits.reshape(*logits.shape[:-1], config.player_types, NUM_CARDS)


def _scale(width: int, name: str) -> nn.Dense:
    """A layer of factors, which are all 1 before training."""
    zeros, ones = nn.initializers.zeros, nn.initializers.ones
    return nn.Dense(width, kernel_init=zeros, bias_init=ones, name=name)


def init_opponent_model(key: jax.Array, config: OpponentModelConfig) -> Any:
    """Parameters of an untrained opponent model."""
    inputs = (jnp.zeros(NUM_SITUATION_FEATURES), jnp.zeros(NUM_CARDS))
    return init_module(OpponentModelNet(config), key, *inputs)


def log_policy(logits: jax.Array, legal: jax.Array, card: jax.Array) -> jax.Array:
    """The log probability of `card` among the legal ones by each type of player, [player_types],
    from logits [player_types, 52]."""
    # Half as much work as a logsumexp, which seeks the largest first. The bound is never reached by
    # a card that anybody played: its probability would be e**-80.
    ahead = jnp.minimum(logits - logits[:, card][:, None], 80.0)
    return -jnp.log(jnp.sum(jnp.where(legal[None], jnp.exp(ahead), 0.0), axis=1))


def mixture_log_likelihood(by_type: jax.Array) -> jax.Array:
    """The log of the mean likelihood over player types, from logs [..., player_types]."""
    return jax.nn.logsumexp(by_type, axis=-1) - np.log(by_type.shape[-1])


def team_log_likelihood(first: jax.Array, second: jax.Array) -> jax.Array:
    """The same for two partners, [..., player_types] each, who are of one type or each of its own
    with even odds."""
    of_one_type = mixture_log_likelihood(first + second)
    independent = mixture_log_likelihood(first) + mixture_log_likelihood(second)
    return jnp.logaddexp(of_one_type, independent) - np.log(2)


def log_likelihood(
    params: Any,
    views: PublicView,
    holder: jax.Array,
    config: OpponentModelConfig,
    active: jax.Array | None = None,
) -> jax.Array:
    """The log probability of the plays of the three others in each scenario, float32[B, N]."""
    return _of_all(by_type_and_seat(params, views, holder, config, active), views)


def by_type_and_seat(
    params: Any,
    views: PublicView,
    holder: jax.Array,
    config: OpponentModelConfig,
    active: jax.Array | None = None,
) -> jax.Array:
    """The log probability of the plays of each of the others in each scenario, if it is of a type,
    float32[B, N, 4, player_types]; 0 for the viewer.

    Args:
      holder: int8[B, N, 52], the scenarios.
      active: bool[B]; the other decisions cost nothing, their scenarios get 0.
    """
    assert_views(views)
    chex.assert_shape(holder, (*views.stage.shape, None, NUM_CARDS))
    chex.assert_type(holder, jnp.int8)
    net = OpponentModelNet(config)
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
        of_play = jax.vmap(jax.vmap(log_policy, (0, 0, None)))(logits, legal, card)
        return total.at[jnp.where(live, decision, batch), seat].add(of_play, mode="drop")

    start = jnp.zeros((batch, NUM_SEATS, draws, config.player_types))
    total, _ = ragged.loop(jnp.sum(counts, axis=1), profile().plays, add, start)
    return jnp.swapaxes(total, 1, 2)


def _of_all(by_type: jax.Array, views: PublicView) -> jax.Array:
    left, partner, right = jnp.moveaxis(
        jax.vmap(lambda of, seat: of[:, opponent_seats(seat)])(by_type, views.seat), 2, 0
    )
    return team_log_likelihood(left, right) + mixture_log_likelihood(partner)


def player_types(by_type: jax.Array) -> PlayerTypes:
    """The log probabilities of the types of all seats, up to a constant, from the likelihoods of
    their plays, [..., 4, player_types]. Partners are of one type or each of its own with even odds,
    but the viewer's plays, of which nothing is said, tell nothing of its partner."""
    partner = jnp.roll(by_type, NUM_SEATS // 2, axis=-2)
    own = mixture_log_likelihood(partner)[..., None]
    return by_type + jnp.logaddexp(partner, own)


def weigh(
    params: InferenceParams,
    views: PublicView,
    scenarios: Scenarios,
    active: jax.Array,
    network: Network,
    config: InferenceConfig,
) -> LogWeights:
    """The rule "opponent-model": the likelihood of all plays of the others."""
    model = params.opponent_model
    if model is None:
        raise ConfigError("weights by the opponent model need its network")
    decisions = jnp.any(active, axis=1)
    by_type = by_type_and_seat(model.params, views, scenarios.holder, model.config, decisions)
    return LogWeights(_of_all(by_type, views), types=player_types(by_type))


RULES["opponent-model"] = weigh

KIND = register(
    NetworkKind(
        "opponent_model",
        Path(__file__).with_name(f"opponent_model{SUFFIX}"),
        OpponentModelConfig,
        init_opponent_model,
        "who plays how: the policy of each player type, given its hand",
        {SEVEN_TYPES: Path(__file__).with_name(f"opponent_model_seven_types{SUFFIX}")},
    )
)
