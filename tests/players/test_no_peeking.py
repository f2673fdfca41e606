"""No player's choice depends on cards that it cannot see."""

from typing import Any

import jax
import numpy as np
import pytest

from gongzhu_jax import network, players
from gongzhu_jax.game.public_view import legal_mask, view, with_deal
from gongzhu_jax.inference import sampling
from gongzhu_jax.players import scrofazero
from tests import beliefs, positions

STAGES = (1, 4, 6, 11, 15, 16, 20, 22, 30, 35, 36, 44)
REDEALS = 2
CHEAP = {
    "scrofa-strong": {
        "scenarios.draws": 4,
        "scenarios.candidates": 8,
        "racing.block": 2,
        "prior.share": 0.3,
    },
    "openspiel-ismcts": {"simulations": 5},
}
"""Options that make a player fast; its strength does not matter here."""


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
        ({"stratum_weights": "exact"}, {"rule": "bayes", "inputs": "onehot"}),
    ],
)
def test_hidden_cards_do_not_matter_to_scenarios_and_weights(scenarios, weights, redealt, learned):
    """With one visit of every card, which compiles faster than a tree."""
    options: dict[str, Any] = {"search": {"base": 0, "per_legal": 1}, **learned}
    _check(_with_network("scrofa", scenarios=scenarios, weights=weights, **options), redealt)


def test_hidden_cards_do_not_matter_to_an_averaged_policy(redealt):
    _check(_with_network("policy", inputs="onehot", draws=3), redealt)


@pytest.mark.parametrize("name", players.names())
def test_hidden_cards_do_not_matter(name, redealt):
    options: dict[str, Any] = CHEAP.get(name, {})
    make = _with_network if name in scrofazero.PRESETS else players.make
    _check(make(name, **options), redealt)


def _with_network(name: str, **options: Any) -> players.Player:
    net = network.make(network.NetworkConfig(width=8, blocks=1, stem=8))
    return players.from_network(name, net.config, net.init(jax.random.key(0)), **options)


_legal = jax.jit(jax.vmap(legal_mask))


def _check(player: players.Player, redealt) -> None:
    """The same view of another deal of the hidden cards, with the same key, gives the same card."""
    count = len(STAGES)
    keys = jax.random.split(jax.random.key(1), count)[np.tile(np.arange(count), 1 + REDEALS)]
    every = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), redealt)
    cards = np.asarray(jax.jit(player.act_batch)(player.params, keys, every))
    assert cards.dtype == np.int8
    true, *others = cards.reshape(-1, count)
    for again in others:
        np.testing.assert_array_equal(again, true)
    legal = np.asarray(_legal(positions.take(redealt, 0)))
    assert legal[np.arange(count), true].all()
    # Not only because there was nothing to choose, or the first card was always taken.
    assert np.mean(true != np.argmax(legal, axis=1)) > 0.2
