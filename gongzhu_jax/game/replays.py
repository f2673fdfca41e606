"""Replaying whole games, checked: the path for deals and plays that come from outside."""

from collections.abc import Iterable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax.errors import IllegalPlayError
from gongzhu_jax.game import checks, env
from gongzhu_jax.game.cards import CARDS, NO_CARD, NUM_CARDS, card_ids
from gongzhu_jax.game.public_view import pad_plays


def replay(owners: jax.Array, leader: jax.Array, plays: jax.Array):
    """Plays a history, [52] with NO_CARD after its end, from a deal. Pure; vmap it over games.

    Returns the final state and, bool[52], whether each play was legal. After the first illegal
    play the state has no meaning.
    """

    def play(state, card):
        legal = env.legal_mask(state) & (card == CARDS)
        after = env.step(state, card)
        state = jax.tree.map(lambda new, old: jnp.where(card == NO_CARD, old, new), after, state)
        return state, jnp.any(legal) | (card == NO_CARD)

    return jax.lax.scan(play, env.from_owners(owners, leader), jnp.asarray(plays, jnp.int8))


@jax.jit
@jax.vmap
def replay_scored(owners: jax.Array, leader: jax.Array, plays: jax.Array):
    """`replay` of many games at once, with the points of each seat, int32[4], behind."""
    state, legal = replay(owners, leader, plays)
    return state, legal, env.scores(state)


def replay_checked(
    owners: Sequence[int], leader: int, plays: str | Iterable[str | int] = ()
) -> env.GameState:
    """The state after `plays` from outside; `DealError`, `CardError` or `IllegalPlayError`."""
    deal = checks.check_owners(owners)
    checks.check_seat(leader, "leader")
    ids = card_ids(plays)
    if len(ids) > NUM_CARDS:
        raise IllegalPlayError(f"a game has {NUM_CARDS} plays, not {len(ids)}")
    batch = replay_scored(deal[None], np.array([leader], np.int8), pad_plays(ids)[None])
    state, legal, _ = jax.tree.map(lambda leaf: leaf[0], batch)
    raise_if_illegal(deal, ids, state, legal)
    return state


def raise_if_illegal(
    owners: np.ndarray, plays: list[int], state: env.GameState, legal: jax.Array | np.ndarray
) -> None:
    """Turns the legality flags of `replay` into an error that names the first bad play."""
    bad = np.flatnonzero(~np.asarray(legal))
    if bad.size:
        number = int(bad[0])
        # Seats are right up to and including the first bad play.
        seat = int(env.play_seats(state.leaders, jnp.int8(NUM_CARDS))[number])
        raise IllegalPlayError(checks.explain_illegal(owners.tolist(), plays, seat, number))
