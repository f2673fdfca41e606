"""A player that sees all hands: not a contestant, but the bound of what inference can add.

It cannot be made by name, so that nobody meets it by accident.
"""

import functools

import jax

from gongzhu_jax.game.env import GameState, legal_mask
from gongzhu_jax.network.policy_value import NetworkConfig, Params
from gongzhu_jax.network.policy_value import make as make_network
from gongzhu_jax.players.protocol import Player, SeesAll
from gongzhu_jax.search.config import SearchConfig
from gongzhu_jax.search.mcts import best_card, network_policy_value, search


def from_network(network: NetworkConfig, params: Params, config: SearchConfig) -> Player:
    """Searches the true hands, as the player searches each of its scenarios."""
    config.check_player()
    return Player("all-seeing", config, _act(network, config), params)


@functools.cache
def _act(network_config: NetworkConfig, config: SearchConfig) -> SeesAll:
    network = make_network(network_config)

    def act(params: Params, keys: jax.Array, states: GameState) -> jax.Array:
        result = search(params, keys[0], states, network_policy_value(network), config)
        return jax.vmap(best_card)(keys, result.q, jax.vmap(legal_mask)(states))

    return SeesAll(act)
