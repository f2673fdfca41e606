"""Self-play against the oracle: every game is replayed, and its targets computed again."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax.game import env
from gongzhu_jax.network import encode
from gongzhu_jax.search import SearchConfig
from gongzhu_jax.search.mcts import SearchResult
from gongzhu_jax.training.config import SelfPlayConfig
from gongzhu_jax.training.selfplay import (
    Positions,
    SelfPlayStats,
    _averaged,
    _imagined,
    play_games,
)
from tests.oracle import features, ucb
from tests.oracle.rules import Game

GAMES = 8
WEIGHTS = (np.random.default_rng(3).integers(-80, 81, features.SIZE) / 8).astype(np.float32)

TREE = SearchConfig()
RAW = SearchConfig(per_legal=1, search_forced=True, chunk=64)
EXPLORING = SelfPlayConfig(random_play=0.25)
OUTCOMES = SelfPlayConfig(td_lambda=1.0)


def linear_policy_value(weights: Any, states: env.GameState) -> tuple[jax.Array, jax.Array]:
    """Weights of eighths: float32 sums are exact, so the size of a batch changes nothing."""
    x = jax.vmap(encode)(states)
    value = jnp.matmul(x, weights, precision=jax.lax.Precision.HIGHEST)
    return jnp.zeros((x.shape[0], 52)), value


def oracle_value(game: Game) -> float:
    return float(np.dot(features.perfect(game), WEIGHTS.astype(float)))


@functools.partial(jax.jit, static_argnames=("search", "config"))
def _play(key: jax.Array, games: jax.Array, search: SearchConfig, config: SelfPlayConfig) -> Any:
    return play_games(WEIGHTS, key, games, linear_policy_value, search, config)


class Played(NamedTuple):
    positions: Positions  # [G, 52]
    stats: SelfPlayStats
    games: list[list[Game]]  # [G][53], the oracle's, before each card and at the end

    def rows(self) -> list[tuple[tuple[int, int], Game]]:
        """(game, stage) and the oracle's position, one by one."""
        return [((g, t), row[t]) for g, row in enumerate(self.games) for t in range(52)]


def play(seed: int, numbers: Any, search: SearchConfig, config: SelfPlayConfig) -> Played:
    key = jax.random.key(seed)
    positions, stats = jax.device_get(_play(key, jnp.asarray(numbers), search, config))
    return Played(positions, stats, [replayed(row, positions) for row in range(len(numbers))])


def replayed(row: int, positions: Positions) -> list[Game]:
    """Each position of a game in the oracle, which raises on an illegal card."""
    states = jax.tree.map(lambda leaf: np.asarray(leaf[row]), positions.state)
    game = Game(states.holder[0].tolist(), int(states.leaders[0, 0]))
    games = [game.copy()]
    for card in states.plays[51, :51].tolist():
        game.play(card)
        games.append(game.copy())
    (last,) = game.legal()
    game.play(last)
    return [*games, game]


@pytest.fixture(scope="module")
def exploring() -> Played:
    return play(0, range(GAMES), TREE, EXPLORING)


@pytest.fixture(scope="module")
def outcomes() -> Played:
    return play(1, range(GAMES), RAW, OUTCOMES)


def check_positions(played: Played) -> None:
    """The 52 positions of a game are those on the way to its end."""
    states = played.positions.state
    for at, game in played.rows():
        plays = [card for _, card in game.plays]
        assert states.stage[at] == len(plays) == at[1]
        assert states.plays[at].tolist() == plays + [-1] * (52 - len(plays))
        holders = [-1] * 52
        for seat in range(4):
            for card in game.hand(seat):
                holders[card] = seat
        assert states.holder[at].tolist() == holders


def test_games_are_legal(exploring: Played, outcomes: Played) -> None:
    check_positions(exploring)
    check_positions(outcomes)


def test_deals_differ(exploring: Played) -> None:
    assert len({tuple(row[0].owners) for row in exploring.games}) == GAMES


