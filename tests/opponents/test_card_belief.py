"""The belief's input: all that a seat may know, counted from that seat, and nothing more."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax import players
from gongzhu_jax.errors import CheckpointError
from gongzhu_jax.game import env
from gongzhu_jax.game.public_view import PublicView, unseen_mask, view
from gongzhu_jax.inference.constraints import constraints
from gongzhu_jax.inference.decision import Decision, effective_sample_size
from gongzhu_jax.inference.explanation import believed_holders
from gongzhu_jax.network.policy_value import NetworkConfig, make
from gongzhu_jax.network.weights import load_weights, save_weights
from gongzhu_jax.opponents import odds
from gongzhu_jax.opponents.card_belief import (
    KIND,
    NUM_VIEW_FEATURES,
    BeliefConfig,
    CardBeliefNet,
    encode_view,
    init_belief,
    log_odds,
    log_odds_of_games,
)
from gongzhu_jax.opponents.play_features import NUM_PLAY_FEATURES
from gongzhu_jax.players import scrofazero
from tests import beliefs, positions

STAGES = [0, 1, 3, 4, 17, 30, 42, 50, 51] * 2
_encode = jax.jit(jax.vmap(encode_view))
_views_of = jax.jit(jax.vmap(view, (0, None)))
_log_odds = jax.jit(log_odds, static_argnums=2)
_marginals = jax.jit(lambda numbers, view: odds.marginals(numbers, constraints(view)))


def expected(state: env.GameState, seat: int) -> np.ndarray:
    """The position by loops over the history."""
    stage = int(state.stage)
    plays, leaders = np.asarray(state.plays), np.asarray(state.leaders)
    hand = np.asarray(state.holder) == seat
    played_by = np.zeros((4, 52))
    voids = np.zeros((4, 4), bool)
    sizes = np.full(4, 13)
    for number in range(stage):
        trick, place = divmod(number, 4)
        who = (leaders[trick] + place) % 4
        played_by[(who - seat) % 4, plays[number]] = 1
        sizes[who] -= 1
        if plays[number] // 13 != plays[trick * 4] // 13:
            voids[who, plays[trick * 4] // 13] = True
    taken = np.zeros((4, 52))
    for card, who in enumerate(np.asarray(state.taken_by)):
        if who >= 0:
            taken[(who - seat) % 4, card] = 1
    others = [(seat + i) % 4 for i in (1, 2, 3)]
    unseen = ~(hand | (played_by.sum(0) > 0))
    parts = (
        *(hand, unseen, played_by, taken),
        *(~voids[others], sizes[others] / 13, np.eye(4)[stage % 4]),
    )
    return np.concatenate([np.asarray(part, np.float32).reshape(-1) for part in parts])


def expected_play(
    plays: list[int], leaders: list[int], number: int, unseen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """One play as its actor saw it, and the cards that might have been played instead."""
    trick, place = divmod(number, 4)
    actor = (leaders[trick] + place) % 4
    card, table = plays[number], plays[4 * trick : number]
    features = {name: np.zeros(52) for name in ("card", "table", "best", "ours", "theirs")}
    features["card"][card] = 1
    features["table"][table] = 1
    led, behind = np.zeros(4), np.zeros(3)
    if table:
        led[table[0] // 13] = 1
        best = max(c for c in table if c // 13 == table[0] // 13)
        features["best"][best] = 1
        behind[place - table.index(best) - 1] = 1
    for before in range(trick):
        winner = leaders[before + 1]
        side = "ours" if (winner - actor) % 2 == 0 else "theirs"
        features[side][plays[4 * before : 4 * before + 4]] = 1
    rest = (led, np.eye(4)[place], behind, np.eye(13)[trick])
    free = not table or card // 13 != table[0] // 13
    instead = [unseen[c] and (free or c // 13 == table[0] // 13) for c in range(52)]
    return np.concatenate([*features.values(), *rest]), np.array(instead)


def test_features_as_by_loops() -> None:
    states = positions.random_states(5, STAGES)
    for seat in range(4):
        encoded = jax.device_get(_encode(_views_of(states, seat)))
        assert encoded.position.shape == (len(STAGES), NUM_VIEW_FEATURES)
        assert encoded.plays.shape == (len(STAGES), 52, NUM_PLAY_FEATURES)
        for row in range(len(STAGES)):
            state = positions.take(states, row)
            wanted = expected(state, seat)
            np.testing.assert_allclose(encoded.position[row], wanted, rtol=1e-6)
            plays, leaders = np.asarray(state.plays).tolist(), np.asarray(state.leaders).tolist()
            actors = np.zeros((3, 52), bool)
            for number in range(int(state.stage)):
                unseen = wanted[52:104] > 0
                features, instead = expected_play(plays, leaders, number, unseen)
                np.testing.assert_array_equal(encoded.plays[row, number], features)
                np.testing.assert_array_equal(encoded.alternatives[row, number], instead)
                opponent = (leaders[number // 4] + number - seat - 1) % 4
                if opponent < 3:
                    actors[opponent, number] = True
            np.testing.assert_array_equal(encoded.actors[row], actors)


def test_plays_to_come_do_not_matter() -> None:
    """Rows of the encoding from the stage on are not those of plays."""
    config = BeliefConfig(reader=8, width=8, blocks=1)
    params = init_belief(jax.random.key(0), config)
    views = _views_of(positions.random_states(5, STAGES), 1)
    inputs = jax.device_get(_encode(views))
    come = np.arange(52) >= np.asarray(views.stage)[:, None]
    changed = inputs.replace(plays=np.where(come[..., None], 9.0, inputs.plays))
    apply = jax.jit(CardBeliefNet(config).apply)
    np.testing.assert_array_equal(apply(params, inputs), apply(params, changed))


def test_plays_of_a_game_are_read_once() -> None:
    """Views of one game share what is read of its plays, and are judged as each for itself."""
    config = BeliefConfig(reader=8, width=8, blocks=1)
    params = beliefs.perturbed(init_belief(jax.random.key(0), config))
    games = positions.random_states(6, [52, 52])
    stages = jnp.array([[0, 3, 17, 30], [4, 29, 41, 51]], jnp.int8)

    @jax.jit
    def both(games):
        states = jax.vmap(jax.vmap(env.rewind, (None, 0)))(games, stages)
        views = jax.vmap(jax.vmap(lambda state: view(state, env.player_to_move(state))))(states)
        whole = jax.vmap(view, (0, None))(games, 2)
        flat = jax.tree.map(lambda leaf: leaf.reshape(8, *leaf.shape[2:]), views)
        return log_odds_of_games(params, whole, views, config), log_odds(params, flat, config)

    together, alone = both(games)
    assert np.ptp(alone) > 0.1
    np.testing.assert_allclose(together.reshape(alone.shape), alone, atol=1e-5)


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
    common: dict[str, Any] = {
        "belief": belief_file,
        "scenarios.draws": DRAWS,
        "search.base": 0,
        "search.per_legal": 1,
    }
    params = make(SMALL).init(jax.random.key(0))
    player = players.from_network("scrofa", SMALL, params, **{**common, **options})
    return scrofazero.decision_of(player, view, jax.random.key(2))


def believed(decided: Decision, view: PublicView) -> np.ndarray:
    """[52, 3] weighted share of each opponent."""
    shares = np.asarray(believed_holders(decided.scenarios.holder, decided.weight))[0]
    others = [(int(view.seat) + i) % 4 for i in (1, 2, 3)]
    return np.where(np.asarray(unseen_mask(view))[:, None], shares[:, others], 0)


@pytest.mark.parametrize(
    ("proposal", "stratified", "belief_power"),
    [
        ("uniform", False, 0.7),
        ("belief", False, 0.7),
        ("belief", False, 0.0),
        ("belief", True, 0.0),
    ],
)
def test_what_is_believed_does_not_depend_on_the_proposal(
    belief_file: Path, late_view: PublicView, proposal: str, stratified: bool, belief_power: float
) -> None:
    """Without the belief the posterior is uniform; with it, the exact shares by the odds."""
    power = 0.7
    decided = decision(
        belief_file,
        late_view,
        scenarios={
            "proposal": proposal,
            "proposal_power": power,
            "stratified": stratified,
            "stratum_weights": "exact",
        },
        weights={"rule": "none", "belief_power": belief_power},
    )
    config, params = load_weights(belief_file, KIND)
    one_view = jax.tree.map(lambda leaf: leaf[None], late_view)
    numbers = np.asarray(_log_odds(params, one_view, config)[0])
    exact, flat, sharp = (
        _marginals(np.float32(p) * numbers, late_view) for p in (belief_power, 0, power)
    )
    assert np.max(np.abs(sharp - flat)) > 0.2
    size = float(effective_sample_size(decided.weight[0]))
    assert size > 100
    np.testing.assert_allclose(believed(decided, late_view), exact, atol=4 * 0.5 / np.sqrt(size))
    if proposal == "belief" and belief_power:  # drawn as they are believed: equal weights
        np.testing.assert_allclose(decided.weight[0], 1 / DRAWS, rtol=1e-2)


@pytest.mark.parametrize("rule", ["iec", "bayes"])
def test_the_belief_times_a_rule_of_slices(
    belief_file: Path, late_view: PublicView, rule: str
) -> None:
    """On the same deals the weights are the product of both."""

    def weight(rule: str, belief_power: float, rule_power: float = 1.0) -> np.ndarray:
        powers = {"belief_power": belief_power, "rule_power": rule_power}
        options: dict[str, Any] = {
            "scenarios.stratified": False,
            "scenarios.draws": 64,
            "weights": {"rule": rule, "slices": "every", "beta": 0.05, **powers},
        }
        decided = decision(belief_file, late_view, **options)
        return np.asarray(decided.weight[0], np.float64)

    both = weight("none", 1.0) * weight(rule, 0.0)
    np.testing.assert_allclose(weight(rule, 1.0), both / both.sum(), rtol=1e-3)
    assert not np.allclose(weight("none", 1.0), both / both.sum(), rtol=1e-3)
    pool = weight("none", 1.0) ** 0.3 * weight(rule, 0.0) ** 0.7
    np.testing.assert_allclose(weight(rule, 0.3, 0.7), pool / pool.sum(), rtol=1e-3)


def test_a_file_of_another_kind_is_refused(tmp_path: Path, late_view: PublicView) -> None:
    path = tmp_path / "policy.safetensors"
    save_weights(path, SMALL, make(SMALL).init(jax.random.key(0)), {})
    with pytest.raises(CheckpointError, match="another kind: policy_value"):
        decision(path, late_view, **{"weights.belief_power": 1.0})


def test_a_file_of_another_version_is_refused(tmp_path: Path, late_view: PublicView) -> None:
    path = tmp_path / "old.safetensors"
    save_weights(path, SMALL, make(SMALL).init(jax.random.key(0)), {}, kind=KIND)
    with pytest.raises(CheckpointError, match="holds a network of another version"):
        decision(path, late_view, **{"weights.belief_power": 1.0})
