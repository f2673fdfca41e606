"""The 434 network inputs of the paper: hands, trick cards (diffused) and point cards taken.

Seats are relative to the player to move: 0 me, 1 next, 2 partner, 3 previous.
"""

import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NO_CARD, NUM_CARDS, NUM_SEATS, POINT_CARDS, SEATS
from gongzhu_jax.game.public_view import PublicView, with_deal

DIFFUSE = 3
"""A trick card k lights the cells k, k+1, k+2 of its block (the paper's diffuse technique)."""

FEATURE_LAYOUT = (
    # name, number of blocks, cells per block, what a block is
    ("hands", NUM_SEATS, NUM_CARDS, "cards in the hand of relative seat 0, 1, 2, 3"),
    ("trick", NUM_SEATS - 1, NUM_CARDS + DIFFUSE - 1, "trick cards, the latest first, diffused"),
    ("taken", NUM_SEATS, len(POINT_CARDS), "point cards taken by relative seat 0, 1, 2, 3"),
)
"""The one declaration of the input; sizes, slices and the documentation derive from it."""

NUM_FEATURES = sum(blocks * cells for _, blocks, cells, _ in FEATURE_LAYOUT)
UNKNOWN_SHARE = 1 / 3
"""Value of an unseen card at each of the three other seats in the averaged input."""


def feature_slices() -> dict[str, slice]:
    """Where each part of `FEATURE_LAYOUT` lies in the vector."""
    ends = np.cumsum([blocks * cells for _, blocks, cells, _ in FEATURE_LAYOUT]).tolist()
    names = [name for name, *_ in FEATURE_LAYOUT]
    return {n: slice(start, end) for n, start, end in zip(names, [0, *ends], ends, strict=False)}


def encode(state: env.GameState) -> jax.Array:
    """Perfect-information input for the player to move, float32[434]."""
    relative = _relative_to_mover(state.holder, env.player_to_move(state))
    hands = relative[None, :] == SEATS[:, None]
    return _assemble(hands, state)


def encode_averaged(state: env.GameState) -> jax.Array:
    """The "triple-1/3-hot" input of IEC, float32[434]: what the player to move knows of `state`.

    Its own hand is one-hot; every other card not yet played is 1/3 at each of the other seats,
    also where a seat is known to be out of the suit.
    """
    relative = _relative_to_mover(state.holder, env.player_to_move(state))
    mine = relative == 0
    unknown = jnp.where((state.holder >= 0) & ~mine, np.float32(UNKNOWN_SHARE), 0.0)
    others = jnp.broadcast_to(unknown, (NUM_SEATS - 1, NUM_CARDS))
    return _assemble(jnp.concatenate([mine[None].astype(jnp.float32), others]), state)


def encode_view_averaged(view: PublicView) -> jax.Array:
    """The same input for a view of the player to move: who holds an unseen card does not matter to
    it, only that somebody does."""
    anybody = jnp.broadcast_to((view.seat + 1) % NUM_SEATS, view.hand.shape)
    return encode_averaged(with_deal(view, anybody))


def with_shares(averaged: jax.Array, shares: jax.Array) -> jax.Array:
    """Averaged inputs [..., 434] with the probability that each opponent holds each card,
    [..., 52, 3], in place of 1/3."""
    hands = feature_slices()["hands"]
    others = jnp.swapaxes(shares, -1, -2).reshape(*shares.shape[:-2], -1)
    parts = averaged[..., :NUM_CARDS], others, averaged[..., hands.stop :]
    return jnp.concatenate(parts, axis=-1)


def undiffused(features: jax.Array) -> jax.Array:
    """Inputs [..., 434] with every trick card at one cell instead of three."""
    place = feature_slices()["trick"]
    blocks = features[..., place].reshape(*features.shape[:-1], NUM_SEATS - 1, -1)
    # The first of the three lit cells is the one whose neighbour before it is dark.
    before = jnp.pad(blocks[..., :-1], [*[(0, 0)] * (blocks.ndim - 1), (1, 0)])
    single = jnp.maximum(blocks - before, 0.0).reshape(*features.shape[:-1], -1)
    return jnp.concatenate(
        [features[..., : place.start], single, features[..., place.stop :]], axis=-1
    )


def _relative_to_mover(seats: jax.Array, mover: jax.Array) -> jax.Array:
    """Seats [..] as seen by the mover, 0..3; NOBODY stays below zero."""
    return jnp.where(seats >= 0, (seats - mover) % NUM_SEATS, seats)


def _assemble(hands: jax.Array, state: env.GameState) -> jax.Array:
    taken = _relative_to_mover(state.taken_by[POINT_CARDS], env.player_to_move(state))
    taken = taken[None, :] == SEATS[:, None]
    parts = {"hands": hands, "trick": _trick_blocks(state), "taken": taken}
    cells = [parts[name].reshape(-1).astype(jnp.float32) for name, *_ in FEATURE_LAYOUT]
    return jnp.concatenate(cells)


def _trick_blocks(state: env.GameState) -> jax.Array:
    """The cards of the trick, diffused, the latest first, bool[3, 54]."""
    position = state.stage % NUM_SEATS  # cards on the table
    order = position - 1 - SEATS[:-1]  # which card of the trick each block shows
    here = order[:, None] == SEATS[None, :]
    card = jnp.max(jnp.where(here, state.trick[None, :], jnp.int8(NO_CARD)), axis=1)
    distance = np.arange(NUM_CARDS + DIFFUSE - 1, dtype=np.int8)[None, :] - card[:, None]
    return (card != NO_CARD)[:, None] & (distance >= 0) & (distance < DIFFUSE)
