"""The tree search against the plain-Python one, and what it promises about budgets and batches.

Most tests share two compiled trees; what differs between them, budgets and the evaluator's
weights, is data.
"""

import functools
from typing import Any, NamedTuple
from unittest import mock

import jax
import jax.numpy as jnp
import mctx
import numpy as np
import pytest

from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game import card_id, env, owners_from_hands
from gongzhu_jax.game.public_view import pad_plays
from gongzhu_jax.game.replays import replay, replay_checked
from gongzhu_jax.network import encode, make
from gongzhu_jax.search import (
    SearchConfig,
    SearchResult,
    best_card,
    network_policy_value,
    search,
)
from gongzhu_jax.search.model import NUM_ACTIONS, total_value
from gongzhu_jax.search.tree import grow
from tests.game.random_games import random_states
from tests.optimised import OPTIMISED
from tests.oracle import features, ucb
from tests.oracle.data import linear_value, load
from tests.oracle.rules import Game

POSITIONS = 120
ROWS = 2 * POSITIONS  # of the shared trees
PAPER = SearchConfig(base=10)
ORIGINAL = SearchConfig(base=100, per_legal=0, ucb_factor=2.0)
KEY = jax.random.key(0)


# An evaluator linear in the 434 inputs: the same numbers come out here and in the oracle.

Linear = tuple[np.ndarray, float]  # weights and a constant


def linear_policy_value(params: Linear, states: env.GameState) -> tuple[jax.Array, jax.Array]:
    weights, constant = params
    x = jax.vmap(encode)(states)
    value = jnp.matmul(x, weights, precision=jax.lax.Precision.HIGHEST) + constant
    return jnp.zeros((x.shape[0], 52)), value


def eighths() -> Linear:
    """Weights whose sums float32 holds exactly, whatever the order."""
    return (np.random.default_rng(3).integers(-80, 81, features.SIZE) / 8).astype(np.float32), 0.0


def reference_weights() -> Linear:
    """The evaluator of the golden records, for inputs in our layout.

    A linear function is known by its values at the unit vectors. Our cell of S2 in the first slot
    is the exception: it says that the two cells after it, which S2 lights too, do not count.
    """

    def at(cells: list[int]) -> float:
        x = [float(cell in cells) for cell in range(features.SIZE)]
        with mock.patch.object(features, "perfect", return_value=x):
            return linear_value(mock.Mock())

    weights = [at([cell]) for cell in range(features.SIZE)]
    first = features.TRICK
    assert at([first, first + 1, first + 2]) == 0
    weights[first] = -weights[first + 1] - weights[first + 2]
    return np.array(weights, np.float32), 0.0


# The shared trees


class Grown(NamedTuple):
    q: Any  # [B, 13] by action
    visits: Any  # [B, 13]
    evaluated: Any
    tree: Any  # mctx.Tree


@functools.partial(jax.jit, static_argnames="config", compiler_options=OPTIMISED)
def _grow(params: Linear, states: env.GameState, budgets: jax.Array, config: SearchConfig) -> Grown:
    trees = []

    def keep(*args: Any, **options: Any) -> mctx.Tree:
        trees.append(plain(*args, **options))
        return trees[0]

    plain = mctx.search
    with mock.patch.object(mctx, "search", keep):
        c = jnp.float32(config.exploration)
        parts = grow(params, KEY, states, budgets, linear_policy_value, config, c)
    return Grown(*parts, trees[0])


def grow_rows(params: Linear, states: env.GameState, budgets: Any, config: SearchConfig) -> Grown:
    """Trees of any number of roots up to ROWS; the batch is filled up with its first root."""
    rows = np.pad(np.arange(len(budgets)), (0, ROWS - len(budgets)))
    used = np.where(np.arange(ROWS) < len(budgets), np.asarray(budgets)[rows], 0).astype(np.int32)
    grown = _grow(params, take(states, rows), used, config)
    cut = jax.tree.map(lambda leaf: leaf[: len(budgets)], grown._replace(evaluated=()))
    return jax.device_get(cut._replace(evaluated=grown.evaluated))


def take(states: env.GameState, rows: Any) -> env.GameState:
    return jax.tree.map(lambda leaf: leaf[rows], states)


class Batch(NamedTuple):
    """Random positions, each once with the budget of training and once with that of play."""

    states: env.GameState
    games: list[Game]
    budgets: np.ndarray
    params: Linear

    def half(self, number: int) -> slice:
        return slice(number * POSITIONS, (number + 1) * POSITIONS)


