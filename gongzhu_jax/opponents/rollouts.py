"""Rollouts: play goes on as the opponent model expects, to the end of the trick or of the game.

A critic that is asked in the middle of a trick has to guess who wins it. A rollout lets the others
complete the trick first, each from its own hand and from what all could see, so the critic is asked
about positions in which the trick is over. Where few tricks are left, or everywhere, it can go on
to the end of the game, which needs no critic. Axes: S states.
"""

from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax.game import env
from gongzhu_jax.game.cards import (
    CARDS,
    NO_CARD,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SEATS,
    NUM_TRICKS,
    SEATS,
    SUITS,
)
from gongzhu_jax.game.public_view import shown_voids
from gongzhu_jax.inference.registry import ROLLOUTS, PlayerTypes, Rollout, most_tricks
from gongzhu_jax.opponents.opponent_model import OpponentModelConfig, OpponentModelNet


def encode_situation(state: env.GameState) -> jax.Array:
    """What all can see when the player to move has to play, as it counts seats, float32[244]: the
    row of `opponent_model.encode_situations` for the play that comes next."""
    mover, place = env.player_to_move(state), state.stage % NUM_SEATS
    lead = jnp.where(place > 0, state.trick[0] // NUM_RANKS, -1)
    follows = (state.trick != NO_CARD) & (state.trick // NUM_RANKS == lead)
    force = jnp.where(follows, state.trick % NUM_RANKS + 1, 0)
    best = jnp.argmax(force).astype(jnp.int8)
    taken, ours = state.taken_by >= 0, (state.taken_by - mover) % 2 == 0
    seats = env.play_seats(state.leaders, state.stage)
    voids = shown_voids(state.plays, seats)[(mover + SEATS[1:]) % NUM_SEATS]
    parts = (
        jnp.any(state.trick[:, None] == CARDS[None], axis=0),
        (place > 0) & (state.trick[best] == CARDS),
        taken & ours,
        taken & ~ours,
        lead == SUITS,
        place == SEATS,
        (place > 0) & (place - best == SEATS[1:]),
        state.stage // NUM_SEATS == np.arange(NUM_TRICKS, dtype=np.int8),
        voids.reshape(-1),
    )
    return jnp.concatenate([part.astype(jnp.float32) for part in parts])


def policy(
    params: Any, states: env.GameState, log_types: jax.Array, config: OpponentModelConfig
) -> jax.Array:
    """How likely the player to move in states [S] is to play each card, by the opponent model,
    float32[S, 52], if the log probabilities of its types, [S, player_types], are these."""
    mover = jax.vmap(env.player_to_move)(states)
    hands = states.holder == mover[:, None]
    logits: Any = OpponentModelNet(config).apply(params, jax.vmap(encode_situation)(states), hands)
    legal = jax.vmap(env.legal_mask)(states)
    by_type = jax.nn.softmax(jnp.where(legal[:, None], logits, -jnp.inf), axis=-1)
    return jnp.einsum("st,stc->sc", jax.nn.softmax(log_types, axis=-1), by_type)


def finish(
    params: Any,
    states: env.GameState,
    types: PlayerTypes,
    noise: jax.Array,
    config: OpponentModelConfig,
    last_tricks: int,
) -> env.GameState:
    """The states [S] in which the tricks under way are over; where at most `last_tricks` are left
    then, the games are.

    Args:
      types: float32[S, 4, player_types], log probabilities of the types of all seats.
      noise: float32[S, tricks, 52], standard Gumbel numbers by which the cards are drawn, for as
        many tricks as a rollout can have; in one trick no two players can draw the same card.
        States with the same numbers differ by what was played, not by chance.
    """
    env.assert_states(states)
    count, tricks = len(states.stage), most_tricks(last_tricks)
    chex.assert_shape(types, (count, NUM_SEATS, config.player_types))
    chex.assert_shape(noise, (count, tricks, len(CARDS)))

    def plays_left(states: env.GameState) -> jax.Array:
        in_game, in_trick = NUM_CARDS - states.stage, -states.stage % NUM_SEATS
        return jnp.where(in_game - in_trick <= NUM_SEATS * last_tricks, in_game, in_trick)

    def play_one(_: jax.Array, states: env.GameState) -> env.GameState:
        mover = jax.vmap(env.player_to_move)(states)
        log_types = jnp.take_along_axis(types, mover[:, None, None].astype(jnp.int32), axis=1)[:, 0]
        likely = policy(params, states, log_types, config)
        trick = jnp.maximum(states.stage // NUM_SEATS + tricks - NUM_TRICKS, 0)
        drawn = jnp.log(likely) + noise[jnp.arange(count), trick]
        card = jnp.argmax(drawn, axis=1).astype(jnp.int8)
        after = jax.vmap(env.step)(states, card)
        under_way = plays_left(states) > 0

        def choose(old: jax.Array, new: jax.Array) -> jax.Array:
            return jnp.where(under_way.reshape(-1, *[1] * (old.ndim - 1)), new, old)

        return jax.tree.map(choose, states, after)

    return jax.lax.fori_loop(0, jnp.max(plays_left(states)), play_one, states)


ROLLOUTS["trick"] = Rollout(finish, last_tricks=0)
ROLLOUTS["game"] = Rollout(finish, last_tricks=NUM_TRICKS)
