"""The game as a search sees it: its actions, their successors, and whose points are whose.

An action is the number of a card among the legal cards of its state, in card order: a tree of 13
actions is a quarter of one of 52, and memory traffic is what a search pays beside the network.

Values belong to the team of the player to move. The winner of a trick leads the next, so the same
team may move twice in a row: the sign between a state and its successor follows the two movers.
This is the one place where signs between teams are decided.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_RANKS, nth_card, same_team

NUM_ACTIONS = NUM_RANKS
"""No hand has more cards."""

PolicyValueFn = Callable[[Any, env.GameState], tuple[jax.Array, jax.Array]]
"""(params, states [B]) -> (logits [B, 52], points still to come for the mover's team [B])"""


def play_action(state: env.GameState, action: jax.Array) -> env.GameState:
    """The state after the action-th legal card; the end of the game is its own successor."""
    after = env.step(state, nth_card(env.legal_mask(state), action))
    over = env.is_terminal(state)
    return jax.tree.map(lambda old, new: jnp.where(over, old, new), state, after)


def team_sign(seat: jax.Array, other: jax.Array) -> jax.Array:
    """+1 if two seats are of one team, else -1, float32. Works on arrays."""
    return jnp.where(same_team(seat, other), 1.0, -1.0).astype(jnp.float32)


def discount(state: env.GameState, successor: env.GameState) -> jax.Array:
    """What a value at `successor` counts at `state`: +1 or -1."""
    return team_sign(env.player_to_move(state), env.player_to_move(successor))


def total_value(state: env.GameState, still_to_come: jax.Array, lone_transformer: int) -> jax.Array:
    """Final margin expected at `state` for the mover's team: won so far plus still to come.

    At the end of the game the margin is exact, and the transformer counts in full.
    """
    mover = env.player_to_move(state)
    now = env.team_margin(state, mover, lone_transformer=lone_transformer)
    final = env.team_margin(state, mover)
    value = now.astype(jnp.float32) + still_to_come
    return jnp.where(env.is_terminal(state), final.astype(jnp.float32), value)
