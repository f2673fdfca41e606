"""What one seat may know, and nothing else. Players of the hidden-hands game see only this."""

from collections.abc import Iterable
from dataclasses import fields

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from gongzhu_jax.errors import DealError
from gongzhu_jax.game import checks, env
from gongzhu_jax.game.cards import (
    CARDS,
    NO_CARD,
    NOBODY,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SEATS,
    SEATS,
    SUITS,
    card_ids,
)


class PublicView(struct.PyTreeNode):
    """The information set (h, c_i) of the paper for one seat, with what follows from it."""

    seat: jax.Array  # [] int8, whose view this is
    hand: jax.Array  # [52] bool, cards in that seat's hand now
    to_move: jax.Array  # [] int8, seat whose turn it is
    stage: jax.Array  # [] int8, number of cards played so far
    plays: jax.Array  # [52] int8, cards in the order played; NO_CARD from `stage` on
    seats: jax.Array  # [52] int8, the seat that made each play; NOBODY from `stage` on
    trick: jax.Array  # [4] int8, cards on the table in the order played; NO_CARD where none
    leaders: jax.Array  # [14] int8, seat that led each trick; NOBODY where not yet known
    taken_by: jax.Array  # [52] int8, seat that has taken each card; NOBODY where none has
    voids: jax.Array  # [4, 4] bool, [seat, suit] that a seat has shown itself out of
    hand_sizes: jax.Array  # [4] int8, cards left in each hand


def view(state: env.GameState, seat: jax.Array | int) -> PublicView:
    """The view of `seat`. Of `state.holder` only the cards that `seat` itself holds are read."""
    seat = jnp.asarray(seat, jnp.int8)
    seats = env.play_seats(state.leaders, state.stage)
    return PublicView(
        seat=seat,
        hand=state.holder == seat,
        to_move=env.player_to_move(state),
        stage=state.stage,
        plays=state.plays,
        seats=seats,
        trick=state.trick,
        leaders=state.leaders,
        taken_by=state.taken_by,
        voids=shown_voids(state.plays, seats),
        hand_sizes=hand_sizes(seats),
    )


def assert_views(views: PublicView) -> None:
    """A contract for functions of a batch of views, [B]; it is checked when they are traced."""
    one = jax.eval_shape(lambda: view(env.deal(jax.random.key(0)), 0))
    env.assert_batch(views, one, views.stage)


def shown_voids(plays: jax.Array, seats: jax.Array) -> jax.Array:
    """Who has failed to follow which suit, bool[4, 4], [seat, suit], for histories [52]."""
    lead_suit = jnp.repeat(plays[::NUM_SEATS] // NUM_RANKS, NUM_SEATS)
    discarded = (plays != NO_CARD) & (plays // NUM_RANKS != lead_suit)
    by_seat = seats[None, :] == SEATS[:, None]
    of_suit = lead_suit[None, :] == SUITS[:, None]
    return jnp.any((by_seat & discarded[None, :])[:, None, :] & of_suit[None, :, :], axis=-1)


def hand_sizes(seats: jax.Array) -> jax.Array:
    """Cards left in each hand, int8[4], from who made the plays so far."""
    by_seat = seats[None, :] == SEATS[:, None]
    return jnp.int8(NUM_RANKS) - jnp.sum(by_seat, axis=-1, dtype=jnp.int8)


def played_mask(plays: jax.Array) -> jax.Array:
    """Which cards a history [52] contains, bool[52]."""
    return jnp.any(plays[None, :] == CARDS[:, None], axis=1)


def unseen_mask(view: PublicView) -> jax.Array:
    """Cards whose holder the viewer does not see: not played and not its own, bool[52]."""
    return ~(view.hand | played_mask(view.plays))


def legal_mask(position: PublicView | env.GameState) -> jax.Array:
    """Cards that may be played now, bool[52]: for a view, by its seat if it is its turn; for a
    state, by the player to move. None when the game is over."""
    if isinstance(position, env.GameState):
        return env.legal_mask(position)
    return env.legal_cards(position.hand, position.trick[0])


def with_deal(view: PublicView, holder: jax.Array) -> env.GameState:
    """The game that `view` would be if the cards not yet played were held by `holder`, [52].

    Entries of played cards and of the viewer's own hand are not read.
    """
    known = jnp.where(view.hand, view.seat, jnp.asarray(holder, jnp.int8))
    return env.GameState(
        holder=jnp.where(played_mask(view.plays), jnp.int8(NOBODY), known),
        taken_by=view.taken_by,
        plays=view.plays,
        leaders=view.leaders,
        trick=view.trick,
        stage=view.stage,
    )


def make_view(
    seat: int, hand: str | Iterable[str | int], leader: int, plays: str | Iterable[str | int] = ()
) -> PublicView:
    """A view from outside data: this is how other programs ask for a move. Fully checked.

    Args:
      seat: whose view it is, 0 to 3.
      hand: the cards now in that seat's hand, as ids or names, or one text "SQ H2 C10".
      leader: the seat that led the first trick.
      plays: all cards played since the start of the game, in order.

    Raises:
      GongzhuError: a CardError, DealError or IllegalPlayError, saying which card or play and why.
    """
    checks.check_seat(seat, "seat")
    checks.check_seat(leader, "leader")
    hand_ids, play_ids = card_ids(hand), card_ids(plays)
    checks.check_distinct(hand_ids, play_ids)
    holder = np.full(NUM_CARDS, NOBODY, np.int8)
    holder[hand_ids] = seat
    known = _view_of(holder, np.int8(leader), pad_plays(play_ids), np.int8(seat))
    seats = np.asarray(known.seats)[: len(play_ids)].tolist()
    checks.check_known(seat, hand_ids, play_ids, seats)
    return known


def check_view(view: PublicView) -> None:
    """Checks that `view` is one that a seat to move can have, and that its other fields agree with
    its hand and history. For views from outside that were not made by `make_view`.

    Raises:
      GongzhuError: a CardError, DealError or IllegalPlayError, saying what is wrong.
    """
    plays = np.asarray(view.plays)[: int(view.stage)].tolist()
    hand = np.flatnonzero(np.asarray(view.hand)).tolist()
    rebuilt = make_view(int(view.seat), hand, int(np.asarray(view.leaders)[0]), plays)
    for field in fields(PublicView):
        if not np.array_equal(getattr(view, field.name), getattr(rebuilt, field.name)):
            raise DealError(f"{field.name} of the view is not what follows from its history")
    if int(view.to_move) != int(view.seat) or not hand:
        raise DealError(f"seat {int(view.seat)} is not to move")


@jax.jit
def _view_of(holder, leader, plays, seat) -> PublicView:
    return view(env.play_all(env.from_owners(holder, leader), plays), seat)


def pad_plays(plays: list[int]) -> np.ndarray:
    """A history of any length as int8[52], NO_CARD after its end."""
    return np.array(plays + [NO_CARD] * (NUM_CARDS - len(plays)), np.int8)
