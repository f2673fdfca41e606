"""What a view says about the hidden hands: which cards they hold, how many, and of which suits.

Opponents are numbered 0, 1, 2 in playing order from the viewer: seats +1, +2, +3.
"""

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from gongzhu_jax.game.cards import NOBODY, NUM_CARDS, NUM_SEATS, SEATS
from gongzhu_jax.game.public_view import PublicView, played_mask, unseen_mask

NUM_OPPONENTS = NUM_SEATS - 1


class Constraints(struct.PyTreeNode):
    """A deal agrees with them if it gives every unseen card to an opponent who may hold its suit,
    and every opponent as many cards as it has room for. Nothing else is known of the hands."""

    unseen: jax.Array  # [52] bool, cards to be dealt
    capacities: jax.Array  # [3] int8, cards each opponent still has to get
    allowed: jax.Array  # [3, 4] bool, [opponent, suit] that an opponent may hold

    def give(self, card: jax.Array | int, opponent: jax.Array | int) -> "Constraints":
        """What is left to deal once `opponent` has got `card`.

        If it may not hold the card, or the card is not unseen, no deal agrees with the result.
        """
        here = jnp.asarray(card, jnp.int32) == np.arange(NUM_CARDS, dtype=np.int32)
        gets = jnp.asarray(opponent, jnp.int32) == np.arange(NUM_OPPONENTS, dtype=np.int32)
        suit_allowed = jnp.repeat(self.allowed, NUM_CARDS // NUM_SEATS, axis=1)
        fits = jnp.any(here & self.unseen & jnp.any(suit_allowed & gets[:, None], axis=0))
        # A hand with less than no room: from then on there is no deal, whatever else is given.
        room = jnp.where(fits, self.capacities - jnp.int8(1), jnp.int8(-1))
        return self.replace(
            unseen=self.unseen & ~here, capacities=jnp.where(gets, room, self.capacities)
        )


def constraints(view: PublicView) -> Constraints:
    """What `view` says about the hands of the three other seats."""
    is_seat = opponent_seats(view.seat)[:, None] == SEATS[None]
    # Masked sums, not indices: gathers of single elements are slow under vmap on CPUs.
    sizes = jnp.sum(jnp.where(is_seat, view.hand_sizes[None], 0), axis=1, dtype=jnp.int8)
    voids = jnp.any(is_seat[:, :, None] & view.voids[None], axis=1)
    return Constraints(unseen=unseen_mask(view), capacities=sizes, allowed=~voids)


def opponent_seats(seat: jax.Array) -> jax.Array:
    """Seats of opponents 0, 1, 2 in the eyes of `seat`, int8[3]."""
    return (seat + SEATS[1:]) % NUM_SEATS


def holders(view: PublicView, opponent: jax.Array) -> jax.Array:
    """Holder of every card, int8[..., 52], from the opponent 0..2 who gets each unseen card.

    Played cards, and unseen cards of which `opponent` is NOBODY, are held by NOBODY.
    """
    seat = (view.seat + jnp.int8(1) + opponent) % NUM_SEATS
    hidden = jnp.broadcast_to(unseen_mask(view), opponent.shape) & (opponent != NOBODY)
    known = jnp.where(view.hand & ~played_mask(view.plays), view.seat, jnp.int8(NOBODY))
    return jnp.where(hidden, seat, jnp.broadcast_to(known, opponent.shape))


def opponents(view: PublicView, holder: jax.Array) -> jax.Array:
    """The opponent 0..2 who gets each unseen card, int8[..., 52], in deals of holders [..., 52];
    NOBODY for other cards. The reverse of `holders`."""
    number = (holder - view.seat - jnp.int8(1)) % NUM_SEATS
    dealt = jnp.broadcast_to(unseen_mask(view), holder.shape) & (holder != NOBODY)
    return jnp.where(dealt, number.astype(jnp.int8), jnp.int8(NOBODY))
