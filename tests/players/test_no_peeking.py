"""No player's choice depends on cards that it cannot see."""

from typing import Any

import jax
import numpy as np
import pytest

from gongzhu_jax import network, players
from gongzhu_jax.game.public_view import view, with_deal
from gongzhu_jax.inference import sampling
from gongzhu_jax.players import scrofazero
from tests import beliefs, positions

STAGES = (1, 6, 15, 20, 30, 35, 44)
REDEALS = 3
CHEAP = {
    "raw": {"scenarios.draws": 2},
    "scrofa-strong": {"scenarios.draws": 2, "scenarios.candidates": 4},
    "openspiel-ismcts": {"simulations": 5},
}
"""Options that make a player fast; its strength does not matter here."""


def _make(name: str) -> players.Player:
    options: dict[str, Any] = CHEAP.get(name, {})
    if name not in scrofazero.NAMES:
        return players.make(name, **options)
    net = network.make(network.NetworkConfig(width=8, blocks=1, stem=8))
    return players.from_network(name, net.config, net.init(jax.random.key(0)), **options)


@pytest.fixture(scope="module")
def redealt():
    """Views of the players to move, [1 + REDEALS, B]: first the true deals, then the hidden cards
    dealt anew in other ways that the views allow."""
    states = positions.random_states(11, STAGES)
    known = positions.mover_views(states)

    @jax.jit
    @jax.vmap
    def redeal(key, state, known):
        others = sampling.sample(key, known, REDEALS)
        again = jax.vmap(lambda holder: view(with_deal(known, holder), known.seat))(others)
        return others != state.holder[None], again

    changed, again = redeal(jax.random.split(jax.random.key(0), len(STAGES)), states, known)
    assert np.asarray(changed).any(axis=2).mean() > 0.8  # really other deals
    again = jax.tree.map(lambda leaf: np.moveaxis(np.asarray(leaf), 1, 0), again)
    return jax.tree.map(lambda first, rest: np.concatenate([first[None], rest]), known, again)


@pytest.fixture(scope="module")
def learned(tmp_path_factory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("learned")
    return {
        "belief": beliefs.save_small(folder),
        "opponent_model": beliefs.save_opponent_model(folder),
    }


@pytest.mark.parametrize(
    ("scenarios", "weights"),
    [
        (
            {"stratified": False},
            {"rule": "opponent-model", "rule_power": 0.5, "belief_power": 0.5},
        ),
        ({"proposal": "belief"}, {"rule": "none", "belief_power": 1.0}),
    ],
)
def test_hidden_cards_do_not_matter_to_what_is_learned(scenarios, weights, redealt, learned):
    net = network.make(network.NetworkConfig(width=8, blocks=1, stem=8))
    options: dict[str, Any] = {"search": {"base": 0, "per_legal": 1}, **learned}
    params = net.init(jax.random.key(0))
    player = players.from_network(
        "scrofa", net.config, params, scenarios=scenarios, weights=weights, **options
    )
    _check(player, redealt)


@pytest.mark.parametrize("name", players.names())
def test_hidden_cards_do_not_matter(name, redealt):
    _check(_make(name), redealt)


def _check(player: players.Player, redealt) -> None:
    keys = jax.random.split(jax.random.key(1), len(STAGES))
    act = jax.jit(player.act_batch)
    true, *others = (
        np.asarray(act(player.params, keys, positions.take(redealt, i))) for i in range(1 + REDEALS)
    )
    for cards in others:
        np.testing.assert_array_equal(cards, true)
    assert np.asarray(redealt.hand[0])[np.arange(len(STAGES)), true].all()