@pytest.fixture(scope="module")
def batch() -> Batch:
    states, games = random_states(1, 128)
    games = games[:POSITIONS]
    legal = np.array([len(game.legal()) for game in games])
    twice = take(states, np.tile(np.arange(POSITIONS), 2))
    return Batch(twice, games * 2, np.concatenate([2 * legal, 10 + 2 * legal]), eighths())


@pytest.fixture(scope="module")
def grown(batch: Batch) -> Grown:
    return grow_rows(batch.params, batch.states, batch.budgets, PAPER)


_replay = jax.jit(jax.vmap(replay))


def states_of(records: list[dict[str, Any]]) -> env.GameState:
    """The positions of golden records, at most ROWS."""
    rows = np.resize(np.arange(len(records)), ROWS)
    deals, leaders = (np.array([r[name] for r in records], np.int8) for name in ("deal", "leader"))
    plays = np.stack([pad_plays(record["plays"]) for record in records])
    states, legal = _replay(deals[rows], leaders[rows], plays[rows])
    assert np.all(legal)
    return jax.device_get(take(states, slice(0, len(records))))


# Against the oracle


def check_rows(grown: Grown, batch: Batch, factor: float) -> None:
    weights, _ = batch.params

    def value(game: Game) -> float:
        return float(np.dot(features.perfect(game), weights.astype(float)))

    for row, (game, budget) in enumerate(zip(batch.games, batch.budgets, strict=True)):
        visits, mean = ucb.search(game, value, int(budget), 30.0, factor)
        count = len(visits)
        assert grown.visits[row, :count].tolist() == list(visits.values())
        assert not grown.visits[row, count:].any()
        np.testing.assert_allclose(grown.q[row, :count], list(mean.values()), atol=1e-2)


def test_visit_by_visit(batch: Batch, grown: Grown) -> None:
    check_rows(grown, batch, 1.0)


def test_visit_by_visit_with_the_factor_of_the_original(batch: Batch) -> None:
    grown = grow_rows(batch.params, batch.states, batch.budgets, ORIGINAL)
    check_rows(grown, batch, 2.0)


def test_golden_traces() -> None:
    records = load("mcts_trace")
    assert {record["c"] for record in records} == {ORIGINAL.exploration}
    budgets = [record["iters"] for record in records]
    grown = grow_rows(reference_weights(), states_of(records), budgets, ORIGINAL)
    for record, q, visits in zip(records, grown.q, grown.visits, strict=True):
        count = len(record["legal"])
        assert visits[:count].tolist() == record["visits"]
        assert not visits[count:].any()
        np.testing.assert_allclose(q[:count], record["mean"], atol=1e-2)


def test_every_node_is_a_legal_position(batch: Batch, grown: Grown) -> None:
    """Each node is its parent after one card that the oracle's rules allow; the end of a game
    is its own successor."""
    tree = grown.tree
    assert np.any(tree.embeddings.stage == 52)
    for row, root in enumerate(batch.games):
        games = {0: root}
        for node in range(1, tree.node_visits.shape[1]):
            if not tree.node_visits[row, node]:
                continue
            game = games[int(tree.parents[row, node])].copy()
            if not game.is_terminal():
                game.play(game.legal()[int(tree.action_from_parent[row, node])])
            games[node] = game
            plays = [card for _, card in game.plays]
            assert tree.embeddings.stage[row, node] == len(plays)
            assert tree.embeddings.plays[row, node].tolist() == pad_plays(plays).tolist()
            legal = tree.children_prior_logits[row, node] > -np.inf
            assert legal.tolist() == [action < len(game.legal()) for action in range(NUM_ACTIONS)]
            if legal.any():
                assert not tree.children_visits[row, node, ~legal].any()


def test_the_end_of_a_game_is_the_end_of_a_branch() -> None:
    """Further visits do not make the tree deeper, only more certain."""
    records = load("endgame")
    grown = grow_rows(eighths(), states_of(records), [100] * len(records), ORIGINAL)
    depth = np.zeros(grown.tree.parents.shape, int)
    for node in range(1, depth.shape[1]):
        parents = grown.tree.parents[:, node]
        depth[:, node] = np.where(parents < 0, 0, depth[np.arange(len(records)), parents] + 1)
    assert depth.max() == max(record["cards_left"] for record in records)
    np.testing.assert_array_equal(grown.visits.sum(1), 100)


