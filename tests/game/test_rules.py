"""The rules against the golden games, the oracle, and tables worked by hand."""

import functools
import random
import subprocess
import sys

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given

from gongzhu_jax.errors import CardError, DealError, IllegalPlayError
from gongzhu_jax.game import env, scoring
from gongzhu_jax.game.cards import card_ids, card_names
from gongzhu_jax.game.checks import check_owners, owners_from_hands
from gongzhu_jax.game.public_view import view
from gongzhu_jax.game.replays import replay, replay_checked
from tests.game.random_games import SEEDS, assert_equal_trees, examples, one, random_games
from tests.optimised import OPTIMISED
from tests.oracle import rules
from tests.oracle.data import load

BATCH = 500

replay_batch = jax.jit(jax.vmap(replay))
score_batch = jax.jit(jax.vmap(env.scores))


@jax.jit
def facts(states):
    """What the rules say of states [batch, 53]: all that the oracle can tell too."""

    def of_one(state):
        margins = jax.vmap(env.team_margin, in_axes=(None, 0))(state, jnp.arange(4))
        return {
            "legal": env.legal_mask(state),
            "to_move": env.player_to_move(state),
            "scores": env.scores(state),
            "margins": margins,
            "terminal": env.is_terminal(state),
            "owners": env.owners(state),
        }

    return jax.vmap(jax.vmap(of_one))(states)


def test_golden_games() -> None:
    games = load("games")
    assert len(games) == 1845
    columns = [np.array([game[name] for game in games]) for name in ("deal", "leader", "plays")]
    final, legal = replay_batch(*(column.astype(np.int8) for column in columns))
    assert np.all(legal)
    np.testing.assert_array_equal(final.leaders[:, 1:], [game["trick_winners"] for game in games])
    np.testing.assert_array_equal(score_batch(final), [game["scores"] for game in games])


@examples(2)
@given(seed=SEEDS)
def test_every_step_as_the_oracle(seed: int) -> None:
    check_every_step(seed)


@pytest.mark.slow
@examples(20)
@given(seed=SEEDS)
def test_every_step_of_more_games_as_the_oracle(seed: int) -> None:
    check_every_step(seed)


def check_every_step(seed: int) -> None:
    states = jax.device_get(random_games(jax.random.key(seed), BATCH))
    ours = {name: leaf.tolist() for name, leaf in jax.device_get(facts(states)).items()}
    taken_by, holder = states.taken_by.tolist(), states.holder.tolist()
    leaders, plays = states.leaders.tolist(), states.plays[:, -1].tolist()
    for i in range(BATCH):
        game = rules.Game(holder[i][0], leaders[i][0][0])
        for stage in range(53):
            expected_legal = game.legal()
            legal = ours["legal"][i][stage]
            assert [card for card in range(52) if legal[card]] == expected_legal
            assert ours["to_move"][i][stage] == game.player_to_move()
            assert ours["scores"][i][stage] == game.scores()
            assert ours["margins"][i][stage] == [game.margin(0), game.margin(1)] * 2
            assert ours["terminal"][i][stage] == game.is_terminal()
            assert ours["owners"][i][stage] == game.owners
            where = list(zip(holder[i][stage], taken_by[i][stage], strict=True))
            assert where == places(game)
            if stage < 52:
                game.play(plays[i][stage])
        assert leaders[i][52][1:] == game.winners


def places(game: rules.Game) -> list[tuple[int, int]]:
    """(holder, taker) of each card; a card on the table has neither."""
    where = [(-1, -1)] * 52
    for seat in range(4):
        for card in game.hand(seat):
            where[card] = (seat, -1)
        for card in game.taken[seat]:
            where[card] = (-1, seat)
    return where


@examples(3)
@given(seed=SEEDS)
def test_histories_replay(seed: int) -> None:
    """A state is what its deal, its leader and its plays say, at any stage."""
    games = random_games(jax.random.key(seed), BATCH)
    stages = np.random.default_rng(seed).integers(0, 53, BATCH)
    states = one(games, (np.arange(BATCH), stages))
    again, legal = replay_batch(jax.vmap(env.owners)(states), states.leaders[:, 0], states.plays)
    assert np.all(legal)
    assert_equal_trees(again, states)


def takers(taken: dict[str, int]) -> jax.Array:
    """The seat that has taken each card, [52], from {cards: seat}."""
    taken_by = np.full(52, -1, np.int8)
    for cards, seat in taken.items():
        taken_by[card_ids(cards)] = seat
    return jnp.asarray(taken_by)


ALL_HEARTS = "H2 H3 H4 H5 H6 H7 H8 H9 H10 HJ HQ HK HA"


