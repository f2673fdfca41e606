"""What the environments of other libraries show a seat, as one row of truth values.

Seats are relative to the observer: 0 itself, 1 the next to play after it, 2 its partner, 3 the
previous. The networks of this package have inputs of their own, `gongzhu_jax.network.encode`.
"""

import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax.game import env
from gongzhu_jax.game.cards import CARDS, NUM_CARDS, NUM_SEATS, NUM_SUITS, SEATS
from gongzhu_jax.game.public_view import PublicView, view

LAYOUT = (
    # name, shape, what it is
    ("hand", (NUM_CARDS,), "cards in the observer's hand"),
    ("trick", (NUM_SEATS, NUM_CARDS), "[seat, card] on the table"),
    ("taken", (NUM_SEATS, NUM_CARDS), "[seat, card] taken so far"),
    ("voids", (NUM_SEATS, NUM_SUITS), "[seat, suit] a seat has failed to follow"),
    ("to_move", (NUM_SEATS,), "whose turn it is"),
)
HIDDEN = ("hidden", (NUM_SEATS - 1, NUM_CARDS), "[seat - 1, card] in the hands of the others")
"""Features at the end of a perfect-information observation, and only there."""

SIZE = sum(int(np.prod(shape)) for _, shape, _ in LAYOUT)
PERFECT_SIZE = SIZE + int(np.prod(HIDDEN[1]))


def observe(known: PublicView) -> jax.Array:
    """What the seat of a view may know, bool[SIZE]."""
    seats = (known.seat + SEATS) % NUM_SEATS  # of relative seats 0, 1, 2, 3
    # The card of a seat that has not played yet lies at a place of the trick that is still empty.
    leader = known.to_move - known.stage % NUM_SEATS
    place = (seats - leader) % NUM_SEATS
    parts = {
        "hand": known.hand,
        "trick": known.trick[place][:, None] == CARDS,
        "taken": known.taken_by == seats[:, None],
        "voids": known.voids[seats],
        "to_move": known.to_move == seats,
    }
    return jnp.concatenate([parts[name].reshape(-1) for name, *_ in LAYOUT])


def observe_all(state: env.GameState, seat: jax.Array | int) -> jax.Array:
    """The view of a seat and the hands of the others, bool[PERFECT_SIZE]."""
    others = (seat + SEATS[1:]) % NUM_SEATS
    hidden = state.holder == others[:, None]
    return jnp.concatenate([observe(view(state, seat)), hidden.reshape(-1)])