# Batches and budgets


@functools.partial(jax.jit, static_argnames="config", compiler_options=OPTIMISED)
def _run(
    params: Linear, states: env.GameState, active: jax.Array, config: SearchConfig
) -> SearchResult:
    return search(params, KEY, states, linear_policy_value, config, active=active)


def run(
    params: Linear, states: env.GameState, config: SearchConfig, active: np.ndarray | None = None
) -> SearchResult:
    everybody = np.ones(len(states.stage), bool)
    return _run(params, states, jnp.asarray(everybody if active is None else active), config)


TRAINING = SearchConfig(chunk=512)
PLAY = SearchConfig(base=10, chunk=50, search_forced=True)


def by_card(game: Game, values: np.ndarray, fill: float) -> np.ndarray:
    cards = np.full(52, fill)
    cards[game.legal()] = values[: len(game.legal())]
    return cards


def check_result(
    result: SearchResult, grown: Grown, games: list[Game], searched: np.ndarray
) -> None:
    """The search found what the trees did, at the roots that it was to search."""
    for row, game in enumerate(games):
        visits = by_card(game, grown.visits[row] * searched[row], 0)
        np.testing.assert_array_equal(result.visits[row], visits)
        q = np.where(visits > 0, by_card(game, grown.q[row], -np.inf), -np.inf)
        np.testing.assert_array_equal(result.q[row], q)


def rows_of(grown: Grown, rows: Any) -> Grown:
    return grown._replace(q=grown.q[rows], visits=grown.visits[rows])


def test_one_chunk(batch: Batch, grown: Grown) -> None:
    """Other roots beside them than in the trees, and none where a card is forced."""
    rows = batch.half(0)
    choice = np.array([len(game.legal()) > 1 for game in batch.games[rows]])
    result = run(batch.params, take(batch.states, rows), TRAINING)
    check_result(result, rows_of(grown, rows), batch.games[rows], choice)
    assert result.demanded == np.sum(batch.budgets[rows][choice])
    assert result.evaluated == POSITIONS * np.max(batch.budgets[rows])


def test_several_chunks_and_any_order(batch: Batch, grown: Grown) -> None:
    """Chunks of 50 do not divide the 120 roots, and forced cards are searched too."""
    order = np.random.default_rng(0).permutation(POSITIONS) + POSITIONS
    games = [batch.games[row] for row in order]
    assert any(len(game.legal()) == 1 for game in games)
    result = run(batch.params, take(batch.states, order), PLAY)
    check_result(result, rows_of(grown, order), games, np.ones(POSITIONS))
    assert result.demanded == np.sum(batch.budgets[order])
    largest_last = np.sort(batch.budgets[order])[[19, 69, 119]]
    assert result.evaluated == 50 * np.sum(largest_last)


def test_only_some_cards_are_visited(batch: Batch) -> None:
    """Each of them as if all were; a search with a tree cannot leave cards out."""
    rows = batch.half(0)
    states = take(batch.states, rows)
    every = SearchConfig(per_legal=1, chunk=50)
    full = run(batch.params, states, every)
    cards = np.random.default_rng(0).random((POSITIONS, 52)) < 0.5

    @functools.partial(jax.jit, static_argnums=0, compiler_options=OPTIMISED)
    def search_some(config: SearchConfig, states: env.GameState, cards: jax.Array) -> SearchResult:
        return search(batch.params, KEY, states, linear_policy_value, config, cards=cards)

    some = search_some(every, states, jnp.asarray(cards))
    np.testing.assert_array_equal(some.q, np.where(cards, full.q, -np.inf))
    np.testing.assert_array_equal(some.visits, np.where(cards, full.visits, 0))
    # Where one card of several is chosen it is visited; where one alone is legal, nothing is.
    assert 0 < some.demanded == np.sum(some.visits) < full.demanded
    with pytest.raises(ConfigError, match="one visit per legal card"):
        search_some(TRAINING, states, jnp.asarray(cards))


def test_budgets_differ_in_a_batch(batch: Batch) -> None:
    """Every root gets exactly its own budget."""
    rows = batch.half(0)
    legal = np.array([len(game.legal()) for game in batch.games[rows]])
    assert len(set(legal.tolist())) > 8
    states = take(batch.states, rows)
    training, play = run(batch.params, states, TRAINING), run(batch.params, states, PLAY)
    np.testing.assert_array_equal(np.sum(training.visits, 1), np.where(legal > 1, 2 * legal, 0))
    np.testing.assert_array_equal(np.sum(play.visits, 1), 10 + 2 * legal)


