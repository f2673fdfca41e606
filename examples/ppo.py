"""Proximal policy optimisation by self-play on the native environment, in one file to start from.

    python examples/ppo.py                    # a few minutes on two CPU cores
    python examples/ppo.py --updates 2 --games 16 --deals 16 --width 32

All four seats play with one network that sees only what its seat may know. Rollouts are one
compiled program: `vmap` over games, `scan` over plays, and a new deal where a game has ended. The
learned policy is then an ordinary player, and plays a duplicate match against Mr. Random.
"""

import argparse
import functools
from collections.abc import Callable
from typing import NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from gongzhu_jax import game, players
from gongzhu_jax.adapters.observation import SIZE, observe
from gongzhu_jax.evaluation import play_match

CLIP, GAE_LAMBDA, ENTROPY, VALUE_WEIGHT, PASSES, MINIBATCHES = 0.2, 0.95, 0.01, 0.5, 2, 8
POINTS = 100.0  # rewards and values are in hundreds of points


class Environment(NamedTuple):
    """What the learner needs of a game; `examples/pgx_ppo.py` has another one."""

    start: Callable  # key -> state
    look: Callable  # state -> what the player to move sees, its legal cards, its seat
    step: Callable  # state, card -> state
    margin: Callable  # state -> points of seats 0 and 2 over those of 1 and 3 so far
    is_over: Callable  # state -> whether the game has ended


def deal(key):
    deal_key, leader_key = jax.random.split(key)
    return game.deal(deal_key, jax.random.randint(leader_key, (), 0, 4))


def look(state):
    mover = game.player_to_move(state)
    return observe(game.view(state, mover)), game.legal_mask(state), mover


NATIVE = Environment(
    deal, look, game.step, lambda state: game.team_margin(state, 0), game.is_terminal
)


class Network(nn.Module):
    width: int

    @nn.compact
    def __call__(self, observation):
        x = observation.astype(jnp.float32)
        for _ in range(2):
            x = nn.relu(nn.Dense(self.width)(x))
        return nn.Dense(52)(x), nn.Dense(1)(x)[..., 0]


class Transition(NamedTuple):
    """One play of one game; after a rollout [T, B, ...]."""

    observation: jax.Array  # [488] bool
    legal: jax.Array  # [52] bool
    card: jax.Array  # [] int32
    log_prob: jax.Array  # [] float32, of the card when it was played
    value: jax.Array  # [] float32, of the position for the team of the player to move
    sign: jax.Array  # [] float32, +1 where seats 0 and 2 move and -1 where 1 and 3 do
    reward: jax.Array  # [] float32, what the play changed in the margin of seats 0 and 2
    over: jax.Array  # [] bool, whether it ended the game


def policy(network, params, observation, legal):
    """Log-probabilities of the cards, next to nothing for illegal ones, and the value."""
    logits, value = network.apply(params, observation)
    return jax.nn.log_softmax(jnp.where(legal, logits, -1e9)), value


def play_one(env, network, params, state, key):
    """One play of one game, and a new deal if it was the last."""
    card_key, deal_key = jax.random.split(key)
    observation, legal, mover = env.look(state)
    log_probs, value = policy(network, params, observation, legal)
    card = jax.random.categorical(card_key, log_probs)
    after = env.step(state, card)
    # Margins of what has been taken so far: their changes add up to that of the whole game.
    reward = (env.margin(after) - env.margin(state)) / POINTS
    over = env.is_over(after)
    # The winner of a trick leads the next, so a team may move twice in a row: signs, not turns.
    sign = jnp.where(mover % 2 == 0, 1.0, -1.0)
    row = Transition(observation, legal, card, log_probs[card], value, sign, reward, over)
    fresh = env.start(deal_key)
    return jax.tree.map(lambda new, old: jnp.where(over, new, old), fresh, after), row


def rollout(env, network, params, states, key, games, steps):
    """`steps` plays of every game: the games as they are then, and transitions [T, B, ...]."""

    def step(states, key):
        play = functools.partial(play_one, env, network, params)
        return jax.vmap(play)(states, jax.random.split(key, games))

    return jax.lax.scan(step, states, jax.random.split(key, steps))


