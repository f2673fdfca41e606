"""Prototype of the training of the distilled policy."""

import argparse
import json
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax

from gongzhu_jax import runtime
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NO_CARD, NOBODY
from gongzhu_jax.game.view import view
from gongzhu_jax.inference.constraints import constraints, opponents
from gongzhu_jax.inference.distilled import DistilledConfig, apply_games, init_distilled
from gongzhu_jax.inference.odds import possible


def load(paths):
    parts = []
    for p in paths:
        d = np.load(p)
        mask = np.unpackbits(d["mask"], axis=-1)[..., :52].astype(bool)
        q = np.zeros(mask.shape, np.float16)
        q[mask] = d["q"]
        parts.append((d["plays"], d["leaders"], d["taken_by"], d["random"], mask, q))
    return [np.concatenate(x) for x in zip(*parts, strict=True)]


def finished(plays, leaders, taken_by):
    n = len(plays)
    return env.GameState(
        holder=jnp.full((n, 52), NOBODY, jnp.int8),
        taken_by=jnp.asarray(taken_by),
        plays=jnp.asarray(plays),
        leaders=jnp.asarray(leaders),
        trick=jnp.full((n, 4), NO_CARD, jnp.int8),
        stage=jnp.full((n,), 52, jnp.int8),
    )


def losses(params, batch, config, K, key):
    state, random, mask, q = batch
    G = state.stage.shape[0]
    shift = jax.random.uniform(key, (G, K))
    stages = jnp.minimum((jnp.arange(K) + shift) * (48 / K), 47).astype(jnp.int8)
    states = jax.vmap(jax.vmap(env.rewind, (None, 0)))(state, stages)
    views = jax.vmap(jax.vmap(lambda s: view(s, env.player_to_move(s))))(states)
    whole = jax.vmap(view, (0, None))(state, 0)
    out = apply_games(params, whole, views, config)
    idx = stages.astype(jnp.int32)
    take = lambda x: jnp.take_along_axis(x, idx.reshape(G, K, *([1] * (x.ndim - 2))), axis=1)
    legal, q, random = take(mask), take(q).astype(jnp.float32), take(random)
    card = take(state.plays).astype(jnp.int32)
    n = jnp.maximum(jnp.sum(legal, -1, keepdims=True), 1)
    center = lambda x: jnp.where(
        legal, x - jnp.sum(jnp.where(legal, x, 0), -1, keepdims=True) / n, 0
    )
    choice = jnp.any(legal, -1)
    err = center(out.q) - center(q)
    w = choice.astype(jnp.float32)
    # per decision mean over legal cards of a pseudo-Huber error
    delta = 20.0
    hub = delta**2 * (jnp.sqrt(1 + jnp.square(err / delta)) - 1)
    q_loss = jnp.sum(jnp.sum(jnp.where(legal, hub, 0), -1) / n[..., 0] * w) / jnp.sum(w)
    mse = jnp.sum(jnp.sum(jnp.where(legal, err**2, 0), -1) / n[..., 0] * w) / jnp.sum(w)
    logp = jax.nn.log_softmax(jnp.where(legal, out.logits, -1e9))
    nll = -jnp.take_along_axis(logp, card[..., None], -1)[..., 0]
    w2 = w * ~random
    p_loss = jnp.sum(jnp.where(w2 > 0, nll, 0)) / jnp.sum(w2)
    # regret of the student's choice by the labels
    best = jnp.max(jnp.where(legal, q, -jnp.inf), -1)
    pick = jnp.argmax(jnp.where(legal, out.q, -jnp.inf), -1)
    picked = jnp.take_along_axis(q, pick[..., None], -1)[..., 0]
    regret = jnp.sum(jnp.where(choice, best - picked, 0)) / jnp.sum(w)
    may = jax.vmap(jax.vmap(lambda v: possible(constraints(v))))(views)
    true = jax.vmap(jax.vmap(opponents))(views, states.holder)
    logo = jax.nn.log_softmax(jnp.where(may, out.odds, -1e9), -1)
    hit = jnp.take_along_axis(logo, jnp.maximum(true, 0).astype(jnp.int32)[..., None], -1)[..., 0]
    unseen = true >= 0
    b_loss = -jnp.sum(jnp.where(unseen, hit, 0)) / jnp.sum(unseen)
    total = q_loss / 20 + p_loss + b_loss
    return total, dict(q=q_loss, mse=mse, p=p_loss, b=b_loss, regret=regret)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--games", required=True)
    ap.add_argument("--first", type=int, default=1)
    ap.add_argument("--out", required=True)
    ap.add_argument("--passes", type=float, default=1.0)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--minutes", type=float, default=1e9)
    a = ap.parse_args()
    runtime.use_cpu_cores()
    files = sorted(Path(a.games).glob("0*[0-9].npz"))[a.first - 1 :]
    plays, leaders, taken, random, mask, q = load(files)
    N = len(plays)
    held = 1024
    print(N, "games", len(files), "files", flush=True)
    config = DistilledConfig()
    params = init_distilled(jax.random.key(0), config)
    print("parameters", sum(x.size for x in jax.tree.leaves(params)), flush=True)
    G, K = 64, 24
    steps = int((N - held) * a.passes / G * 48 / K)
    opt = optax.chain(
        optax.clip_by_global_norm(1.0), optax.adam(optax.cosine_decay_schedule(a.lr, steps, 0.02))
    )
    mesh = runtime.games_mesh()
    split = runtime.over_games(mesh)
    state = jax.device_put(
        (params, jax.tree.map(jnp.copy, params), opt.init(params)), runtime.on_all(mesh)
    )

    @jax.jit
    def update(carry, batch, key):
        params, avg, o = carry
        (_, m), g = jax.value_and_grad(losses, has_aux=True)(params, batch, config, K, key)
        ch, o = opt.update(g, o, params)
        params = optax.apply_updates(params, ch)
        return (params, optax.incremental_update(params, avg, 0.002), o), m

    evaluate = jax.jit(lambda p, b, k: losses(p, b, config, 48, k)[1])

    def batch_of(rows):
        b = (
            finished(plays[rows], leaders[rows], taken[rows]),
            jnp.asarray(random[rows]),
            jnp.asarray(mask[rows]),
            jnp.asarray(q[rows]),
        )
        return jax.device_put(b, split)

    rng = np.random.default_rng(0)
    t0 = time.time()
    acc = []
    for step in range(steps):
        rows = rng.integers(held, N, G)
        state, m = update(state, batch_of(rows), jax.random.key(step))
        acc.append(m)
        if (step + 1) % 500 == 0 or step + 1 == steps:
            tr = {k: float(np.mean([float(x[k]) for x in acc[-500:]])) for k in m}
            ev = [
                evaluate(state[1], batch_of(np.arange(i, i + 128)), jax.random.key(0))
                for i in range(0, held, 128)
            ]
            ev = {k: round(float(np.mean([float(x[k]) for x in ev])), 4) for k in m}
            print(
                step + 1,
                steps,
                round(time.time() - t0),
                {k: round(v, 3) for k, v in tr.items()},
                "held",
                ev,
                flush=True,
            )
            np.save(a.out + ".tmp.npy", np.array([0]))
            import pickle

            pickle.dump((config, jax.device_get(state[1])), open(a.out, "wb"))
        if time.time() - t0 > 60 * a.minutes:
            break


if __name__ == "__main__":
    main()