def test_inactive_roots_cost_nothing(batch: Batch) -> None:
    """Callers that fill a batch up say so."""
    states = take(batch.states, batch.half(0))
    active = np.arange(POSITIONS) % 3 == 0
    result = run(batch.params, states, TRAINING, active)
    expected = run(batch.params, states, TRAINING)
    keep = active[:, None]
    np.testing.assert_array_equal(result.visits, np.where(keep, expected.visits, 0))
    np.testing.assert_array_equal(result.q, np.where(keep, expected.q, -np.inf))
    assert result.demanded == np.sum(result.visits)


def test_forced_cards_cost_nothing(batch: Batch) -> None:
    forced = [row for row in range(POSITIONS) if len(batch.games[row].legal()) == 1]
    states = take(batch.states, np.resize(forced, POSITIONS))
    for config in (TRAINING, RAW):
        result = run(batch.params, states, config)
        assert not np.any(result.visits)
        assert np.all(result.q == -np.inf)
        assert result.demanded == result.evaluated == 0
    legal = jax.vmap(env.legal_mask)(states)
    cards = jax.vmap(best_card)(jax.random.split(KEY, POSITIONS), result.q, legal)
    assert cards.tolist() == [batch.games[row].legal()[0] for row in np.resize(forced, POSITIONS)]


RAW = SearchConfig(base=0, per_legal=1, chunk=64)


def test_one_visit_is_the_tree_with_that_budget(batch: Batch) -> None:
    assert RAW.one_visit
    rows = batch.half(0)
    legal = np.array([len(game.legal()) for game in batch.games[rows]])
    states = take(batch.states, rows)
    grown = grow_rows(batch.params, states, legal, PAPER)
    result = run(batch.params, states, RAW)
    check_result(result, grown, batch.games[rows], legal > 1)
    assert result.demanded == np.sum(legal[legal > 1])
    assert result.demanded <= result.evaluated < result.demanded + 64


# Whose points


def won_by_the_last_player() -> env.GameState:
    """Seat 0 leads SK, H2 and DJ are thrown on it, and seat 3 has SA and S2 to end the trick."""
    hands = [
        "S3 S4 S5 S6 S7 S8 S9 S10 SJ SQ SK C2 CA",
        "H2 H3 H4 H5 H6 H7 H8 H9 H10 HJ HQ HK HA",
        "D2 D3 D4 D5 D6 D7 D8 D9 D10 DJ DQ DK DA",
        "C3 C4 C5 C6 C7 C8 C9 C10 CJ CQ CK S2 SA",
    ]
    return replay_checked(owners_from_hands(hands).tolist(), 0, "SK H2 DJ")


def test_the_same_team_may_move_twice() -> None:
    """The evaluator promises 7 to whoever is to move.

    SA takes DJ for +100, and seat 3 leads: 100 + 7. S2 leaves DJ to seat 0: -100 - 7.
    Then SA again, and below it the first card of seat 3, after which seat 0 is to move with a
    margin of -100: -(-100 + 7) = 93. The fourth visit does the same with the next card.
    """
    root = jax.tree.map(lambda leaf: leaf[None], won_by_the_last_player())
    states = take(root, np.zeros(3, int))
    sevens = (np.zeros(features.SIZE, np.float32), 7.0)
    grown = grow_rows(sevens, states, [2, 3, 4], PAPER)
    # Actions in card order: S2, SA.
    assert grown.visits[:, :2].tolist() == [[1, 1], [1, 2], [1, 3]]
    means = [[-107, 107], [-107, (107 + 93) / 2], [-107, (107 + 93 + 93) / 3]]
    np.testing.assert_allclose(grown.q[:, :2], means, rtol=1e-6)
    raw = run(sevens, take(root, np.zeros(POSITIONS, int)), RAW)
    assert raw.q[0, card_id("SA")] == 107
    assert raw.q[0, card_id("S2")] == -107
    assert best_card(KEY, raw.q[0], env.legal_mask(won_by_the_last_player())) == card_id("SA")


