"""Decisions per second of the players that search hidden deals, and their share of the bound.

The bound is the time that the evaluations which budgets, scenarios and slices ask for take at the
best rate of the network alone; drawing deals, the game, the tree and idle places in batches are
overhead. Weights are random: they change which lines are searched, not how much.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

from experiments.speed.rates import SAME, SPLIT, in_turns, network_alone, on_devices
from gongzhu_jax import network, runtime
from gongzhu_jax.game import env
from gongzhu_jax.game.public_view import PublicView, view
from gongzhu_jax.game.random_play import random_position
from gongzhu_jax.players.protocol import Player
from gongzhu_jax.players.scrofazero import SearchAct, from_network


def run(
    networks: Sequence[str] = ("compact", "fc24"),
    players: Sequence[str] = ("scrofa", "scrofa-simple", "raw"),
    decisions: int = 128,
    chunk: int | None = None,
    batches: Sequence[int] = (64, 128, 256),
    rounds: int = 2,
    seconds: float = 1.0,
    seed: int = 0,
) -> dict[str, Any]:
    """One row for each network and player; `decisions` positions of random games per device.

    Args:
      chunk: of the search and of the slices; None for the players' own.
      batches: sizes tried for the best rate of the network alone.
    """
    mesh = runtime.games_mesh()
    position_key, decision_key = jax.random.split(jax.random.key(seed))
    count = decisions * mesh.size
    drawn = jax.random.split(decision_key, count), views_with_choice(position_key, count)
    keys_and_views = jax.device_put(drawn, runtime.over_games(mesh))
    options: dict[str, Any] = (
        {} if chunk is None else {"weights.chunk": chunk, "search.chunk": chunk}
    )
    rows = []
    for name in networks:
        net = network.make(name)
        params = jax.device_put(net.init(jax.random.key(seed)), runtime.on_all(mesh))
        alone = [network_alone(net, params, mesh, size) for size in batches]
        for player_name in players:
            player = from_network(player_name, net.config, params, **options)
            decide = compile_decisions(player, mesh)
            work = functools.partial(decide, player.params, *keys_and_views)
            demanded, evaluated = np.sum(work(), axis=0).tolist()
            *speeds, decided = in_turns([*alone, (work, count)], rounds, seconds)
            best = max(speeds)
            rows.append(
                {
                    "network": name,
                    "player": player_name,
                    "decisions_per_second": decided,
                    "evaluations_per_decision": demanded / count,
                    "network_per_second": best,
                    "network_batch": batches[speeds.index(best)],
                    "share_of_bound": decided * demanded / count / best,
                    "waste": 1 - demanded / evaluated,
                }
            )
    return {"rows": rows, "devices": mesh.size}


def views_with_choice(key: jax.Array, count: int) -> PublicView:
    """Views of the player to move in random games where more than one card is legal. [count]"""

    @jax.jit
    @jax.vmap
    def look(key):
        state = random_position(key)
        return view(state, env.player_to_move(state)), jnp.sum(env.legal_mask(state)) > 1

    # About three quarters of all positions leave a choice.
    views, has_choice = look(jax.random.split(key, 2 * count + 16))
    chosen = np.flatnonzero(has_choice)[:count]
    return jax.tree.map(lambda leaf: leaf[chosen], views)


def compile_decisions(player: Player, mesh: Mesh) -> Callable[..., jax.Array]:
    """(params, keys, views) -> evaluations demanded and made on each device, int32[devices, 2]."""
    act = player.act_batch
    assert isinstance(act, SearchAct)

    def on_device(params, keys, views):
        decision = act.decide(params, keys, views)
        # The cards must be chosen for this to be known.
        used = jnp.all(decision.card >= 0)
        return jnp.stack([decision.demanded, decision.evaluated])[None] * used.astype(jnp.int32)

    return on_devices(on_device, mesh, (SAME, SPLIT, SPLIT))
