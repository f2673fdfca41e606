"""Small players for tests of matches, and their twins in plain Python."""

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax.game.view import PublicView, legal_mask
from gongzhu_jax.players.protocol import BatchFn, Player, from_single
from tests.oracle.rules import Game

CARDS = np.arange(52, dtype=np.int8)


def _random(key: jax.Array, view: PublicView) -> jax.Array:
    draw = jax.random.uniform(key, (52,))
    return jnp.argmax(jnp.where(legal_mask(view), draw, -1.0))


def _high(key: jax.Array, view: PublicView) -> jax.Array:
    return jnp.max(jnp.where(legal_mask(view), CARDS, -1))


def _mixed(key: jax.Array, view: PublicView) -> jax.Array:
    """The highest or the lowest card, depending on all that a view says of the game."""
    low = jnp.min(jnp.where(legal_mask(view), CARDS, 99))
    rest = (view.stage + view.seat).astype(jnp.int32)
    odd = (jnp.sum(view.plays, dtype=jnp.int32) + rest) % 2 == 1
    return jnp.where(odd, _high(key, view), low)


random_player = Player("random", None, from_single(_random))
high_player = Player("high", None, from_single(_high))
mixed_player = Player("mixed", None, from_single(_mixed))


def high_card(game: Game) -> int:
    return max(game.legal())


def mixed_card(game: Game) -> int:
    unplayed = 52 - len(game.plays)
    total = sum(card for _, card in game.plays) - unplayed + len(game.plays)
    odd = (total + game.player_to_move()) % 2 == 1
    return max(game.legal()) if odd else min(game.legal())


def play_out(seats: Sequence[Callable[[Game], int]], owners: list[int], leader: int) -> Game:
    """The whole game in plain Python."""
    game = Game(owners, leader)
    while not game.is_terminal():
        game.play(seats[game.player_to_move()](game))
    return game


def counting(act: BatchFn) -> tuple[BatchFn, list[int]]:
    """A player's function that notes the batch size every time it is traced."""
    traces: list[int] = []

    def traced(params, keys, views):
        traces.append(len(views.seat))
        return act(params, keys, views)

    return traced, traces


def only_at(seats: tuple[int, ...], act: BatchFn) -> BatchFn:
    """A player's function that breaks the rules unless it is asked for a decision with a choice,
    when it is its turn, at one of `seats`."""

    def guarded(params, keys, views):
        own = jnp.isin(views.seat, np.array(seats, np.int8)) & (views.seat == views.to_move)
        choice = jnp.sum(jax.vmap(legal_mask)(views), axis=1) > 1
        # All games of the batch: a game of others would break the own ones too.
        fine = jnp.all(own & choice)
        return jnp.where(fine, act(params, keys, views), -1)

    return guarded