@pytest.mark.parametrize("lone_transformer", [50, 0])
def test_points_of_a_lone_transformer(lone_transformer: int) -> None:
    """Seat 0 has taken C10 alone, and seat 1 is to move with 7 points to come. Before the end
    its points are a setting; at the end they are 50, and nothing is to come."""
    state = env.from_owners(jnp.repeat(jnp.arange(4), 13), 1)
    state = state.replace(taken_by=state.taken_by.at[card_id("C10")].set(0))
    assert total_value(state, jnp.float32(7), lone_transformer) == 7 - lone_transformer
    over = state.replace(stage=jnp.int8(52), leaders=state.leaders.at[13].set(1))
    assert total_value(over, jnp.float32(7), lone_transformer) == -50


# Exact play


@functools.partial(jax.jit, static_argnames="config")
def _run_untrained(params: Any, states: env.GameState, config: SearchConfig) -> SearchResult:
    return search(params, KEY, states, network_policy_value(make("compact")), config)


def run_untrained(states: env.GameState, config: SearchConfig) -> SearchResult:
    """With a network that has learnt nothing."""
    return _run_untrained(jax.jit(make("compact").init)(KEY), states, config)


def endgames(cards_left: int) -> list[dict[str, Any]]:
    return [record for record in load("endgame") if record["cards_left"] <= cards_left]


def optimal_share(q: Any, records: list[dict[str, Any]], states: env.GameState) -> float:
    """How often the card to play is one of the exactly best."""
    keys = jax.random.split(KEY, len(records))
    cards = jax.vmap(best_card)(keys, q, jax.vmap(env.legal_mask)(states))
    return float(np.mean([int(c) in r["best"] for c, r in zip(cards, records, strict=True)]))


# With the paper's c = 30 a card that looks bad by more than some 100 points is not looked at
# again, and single cards of an endgame swing by several hundred.
SWINGS = 300.0


def check_endgames(cards_left: int, budget: int, exploration: float, share: float) -> None:
    config = SearchConfig(base=budget, per_legal=0, exploration=exploration)
    records = endgames(cards_left)
    states = states_of(records)
    result = run_untrained(states, config)
    np.testing.assert_array_equal(np.sum(result.visits, axis=1), budget)
    assert optimal_share(result.q, records, states) >= share


def test_endgames() -> None:
    check_endgames(9, 200, SWINGS, 0.96)


@pytest.mark.slow
@pytest.mark.parametrize(("exploration", "share"), [(SWINGS, 0.97), (30.0, 0.92)])
def test_endgames_with_2000_simulations(exploration: float, share: float) -> None:
    check_endgames(12, 2000, exploration, share)


def test_gumbel(batch: Batch) -> None:
    """6 + 2 x 13 simulations whatever the number of legal cards, and one of the root itself."""
    config = SearchConfig(base=6, method="gumbel", chunk=16)
    records = endgames(7)
    ends = states_of(records)
    others = take(batch.states, slice(0, 50))
    result = run_untrained(jax.tree.map(lambda *leaf: np.concatenate(leaf), ends, others), config)
    legal = [r["legal"] for r in records] + [game.legal() for game in batch.games[:50]]
    assert {len(cards) > 1 for cards in legal} == {True, False}
    for cards, visits in zip(legal, np.asarray(result.visits), strict=True):
        assert set(np.flatnonzero(visits)) <= set(cards)
        assert visits.sum() == (32 if len(cards) > 1 else 0)
    # Forced cards come first and fill some of the four chunks, which then cost nothing.
    choices = sum(len(cards) > 1 for cards in legal)
    assert result.demanded == 32 * choices
    assert result.evaluated == 33 * 16 * -(-choices // 16)
    assert optimal_share(result.q[: len(records)], records, ends) >= 0.9


# Settings


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "puct"}, "ucb.*gumbel"),
        ({"base": -1}, "positive budget"),
        ({"per_legal": -1}, "positive budget"),
        ({"base": 0, "per_legal": 0}, "positive budget"),
        ({"exploration": -1.0}, "exploration"),
        ({"ucb_factor": 0.0}, "ucb_factor"),
        ({"exploration": np.nan}, "exploration"),
        ({"ucb_factor": np.nan}, "ucb_factor"),
        ({"rollout_share": 0.5}, "rollout_share"),
        ({"merge_equal": True}, "one visit"),
        ({"chunk": 0}, "chunk"),
    ],
)
def test_bad_settings(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        SearchConfig(**options)
