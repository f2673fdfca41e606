"""Players by name."""

import jax
import pytest

from gongzhu_jax import players
from gongzhu_jax.errors import PlayerError
from gongzhu_jax.game.view import legal_mask
from tests import positions

CLASSICAL = ("random", "if", "greed")


def test_names():
    assert players.names()[:3] == list(CLASSICAL)
    assert players.option_names("greed") == ["samples"]
    assert players.option_names("if") == []


@pytest.mark.parametrize("name", CLASSICAL)
def test_equal_players_are_one_program(name):
    player = players.make(name)
    assert player.name == name
    assert player.act_batch is players.make(name).act_batch


def test_options_are_kept():
    assert players.make("greed").config.samples == 20
    assert players.make("greed", samples=5).config.samples == 5


def test_unknown_names_are_listed():
    with pytest.raises(PlayerError, match="unknown player 'gred'; there are random, if, greed"):
        players.make("gred")
    with pytest.raises(PlayerError, match="'greed' has no option 'sample'; there are samples"):
        players.make("greed", sample=3)
    with pytest.raises(PlayerError, match="'if' has no option 'samples'; there are none"):
        players.make("if", samples=3)


@pytest.mark.parametrize("samples", [0, -1, 2.5, "20", True, None])
def test_impossible_options(samples):
    with pytest.raises(PlayerError, match="samples must be a whole number"):
        players.make("greed", samples=samples)


@pytest.mark.parametrize("name", ["random", "if"])
def test_one_view(name):
    view = positions.take(positions.random_views(0, [5]), 0)
    card = players.make(name).act(jax.random.key(0), view)
    assert card.dtype == "int8"
    assert legal_mask(view)[card]


def test_no_closed_form_is_said_so():
    view = positions.take(positions.random_views(0, [5]), 0)
    with pytest.raises(NotImplementedError, match="greed"):
        players.make("greed").probabilities(view)
