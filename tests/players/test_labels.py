"""Players with a label and options."""

import jax
import numpy as np
import pytest

from gongzhu_jax import players
from gongzhu_jax.errors import PlayerError
from gongzhu_jax.players.labels import check_labels, make_labelled, player_name


def test_labels() -> None:
    options = {"greed@few": {"samples": 5}}
    assert player_name("scrofa-strong@64") == "scrofa-strong"
    assert make_labelled("greed", options) == players.make("greed")
    few = make_labelled("greed@few", options)
    assert few.name == "greed"
    assert few.config == players.make("greed", samples=5).config
    # Shared options go to players that have them, and their own come first.
    assert make_labelled("greed@few", options, {"checkpoint": "x", "samples": 7}) == few
    assert make_labelled("greed", options, {"samples": 7}) == players.make("greed", samples=7)
    assert make_labelled("greed", options, {"samples": None}) == players.make("greed")
    # The checkpoint of players that search is none of the distilled policy's.
    shared = {"checkpoint": "perfect-information"}
    strong = make_labelled("scrofa-strong", {}, shared)
    seeing = players.make("scrofa-strong", checkpoint="perfect-information")
    assert strong.params.network is not None
    jax.tree.map(np.testing.assert_array_equal, strong.params.network, seeing.params.network)
    policy = make_labelled("distilled", {}, shared)
    jax.tree.map(np.testing.assert_array_equal, policy.params, players.make("distilled").params)


def test_bad_labels() -> None:
    with pytest.raises(PlayerError, match="has no options: say what tells it from 'greed'"):
        make_labelled("greed@few", {})
    with pytest.raises(PlayerError, match="unknown player"):
        make_labelled("nobody@few", {"nobody@few": {}})
    with pytest.raises(PlayerError, match="has no option 'depth'"):
        make_labelled("greed@deep", {"greed@deep": {"depth": 3}})
    with pytest.raises(PlayerError, match="named twice"):
        check_labels(["if", "if"], {})
    with pytest.raises(PlayerError, match="who is not among"):
        check_labels(["if"], {"greed@few": {}})