def test_targets_of_the_search(exploring: Played) -> None:
    """Without TD: softmax(0.2 Q) and max Q minus the margin so far. A forced card has no search;
    its value is that of the position after it."""
    policy, value = exploring.positions.policy, exploring.positions.value
    for (g, t), game in reversed(exploring.rows()):
        legal, mover = game.legal(), game.player_to_move()
        assert bool(exploring.positions.searched[g, t]) == (len(legal) > 1)
        assert set(np.flatnonzero(policy[g, t])) <= set(legal)
        if len(legal) > 1:
            _, mean = ucb.search(game, oracle_value, 2 * len(legal))
            q = np.array(list(mean.values()))
            share = np.exp(0.2 * (q - q.max()))
            np.testing.assert_allclose(policy[g, t, legal], share / share.sum(), atol=1e-5)
            total = q.max()
        else:
            assert policy[g, t, legal[0]] == 1
            after = exploring.games[g][t + 1]
            total = after.margin(mover)
            if not after.is_terminal():
                same = (after.player_to_move() - mover) % 2 == 0
                later = value[g, t + 1] + after.margin(after.player_to_move())
                total = later if same else -later
        assert value[g, t] == pytest.approx(total - game.margin(mover), abs=1e-2)


def test_targets_of_the_outcome(outcomes: Played) -> None:
    """With a TD weight of 1 and best cards throughout: what happened after each position."""
    for (g, t), game in outcomes.rows():
        mover = game.player_to_move()
        final = outcomes.games[g][52]
        expected = final.margin(mover) - game.margin(mover)
        assert outcomes.positions.value[g, t] == pytest.approx(expected, abs=1e-3)
        shares = outcomes.positions.policy[g, t]
        assert set(np.flatnonzero(shares)) <= set(game.legal())
        assert shares.sum() == pytest.approx(1, abs=1e-5)


def test_the_best_card_is_played(outcomes: Played) -> None:
    """Without random cards; the policy target orders the cards as Q does."""
    for (g, t), _ in outcomes.rows():
        shares = outcomes.positions.policy[g, t]
        _, card = outcomes.games[g][52].plays[t]
        assert shares[card] == shares.max()
    assert outcomes.stats.random_plays == 0


def test_a_game_is_its_number_and_key(exploring: Played) -> None:
    """Games 6 and 1 alone are the same as among eight, to the last bit."""
    pair = play(0, [6, 1], TREE, EXPLORING)
    among = jax.tree.map(lambda leaf: leaf[[6, 1]], exploring.positions)
    jax.tree.map(np.testing.assert_array_equal, pair.positions, among)
    other = play(1, [6, 1], TREE, EXPLORING)
    assert other.games[0][0].owners != pair.games[0][0].owners


def test_rate_of_random_cards(exploring: Played) -> None:
    """A quarter of the cards is drawn from the legal ones, the best among them."""
    rate = EXPLORING.random_play
    runs = [exploring, *(play(seed, range(GAMES), TREE, EXPLORING) for seed in (11, 12))]
    plays = len(runs) * GAMES * 52
    explored = sum(int(run.stats.random_plays) for run in runs)
    assert abs(explored - rate * plays) < 4 * np.sqrt(plays * rate * (1 - rate))

    expected = variance = not_best = 0.0
    ranks = []  # of explored cards among the legal ones that are not best
    for run in runs:
        for (g, t), game in run.rows():
            shares = run.positions.policy[g, t]
            worse = [card for card in game.legal() if shares[card] < shares.max()]
            chance = rate * len(worse) / len(game.legal())
            expected += chance
            variance += chance * (1 - chance)
            _, card = run.games[g][52].plays[t]
            if card in worse:
                not_best += 1
                ranks.append((worse.index(card) + 0.5) / len(worse))
    assert abs(not_best - expected) < 4 * np.sqrt(variance)
    # Uniform in 0..1 up to steps: mean 1/2, and a variance of at most 1/12.
    assert abs(np.mean(ranks) - 0.5) < 4 * np.sqrt(1 / 12 / len(ranks))


