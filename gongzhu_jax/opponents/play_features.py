"""Inputs of the networks of opponents: every play of the history as its actor's choice.

What a play says about its actor's hand depends on the trick it fell into and on the cards gone by
then, not on which trick or seat it was. So all plays are encoded in one way, as seen by their
actors, and one small network reads them all.
"""

import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax.game.cards import (
    CARDS,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SEATS,
    NUM_SUITS,
    NUM_TRICKS,
    SEATS,
    SUIT,
    SUITS,
)
from gongzhu_jax.game.public_view import PublicView, unseen_mask
from gongzhu_jax.inference.constraints import NUM_OPPONENTS

_PLACE = CARDS % NUM_SEATS  # [52] place in its trick of each play
_TRICK = CARDS // NUM_SEATS  # [52] trick of each play

NUM_CONTEXT_FEATURES = (
    NUM_CARDS  # on the table before it
    + NUM_CARDS  # the best of those
    + 2 * NUM_CARDS  # taken before by the actor's team; by the other
    + NUM_SUITS  # the suit led, if any
    + NUM_SEATS  # place in the trick
    + NUM_OPPONENTS  # how many places before the actor's the best card lies
    + NUM_TRICKS
)
NUM_PLAY_FEATURES = NUM_CARDS + NUM_CONTEXT_FEATURES  # the card, and what it was played into


def encode_plays(view: PublicView) -> jax.Array:
    """The inputs for each play, float32[52, 284]; rows from `view.stage` on mean nothing.

    A row depends on the history alone, not on the viewer or on what came later.
    """
    card = (view.plays[:, None] == CARDS[None]).astype(jnp.float32)  # [play, card]
    return jnp.concatenate([card, encode_contexts(view)], axis=1)


def encode_contexts(view: PublicView) -> jax.Array:
    """What each play was played into, all but the card itself, float32[52, 232]."""
    plays, suits = view.plays, view.plays // NUM_RANKS
    card = plays[:, None] == CARDS[None]  # [play, card]
    by_trick = card.reshape(NUM_TRICKS, NUM_SEATS, NUM_CARDS).astype(jnp.int32)
    earlier = jnp.cumsum(by_trick, axis=1) - by_trick  # [trick, place, card]
    lead = jnp.repeat(suits[::NUM_SEATS], NUM_SEATS)  # [play]
    # 1 + rank of a card of the suit led, 0 of others, so a lead is never beaten by a discard.
    force = jnp.where(suits == lead, plays % NUM_RANKS + 1, 0).reshape(NUM_TRICKS, NUM_SEATS)
    before = jnp.pad(jax.lax.cummax(force, axis=1)[:, :-1], ((0, 0), (1, 0)))  # [trick, place]
    best = jnp.where(_PLACE > 0, lead * NUM_RANKS + before.reshape(-1) - 1, -1)
    is_best = best[:, None] == CARDS[None]
    # The best card lies where its force was first reached: behind as many places as fell short.
    short = jnp.sum(jax.lax.cummax(force, axis=1)[:, None, :] < before[:, :, None], axis=2)
    behind = jnp.where(_PLACE > 0, _PLACE.astype(np.int32) - short.reshape(-1), 0)
    in_trick = jnp.any(by_trick, axis=1).astype(jnp.int32)  # [trick, card]
    gone = jnp.repeat(jnp.cumsum(in_trick, axis=0) - in_trick > 0, NUM_SEATS, axis=0)
    ours = (view.taken_by[None] - view.seats[:, None]) % 2 == 0  # [play, card]
    parts = (
        earlier,
        is_best,
        gone & ours,
        gone & ~ours,
        (lead[:, None] == SUITS[None]) & (_PLACE > 0)[:, None],
        _PLACE[:, None] == SEATS[None],
        behind[:, None] == SEATS[None, 1:].astype(np.int32),
        _TRICK[:, None] == np.arange(NUM_TRICKS)[None],
    )
    rows = [part.reshape(NUM_CARDS, -1).astype(jnp.float32) for part in parts]
    return jnp.concatenate(rows, axis=1)


def alternatives(view: PublicView) -> jax.Array:
    """Whether the actor of a play, had it held a card, might have played it instead, bool[52, 52],
    [play, card]. False for cards that the viewer sees."""
    suits = view.plays // NUM_RANKS
    lead = jnp.repeat(suits[::NUM_SEATS], NUM_SEATS)
    free = (_PLACE == 0) | (suits != lead)
    return (free[:, None] | (lead[:, None] == SUIT[None])) & unseen_mask(view)[None]


def voids_before(view: PublicView) -> jax.Array:
    """What the others had shown themselves out of when a play was made, bool[52, 3, 4], [play, seat
    counted on from the actor's, suit]."""
    lead = jnp.repeat(view.plays[::NUM_SEATS] // NUM_RANKS, NUM_SEATS)
    discarded = (view.plays >= 0) & (view.plays // NUM_RANKS != lead)
    shows = discarded[:, None] & (lead[:, None] == SUITS[None])  # [play, suit]
    shows = shows[:, None] & (view.seats[:, None] == SEATS[None])[..., None]  # [play, seat, suit]
    shows = shows.astype(jnp.int32)
    shown = jnp.cumsum(shows, axis=0) - shows > 0
    others = (view.seats[:, None] + SEATS[None, 1:]) % NUM_SEATS
    return jnp.take_along_axis(shown, others[..., None].astype(jnp.int32), axis=1)


def by_seat(view: PublicView) -> jax.Array:
    """Who made each play, bool[4, 52], [seat counted from the viewer, play]."""
    relative = jnp.where(view.seats >= 0, (view.seats - view.seat) % NUM_SEATS, -1)
    return relative[None] == SEATS[:, None]
