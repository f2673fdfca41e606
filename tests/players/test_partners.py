"""A team of two different players against four players at their own seats."""

from typing import Any

import numpy as np
import pytest

from experiments import compare
from gongzhu_jax import players
from gongzhu_jax.errors import PlayerError
from gongzhu_jax.evaluation.fingerprint import player_identity
from gongzhu_jax.evaluation.matches import play_match
from gongzhu_jax.evaluation.seatings import Seating
from gongzhu_jax.network.policy_value import NetworkConfig
from gongzhu_jax.players import all_seeing, from_function
from gongzhu_jax.players.partners import partners
from gongzhu_jax.search.config import SearchConfig
from tests.evaluation.simple_players import high_player, mixed_player, random_player


def test_partners_sit_opposite_each_other() -> None:
    team = partners(high_player, random_player)
    match = play_match(team, mixed_player, 20, seed=3, batch=32)
    seats = (high_player, mixed_player, random_player, mixed_player)
    points = Seating(seats, seed=3, batch=32).play(20).points
    margins = (points[..., 0::2].sum(-1) - points[..., 1::2].sum(-1)).mean(-1)
    np.testing.assert_array_equal(match.margins, margins)
    exchanged = play_match(partners(random_player, high_player), mixed_player, 20, seed=3, batch=32)
    assert np.any(exchanged.margins != margins)


def test_a_team_is_named_by_both() -> None:
    greed, other = players.make("greed"), players.make("greed", samples=5)
    assert partners(greed, other).name == "greed + greed"
    identities = [player_identity(partners(*of)) for of in ((greed, other), (other, greed))]
    assert identities[0] != identities[1]
    assert identities[0]["config"]["second"]["config"]["samples"] == 5


def test_who_sees_all_hands_has_no_other_partner() -> None:
    seeing = all_seeing.from_network(NetworkConfig(), None, SearchConfig())
    with pytest.raises(PlayerError, match="sees all hands"):
        partners(seeing, random_player)


def fails(view: dict[str, Any]) -> str:
    raise ValueError("out of cards")


def test_a_partner_that_fails_ends_the_match() -> None:
    """Its failure is its own: a team of others goes on."""
    failing = from_function(fails, "failing")
    for team in (partners(failing, high_player), partners(high_player, failing)):
        with pytest.raises(PlayerError, match="out of cards"):
            play_match(team, random_player, 2, batch=2)
    play_match(partners(high_player, random_player), random_player, 2, batch=2)


def test_more_than_two_partners_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main(["matches={three:[greed + if + random,greed]}"]) == 2
    assert "two partners" in capsys.readouterr().err
