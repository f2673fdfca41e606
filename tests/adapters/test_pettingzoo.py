"""The PettingZoo environment: PettingZoo's own tests, and our rules behind it."""

import jax
import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from gongzhu_jax import players
from gongzhu_jax.adapters import pettingzoo_env
from gongzhu_jax.errors import CardError, ConfigError, DealError, IllegalPlayError
from gongzhu_jax.game.public_view import legal_mask
from tests.oracle.data import load
from tests.oracle.rules import Game

# PettingZoo warns of every environment from outside its own list that has action masks, and of
# masks without a card, which agents have when the game is over.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros"),
]


def test_api(capsys) -> None:
    api_test(pettingzoo_env.env(), num_cycles=60)
    assert "Passed API test" in capsys.readouterr().out


def test_raw_api() -> None:
    api_test(pettingzoo_env.raw_env(), num_cycles=60)


def test_seeds() -> None:
    seed_test(pettingzoo_env.env, num_cycles=60)


@pytest.fixture
def table():
    return pettingzoo_env.raw_env()


def test_golden_game(table) -> None:
    """A recorded game: turns, masks, hands and points."""
    game = load("games")[5]
    table.reset(options={"deal": game["deal"], "leader": game["leader"]})
    oracle = Game(game["deal"], game["leader"])
    for card in game["plays"]:
        seat = oracle.player_to_move()
        assert table.agent_selection == f"player_{seat}"
        seen, reward, over, _, _ = table.last()
        assert np.flatnonzero(seen["action_mask"]).tolist() == oracle.legal()
        assert np.flatnonzero(seen["observation"][:52]).tolist() == oracle.hand(seat)
        assert not over
        assert reward == 0
        oracle.play(card)
        table.step(card)
    assert all(table.terminations.values())
    assert [table.infos[agent]["points"] for agent in table.agents] == game["scores"]
    assert [table.rewards[agent] for agent in table.agents] == [oracle.margin(s) for s in range(4)]


def test_only_the_agent_to_move_has_legal_cards(table) -> None:
    table.reset(seed=1)
    for agent in table.agents:
        mask = table.observe(agent)["action_mask"]
        assert mask.any() == (agent == table.agent_selection)


def test_seeds_of_reset(table) -> None:
    def hands(seed):
        table.reset(seed=seed)
        return np.stack([table.observe(agent)["observation"][:52] for agent in table.agents])

    first = hands(3)
    assert (first.sum(axis=1) == 13).all()
    assert (first.sum(axis=0) == 1).all()
    assert (hands(None) != first).any()
    np.testing.assert_array_equal(hands(3), first)


def test_our_players_can_sit_there(table) -> None:
    table.reset(seed=0)
    known = table.view(table.agent_selection)
    card = int(players.make("if").act(known, jax.random.key(0)))
    assert table.observe(table.agent_selection)["action_mask"][card]
    np.testing.assert_array_equal(legal_mask(known), table.last()[0]["action_mask"])


def test_illegal_cards(table) -> None:
    table.reset(seed=0)
    agent = table.agent_selection
    illegal = int(np.flatnonzero(table.observe(agent)["action_mask"] == 0)[0])
    with pytest.raises(IllegalPlayError, match=f"{agent} may not play"):
        table.step(illegal)
    with pytest.raises(CardError, match="unknown card id 52"):
        table.step(52)
    assert table.agent_selection == agent
    checked = pettingzoo_env.env()
    checked.reset(seed=0)
    checked.step(illegal)
    assert all(checked.terminations.values())
    assert checked.rewards[agent] == -700


def test_bad_arguments(table) -> None:
    with pytest.raises(ConfigError, match="render_mode must be one of ansi, svg, not 'human'"):
        pettingzoo_env.env("human")
    with pytest.raises(DealError, match="leader must be a seat"):
        table.reset(options={"leader": 4})
    with pytest.raises(DealError, match="a deal names the owner of 52 cards, not of 3"):
        table.reset(options={"deal": [0, 1, 2]})


def test_pictures() -> None:
    for mode, start in (("ansi", " seat 0     0  S "), ("svg", "<svg ")):
        table = pettingzoo_env.env(mode)
        table.reset(seed=2, options={"leader": 3})
        assert str(table.render()).startswith(start)
