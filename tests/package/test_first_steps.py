"""What a new user types first works, and says what a person can read."""

from inspect import ismodule
from pathlib import Path

import jax
import numpy as np

from gongzhu_jax import evaluation, game, players

VIEW = game.make_view(seat=1, hand="SQ S3 HA H4 H2 D10 D9 D2 CK C7 C6 C5 C2", leader=0, plays="S7")


def test_legal_mask_of_a_view_and_of_a_state() -> None:
    legal = game.legal_mask(VIEW)
    assert game.card_names(np.flatnonzero(legal)) == "S3 SQ"
    state = game.deal(jax.random.key(0), leader=2)
    mine = game.view(state, 2)
    np.testing.assert_array_equal(game.legal_mask(state), game.legal_mask(mine))
    assert game.legal_mask(state).sum() == 13


def test_a_card_has_a_name() -> None:
    """A player's answer is a number; a reader wants a card."""
    player = players.make("if")
    assert player.play(VIEW) == game.card_names(player.act(VIEW)) in ("S3", "SQ")


def test_no_name_of_a_package_hides_a_module() -> None:
    """`import gongzhu_jax.game.view` would give a function if there were a module of that name."""
    for package in (game, players, evaluation):
        modules = {path.stem for path in Path(package.__path__[0]).glob("*.py")}
        hidden = {
            name for name in modules & set(package.__all__) if not ismodule(getattr(package, name))
        }
        assert hidden == set(), package.__name__