@pytest.mark.parametrize(
    ("taken", "points"),
    [
        ("", 0),  # nothing taken
        ("SA DK C9", 0),  # no point cards
        ("SQ", -100),  # the pig
        ("DJ", 100),  # the sheep
        ("SQ DJ", 0),  # they cancel
        ("H2 H3 H4", 0),  # small hearts are free
        ("H5 H6 H7 H8 H9 H10", -60),  # six times -10
        ("HJ HQ HK HA", -140),  # -20 -30 -40 -50
        ("C10", 50),  # the transformer alone
        ("C10 CA S2 D5", 50),  # cards without points are no company
        ("C10 H2", 0),  # a heart of no points is: twice 0
        ("C10 H4 SA", 0),  # the same
        ("C10 SQ", -200),  # the pig doubled
        ("C10 DJ", 200),  # the sheep doubled
        ("C10 SQ DJ", 0),  # doubled nothing
        ("C10 H5 HA DJ", 80),  # 2 (-10 -50 +100)
        ("H2 H3 H4 H5 H6 H7 H8 H9 H10 HJ HQ HK", -150),  # twelve hearts, HA missing: -200 + 50
        ("H3 H4 H5 H6 H7 H8 H9 H10 HJ HQ HK HA", -200),  # twelve, H2 missing: still -200
        (ALL_HEARTS, 200),  # all of them: +200 and not -200
        (f"{ALL_HEARTS} C10", 400),  # doubled
        (f"{ALL_HEARTS} SQ", 100),  # +200 -100
        (f"{ALL_HEARTS} DJ", 300),  # +200 +100
        (f"{ALL_HEARTS} SQ C10", 200),  # 2 (200 -100)
        (f"{ALL_HEARTS} DJ C10", 600),  # 2 (200 +100), the most there is
        (f"{ALL_HEARTS} SQ DJ C10", 400),  # 2 (200 -100 +100)
        ("H3 H4 H5 H6 H7 H8 H9 H10 HJ HQ HK HA SQ C10", -600),  # 2 (-200 -100), the least
    ],
)
def test_scoring_table(taken: str, points: int) -> None:
    for seat in range(4):
        scores = np.asarray(scoring.score_cards(takers({taken: seat})))
        assert scores.dtype == np.int32
        assert scores.tolist() == [points * (other == seat) for other in range(4)]


def test_lone_transformer_setting() -> None:
    """Only the 50 points of a lone C10 change; with company it doubles as ever."""
    for taken, points in (("C10", 0), ("C10 SA", 0), ("C10 DJ", 200), ("DJ", 100)):
        assert scoring.score_cards(takers({taken: 2}), lone_transformer=0)[2] == points


def test_scores_of_different_seats_do_not_mix() -> None:
    """All hearts but H2 at one seat: not all hearts, and H2 spoils no lone transformer there."""
    hearts = ALL_HEARTS.removeprefix("H2 ")
    taken = takers({"SQ": 0, "DJ C10": 1, hearts: 2, "H2": 3})
    assert scoring.score_cards(taken).tolist() == [-100, 200, -200, 0]
    taken = takers({"SQ": 0, "C10": 1, hearts: 2, "H2 DJ": 3})
    assert scoring.score_cards(taken).tolist() == [-100, 50, -200, 100]


def test_any_leader() -> None:
    for leader in range(4):
        state = env.deal(jax.random.key(leader), leader)
        assert env.player_to_move(state) == leader
        np.testing.assert_array_equal(env.legal_mask(state), state.holder == leader)
        assert np.bincount(state.holder, minlength=4).tolist() == [13] * 4


def test_deals_are_uniform() -> None:
    """Each card goes to each seat in a quarter of 4096 deals: 5 standard errors."""
    holders = jax.vmap(lambda key: env.deal(key).holder)(jax.random.split(jax.random.key(0), 4096))
    shares = np.stack([np.mean(np.asarray(holders) == seat, axis=0) for seat in range(4)])
    assert np.abs(shares - 0.25).max() < 5 * np.sqrt(0.25 * 0.75 / 4096)


def test_random_play_statistics() -> None:
    """16,384 games of uniform play have the statistics of the oracle's own random games, and of
    the golden ones. Tolerance: four standard errors of the difference."""
    chunks = [_random_play(jax.random.key(chunk)) for chunk in range(8)]
    points = np.concatenate([np.asarray(scores, np.float64) for scores, _ in chunks])
    choices = np.concatenate([np.asarray(legal, np.float64) for _, legal in chunks])
    assert points.shape == (16384, 4)
    assert choices.shape == (16384, 52)

    rng = random.Random(0)
    oracle = np.array([rules.random_game(rng).scores() for _ in range(4096)])
    golden = np.array([game["scores"] for game in load("games") if game["kind"] == "random"])
    for other in (oracle, golden):
        # Means and mean squares over the seats of a game, so that the games are independent.
        assert_same_mean(points.mean(axis=1), other.mean(axis=1))
        assert_same_mean((points**2).mean(axis=1), (other**2).mean(axis=1))
        for seat in range(4):
            assert_same_mean(points[:, seat], other[:, seat])

    # Known to these digits: 3.9 legal cards a decision, 22 % of the decisions forced. Standard
    # errors are 0.002 and 0.0005, so half a digit is all the tolerance there is.
    np.testing.assert_allclose(choices.mean(), 3.9, atol=0.05)
    np.testing.assert_allclose((choices == 1).mean(), 0.22, atol=0.005)


