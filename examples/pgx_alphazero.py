"""Self-play of AlphaZero on the Pgx environment, as Pgx's own examples do it: one search of mctx
for every card, with all hands open. The network is small and untrained; put a learner behind it.

    pip install 'gongzhu_jax[pgx]'
    python examples/pgx_alphazero.py --games 8 --simulations 16
"""

import argparse

import flax.linen as nn
import jax
import jax.numpy as jnp
import mctx
from pgx.experimental import auto_reset

from gongzhu_jax.adapters.pgx_env import GongzhuEnv
from gongzhu_jax.game.scoring import MAX_MARGIN

env = GongzhuEnv(observation="perfect")


class Network(nn.Module):
    @nn.compact
    def __call__(self, observation):
        x = nn.relu(nn.Dense(64)(observation.astype(jnp.float32)))
        return nn.Dense(env.num_actions)(x), jnp.tanh(nn.Dense(1)(x)[..., 0])


network = Network()


def evaluate(params, state):
    logits, value = network.apply(params, state.observation)
    return jnp.where(state.legal_action_mask, logits, jnp.finfo(logits.dtype).min), value


def recurrent_fn(params, key, action, state):
    mover = state.current_player
    state = jax.vmap(env.step)(state, action)
    logits, value = evaluate(params, state)
    reward = jnp.take_along_axis(state.rewards, mover[:, None], axis=1)[:, 0] / MAX_MARGIN
    # The winner of a trick leads the next: the same team may move twice in a row.
    sign = jnp.where((state.current_player - mover) % 2 == 0, 1.0, -1.0)
    discount = jnp.where(state.terminated, 0.0, sign)
    output = mctx.RecurrentFnOutput(
        reward=reward, discount=discount, prior_logits=logits, value=value
    )
    return output, state


def selfplay(params, key, games, simulations, steps):
    """Visit shares of every search, [steps, games, 52], and the rewards, [steps, games, 4]."""
    step = jax.vmap(auto_reset(env.step, env.init))

    def play(state, key):
        search_key, step_key = jax.random.split(key)
        logits, value = evaluate(params, state)
        found = mctx.gumbel_muzero_policy(
            params,
            search_key,
            mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state),
            recurrent_fn,
            simulations,
            invalid_actions=~state.legal_action_mask,
        )
        state = step(state, found.action, jax.random.split(step_key, games))
        return state, (found.action_weights, state.rewards)

    start_key, play_key = jax.random.split(key)
    start = jax.vmap(env.init)(jax.random.split(start_key, games))
    return jax.lax.scan(play, start, jax.random.split(play_key, steps))[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--games", type=int, default=8)
    parser.add_argument("--simulations", type=int, default=16)
    parser.add_argument("--steps", type=int, default=52, help="cards of each game")
    chosen = parser.parse_args()
    key = jax.random.key(0)
    params = network.init(key, jnp.zeros((1, *env.observation_shape)))
    play = jax.jit(selfplay, static_argnums=(2, 3, 4))
    shares, rewards = play(params, key, chosen.games, chosen.simulations, chosen.steps)
    print(f"{shares.shape[0] * shares.shape[1]} searches")
    print("rewards of the games that ended:", rewards.sum(axis=0).tolist())


if __name__ == "__main__":
    main()
