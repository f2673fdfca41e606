"""A player of your own in JAX: `gongzhu evaluate player=jax_player:make opponent=random`.

Compiled together with the games, so that it plays thousands of them at once. It plays its lowest
legal card, or with `player_options.high=true` its highest.
"""

import jax
import jax.numpy as jnp

from gongzhu_jax import game, players

RANKS = jnp.arange(52) % 13


def make(high: bool = False):
    def act_batch(params, keys, views):  # cards [B] from keys [B] and views [B]
        legal = jax.vmap(game.legal_mask)(views)
        score = RANKS if high else -RANKS
        return jnp.argmax(jnp.where(legal, score, -100), axis=1)

    return players.Player("high" if high else "low", {"high": high}, act_batch)


if __name__ == "__main__":
    from gongzhu_jax.evaluation import play_match

    result = play_match(players.make("jax_player:make"), players.make("random"), 256)
    print(f"points over Mr. Random: {result.mean:.1f} +- {result.standard_error:.1f}")
