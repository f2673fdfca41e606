"""The player that looks: it plays what the search of the true hands says, and nothing else."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax import players
from gongzhu_jax.errors import ConfigError, PlayerError
from gongzhu_jax.evaluation import play_match
from gongzhu_jax.game import env
from gongzhu_jax.game.public_view import view
from gongzhu_jax.inference.config import InferenceConfig
from gongzhu_jax.network.policy_value import NetworkConfig, make
from gongzhu_jax.players import all_seeing
from gongzhu_jax.search import SearchConfig, network_policy_value, search

SMALL = NetworkConfig("compact", stem=16, width=8, blocks=1)
BUDGET = SearchConfig(base=0, per_legal=1, chunk=16)


def test_plays_what_the_search_of_the_true_hands_says() -> None:
    network = make(SMALL)
    params = network.init(jax.random.key(3))
    player = all_seeing.from_network(SMALL, params, BUDGET)
    match = play_match(player, players.make("random"), 2, keep_states=True, batch=2, chunk=4)

    @jax.jit
    def best(final: env.GameState):
        """[52]: loss of the card played at each stage, and who played it."""
        states = jax.vmap(env.rewind, (None, 0))(final, jnp.arange(52, dtype=jnp.int8))
        result = search(params, jax.random.key(0), states, network_policy_value(network), BUDGET)
        played = final.plays.astype(jnp.int32)[:, None]
        played = jnp.take_along_axis(result.q, played, axis=1)
        return result.q.max(1) - played[:, 0], jax.vmap(env.player_to_move)(states)

    losses = []
    for record in match.seating.records():
        start = env.from_owners(jnp.array(record.deal, jnp.int8), jnp.int8(record.leader))
        loss, mover = best(env.play_all(start, jnp.array(record.plays, jnp.int8)))
        losses.append(np.where(np.isin(mover, [0, 2]), loss, np.nan))
    searched = np.array(losses)[np.isfinite(losses)]
    assert len(searched) > 50
    np.testing.assert_allclose(searched, 0, atol=1e-3)


def test_cannot_be_met_by_accident() -> None:
    assert "all-seeing" not in players.names()
    player = all_seeing.from_network(SMALL, make(SMALL).init(jax.random.key(0)), BUDGET)
    state = env.deal(jax.random.key(0))
    with pytest.raises(PlayerError, match="needs to see all hands"):
        player.act(view(state, env.player_to_move(state)), jax.random.key(1))


@pytest.mark.parametrize("options", [{"method": "gumbel"}, {"search_forced": True}])
def test_what_is_for_trainings_is_refused_for_players(options: dict[str, Any]) -> None:
    config = SearchConfig(**options)
    with pytest.raises(ConfigError, match="is for trainings"):
        InferenceConfig(search=config)
    with pytest.raises(ConfigError, match="is for trainings"):
        all_seeing.from_network(SMALL, None, config)
