"""The value of every card in many games and deals at once: one batch entry for each game with a
deal.

G games, D deals of each, L = G * D batch entries, n = 13 places for the cards of a hand. Players
are numbered in playing order from the one who decides: 0 is me, 1 plays after me. Position is a
place in the trick: at position 1 one card lies on the table and players 1 and 2 are still to play.
"""

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from gongzhu_jax.game.cards import NUM_CARDS, NUM_RANKS, NUM_SEATS, TRANSFORMER
from gongzhu_jax.game.public_view import PublicView, played_mask
from gongzhu_jax.game.scoring import PLAIN_POINTS
from gongzhu_jax.players.greed import trick_value
from gongzhu_jax.players.greed.hand_lists import bit_sets, card_lists, has_card
from gongzhu_jax.players.greed.trick_value import KEY_CARDS, Stakes, suit_of

# Cards of a hand that are looked at, by position: hands are rounded up to one of these sizes. Work
# grows with the power 4, 3, 2, 1 of the size, and every size costs compile time.
_SIZES = ((5, 9, 13), (13,), (13,), (13,))

_ALL_POINTS = int(PLAIN_POINTS.sum())


class Batch(struct.PyTreeNode):
    """All that the values of a trick depend on."""

    trick: jax.Array  # [4, L] cards on the table in the order played; NO_CARD where none
    stakes: list[Stakes]  # of each player
    cards: jax.Array  # [4, n, L] hand of each player, ascending
    relief: list[jax.Array]  # [n, L] relief of each player at playing each of its cards


def sum_of_values(views: PublicView, deals: jax.Array, used: jax.Array) -> jax.Array:
    """Gain plus relief of each of my cards, summed over the used deals: int32[G, 52].

    `deals` are holders, [G, D, 52], `used` is bool[G, D]. Illegal cards have no meaningful value.
    """
    batch = _batch(views, deals)
    gain = jnp.zeros(batch.relief[0].shape, jnp.int32)
    for position in range(NUM_SEATS):
        gain = _gain_if_any(position, views.stage % NUM_SEATS == position, views, batch, gain)
    value = (gain + batch.relief[0]).reshape(NUM_RANKS, *used.shape)
    total = jnp.sum(jnp.where(used[None], value, 0), axis=2)  # [n, G]
    mine = batch.cards[0].reshape(NUM_RANKS, *used.shape)[:, :, 0]
    cards = np.arange(NUM_CARDS, dtype=np.int32)[None, None]
    return jnp.sum(jnp.where(mine[..., None] == cards, total[..., None], 0), axis=0)


def _batch(views: PublicView, deals: jax.Array) -> Batch:
    num_games, num_deals, _ = deals.shape

    def spread(per_game: jax.Array) -> jax.Array:  # [..., G] -> [..., L]
        wide = jnp.broadcast_to(per_game[..., None], (*per_game.shape, num_deals))
        return wide.reshape(*per_game.shape[:-1], num_games * num_deals)

    others = [bit_sets(deals == _seat(views, i)[:, None, None]) for i in range(1, NUM_SEATS)]
    hands = [spread(bit_sets(views.hand)), *(hand.reshape(2, -1) for hand in others)]
    cards = jnp.moveaxis(card_lists(jnp.stack(hands, axis=1), NUM_RANKS), 1, 0)
    stakes = jax.tree.map(spread, _stakes(views))
    played = spread(bit_sets(jax.vmap(played_mask)(views.plays)))
    return Batch(
        trick=spread(views.trick.T.astype(jnp.int32)),
        stakes=stakes,
        cards=cards,
        relief=_reliefs(hands, cards, played, stakes[0].own),
    )


def _seat(views: PublicView, player: int) -> jax.Array:
    return (views.seat + np.int8(player)) % NUM_SEATS


def _side(player: int) -> int:
    """1 for me and my partner, -1 for the others."""
    return 1 if player % 2 == 0 else -1


def _stakes(views: PublicView) -> list[Stakes]:
    """The stakes of each player, [G]."""
    taken = [views.taken_by == _seat(views, i)[:, None] for i in range(NUM_SEATS)]
    raw = [jnp.sum(jnp.where(mask, PLAIN_POINTS[None], 0), axis=1) for mask in taken]
    rest = (_ALL_POINTS - sum(raw)) // NUM_SEATS
    return [
        Stakes(
            factor=_side(i) * (1 + taken[i][:, TRANSFORMER].astype(jnp.int32)), own=raw[i] + rest
        )
        for i in range(NUM_SEATS)
    ]


def _reliefs(hands, cards, played, doubled) -> list[jax.Array]:
    """Relief of each player, [n, L], from hands and played cards as `bit_sets`, [2, L]."""
    on_table = [has_card(played, card) for card in KEY_CARDS]
    seen, reliefs = on_table, []
    for hand, in_hand in zip(hands, cards, strict=True):
        seen = [known | has_card(hand, card) for known, card in zip(seen, KEY_CARDS, strict=True)]
        reliefs.append(trick_value.relief(in_hand, seen, doubled))
        # The simulated players hand on what they know; my own hand stays mine.
        seen = on_table if len(reliefs) == 1 else seen
    return reliefs


def _gain_if_any(
    position: int, here: jax.Array, views: PublicView, batch: Batch, gain: jax.Array
) -> jax.Array:
    """`gain` [n, L] with the games `here` [G], which are at `position`, filled in.

    No work if there are none, and no more than their largest hand asks for: of games in lock step
    just one branch runs.
    """
    sizes = _SIZES[position]
    largest = jnp.max(jnp.where(here, jnp.sum(views.hand, axis=1), 0))
    which = jnp.sum(largest > np.array(sizes[:-1], np.int32))
    branches = [lambda n=n: _gain(position, n, batch) for n in sizes]
    gain_here = jax.lax.cond(jnp.any(here), lambda: jax.lax.switch(which, branches), lambda: gain)
    num_deals = gain.shape[1] // here.shape[0]
    return jnp.where(jnp.repeat(here, num_deals)[None], gain_here, gain)


def _gain(position: int, n: int, batch: Batch) -> jax.Array:
    """My team's gain if I play each of my first n cards at `position`: [13, L], 0 for the rest."""
    later = range(1, NUM_SEATS - position)

    def reply(trick: trick_value.Trick, suit: jax.Array) -> jax.Array:
        players = [
            trick_value.replies(
                batch.cards[i, :n], suit, batch.relief[i][:n], batch.stakes[i], _side(i)
            )
            for i in later
        ]
        return trick_value.gain_after_replies(trick, players)

    def play(card: jax.Array) -> jax.Array:
        # Seats before me, from the leader on: the last of the list is the player before me.
        cards = [*batch.trick[:position], card]
        stakes = [batch.stakes[i - position] for i in range(position + 1)]
        suit = suit_of(cards[0])
        trick = trick_value.lead(cards[0], stakes[0])
        for next_card, next_stakes in zip(cards[1:], stakes[1:], strict=True):
            trick = trick_value.add(trick, suit, next_card, next_stakes)
        return reply(trick, suit)

    gain = jax.lax.map(play, batch.cards[0, :n])
    return jnp.pad(gain, ((0, NUM_RANKS - n), (0, 0)))
