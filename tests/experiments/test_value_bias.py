"""Errors of values between the cards of one decision, against plain counting."""

import jax
import numpy as np
import pytest

from experiments.report.cards import difference_of_blocks, mean_of_blocks
from experiments.value_bias import (
    Deviations,
    centred,
    deviate,
    kinds_of_rows,
    measure,
    parts_of_game,
    predict,
)
from gongzhu_jax import players
from gongzhu_jax.evaluation.deals import random_deals
from gongzhu_jax.game import env
from gongzhu_jax.game.scoring import LONE_TRANSFORMER
from gongzhu_jax.network.policy_value import make
from gongzhu_jax.network.weights import load_weights
from gongzhu_jax.search.mcts import network_policy_value
from gongzhu_jax.search.model import total_value
from tests.evaluation.simple_players import high_card, high_player
from tests.oracle.rules import Game


@pytest.fixture(scope="module")
def deviations() -> Deviations:
    return deviate(high_player, players.make("random"), random_deals(2, 16), 0, {})


def test_every_legal_card_of_a_decision_of_the_player(deviations: Deviations) -> None:
    for decision in range(16):
        state = jax.tree.map(lambda leaf: leaf[decision], deviations.states)  # noqa: B023
        assert int(env.player_to_move(state)) in (0, 2)
        legal = np.flatnonzero(np.asarray(env.legal_mask(state)))
        assert len(legal) > 1
        np.testing.assert_array_equal(deviations.card[deviations.decision == decision], legal)


def test_outcomes_are_those_of_games_that_go_on() -> None:
    """With a player that is not random at all four seats the oracle can go on by itself."""
    high = deviate(high_player, high_player, random_deals(2, 6), 0, {})
    for row in range(len(high.card)):
        state = jax.tree.map(lambda leaf: leaf[high.decision[row]], high.states)  # noqa: B023
        played = [int(card) for card in state.plays if card >= 0]
        game = Game(np.asarray(env.owners(state)).tolist(), int(state.leaders[0]))
        for card in [*played, int(high.card[row])]:
            game.play(card)
        while not game.is_terminal():
            game.play(high_card(game))
        scores = game.scores()
        assert high.outcome[row] == scores[0] + scores[2] - scores[1] - scores[3]


def test_predictions_are_values_of_the_true_successors(deviations: Deviations) -> None:
    config, params = load_weights(None)
    values = network_policy_value(make(config))
    predicted = predict(None, deviations)

    @jax.jit
    def after_card(state: env.GameState, card: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The total after a card for the player to move then, and whether that is of our team."""
        after = env.step(state, card)
        batch = jax.tree.map(lambda leaf: leaf[None], after)
        total = total_value(after, values(params, batch)[1][0], LONE_TRANSFORMER)
        return total, env.player_to_move(after) % 2 == env.player_to_move(state) % 2

    for row in range(0, len(deviations.card), 7):
        state = jax.tree.map(lambda leaf: leaf[deviations.decision[row]], deviations.states)  # noqa: B023
        value, ours = after_card(state, deviations.card[row])
        np.testing.assert_allclose(predicted[row], value if ours else -value, atol=1e-2)


def test_errors_are_relative_to_the_decision() -> None:
    decision = np.array([0, 0, 0, 1, 1])
    np.testing.assert_allclose(
        centred(np.array([1.0, 2.0, 6.0, 5.0, 7.0]), decision), [-2, -1, 3, -1, 1]
    )


def test_measures_equal_a_count_by_hand(deviations: Deviations) -> None:
    """A value that is the outcome, and 10 points more for hearts."""
    heart = deviations.card // 13 == 1
    predicted = deviations.outcome + 10.0 * heart
    measured = measure(deviations, predicted)
    errors, gains = {}, {}
    for decision in np.unique(deviations.decision):
        rows = np.flatnonzero(deviations.decision == decision)
        mean = 10 * heart[rows].mean()
        errors |= {row: 10.0 * heart[row] - mean for row in rows}
        best = rows[np.argmax(predicted[rows])]
        gains[best] = deviations.outcome[best] - deviations.outcome[rows].mean()
    for name, rows in kinds_of_rows(deviations).items():
        wanted = [errors[row] for row in np.flatnonzero(rows)]
        assert sum(measured["cards"][name]["count"]) == len(wanted)
        np.testing.assert_allclose(sum(measured["cards"][name]["sum"]), sum(wanted), atol=1e-6)
    assert sum(len(np.flatnonzero(rows)) for rows in kinds_of_rows(deviations).values()) == len(
        heart
    )
    parts = parts_of_game(deviations)
    assert list(parts)[:3] == ["all decisions", "leading", "following"]
    for name, rows in parts.items():
        inside = set(np.flatnonzero(rows))
        trick = [deviations.stage[row] // 4 + 1 for row in inside]
        assert not name.startswith("trick") or {f"trick {number}" for number in trick} == {name}
        of = measured["parts"][name]
        squares = [errors[row] ** 2 for row in inside]
        np.testing.assert_allclose(sum(of["squared"]["sum"]), sum(squares), atol=1e-6)
        chosen = [gain for row, gain in gains.items() if row in inside]
        np.testing.assert_allclose(sum(of["choice"]["sum"]), sum(chosen), atol=1e-6)
        assert sum(of["choice"]["count"]) == len(chosen)
    assert np.all(deviations.stage[parts["leading"]] % 4 == 0)
    assert np.all(deviations.stage[parts["following"]] % 4 > 0)
    assert parts["all decisions"].all()


def test_mean_of_blocks_is_the_ratio_estimate() -> None:
    rng = np.random.default_rng(0)
    count = rng.integers(1, 9, 4000)
    total = rng.normal(2.0 * count, np.sqrt(count))
    figure = mean_of_blocks({"sum": total.tolist(), "count": count.tolist()})
    assert figure.value == pytest.approx(2.0, abs=0.05)
    assert figure.error == pytest.approx(1 / np.sqrt(count.sum()), rel=0.1)


def test_differences_are_paired() -> None:
    """What two networks have in common, here the luck of the block, is not in the error."""
    rng = np.random.default_rng(1)
    luck = rng.normal(0, 100, 32)
    first, other = ({"sum": (luck + more).tolist(), "count": [8.0] * 32} for more in (0.0, 16.0))
    figure = difference_of_blocks(other, first)
    assert figure.value == pytest.approx(2.0)
    assert figure.error == pytest.approx(0.0, abs=1e-9)
