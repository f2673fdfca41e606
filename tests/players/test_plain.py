"""Players in plain Python sit at the same tables as everybody, and their faults have a name."""

import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax import game
from gongzhu_jax.arena.seat_view import seat_view
from gongzhu_jax.arena.table_game import TableGame
from gongzhu_jax.errors import IllegalPlayError, PlayerError
from gongzhu_jax.evaluation import play_match
from gongzhu_jax.game.cards import card_ids
from gongzhu_jax.game.plain_view import plain_view
from gongzhu_jax.players import from_function
from tests.evaluation.simple_players import high_player, random_player

VIEW = game.make_view(seat=1, hand="SQ S3 HA H4 H2 D10 D9 D2 CK C7 C6 C5 C2", leader=0, plays="S7")


def highest(view: dict[str, Any]) -> str:
    return max(view["legal"], key=lambda card: card_ids(card)[0])


def test_views_are_those_of_the_arena() -> None:
    """One function plays at the arena and in matches: it is told the same in both."""
    rng = np.random.default_rng(0)
    owners = rng.permutation(np.repeat(np.arange(4), 13)).tolist()
    table, state = TableGame(owners, 3), game.from_owners(jnp.array(owners, jnp.int8), 3)
    step = jax.jit(game.step)
    for _ in range(52):
        for seat in range(4):
            assert plain_view(game.view(state, seat)) == seat_view(table, seat)
        card = int(rng.choice(table.legal()))
        table.play_checked(card)
        state = step(state, np.int8(card))
    assert plain_view(game.view(state, 2)) == seat_view(table, 2)


def test_a_function_plays_as_its_compiled_twin() -> None:
    """The same choices, card by card: so is what a match makes of them."""
    plain = play_match(from_function(highest, "plain"), random_player, 6, keep_states=True)
    compiled = play_match(high_player, random_player, 6, keep_states=True)
    states, expected = plain.seating.states, compiled.seating.states
    assert states is not None
    assert expected is not None
    np.testing.assert_array_equal(states.plays, expected.plays)
    np.testing.assert_array_equal(plain.margins, compiled.margins)


def numpy_card(view: dict[str, Any]) -> Any:
    return np.int8(1)


def test_one_card() -> None:
    player = from_function(highest, "plain")
    assert player.play(VIEW) == "SQ"
    assert from_function(lambda view: game.card_id("S3"), "by id").play(VIEW) == "S3"
    assert from_function(numpy_card, "by id of numpy").play(VIEW) == "S3"


def sleeps(view: dict[str, Any]) -> str:
    time.sleep(30)
    return view["legal"][0]


@pytest.mark.parametrize(
    ("choose", "error", "message"),
    [
        (lambda view: "HA", IllegalPlayError, "'mine' played HA at play 2; it may play S3 SQ"),
        (lambda view: "S1", PlayerError, "'mine' returned 'S1', which is no card"),
        (lambda view: None, PlayerError, "'mine' returned None, which is no card"),
        (lambda view: view["tricks"], PlayerError, "'mine' failed: KeyError: 'tricks'"),
        (sleeps, PlayerError, "'mine' took longer than 0.2 s for a card"),
    ],
    ids=["illegal", "unknown", "nothing", "raises", "slow"],
)
def test_faults(choose: Any, error: type[Exception], message: str) -> None:
    player = from_function(choose, "mine", seconds=0.2)
    with pytest.raises(error, match=message) as caught:
        player.play(VIEW)
    assert "\n" not in str(caught.value)


def test_a_fault_in_a_match() -> None:
    """There a compiled program asks, and what is raised in one comes out as something else."""
    player = from_function(lambda view: "S1", "mine")
    with pytest.raises(PlayerError, match="'mine' returned 'S1', which is no card"):
        play_match(player, random_player, 2)


def test_a_fault_is_not_raised_twice() -> None:
    cards = iter(["HA", "S3"])
    player = from_function(lambda view: next(cards), "mine")
    with pytest.raises(IllegalPlayError):
        player.play(VIEW)
    assert player.play(VIEW) == "S3"


def test_seconds_must_be_some() -> None:
    with pytest.raises(PlayerError, match="more than 0"):
        from_function(highest, "mine", seconds=float("nan"))
