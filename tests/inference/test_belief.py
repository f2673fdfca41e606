"""The belief's input: all that a seat may know, counted from that seat, and nothing more."""

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from gongzhu_jax import players
from gongzhu_jax.errors import CheckpointError
from gongzhu_jax.game import env
from gongzhu_jax.game.view import PublicView, unseen_mask, view
from gongzhu_jax.inference import odds
from gongzhu_jax.inference.belief import (
    NUM_BELIEF_FEATURES,
    encode_view,
    load_belief,
    log_odds,
)
from gongzhu_jax.inference.constraints import constraints
from gongzhu_jax.inference.decision import Decision, effective_sample_size
from gongzhu_jax.inference.explanation import believed_holders
from gongzhu_jax.network.registry import NetworkConfig, make
from gongzhu_jax.network.weights import save_weights
from gongzhu_jax.players import scrofazero
from tests import beliefs, positions

STAGES = [0, 1, 3, 4, 17, 30, 42, 50, 51] * 2
_encode = jax.jit(jax.vmap(encode_view))


def expected(state: env.GameState, seat: int) -> np.ndarray:
    """By loops over the history."""
    stage = int(state.stage)
    plays, leaders = np.asarray(state.plays), np.asarray(state.leaders)
    hand = np.asarray(state.holder) == seat
    played = np.zeros(52, bool)
    history, led = np.zeros((13, 4, 52)), np.zeros((13, 4))
    voids = np.zeros((4, 4), bool)
    sizes = np.full(4, 13)
    for number in range(stage):
        trick, place = divmod(number, 4)
        who = (leaders[trick] + place) % 4
        history[trick, (who - seat) % 4, plays[number]] = 1
        played[plays[number]] = True
        sizes[who] -= 1
        if plays[number] // 13 != plays[trick * 4] // 13:
            voids[who, plays[trick * 4] // 13] = True
    for trick in range(13):
        if leaders[trick] >= 0:
            led[trick, (leaders[trick] - seat) % 4] = 1
    taken = np.zeros((4, 52))
    for card, who in enumerate(np.asarray(state.taken_by)):
        if who >= 0:
            taken[(who - seat) % 4, card] = 1
    others = [(seat + i) % 4 for i in (1, 2, 3)]
    place = np.eye(4)[stage % 4]
    parts = (
        *(hand, ~(hand | played), history, led, history.max(0), taken),
        *(~voids[others], sizes[others] / 13, place),
    )
    return np.concatenate([np.asarray(part, np.float32).reshape(-1) for part in parts])


def test_features_as_by_loops() -> None:
    states = positions.random_states(5, STAGES)
    for seat in range(4):
        found = _encode(jax.vmap(view, (0, None))(states, seat))
        assert found.shape == (len(STAGES), NUM_BELIEF_FEATURES)
        for row in range(len(STAGES)):
            wanted = expected(positions.take(states, row), seat)
            np.testing.assert_allclose(found[row], wanted, rtol=1e-6)


# Decisions by belief

SMALL = NetworkConfig("compact", stem=8, width=8, blocks=1)
DRAWS = 3000


@pytest.fixture(scope="module")
def belief_file(tmp_path_factory) -> Path:
    return beliefs.save_small(tmp_path_factory.mktemp("belief"))


@pytest.fixture(scope="module")
def late_view() -> PublicView:
    """Of the player to move, with four tricks to go and much unknown."""
    return positions.take(positions.random_views(8, [36]), 0)


def decision(belief_file: Path, view: PublicView, **options: Any) -> Decision:
    player = players.from_network(
        "scrofa",
        SMALL,
        make(SMALL).init(jax.random.key(0)),
        belief=belief_file,
        **{"draws": DRAWS, "base": 0, "per_legal": 1, **options},
    )
    return scrofazero.explain(player, jax.random.key(2), view)


def believed(found: Decision, view: PublicView) -> np.ndarray:
    """[52, 3] weighted share of each opponent."""
    shares = np.asarray(believed_holders(found.scenarios.holder, found.weight))[0]
    others = [(int(view.seat) + i) % 4 for i in (1, 2, 3)]
    return np.where(np.asarray(unseen_mask(view))[:, None], shares[:, others], 0)


@pytest.mark.parametrize(
    ("sampler", "weights"),
    [
        ("uniform", "belief"),
        ("belief", "belief"),
        ("belief", "none"),
        ("stratified-belief", "none"),
    ],
)
def test_what_is_believed_does_not_depend_on_the_sampler(
    belief_file: Path, late_view: PublicView, sampler: str, weights: str
) -> None:
    """Without weights every deal counts alike; with them, the exact shares by the odds."""
    temper = 0.7
    found = decision(
        belief_file,
        late_view,
        sampler=sampler,
        weights=weights,
        temper=temper,
        stratum_weights="exact",
    )
    config, params = load_belief(belief_file)
    numbers = log_odds(params, jax.tree.map(lambda leaf: leaf[None], late_view), config)[0]
    scale = temper if weights == "belief" else 0.0
    exact = odds.marginals(scale * numbers, constraints(late_view))
    flat = odds.marginals(0 * numbers, constraints(late_view))
    assert np.max(np.abs(odds.marginals(temper * numbers, constraints(late_view)) - flat)) > 0.2
    size = float(effective_sample_size(found.weight[0]))
    assert size > 100
    np.testing.assert_allclose(believed(found, late_view), exact, atol=4 * 0.5 / np.sqrt(size))
    if sampler == weights:  # drawn as they are believed, all count alike
        np.testing.assert_allclose(found.weight[0], 1 / DRAWS, rtol=1e-2)


def test_a_file_of_another_kind_is_refused(tmp_path: Path, late_view: PublicView) -> None:
    path = tmp_path / "policy.safetensors"
    save_weights(path, SMALL, make(SMALL).init(jax.random.key(0)), {})
    with pytest.raises(CheckpointError, match="another kind: policy_value"):
        decision(path, late_view, weights="belief")
