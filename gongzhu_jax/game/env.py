"""The rules of play as pure functions on arrays; all of them work under `jit` and `vmap`.

Any seat may lead the first trick. Others follow suit if they can, else play anything. The highest
card of the suit led takes the trick and its player leads the next. 52 plays end the game.
House rules that other tables know (declaring cards, exposed cards, no first-round points) are not
part of the paper's game and not here.
"""

from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from gongzhu_jax.game.cards import (
    CARDS,
    NO_CARD,
    NOBODY,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SEATS,
    NUM_TRICKS,
    SEATS,
    SUIT,
    same_team,
)
from gongzhu_jax.game.scoring import LONE_TRANSFORMER, score_cards

RULES_VERSION = "gongzhu-1"
"""Changes with every change of behaviour; stored in records and checkpoints."""

_STAGES = np.arange(NUM_CARDS, dtype=np.int8)
_LEADS = np.arange(NUM_TRICKS + 1, dtype=np.int8)


class GameState(struct.PyTreeNode):
    """Everything about one game, hidden cards included. int8 throughout."""

    holder: jax.Array  # [52] seat that holds each card now; NOBODY once it is played
    taken_by: jax.Array  # [52] seat that has taken each card; NOBODY until its trick is over
    plays: jax.Array  # [52] cards in the order they were played; NO_CARD from `stage` on
    leaders: jax.Array  # [14] seat that led each trick, the last entry the winner of the last
    trick: jax.Array  # [4] cards on the table in the order played; NO_CARD where none yet
    stage: jax.Array  # [] number of cards played so far, the paper's u


def assert_states(states: GameState) -> None:
    """A contract for functions of a batch of states, [B]; it is checked when they are traced."""
    assert_batch(states, jax.eval_shape(lambda: deal(jax.random.key(0))), states.stage)


def assert_batch(items: Any, one: Any, axis: jax.Array) -> None:
    """`items` have the shapes and types of `one` item, behind the only axis of `axis`, [B]."""
    chex.assert_rank(axis, 1)
    like = jax.tree.map(lambda leaf: leaf.update(shape=(*axis.shape, *leaf.shape)), one)
    chex.assert_trees_all_equal_shapes_and_dtypes(items, like)


def deal(key: jax.Array, leader: jax.Array | int = 0) -> GameState:
    """A new game with 13 random cards for each seat."""
    seats = np.repeat(SEATS, NUM_RANKS)
    return from_owners(jax.random.permutation(key, seats), leader)


def from_owners(owners: jax.Array, leader: jax.Array | int = 0) -> GameState:
    """A new game from the owner seat of each card, [52]. Precondition: 13 cards each.

    `gongzhu_jax.game.checks.check_owners` checks data from outside.
    """
    leaders = jnp.full(NUM_TRICKS + 1, NOBODY, jnp.int8)
    return GameState(
        holder=jnp.asarray(owners, jnp.int8),
        taken_by=jnp.full(NUM_CARDS, NOBODY, jnp.int8),
        plays=jnp.full(NUM_CARDS, NO_CARD, jnp.int8),
        leaders=leaders.at[0].set(jnp.asarray(leader, jnp.int8)),
        trick=jnp.full(NUM_SEATS, NO_CARD, jnp.int8),
        stage=jnp.zeros((), jnp.int8),
    )


def trick_leader(state: GameState) -> jax.Array:
    """The seat that leads, or led, the trick on the table; at the end the last winner."""
    # A masked sum, not an index: gathers of one element are slow under vmap on CPUs.
    here = state.stage // NUM_SEATS == _LEADS
    return jnp.sum(jnp.where(here, state.leaders, 0), dtype=jnp.int8)


def player_to_move(state: GameState) -> jax.Array:
    """The seat to play, int8; when the game is over, the winner of the last trick."""
    return (trick_leader(state) + state.stage) % NUM_SEATS


def legal_mask(state: GameState) -> jax.Array:
    """Cards that the player to move may play, bool[52]; none when the game is over."""
    return legal_cards(state.holder == player_to_move(state), state.trick[0])


