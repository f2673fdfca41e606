"""A bot of OpenSpiel as a player of this package, by name "openspiel-ismcts".

A bot is host code, and other players are compiled: in the program of a batch of games it is a call
back to the host. A bot looks at states of OpenSpiel, which have all hands; so the program draws
deals that agree with the view, and the state that the bot gets has one of them in it. Within the
call nothing may be computed on devices: deals are drawn before, and games are played by `HostGame`.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gongzhu_jax.adapters.extras import needs_extra
from gongzhu_jax.game.host_game import HostGame
from gongzhu_jax.game.public_view import PublicView
from gongzhu_jax.inference.sampling import sample
from gongzhu_jax.players.host_calls import call_host
from gongzhu_jax.players.protocol import Player

with needs_extra("openspiel"):
    from gongzhu_jax.adapters.openspiel_bots import IsmctsConfig, ismcts_bot
    from gongzhu_jax.adapters.openspiel_game import GongzhuState, state_of

StepFn = Callable[[int, GongzhuState, np.ndarray], int]
"""(seed, state, deals int8[n, 52]) -> card. The hidden hands of the state are those of deal 0."""


CONFIG = IsmctsConfig()
"""The default options of the player."""


@functools.cache  # because jit keys its cache on the function object
def make(config: IsmctsConfig) -> Player:
    """The player named "openspiel-ismcts"."""

    def step(seed: int, state: GongzhuState, deals: np.ndarray) -> int:
        return ismcts_bot(config, seed, lambda state, player: deals).step(state)

    return from_step("openspiel-ismcts", config, step, config.worlds or config.simulations)


def from_step(name: str, config: Any, step: StepFn, num_deals: int) -> Player:
    """A player whose choice is host code; it gets `num_deals` deals that agree with the view."""

    def act_batch(params: Any, keys: jax.Array, views: PublicView) -> jax.Array:
        seed_keys, deal_keys = jnp.moveaxis(jax.vmap(jax.random.split)(keys), 1, 0)
        seeds = jax.vmap(lambda key: jax.random.bits(key, (), jnp.uint32))(seed_keys)
        deals = jax.vmap(lambda key, view: sample(key, view, num_deals))(deal_keys, views)
        cards = jax.ShapeDtypeStruct(seeds.shape, jnp.int8)
        return call_host(decide, cards, seeds, views, deals)

    def decide(seeds: np.ndarray, views: PublicView, deals: np.ndarray) -> np.ndarray:
        chosen: dict[bytes, int] = {}
        cards = []
        for game, seed in enumerate(seeds.tolist()):
            # A chunk that is not full repeats a game. Equal deals and plays: the same decision.
            decision = seeds[game].tobytes() + views.plays[game].tobytes() + deals[game].tobytes()
            if decision not in chosen:
                one: PublicView = jax.tree.map(lambda leaf, game=game: leaf[game], views)
                table = HostGame.resume(one, deals[game, 0].tolist())
                chosen[decision] = step(seed, state_of(table), deals[game])
            cards.append(chosen[decision])
        return np.array(cards, np.int8)

    return Player(name, config, act_batch)
