"""The game of OpenSpiel, its bots at our tables, and our players among its bots."""

import itertools
import random

import jax
import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import evaluate_bots

from gongzhu_jax import players
from gongzhu_jax.adapters import openspiel_game
from gongzhu_jax.adapters.openspiel_bots import IsmctsConfig, PlayerBot, Resampler, ismcts_bot
from gongzhu_jax.adapters.openspiel_game import state_of
from gongzhu_jax.adapters.openspiel_player import from_step
from gongzhu_jax.errors import ConfigError, DealError, PlayerError
from gongzhu_jax.evaluation import play_match, random_deals
from gongzhu_jax.game.host_game import HostGame
from gongzhu_jax.game.public_view import legal_mask
from gongzhu_jax.game.scoring import MAX_MARGIN
from gongzhu_jax.inference import sampling
from tests import positions
from tests.evaluation.simple_players import high_player
from tests.oracle.data import load
from tests.oracle.rules import Game, card_id, score


@pytest.fixture(scope="module")
def game() -> pyspiel.Game:
    return pyspiel.load_game("python_gongzhu", {"leader": 2})


def state_after(game: pyspiel.Game, plays: int, seed: int = 0):
    generator = random.Random(seed)
    state = game.new_initial_state()
    for _ in range(52 + plays):
        state.apply_action(generator.choice(state.legal_actions()))
    return state


def oracle_of(state) -> Game:
    history = state.history()
    owners = [0] * 52
    for number, card in enumerate(history[:52]):
        owners[card] = number % 4
    return Game(owners, 2, history[52:])


def test_random_simulations(game) -> None:
    """OpenSpiel's own test, with and without serialization."""
    pyspiel.random_sim_test(game, num_sims=3, serialize=True, verbose=False)
    pyspiel.random_sim_test(pyspiel.load_game("python_gongzhu"), 3, False, False)


def test_deal(game) -> None:
    """Chance nodes: 52, 51, ... cards, equally likely, to the seats in turn."""
    state = game.new_initial_state()
    for number in range(52):
        assert state.is_chance_node()
        outcomes = state.chance_outcomes()
        assert len(outcomes) == 52 - number
        assert sum(chance for _, chance in outcomes) == pytest.approx(1)
        card = outcomes[number * 7 % len(outcomes)][0]
        state.apply_action(card)
        assert card in state.table.hands[number % 4]
    assert state.current_player() == 2


def test_largest_margin() -> None:
    """By trying all ways to hand out what counts; hearts go together, or all but H2."""
    groups = [["H2"], [f"H{rank}" for rank in (*range(3, 11), *"JQKA")], ["SQ"], ["DJ"], ["C10"]]
    ids = [[card_id(name) for name in group] for group in groups]
    margins = []
    for seats in itertools.product(range(4), repeat=len(ids)):
        taken: list[list[int]] = [[], [], [], []]
        for cards, seat in zip(ids, seats, strict=True):
            taken[seat] += cards
        points = [score(cards) for cards in taken]
        margins.append(points[0] + points[2] - points[1] - points[3])
    assert max(margins) == MAX_MARGIN
    assert min(margins) == -MAX_MARGIN


def test_information_state(game) -> None:
    state = state_after(game, 22)
    oracle = oracle_of(state)
    for seat in range(4):
        parts = np.split(np.array(state.information_state_tensor(seat)), [4, 56, 60])
        player, hand, leader, plays = parts
        assert np.flatnonzero(player).tolist() == [seat]
        assert np.flatnonzero(hand).tolist() == oracle.hand(seat)
        assert np.flatnonzero(leader).tolist() == [2]
        history = [[number, card] for number, (_, card) in enumerate(oracle.plays)]
        assert np.argwhere(plays.reshape(52, 52)).tolist() == history


def test_observation(game) -> None:
    state = state_after(game, 22)
    oracle = oracle_of(state)
    seat = 3
    player, hand, to_move, trick, taken = np.split(
        np.array(state.observation_tensor(seat)), [4, 56, 60, 268]
    )
    assert np.flatnonzero(player).tolist() == [seat]
    assert np.flatnonzero(hand).tolist() == oracle.hand(seat)
    assert np.flatnonzero(to_move).tolist() == [oracle.player_to_move()]
    assert sorted(np.argwhere(trick.reshape(4, 52)).tolist()) == sorted(map(list, oracle.trick))
    for other in range(4):
        cards = np.flatnonzero(taken.reshape(4, 52)[other]).tolist()
        assert cards == sorted(oracle.taken[other])


def test_strings_tell_no_hidden_card(game) -> None:
    """States that a player cannot tell apart have equal strings and tensors for it."""
    state = state_after(game, 13)
    seat = state.current_player()
    other = state.resample_from_infostate(seat, random.Random(5).random)
    assert other.history() != state.history()
    assert other.history()[52:] == state.history()[52:]
    assert other.legal_actions() == state.legal_actions()
    assert other.information_state_string(seat) == state.information_state_string(seat)
    assert other.information_state_tensor(seat) == state.information_state_tensor(seat)
    assert other.observation_string(seat) == state.observation_string(seat)
    assert other.observation_tensor(seat) == state.observation_tensor(seat)
    hidden = (seat + 1) % 4
    assert other.information_state_string(hidden) != state.information_state_string(hidden)


def test_views(game) -> None:
    state = state_after(game, 13)
    known = state.view(1)
    assert np.flatnonzero(known.hand).tolist() == oracle_of(state).hand(1)
    assert known.plays[:13].tolist() == state.history()[52:]


