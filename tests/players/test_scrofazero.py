"""The players that have a network: a small one with random weights."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

from gongzhu_jax import players
from gongzhu_jax.errors import ConfigError, PlayerError
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_CARDS
from gongzhu_jax.game.public_view import PublicView, legal_mask
from gongzhu_jax.inference import sampling
from gongzhu_jax.network import NetworkConfig
from gongzhu_jax.network import make as make_network
from gongzhu_jax.players.protocol import Player
from gongzhu_jax.players.scrofazero import PRESETS, decision_of, from_network
from gongzhu_jax.search import mcts
from tests import positions
from tests.oracle import features
from tests.oracle.rules import Game
from tests.oracle.ucb import leaf_value

NETWORK = NetworkConfig("compact", stem=32, width=16, blocks=1)
STAGES = list(range(NUM_CARDS)) + list(range(40, 48)) * 50
"""Each stage once, and endgames, of which few have no more than one possible deal."""


@functools.cache
def _params() -> Any:
    return jax.jit(make_network(NETWORK).init)(jax.random.key(0))


def _player(name: str, **options: Any) -> Player:
    return from_network(name, NETWORK, _params(), **options)


@pytest.fixture(scope="module")
def states() -> Any:
    return positions.random_states(0, STAGES)


@pytest.fixture(scope="module")
def views(states) -> PublicView:
    return positions.mover_views(states)


_legal = jax.jit(jax.vmap(legal_mask))


# against plain Python


def _numpy_network(x: list[float]) -> tuple[np.ndarray, float]:
    """Logits [52] and value of `NETWORK`, written out."""
    layers = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), _params()["params"])

    def dense(layer: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
        return x @ layer["kernel"] + layer["bias"]

    def relu(x: np.ndarray) -> np.ndarray:
        return np.maximum(x, 0)

    h = relu(dense(layers["stem_1"], relu(dense(layers["stem_0"], np.array(x)))))
    block = layers["block_0"]
    h = h + relu(dense(block["second"], relu(dense(block["first"], h))))
    out = dense(layers["heads"]["policy_value"], h)
    return out[:NUM_CARDS], float(out[NUM_CARDS] * 10)


def _game(state: Any) -> Game:
    owners = np.asarray(env.owners(state)).tolist()
    plays = [card for card in np.asarray(state.plays).tolist() if card >= 0]
    return Game(owners, int(state.leaders[0]), plays)


def _one_ply_q(game: Game) -> dict[int, float]:
    """Margin expected for the mover's team after each legal card."""
    sign = 1 if game.player_to_move() % 2 == 0 else -1

    def value(game: Game) -> float:
        return _numpy_network(features.perfect(game))[1]

    q = {}
    for card in game.legal():
        child = game.copy()
        child.play(card)
        q[card] = sign * leaf_value(child, value)
    return q


def _check_best(card: int, scores: dict[int, float]) -> None:
    assert scores[card] == pytest.approx(max(scores.values()), abs=1e-3)


def test_raw_plays_the_best_card_of_the_only_possible_deal(states, views) -> None:
    deals = np.exp(jax.jit(jax.vmap(sampling.log_count))(views))
    has_choice = np.sum(_legal(views), axis=1) > 1
    known = np.flatnonzero((deals < 1.5) & has_choice).tolist()
    assert len(known) >= 8
    player = _player("raw", **{"scenarios.draws": 1})
    seen_different = 0
    for i in known:
        scores = _one_ply_q(_game(positions.take(states, i)))
        _check_best(int(player.act(positions.take(views, i), jax.random.key(i))), scores)
        seen_different += max(scores.values()) - min(scores.values()) > 0.05
    assert seen_different > len(known) / 2


def test_policy_plays_the_best_logit_of_what_it_knows(states, views) -> None:
    player = _player("policy")
    for i in range(0, NUM_CARDS, 3):
        game = _game(positions.take(states, i))
        logits, _ = _numpy_network(features.averaged(game))
        scores = {card: logits[card] for card in game.legal()}
        _check_best(int(player.act(positions.take(views, i), jax.random.key(i))), scores)


# options


@pytest.mark.parametrize("name", PRESETS)
def test_unknown_options_name_the_known_ones(name: str) -> None:
    with pytest.raises(PlayerError, match=f"player '{name}' has no option 'speed'") as error:
        _player(name, speed=3)
    for known in players.option_names(name):
        if known != "checkpoint":  # the network is given
            assert known.split(".")[0] in str(error.value)
    assert "checkpoint" in players.option_names(name)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("scrofa", {"scenarios.draws": 8}),
        ("scrofa", {"weights.rule": "maybe"}),
        ("scrofa", {"weights.rule_power": -0.5}),
        ("scrofa", {"scenarios": {"draws": 9, "candidates": 8}}),
        ("raw", {"search.per_legal": 0}),
        ("policy", {"inputs": "perfect"}),
        ("policy", {"draws": 0}),
    ],
)
def test_bad_values(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        _player(name, **options)


def test_options_reach_their_parts() -> None:
    options: dict[str, Any] = {
        "scenarios.draws": 18,
        "weights": {"beta": 0.5, "min_rank": 5, "chunk": 3},
        "search.exploration": 7.0,
    }
    player = _player("scrofa", **options)
    config = player.config
    assert (config.scenarios.draws, config.weights.beta) == (18, 0.5)
    assert (config.weights.min_rank, config.search.exploration) == (5, 7.0)
    assert (config.weights.chunk, config.search.chunk) == (3, None)
    assert (float(player.params.beta), float(player.params.exploration)) == (0.5, 7.0)
    # What is not set is the preset's.
    assert (config.search.base, config.search.per_legal) == (10, 2)
    assert _player("raw").config.scenarios.draws == 5
    assert _player("scrofa-simple").config.weights.rule == "none"


@pytest.mark.parametrize("name", ["raw", "scrofa"])
def test_traced_numbers_share_a_program(name: str) -> None:
    numbers: dict[str, Any] = {"weights.beta": 0.5, "search.exploration": 7.0}
    one, other = _player(name), _player(name, **numbers)
    assert one.act_batch == other.act_batch
    assert hash(one.act_batch) == hash(other.act_batch)
    assert one.config != other.config
    assert _player(name, **{"scenarios.draws": 27}).act_batch != one.act_batch
    # Parameters of the network are traced too.
    params = jax.tree.map(lambda leaf: leaf + 1, _params())
    assert from_network(name, NETWORK, params).act_batch == one.act_batch


def test_a_shared_program_is_compiled_once(views, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the player it was compiled for is gone; and explanations are of the same move."""
    traces = _count_calls(monkeypatch, mcts, "total_value")
    key, position = jax.random.key(3), positions.take(views, 6)
    for beta in (0.0, 0.1):
        # The chunk is of a size that no other test has.
        player = _player("raw", **{"weights.beta": beta, "search.chunk": 17})
        card = player.act(position, key)
        decision = decision_of(player, position, key)
        assert int(decision.card[0]) == int(card) == np.argmax(decision.q[0])
        del player
    assert len(traces) == 2  # the move and its explanation


def _count_calls(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[None]:
    calls: list[None] = []
    function: Callable[..., Any] = getattr(module, name)

    def counted(*arguments):
        calls.append(None)
        return function(*arguments)

    monkeypatch.setattr(module, name, counted)
    return calls


def test_only_searches_can_be_explained(views) -> None:
    with pytest.raises(PlayerError, match="does not search"):
        decision_of(_player("policy"), positions.take(views, 6))


def test_names() -> None:
    assert set(PRESETS) == {"raw", "policy", "scrofa-simple", "scrofa", "scrofa-strong"}
