"""A belief learned from play: from all that one seat may know to odds on who holds what.

The network gives each opponent a number for every unseen card; a deal is as likely as the product
of exp of these numbers over its cards (`inference.odds`), among the deals that agree with the
constraints exactly. Trained by maximum likelihood of the true deals, so hand sizes and voids need
not be learned.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game.cards import NUM_CARDS, NUM_RANKS, NUM_SEATS, NUM_SUITS, NUM_TRICKS
from gongzhu_jax.game.view import PublicView, unseen_mask
from gongzhu_jax.inference.constraints import NUM_OPPONENTS, constraints
from gongzhu_jax.network.policy_value import SkipBlock
from gongzhu_jax.network.weights import SUFFIX, read_weights, restore_params

_SEATS = np.arange(NUM_SEATS, dtype=np.int8)
_CARDS = np.arange(NUM_CARDS, dtype=np.int8)

NUM_BELIEF_FEATURES = (
    2 * NUM_CARDS  # my hand; unseen
    + NUM_TRICKS * NUM_SEATS * NUM_CARDS  # who played what in which trick
    + NUM_TRICKS * NUM_SEATS  # who led it
    + 2 * NUM_SEATS * NUM_CARDS  # who played it at all; who has taken it
    + NUM_OPPONENTS * NUM_SUITS  # voids
    + NUM_OPPONENTS  # hand sizes
    + NUM_SEATS  # place in the trick
)


@dataclass(frozen=True)
class BeliefConfig:
    """Size of the network."""

    stem: int = 384  # width of the first layer
    width: int = 256  # of the skip blocks
    blocks: int = 3  # skip blocks of two layers each

    def __post_init__(self) -> None:
        if min(self.stem, self.width, self.blocks) < 1:
            raise ConfigError("stem, width and blocks of a belief must be at least 1")


def encode_view(view: PublicView) -> jax.Array:
    """All that the viewer may know, float32[3295]. Seats are counted from the viewer."""
    relative = jnp.where(view.seats >= 0, (view.seats - view.seat) % NUM_SEATS, -1)
    by_seat = relative.reshape(NUM_TRICKS, NUM_SEATS, 1, 1) == _SEATS[:, None]
    of_card = view.plays.reshape(NUM_TRICKS, NUM_SEATS, 1, 1) == _CARDS
    history = jnp.any(by_seat & of_card, axis=1)  # [13, 4, 52]
    leaders = view.leaders[:NUM_TRICKS]
    led_by = jnp.where(leaders >= 0, (leaders - view.seat) % NUM_SEATS, -1)[:, None] == _SEATS
    taker = jnp.where(view.taken_by >= 0, (view.taken_by - view.seat) % NUM_SEATS, -1)
    known = constraints(view)
    parts = (
        view.hand,
        unseen_mask(view),
        history,
        led_by,
        jnp.any(history, axis=0),
        taker == _SEATS[:, None],
        known.allowed,
        known.capacities / NUM_RANKS,
        view.stage % NUM_SEATS == _SEATS,
    )
    return jnp.concatenate([part.reshape(-1).astype(jnp.float32) for part in parts])


class BeliefNet(nn.Module):
    """[..., 3295] to log odds [..., 52, 3] of opponents 0, 1, 2."""

    config: BeliefConfig

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        x = nn.relu(nn.Dense(self.config.stem, name="stem_0")(x))
        x = nn.relu(nn.Dense(self.config.width, name="stem_1")(x))
        for number in range(self.config.blocks):
            x = SkipBlock(self.config.width, jnp.dtype(jnp.float32), name=f"block_{number}")(x)
        x = nn.Dense(NUM_CARDS * NUM_OPPONENTS, name="odds")(x)
        return x.reshape(*x.shape[:-1], NUM_CARDS, NUM_OPPONENTS)


def init_belief(key: jax.Array, config: BeliefConfig) -> Any:
    return BeliefNet(config).init(key, jnp.zeros((1, NUM_BELIEF_FEATURES)))


def log_odds(params: Any, views: PublicView, config: BeliefConfig) -> jax.Array:
    """For views [B]: float32[B, 52, 3]. What the constraints exclude is not yet excluded."""
    return BeliefNet(config).apply(params, jax.vmap(encode_view)(views))  # ty: ignore[invalid-return-type]


KIND = "belief"
"""Of weights files."""


def shipped() -> Path:
    """The belief that comes with the package."""
    return Path(__file__).parent / f"belief{SUFFIX}"


def load_belief(checkpoint: str | Path | None = None) -> tuple[BeliefConfig, Any]:
    """The network and parameters of a belief: from a run's folder, one of its checkpoints, or a
    weights file; None: the belief shipped with the package."""
    path = shipped() if checkpoint is None else Path(checkpoint)
    if path.suffix == SUFFIX:
        fields, params = read_weights(path, KIND)
        return BeliefConfig(**fields), params
    return restore_params(path, BeliefConfig, lambda c: lambda key: init_belief(key, c))
