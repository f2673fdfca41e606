"""The value of every card in many games and deals at once: one lane for each game with a deal.

G games, D deals of each, L = G * D lanes. Players are numbered in the order of the trick from the
one who decides: 0 is me, 1 plays after me.
"""

import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax.game.cards import NUM_CARDS, NUM_SEATS, TRANSFORMER
from gongzhu_jax.game.scoring import PLAIN_POINTS
from gongzhu_jax.game.view import PublicView, played_mask
from gongzhu_jax.players import trick_value
from gongzhu_jax.players.slots import has_card, slots, words
from gongzhu_jax.players.trick_value import KEY_CARDS, Stakes, Table, suit_of

_ALL_POINTS = int(PLAIN_POINTS.sum())


def sum_of_values(
    position: int, n: int, views: PublicView, deals: jax.Array, used: jax.Array
) -> jax.Array:
    """Gain plus relief of each of my cards, summed over the used deals: int32[G, 52].

    `deals` are holders, [G, D, 52], `used` is bool[G, D]. Precondition: it is my turn at
    `position` of the trick, and I have at most `n` cards. Illegal cards get no meaningful value.
    """
    num_games, num_deals = used.shape
    later = range(1, NUM_SEATS - position)

    def to_lanes(per_game: jax.Array) -> jax.Array:  # [..., G] -> [..., L]
        wide = jnp.broadcast_to(per_game[..., None], (*per_game.shape, num_deals))
        return wide.reshape(*per_game.shape[:-1], -1)

    hidden = [words(deals == _seat(views, i)[:, None, None]).reshape(2, -1) for i in later]
    hands = [to_lanes(words(views.hand)), *hidden]
    cards = jnp.moveaxis(slots(jnp.stack(hands, axis=1), n), 1, 0)  # [player, n, L]
    standing = jax.tree.map(to_lanes, _standing(views))
    played = to_lanes(words(jax.vmap(played_mask)(views.plays)))
    relief = _reliefs(hands, cards, played, standing)
    gain = _gains(position, views, cards, relief, standing, to_lanes)
    value = (gain + relief[0]).reshape(n, num_games, num_deals)
    total = jnp.sum(jnp.where(used, value, 0), axis=2)  # [n, G]
    held = cards[0].reshape(n, num_games, num_deals)[:, :, 0]
    here = held[:, :, None] == np.arange(NUM_CARDS)
    return jnp.sum(jnp.where(here, total[:, :, None], 0), axis=0)


def _seat(views: PublicView, player: int) -> jax.Array:
    return (views.seat + np.int8(player % NUM_SEATS)) % NUM_SEATS


def _standing(views: PublicView) -> list[Stakes]:
    """What winning means to each player: four entries, [G]."""
    taken = [views.taken_by == _seat(views, i)[:, None] for i in range(NUM_SEATS)]
    raw = [jnp.sum(jnp.where(mask, PLAIN_POINTS, 0), axis=1) for mask in taken]
    rest = (_ALL_POINTS - sum(raw)) // NUM_SEATS
    return [
        Stakes(factor=_side(i) * (1 + taken[i][:, TRANSFORMER].astype(jnp.int32)), own=raw[i] + rest)
        for i in range(NUM_SEATS)
    ]


def _side(player: int) -> int:
    """1 for me and my partner, -1 for the others."""
    return 1 if player % 2 == 0 else -1


def _reliefs(hands, cards, played, standing) -> list[jax.Array]:
    """[n, L] for me and each later player."""
    on_table = [has_card(played, card) for card in KEY_CARDS]
    seen, reliefs = on_table, []
    for player, hand in enumerate(hands):
        seen = [known | has_card(hand, card) for known, card in zip(seen, KEY_CARDS, strict=True)]
        reliefs.append(trick_value.relief(cards[player], seen, standing[0].own))
        # A later player knows what those before it know, but nobody knows my hand.
        seen = on_table if player == 0 else seen
    return reliefs


def _gains(position, views, cards, relief, standing, to_lanes) -> jax.Array:
    """My team's gain if I play each of my cards: int32[n, L]."""
    def reply(table: Table, suit: jax.Array) -> jax.Array:
        later = [
            trick_value.replies(cards[i], suit, relief[i], standing[i], _side(i))
            for i in range(1, NUM_SEATS - position)
        ]
        return trick_value.gain_after_replies(table, later)

    # One of my cards after the other: the replies to a single one fill the caches.
    if position == 0:
        return jax.lax.map(
            lambda card: reply(trick_value.lead(card, standing[0]), suit_of(card)), cards[0]
        )
    trick = to_lanes(views.trick.T.astype(jnp.int32))
    suit = suit_of(trick[0])
    table = trick_value.lead(trick[0], standing[-position])
    for i in range(1, position):
        table = trick_value.add(table, suit, trick[i], standing[i - position])
    return jax.lax.map(
        lambda card: reply(trick_value.add(table, suit, card, standing[0]), suit), cards[0]
    )