@functools.partial(jax.jit, compiler_options=OPTIMISED)
def _random_play(key: jax.Array) -> tuple[jax.Array, jax.Array]:
    games = random_games(key, 2048)
    legal = jax.vmap(jax.vmap(env.legal_mask))(games)
    return jax.vmap(env.scores)(one(games, (slice(None), -1))), jnp.sum(legal, axis=-1)[:, :52]


def assert_same_mean(one_sample: np.ndarray, other: np.ndarray) -> None:
    error = np.sqrt(one_sample.var() / len(one_sample) + other.var() / len(other))
    assert abs(one_sample.mean() - other.mean()) < 4 * error


# illegal data


HANDS = [card_names(range(13 * suit, 13 * suit + 13)) for suit in range(4)]  # a suit each


@pytest.mark.parametrize(
    ("plays", "error", "message"),
    [
        ("H2", IllegalPlayError, r"play 1: seat 0 does not hold H2 \(seat 1 does\)"),
        ("S2 H2 D2 S3", IllegalPlayError, r"play 4: seat 3 does not hold S3 \(seat 0 does\)"),
        ("S2 H2 D2 C2 S2", IllegalPlayError, "play 5: S2 was already played"),
        ("S2 X9", CardError, "unknown card name 'X9'"),
        ([0, 52], CardError, "unknown card id 52"),
        ([0] * 53, IllegalPlayError, "a game has 52 plays, not 53"),
    ],
)
def test_illegal_histories(plays, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        replay_checked(owners_from_hands(HANDS).tolist(), 0, plays)


def test_must_follow() -> None:
    owners = [card % 4 for card in range(52)]
    with pytest.raises(IllegalPlayError, match="play 2: seat 1 plays H2 but must follow suit S"):
        replay_checked(owners, 0, "S2 H2")
    assert replay_checked(owners, 0, "S2 S3").stage == 2


@pytest.mark.parametrize(
    ("owners", "message"),
    [
        ([0] * 51, "52 cards, not of 51"),
        ([0] * 14 + [1] * 12 + [2] * 13 + [3] * 13, "seat 0 has 14 cards, not 13"),
        ([4] + [0] * 51, "owner of S2 must be a seat from 0 to 3, not 4"),
        ([True] + [0] * 51, "owner of S2 must be a seat"),
        ([-1] + [0] * 51, "owner of S2 must be a seat"),
    ],
)
def test_wrong_deals(owners: list[int], message: str) -> None:
    with pytest.raises(DealError, match=message):
        check_owners(owners)


@pytest.mark.parametrize(
    ("hands", "message"),
    [
        (HANDS[:3], "a deal has 4 hands, not 3"),
        ([*HANDS[:3], HANDS[0]], r"S2 is dealt twice \(seats 0, 3\)"),
        ([*HANDS[:3], "C2 C3"], "C4 is in no hand"),
        ([HANDS[0] + " C2", *HANDS[1:3], HANDS[3][3:]], "seat 0 has 14 cards, not 13"),
    ],
)
def test_wrong_hands(hands: list[str], message: str) -> None:
    with pytest.raises(DealError, match=message):
        owners_from_hands(hands)


def test_owners_from_hands() -> None:
    np.testing.assert_array_equal(owners_from_hands(HANDS), np.repeat(np.arange(4), 13))


# compilation


@pytest.mark.parametrize(
    "function",
    [
        lambda state, card: env.step(state, card),
        lambda state, card: env.legal_mask(state),
        lambda state, card: view(state, card % 4),
    ],
    ids=["step", "legal_mask", "view"],
)
def test_traced_once_per_shape(function) -> None:
    """A whole game, single and as a batch of one, compiles each function twice and no more."""
    chex.clear_trace_counter()
    game = jax.device_get(random_games(jax.random.key(0), 1))
    single = jax.jit(chex.assert_max_traces(function, n=1))
    for stage in range(52):
        single(one(game, (0, stage)), game.plays[0, -1, stage])
    chex.clear_trace_counter()
    batched = jax.jit(jax.vmap(chex.assert_max_traces(function, n=1)))
    for stage in range(52):
        batched(one(game, (slice(None), stage)), game.plays[:, -1, stage])


@pytest.mark.parametrize("card", [0, np.int8(0), np.int32(0), np.int64(0)])
def test_types_do_not_grow(card) -> None:
    """The state after a play has the types of the state before, whatever the card's type is."""
    before = env.from_owners(jnp.repeat(jnp.arange(4), 13), 0)
    after = env.step(before, card)
    chex.assert_trees_all_equal_shapes_and_dtypes(after, before)
    assert {leaf.dtype for leaf in jax.tree.leaves(after)} == {np.dtype(np.int8)}
    assert env.player_to_move(after).dtype == np.int8
    assert env.team_margin(after, 0).dtype == np.int32


def test_import_is_light() -> None:
    """Importing does no device work, and costs less than a second beyond jax itself."""
    code = """
import time
import jax
from jax._src import xla_bridge
start = time.process_time()
import gongzhu_jax.game, gongzhu_jax.records, gongzhu_jax.network.features
print(time.process_time() - start, len(xla_bridge._backends))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, backends = done.stdout.split()
    assert float(seconds) < 1.0  # of processor time, which other programs do not change
    assert int(backends) == 0