def advantages(rows, last_value):
    """Generalised advantage estimates for the player to move, [T, B].

    Everything is turned to the view of seats 0 and 2 first, added up, and turned back.
    """
    value = rows.sign * rows.value

    def back(carry, row):
        next_advantage, next_value = carry
        value, reward, over = row
        goes_on = 1.0 - over
        delta = reward + goes_on * next_value - value
        advantage = delta + goes_on * GAE_LAMBDA * next_advantage
        return (advantage, value), advantage

    start = (jnp.zeros_like(last_value), last_value)
    _, found = jax.lax.scan(back, start, (value, rows.reward, rows.over), reverse=True)
    return rows.sign * found


def loss(params, network, rows, advantage, target):
    log_probs, value = policy(network, params, rows.observation, rows.legal)
    log_prob = jnp.take_along_axis(log_probs, rows.card[:, None], axis=1)[:, 0]
    ratio = jnp.exp(log_prob - rows.log_prob)
    scaled = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    gain = jnp.minimum(ratio * scaled, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * scaled)
    entropy = -jnp.sum(jnp.where(rows.legal, jnp.exp(log_probs) * log_probs, 0.0), axis=1)
    return (VALUE_WEIGHT * (value - target) ** 2 - gain - ENTROPY * entropy).mean()


def make_update(env, network, optimizer, games, steps):
    """The program of one update: a rollout, then PASSES passes over it in minibatches."""

    def minibatch(carry, data):
        params, opt_state = carry
        value, gradient = jax.value_and_grad(loss)(params, network, *data)
        change, opt_state = optimizer.update(gradient, opt_state, params)
        return (optax.apply_updates(params, change), opt_state), value

    def update(params, opt_state, states, key):
        play_key, *pass_keys = jax.random.split(key, PASSES + 1)
        states, rows = rollout(env, network, params, states, play_key, games, steps)
        observation, _, mover = jax.vmap(env.look)(states)
        _, last_value = network.apply(params, observation)
        advantage = advantages(rows, jnp.where(mover % 2 == 0, last_value, -last_value))
        flat = jax.tree.map(
            lambda leaf: leaf.reshape(-1, *leaf.shape[2:]),
            (rows, advantage, advantage + rows.value),
        )
        carry = (params, opt_state)
        for pass_key in pass_keys:
            order = jax.random.permutation(pass_key, advantage.size).reshape(MINIBATCHES, -1)
            data = jax.tree.map(lambda leaf, order=order: leaf[order], flat)
            carry, losses = jax.lax.scan(minibatch, carry, data)
        return *carry, states, losses.mean()

    return jax.jit(update)


def as_player(network, params):
    """The policy as a player of this package: the most probable legal card."""

    def act_batch(params, keys, views):
        legal = jax.vmap(game.legal_mask)(views)
        log_probs, _ = policy(network, params, jax.vmap(observe)(views), legal)
        return jnp.argmax(log_probs, axis=1)

    return players.Player("ppo", {"width": network.width}, act_batch, params)


def learn(env, chosen):
    """The network and its parameters after `chosen.updates` updates."""
    network = Network(chosen.width)
    init_key, deal_key, key = jax.random.split(jax.random.key(0), 3)
    params = network.init(init_key, jnp.zeros((1, SIZE)))
    optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(chosen.rate))
    opt_state = optimizer.init(params)
    states = jax.jit(jax.vmap(env.start))(jax.random.split(deal_key, chosen.games))
    update = make_update(env, network, optimizer, chosen.games, chosen.steps)
    for number in range(chosen.updates):
        key, update_key = jax.random.split(key)
        params, opt_state, states, mean_loss = update(params, opt_state, states, update_key)
        if (number + 1) % 10 == 0 or number + 1 == chosen.updates:
            print(f"update {number + 1} of {chosen.updates}: loss {mean_loss:.3f}", flush=True)
    return network, params


def main(env=NATIVE):
    parser = argparse.ArgumentParser()
    parser.add_argument("--updates", type=int, default=150)
    parser.add_argument("--games", type=int, default=256, help="played at the same time")
    parser.add_argument("--steps", type=int, default=52, help="plays of each game per update")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--deals", type=int, default=256, help="of the match at the end")
    chosen = parser.parse_args()
    player = as_player(*learn(env, chosen))
    result = play_match(player, players.make("random"), chosen.deals)
    print(f"points over Mr. Random: {result.mean:.1f} +- {result.standard_error:.1f}")


if __name__ == "__main__":
    main()