def legal_cards(hand: jax.Array, lead: jax.Array) -> jax.Array:
    """Cards of `hand`, bool[52], that may be played when `lead` was led (NO_CARD: nothing)."""
    in_suit = hand & (lead // NUM_RANKS == SUIT)
    must_follow = (lead != NO_CARD) & jnp.any(in_suit)
    return jnp.where(must_follow, in_suit, hand)


def trick_winner(trick: jax.Array, leader: jax.Array) -> jax.Array:
    """The seat whose card takes a full trick, [4] in the order played."""
    follows = trick // NUM_RANKS == trick[0] // NUM_RANKS
    position = jnp.argmax(jnp.where(follows, trick, NO_CARD)).astype(jnp.int8)
    return (leader + position) % NUM_SEATS


def step(state: GameState, card: jax.Array) -> GameState:
    """The state after the player to move plays `card`.

    Precondition: the game is not over and `legal_mask(state)[card]`. It is not checked here;
    `gongzhu_jax.game.replays` is the path for plays from outside.
    """
    card = jnp.asarray(card, jnp.int8)
    position = state.stage % NUM_SEATS
    trick = jnp.where(position == SEATS, card, state.trick)
    full = position == NUM_SEATS - 1
    winner = trick_winner(trick, trick_leader(state))
    in_trick = jnp.any(CARDS[:, None] == trick[None, :], axis=1)
    next_lead = state.stage // NUM_SEATS + 1 == _LEADS
    return GameState(
        holder=jnp.where(card == CARDS, jnp.int8(NOBODY), state.holder),
        taken_by=jnp.where(full & in_trick, winner, state.taken_by),
        plays=jnp.where(state.stage == _STAGES, card, state.plays),
        leaders=jnp.where(full & next_lead, winner, state.leaders),
        trick=jnp.where(full, jnp.int8(NO_CARD), trick),
        stage=state.stage + jnp.int8(1),
    )


def play_all(state: GameState, plays: jax.Array) -> GameState:
    """The state after `plays`, [n] cards of which NO_CARD entries are passed over.

    Precondition, not checked: each card is legal when its turn comes.
    """

    def play(state, card):
        after = step(state, card)
        return jax.tree.map(
            lambda new, old: jnp.where(card == NO_CARD, old, new), after, state
        ), None

    return jax.lax.scan(play, state, plays)[0]


def is_terminal(state: GameState) -> jax.Array:
    """Whether all 52 cards have been played."""
    return state.stage >= NUM_CARDS


def scores(state: GameState, *, lone_transformer: int = LONE_TRANSFORMER) -> jax.Array:
    """Points of each seat by the full rules on what has been taken so far, int32[4]."""
    return score_cards(state.taken_by, lone_transformer=lone_transformer)


def team_margin(
    state: GameState, seat: jax.Array | int, *, lone_transformer: int = LONE_TRANSFORMER
) -> jax.Array:
    """Points of the team of `seat` minus those of the other team so far, int32."""
    return margin_of(scores(state, lone_transformer=lone_transformer), seat)


def margin_of(points: jax.Array, seat: jax.Array | int) -> jax.Array:
    """Team margin in the eyes of `seat` from the points of the four seats, [4]."""
    team = same_team(SEATS, jnp.asarray(seat, jnp.int8))
    return jnp.sum(jnp.where(team, points, -points))


def play_seats(leaders: jax.Array, stage: jax.Array) -> jax.Array:
    """The seat that made each play, int8[52]; NOBODY from `stage` on."""
    seats = (jnp.repeat(leaders[:NUM_TRICKS], NUM_SEATS) + _STAGES) % NUM_SEATS
    return jnp.where(stage > _STAGES, seats, jnp.int8(NOBODY))


def owners(state: GameState) -> jax.Array:
    """The seat that was dealt each card, int8[52]; the inverse of `from_owners`."""
    seats = play_seats(state.leaders, state.stage)
    played = (state.plays[None, :] == CARDS[:, None]).astype(jnp.int8)  # [card, stage]
    dealt = jnp.sum(played * (seats + jnp.int8(1))[None, :], axis=1, dtype=jnp.int8) - jnp.int8(1)
    return jnp.where(state.holder == NOBODY, dealt, state.holder)


def played_at(plays: jax.Array) -> jax.Array:
    """The stage at which each card was played, int8[52]; 52 for cards that were not."""
    here = plays[None, :] == CARDS[:, None]  # [card, stage]
    return jnp.min(jnp.where(here, _STAGES[None, :], jnp.int8(NUM_CARDS)), axis=1)


def rewind(state: GameState, stage: jax.Array) -> GameState:
    """The game as it was when `stage` cards had been played; `stage` <= `state.stage`."""
    stage = jnp.asarray(stage, jnp.int8)
    when = played_at(state.plays)
    trick_start = stage - stage % NUM_SEATS
    before = stage > _STAGES
    in_trick = (_STAGES[None, :] == (trick_start + SEATS)[:, None]) & before[None, :]
    return GameState(
        holder=jnp.where(when >= stage, owners(state), jnp.int8(NOBODY)),
        taken_by=jnp.where(when < trick_start, state.taken_by, jnp.int8(NOBODY)),
        plays=jnp.where(before, state.plays, jnp.int8(NO_CARD)),
        leaders=jnp.where(stage // NUM_SEATS >= _LEADS, state.leaders, jnp.int8(NOBODY)),
        trick=jnp.max(jnp.where(in_trick, state.plays[None, :], jnp.int8(NO_CARD)), axis=1),
        stage=stage,
    )
