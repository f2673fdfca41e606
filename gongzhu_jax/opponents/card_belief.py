"""The belief: a posterior over who holds what, learned from play.

The network gives each opponent log odds for every unseen card; the probability of a deal is
proportional to the product of the odds of its cards, over exactly the deals that agree with the
constraints (`opponents.odds`). It is trained by maximum likelihood of the true deals, so hand sizes
and voids need not be learned.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import struct

from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game.cards import CARDS, NUM_CARDS, NUM_RANKS, NUM_SEATS, NUM_SUITS, SEATS
from gongzhu_jax.game.public_view import PublicView, assert_views
from gongzhu_jax.inference.config import BELIEF, InferenceParams
from gongzhu_jax.inference.constraints import NUM_OPPONENTS, Constraints, constraints
from gongzhu_jax.inference.registry import PROPOSALS
from gongzhu_jax.network.policy_value import SkipBlock, init_module
from gongzhu_jax.network.weights import SUFFIX, NetworkKind, register
from gongzhu_jax.opponents import odds
from gongzhu_jax.opponents.play_features import (
    NUM_PLAY_FEATURES,
    alternatives,
    by_seat,
    encode_plays,
)

_ZEROS = nn.initializers.zeros

NUM_VIEW_FEATURES = (
    2 * NUM_CARDS  # my hand; unseen
    + 2 * NUM_SEATS * NUM_CARDS  # who played it; who has taken it
    + NUM_OPPONENTS * NUM_SUITS  # voids
    + NUM_OPPONENTS  # hand sizes
    + NUM_SEATS  # place in the trick
)


@dataclass(frozen=True)
class BeliefConfig:
    """The size of the network."""

    reader: int = 128  # width of the two layers that read each play
    width: int = 256  # width of the skip blocks
    blocks: int = 2  # skip blocks of two layers each

    def __post_init__(self) -> None:
        if min(self.reader, self.width, self.blocks) < 1:
            raise ConfigError("reader, width and blocks of a belief must be at least 1")


class BeliefInput(struct.PyTreeNode):
    """All that the viewer may know, as inputs of the network."""

    position: jax.Array  # [539] the position as it is now
    plays: jax.Array  # [52, 284] every play as it was made
    alternatives: jax.Array  # [52, 52] bool, [play, card], see `play_features.alternatives`
    actors: jax.Array  # [3, 52] bool, [opponent, play], who made each play


def encode_view(view: PublicView, plays: jax.Array | None = None) -> BeliefInput:
    """The inputs for a view. Seats are relative to the viewer, and in plays to the actor.

    Args:
      plays: the plays of the history, or of a longer one, if they are encoded already.
    """
    played_by = (
        by_seat(view)[..., None] & (view.plays[:, None] == CARDS[None])[None]
    )  # [seat, play, card]
    taker = jnp.where(view.taken_by >= 0, (view.taken_by - view.seat) % NUM_SEATS, -1)
    known = constraints(view)
    parts = (
        view.hand,
        known.unseen,
        jnp.any(played_by, axis=1),
        taker[None] == SEATS[:, None],
        known.allowed,
        known.capacities.astype(jnp.float32) / NUM_RANKS,
        view.stage % NUM_SEATS == SEATS,
    )
    position = jnp.concatenate([part.reshape(-1).astype(jnp.float32) for part in parts])
    plays = encode_plays(view) if plays is None else plays
    return BeliefInput(position, plays, alternatives(view), by_seat(view)[1:])


class CardBeliefNet(nn.Module):
    """Maps inputs with leading axes [...] to log odds [..., 52, 3] of opponents 0, 1, 2. Leading
    axes of the plays may be 1, for views of one game: then the plays are read once.

    Every play is read by the same layers and says, of each card, how much it speaks for its actor
    holding it: one number if it might have played the card instead, another if not. The sums over
    an opponent's plays are its odds, as independent plays would make them; skip blocks that see
    these sums, the readings and the position correct them. Untrained, all odds are even.
    """

    config: BeliefConfig

    def __call__(self, known: BeliefInput) -> jax.Array:
        return self.odds_and_features(known)[0]

    @nn.compact
    def odds_and_features(self, known: BeliefInput) -> tuple[jax.Array, jax.Array]:
        """The log odds, and what the last skip block says, [..., width], for networks on top."""
        reading = nn.relu(nn.Dense(self.config.reader, name="reader_0")(known.plays))
        reading = nn.relu(nn.Dense(self.config.reader, name="reader_1")(reading))
        says = nn.Dense(2 * NUM_CARDS, kernel_init=_ZEROS, name="says")(reading)
        says = jnp.where(known.alternatives, says[..., :NUM_CARDS], says[..., NUM_CARDS:])
        actors = known.actors.astype(jnp.float32)
        evidence = actors @ says  # [..., 3, 52]
        readings = actors @ reading  # [..., 3, reader]
        flat = [part.reshape(*part.shape[:-2], -1) for part in (evidence, readings)]
        x = jnp.concatenate([known.position, *flat], axis=-1)
        x = nn.relu(nn.Dense(self.config.width, name="stem")(x))
        for number in range(self.config.blocks):
            x = SkipBlock(self.config.width, jnp.dtype(jnp.float32), name=f"block_{number}")(x)
        corrected = nn.Dense(NUM_CARDS * NUM_OPPONENTS, kernel_init=_ZEROS, name="odds")(x)
        corrected = corrected.reshape(*x.shape[:-1], NUM_CARDS, NUM_OPPONENTS)
        return jnp.swapaxes(evidence, -1, -2) + corrected, x


def empty_input() -> BeliefInput:
    """Inputs of the right shapes, from which parameters are made."""
    return BeliefInput(
        jnp.zeros(NUM_VIEW_FEATURES),
        jnp.zeros((NUM_CARDS, NUM_PLAY_FEATURES)),
        jnp.zeros((NUM_CARDS, NUM_CARDS), bool),
        jnp.zeros((NUM_OPPONENTS, NUM_CARDS), bool),
    )


def init_belief(key: jax.Array, config: BeliefConfig) -> Any:
    """Parameters of an untrained belief."""
    return init_module(CardBeliefNet(config), key, empty_input())


def encode_games(games: PublicView, views: PublicView) -> BeliefInput:
    """The inputs for views [G, K] of games whose whole histories are `games`, [G]. The plays have
    the axes [G, 1], so that a network reads them once per game."""
    plays = jax.vmap(encode_plays)(games)
    known = jax.vmap(jax.vmap(encode_view, (0, None)))(views, plays)
    return known.replace(plays=plays[:, None])


def log_odds(params: Any, views: PublicView, config: BeliefConfig) -> jax.Array:
    """The log odds for views [B], float32[B, 52, 3]. What the constraints exclude is not yet
    excluded."""
    assert_views(views)
    return CardBeliefNet(config).apply(params, jax.vmap(encode_view)(views))  # ty: ignore[invalid-return-type]


def log_odds_of_games(
    params: Any, games: PublicView, views: PublicView, config: BeliefConfig
) -> jax.Array:
    """The log odds for views [G, K] of games whose whole histories are `games`, [G]:
    float32[G, K, 52, 3]. They are those of `log_odds`, but plays are read once per game."""
    return CardBeliefNet(config).apply(params, encode_games(games, views))  # ty: ignore[invalid-return-type]


class BeliefProposal:
    """Deals drawn by the odds of the learned belief."""

    def log_odds(self, params: InferenceParams, views: PublicView) -> jax.Array:
        if params.belief is None:
            raise ConfigError("a decision by belief needs the belief's network")
        return log_odds(params.belief.params, views, params.belief.config)

    def table(self, known: Constraints, log_odds: jax.Array | None) -> odds.OddsTable:
        if log_odds is None:
            raise ConfigError("draws by belief need its odds")
        return odds.weigh(log_odds, known)

    def draw(self, key: jax.Array, table: odds.OddsTable, n: int) -> tuple[jax.Array, jax.Array]:
        return odds.draw(key, table, n)

    def log_density(self, log_odds: jax.Array | None, opponent: jax.Array) -> jax.Array:
        if log_odds is None:
            raise ConfigError("weights by belief need its odds")
        return odds.log_weight(log_odds, opponent)


PROPOSALS[BELIEF] = BeliefProposal()

KIND = register(
    NetworkKind(
        "belief",
        Path(__file__).with_name(f"card_belief{SUFFIX}"),
        BeliefConfig,
        init_belief,
        "who holds what: log odds of every unseen card and opponent",
    )
)
