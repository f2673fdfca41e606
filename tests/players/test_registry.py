"""Players by name."""

import jax
import numpy as np
import pytest

from gongzhu_jax import players
from gongzhu_jax.errors import ConfigError, DealError, IllegalPlayError, PlayerError
from gongzhu_jax.game import env
from gongzhu_jax.game.public_view import check_view, legal_mask
from gongzhu_jax.game.public_view import view as view_of
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
    with pytest.raises(ConfigError, match="samples must be"):
        players.make("greed", samples=samples)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("raw", {"scenarios.draws": "many"}),
        ("scrofa", {"weights.beta": "x"}),
        ("scrofa", {"weights.suit_rule": 1}),
        ("scrofa", {"search.per_legal": 1.5}),
        ("policy", {"draws": None}),
    ],
)
def test_options_of_another_type(name, option):
    with pytest.raises(ConfigError, match=f"{next(iter(option))} must be of type"):
        players.make(name, **option)


def test_whole_numbers_are_numbers():
    by_int, by_float = (players.make("scrofa", weights={"beta": beta}) for beta in (0, 0.0))
    assert by_int.config == by_float.config
    assert repr(by_int.config) == repr(by_float.config)  # by which matches are kept
    assert by_int.act_batch is by_float.act_batch


@pytest.mark.parametrize("name", ["random", "if"])
def test_one_view(name):
    view = positions.take(positions.random_views(0, [5]), 0)
    card = players.make(name).act(view, jax.random.key(0))
    assert card.dtype == "int8"
    assert legal_mask(view)[card]


def _with(view, **changes):
    return view.replace(**{name: np.asarray(value) for name, value in changes.items()})


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda v: {"voids": ~np.asarray(v.voids)}, DealError, "voids of the view"),
        (lambda v: {"hand_sizes": v.hand_sizes[::-1]}, DealError, "hand_sizes of the view"),
        (lambda v: {"taken_by": -np.ones(52, np.int8)}, DealError, "taken_by of the view"),
        (lambda v: {"plays": np.full(52, v.plays[0])}, IllegalPlayError, "already played"),
        (lambda v: {"hand": np.zeros(52, bool)}, DealError, "must hold 12 cards"),
        (lambda v: {"to_move": (v.to_move + 1) % 4}, DealError, "to_move of the view"),
        (lambda v: {"seat": np.int8(9)}, DealError, "seat must be a seat"),
    ],
)
def test_a_view_with_a_wrong_history_is_an_error(change, error, message):
    view = positions.take(positions.random_views(0, [5]), 0)
    with pytest.raises(error, match=message):
        check_view(_with(view, **change(view)))


def test_only_the_seat_to_move_is_asked():
    states = positions.random_states(0, [5])
    state = positions.take(states, 0)
    other = view_of(state, (env.player_to_move(state) + 1) % 4)
    with pytest.raises(PlayerError, match="it is the turn of seat"):
        players.make("random").act(other)
    with pytest.raises(DealError, match="is not to move"):
        check_view(other)


def test_nested_and_dotted_options_are_the_same():
    nested = players.make("scrofa", scenarios={"draws": 18}, weights={"beta": 0.1})
    dotted = players.make("scrofa", **{"scenarios.draws": 18, "weights.beta": 0.1})
    assert nested.config == dotted.config
    assert (nested.config.scenarios.draws, nested.config.weights.beta) == (18, 0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scenario.draws": 9}, "has no option 'scenario'; there are scenarios, weights, search"),
        ({"draws": 9}, "has no option 'draws'; there are scenarios, weights, search, racing, pri"),
        ({"scenarios.beta": 9}, "no option 'scenarios.beta'; there are scenarios.proposal, "),
        ({"weights": {"draws": 9}}, "no option 'weights.draws'; there are weights.rule, "),
        ({"weights": "iec"}, "'weights' is a group of options, weights.rule"),
        ({"weights.beta": 1, "weights": {"beta": 2}}, "option 'weights.beta' is set twice"),
        ({"weights.beta.x": 1}, "weights.beta must be of type float"),
    ],
)
def test_options_that_do_not_exist_at_their_level(options, message):
    with pytest.raises((PlayerError, ConfigError), match=message):
        players.make("scrofa", **options)


def test_no_closed_form_is_said_so():
    view = positions.take(positions.random_views(0, [5]), 0)
    with pytest.raises(NotImplementedError, match="greed"):
        players.make("greed").probabilities(view)
