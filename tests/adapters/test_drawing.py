"""Drawn tables: kept in tests/data, so that a change shows as a difference of text."""

import re
from xml.etree import ElementTree

import jax
import numpy as np
import pytest

from gongzhu_jax.adapters import drawing
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.game import replay_checked, view
from gongzhu_jax.game.cards import CARD_NAMES, POINT_CARDS
from tests.oracle.data import DATA, load
from tests.oracle.rules import Game


def golden_state(number_of_plays: int):
    game = load("games")[5]
    return replay_checked(game["deal"], game["leader"], game["plays"][:number_of_plays])


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("table_state", lambda: drawing.to_svg(golden_state(30))),
        ("table_view", lambda: drawing.to_svg(view(golden_state(30), 1), theme="dark", scale=0.5)),
    ],
)
def test_picture(name: str, drawn) -> None:
    assert drawn() == (DATA / f"{name}.svg").read_text()


@pytest.mark.parametrize("plays", [0, 3, 30, 52])
def test_every_card_is_where_it_belongs(plays: int) -> None:
    """By the rules in plain Python: hands, trick, taken point cards, points, whose turn."""
    game = load("games")[5]
    oracle = Game(game["deal"], game["leader"], game["plays"][:plays])
    text = drawing.to_svg(golden_state(plays))
    root = ElementTree.fromstring(text)
    shown = [element.get("href") for element in root.iter() if element.tag.endswith("use")]
    open_cards = [card for seat in range(4) for card in oracle.hand(seat)]
    open_cards += [card for _, card in oracle.trick]
    taken = [card for cards in oracle.taken for card in cards if card in POINT_CARDS]
    expected = [f"#card-{CARD_NAMES[card]}" for card in open_cards]
    expected += [f"#chip-{CARD_NAMES[card]}" for card in taken]
    assert sorted(map(str, shown)) == sorted(expected)
    for seat, points in enumerate(oracle.scores()):
        assert f"seat {seat}: {points}, " in text
    marked = re.findall("▶ seat ([0-3])", text)
    assert marked == ([] if plays == 52 else [str(oracle.player_to_move())])


def test_a_view_shows_no_other_hand() -> None:
    """No card of another hand is named, only how many there are."""
    state = golden_state(30)
    seen = view(state, 1)
    shown = re.findall('<use href="#card-([^"]+)"', drawing.to_svg(seen))
    hidden = {CARD_NAMES[card] for card in np.flatnonzero(np.isin(state.holder, [0, 2, 3]))}
    assert hidden
    assert not hidden & set(shown)
    assert shown.count("back") == 5 + 6 + 5


def test_batch() -> None:
    states = jax.tree.map(lambda *leaves: np.stack(leaves), *map(golden_state, (0, 4, 8)))
    text = drawing.to_svg(states)
    assert 'viewBox="0 0 1440 1280"' in text
    for trick in (1, 2, 3):
        assert text.count(f"trick {trick}<") == 1


def test_animation(tmp_path) -> None:
    states = [golden_state(plays) for plays in range(0, 53, 13)]
    path = tmp_path / "game.svg"
    drawing.save_animation(states, path, seconds=0.5)
    root = ElementTree.parse(path).getroot()
    frames = [group for group in root if group.get("display")]
    assert [frame.get("display") for frame in frames] == ["none"] * 4 + ["inline"]
    times = [frame[0].attrib for frame in frames]
    assert times[0]["dur"] == "2.5s"
    assert (times[0]["keyTimes"], times[0]["values"]) == ("0;0.2", "inline;none")
    assert (times[2]["keyTimes"], times[2]["values"]) == ("0;0.4;0.6", "none;inline;none")
    assert (times[4]["keyTimes"], times[4]["values"]) == ("0;0.8", "none;inline")


def test_one_frame_stands_still() -> None:
    assert "<animate" not in drawing.to_animation([golden_state(0)])


def test_bad_arguments(tmp_path) -> None:
    state = golden_state(0)
    with pytest.raises(ConfigError, match="unknown theme 'blue'; there are light, dark"):
        drawing.to_svg(state, theme="blue")
    with pytest.raises(ConfigError, match="scale must be above 0"):
        drawing.to_svg(state, scale=0)
    with pytest.raises(ConfigError, match="at least one table"):
        drawing.to_animation([])
    with pytest.raises(ConfigError, match="seconds must be above 0"):
        drawing.to_animation([state], seconds=0)
    with pytest.raises(ConfigError, match=r"ends in \.svg"):
        drawing.save_svg(state, tmp_path / "table.png")
    assert not list(tmp_path.iterdir())