def test_resampler_hides_the_truth(game) -> None:
    """No state that a search gets, nor its history, has the true hands; all agree with them."""
    state = state_after(game, 13)
    seat = state.current_player()
    draw = jax.jit(lambda key, view: sampling.sample(key, view, 5))
    deals = np.asarray(draw(jax.random.key(0), state.view(seat)))
    resample = Resampler(lambda state, player: deals)
    worlds = [resample(state, seat) for _ in range(7)]
    truth = state.table.hands
    for number, world in enumerate(worlds):
        expected = [np.flatnonzero(deals[number % 5] == s).tolist() for s in range(4)]
        assert world.table.hands == expected
        assert world.information_state_string(seat) == state.information_state_string(seat)
        assert world.history()[:52] != state.history()[:52]
        assert world.table.hands != truth
    assert len({tuple(world.history()) for world in worlds}) == 1
    # Another position: other deals.
    state.apply_action(state.legal_actions()[0])
    assert resample(state, state.current_player()).history()[52:] == state.history()[52:]


def test_ismcts_finds_the_best_card_of_an_endgame() -> None:
    """With the true deal as its only one, the search sees through the last two tricks."""
    records = [record for record in load("endgame") if record["cards_left"] <= 8]
    assert len(records) > 10
    for record in records:
        table = HostGame.from_owners(record["deal"], record["leader"])
        for card in record["plays"]:
            table.play(card)
        deal = np.array([table.holder()])
        config = IsmctsConfig(simulations=400, worlds=1)
        bot = ismcts_bot(config, 0, lambda state, player, deal=deal: deal)
        assert bot.step(state_of(table)) in record["best"]


def test_ismcts_with_our_sampler(game) -> None:
    """Without deals from outside it draws its own, also more than one block of them."""
    state = state_after(game, 27)
    bot = ismcts_bot(IsmctsConfig(simulations=70), seed=3)
    assert bot.step(state) in state.legal_actions()
    policy, card = ismcts_bot(IsmctsConfig(simulations=70), seed=3).step_with_policy(state)
    assert card == bot_choice(state, seed=3)
    assert sum(chance for _, chance in policy) == pytest.approx(1)


def bot_choice(state, seed: int) -> int:
    return ismcts_bot(IsmctsConfig(simulations=70), seed).step(state)


def test_our_players_are_bots(game) -> None:
    """A whole game in OpenSpiel's own loop, with its bots and ours."""
    bots = [
        PlayerBot(players.make("if")),
        pyspiel.make_uniform_random_bot(1, 5),
        ismcts_bot(IsmctsConfig(simulations=2)),
        PlayerBot(players.make("random"), seed=1),
    ]
    state = game.new_initial_state()
    returns = evaluate_bots.evaluate_bots(state, bots, np.random.RandomState(0))
    assert returns == [oracle_of(state).margin(seat) for seat in range(4)]


def test_policies_of_our_bots(game) -> None:
    state = state_after(game, 13)
    bot = PlayerBot(players.make("random"))
    assert bot.provides_policy()
    legal = state.legal_actions()
    policy, card = bot.step_with_policy(state)
    assert policy == [(card, pytest.approx(1 / len(legal))) for card in legal]
    assert card in legal
    assert not PlayerBot(players.make("greed")).provides_policy()


def test_in_our_matches() -> None:
    """Whole matches in a batch; the same again in another batch."""
    player = players.make("openspiel-ismcts", simulations=2)
    deals = random_deals(0, 3)
    first = play_match(player, high_player, deals, batch=3, keep_states=True)
    again = play_match(player, high_player, deals, batch=4, keep_states=True)
    assert first.seating.records() == again.seating.records()
    assert first.names == ("openspiel-ismcts", "high")


def test_each_decision_is_made_once() -> None:
    """Chunks that are not full repeat a game, and host code is slow."""
    asked = []

    def step(seed, state, deals):
        asked.append(seed)
        assert state.table.hands == [np.flatnonzero(deals[0] == s).tolist() for s in range(4)]
        return state.legal_actions()[-1]

    player = from_step("highest", None, step, 2)
    views = positions.random_views(0, [5, 30])
    twice = positions.take(views, np.array([0, 1, 1, 1]))
    keys = jax.random.split(jax.random.key(0), 2)[np.array([0, 1, 1, 1])]
    cards = np.asarray(jax.jit(player.act_batch)((), keys, twice))
    assert len(asked) == len(set(asked)) == 2
    highest = [np.flatnonzero(legal_mask(positions.take(views, i)))[-1] for i in (0, 1, 1, 1)]
    assert cards.tolist() == highest


def test_options() -> None:
    assert players.option_names("openspiel-ismcts") == [
        "simulations",
        "worlds",
        "exploration",
        "rollouts",
    ]
    made = players.make("openspiel-ismcts", simulations=7)
    assert made is players.make("openspiel-ismcts", simulations=7)
    assert made.config == IsmctsConfig(simulations=7)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"simulations": 0}, "simulations must be a whole number from 1 on, not 0"),
        ({"worlds": 2.5}, "worlds must be a whole number"),
        ({"rollouts": None}, "rollouts must be of type int"),
        ({"exploration": -1}, "exploration must be a number from 0 on"),
        ({"samples": 3}, "'openspiel-ismcts' has no option 'samples'; there are simulations"),
    ],
)
def test_bad_options(options, reason) -> None:
    with pytest.raises((PlayerError, ConfigError), match=reason):
        players.make("openspiel-ismcts", **options)


def test_bad_leader() -> None:
    with pytest.raises(DealError, match="leader must be a seat from 0 to 3, not 5"):
        openspiel_game.load(5)