def test_statistics(exploring: Played, outcomes: Played) -> None:
    counts = [len(game.legal()) for _, game in exploring.rows()]
    assert exploring.stats.demanded == sum(2 * count for count in counts if count > 1)
    # One chunk at every stage: all games pay for the one with the largest budget.
    largest = np.max(np.reshape(counts, (GAMES, 52)), axis=0)
    assert exploring.stats.evaluated == GAMES * sum(2 * n for n in largest if n > 1)
    # Forced cards are searched too.
    assert outcomes.stats.demanded == sum(len(game.legal()) for _, game in outcomes.rows())
    assert np.all(outcomes.positions.searched)
    for run in (exploring, outcomes):
        assert run.stats.margin == sum(row[52].margin(0) for row in run.games)


# Hidden hands


def test_hidden_hands_do_not_matter_to_values_that_do_not_look_at_them() -> None:
    """With values of the table and the points taken alone, imagined deals change nothing."""
    blind = WEIGHTS * (np.arange(features.SIZE) >= 4 * 52)
    hidden = SelfPlayConfig(scenarios=3)

    def games(config: SelfPlayConfig) -> tuple[Positions, SelfPlayStats]:
        play = functools.partial(play_games, policy_value=linear_policy_value, search_config=RAW)
        return jax.jit(play, static_argnames="config")(
            blind, jax.random.key(5), jnp.arange(2), config=config
        )

    (seen, stats), (imagined, more) = games(SelfPlayConfig()), games(hidden)
    jax.tree.map(functools.partial(np.testing.assert_allclose, atol=1e-4), seen, imagined)
    assert more.demanded == 3 * stats.demanded


def test_imagined_states_show_what_the_mover_knows_and_nothing_else(exploring: Played) -> None:
    states = jax.tree.map(lambda leaf: leaf[:, 9], exploring.positions.state)
    keys = jax.random.split(jax.random.key(2), GAMES)
    mover = np.asarray(jax.vmap(env.player_to_move)(states))
    imagine = jax.jit(functools.partial(_imagined, count=4))
    imagined = np.asarray(imagine(keys, states).holder).reshape(GAMES, 4, 52)
    holder = np.asarray(states.holder)
    for game in range(GAMES):
        mine = holder[game] == mover[game]
        np.testing.assert_array_equal(imagined[game] == mover[game], np.tile(mine, (4, 1)))
        np.testing.assert_array_equal(imagined[game] < 0, np.tile(holder[game] < 0, (4, 1)))
    assert (imagined != holder[:, None]).any(axis=(1, 2)).all()
    # With the hands of the next two seats exchanged, the same deals are imagined.
    after, partner = ((mover[:, None] + turns) % 4 for turns in (1, 2))
    exchanged = np.where(holder == after, partner, np.where(holder == partner, after, holder))
    other = imagine(keys, states.replace(holder=jnp.asarray(exchanged.astype(np.int8))))
    np.testing.assert_array_equal(np.asarray(other.holder).reshape(GAMES, 4, 52), imagined)


def test_q_of_imagined_states_is_averaged() -> None:
    q = np.random.default_rng(0).normal(size=(6, 52)).astype(np.float32)
    q[:, 30:] = -np.inf
    whole = SearchResult(jnp.asarray(q), jnp.ones((6, 52), jnp.int32), jnp.int32(1), jnp.int32(1))
    averaged = _averaged(whole, 3)
    np.testing.assert_allclose(averaged.q[:, :30], [q[:3, :30].mean(0), q[3:, :30].mean(0)], 1e-5)
    assert np.all(np.asarray(averaged.q[:, 30:]) == -np.inf)
    assert np.all(np.asarray(averaged.visits) == 3)
