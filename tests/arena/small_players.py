"""Our players for tests of the arena, with a small network where they need one."""

from typing import Any

import jax

from gongzhu_jax import players
from gongzhu_jax.network import NetworkConfig
from gongzhu_jax.network.policy_value import make as make_network
from gongzhu_jax.players.protocol import Player


def make_player(name: str) -> Player:
    if name != "scrofa-strong":
        return players.make(name)
    network = NetworkConfig("compact", stem=16, width=8, blocks=1)
    params = make_network(network).init(jax.random.key(0))
    search = {"base": 2, "per_legal": 1, "rollout": "none"}
    options: dict[str, Any] = {"scenarios.draws": 3, "search": search}
    return players.from_network(name, network, params, **options)
