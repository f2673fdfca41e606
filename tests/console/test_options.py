"""What options mean is written at their fields, and read from there."""

import dataclasses

import pytest

from gongzhu_jax import players
from gongzhu_jax.console.__main__ import main
from gongzhu_jax.console.options import field_comments, player_options


@dataclasses.dataclass
class Base:
    inherited: int = 0  # from the base


@dataclasses.dataclass
class Example(Base):
    """Not a comment of a field."""

    # Two lines
    # above it.
    above: int = 1
    behind: str = "# not this"  # but this
    below: int = 2
    """And this,
    on two lines."""
    nothing: int = 3

    def method(self) -> int:
        local: int = 4  # not a field
        return local


def test_comments_of_fields() -> None:
    assert field_comments(Example) == {
        "inherited": "from the base",
        "above": "Two lines above it.",
        "behind": "but this",
        "below": "And this, on two lines.",
        "nothing": "",
    }


@pytest.mark.parametrize("name", players.names())
def test_every_option_of_every_player_is_explained(name: str) -> None:
    options = player_options(name)
    assert [option.name for option in options] == players.option_names(name)
    assert [option.name for option in options if not option.meaning] == []


def test_players_on_the_command_line(capsys: pytest.CaptureFixture) -> None:
    assert main(["players"]) == 0
    assert "scrofa-strong\n" in capsys.readouterr().out
    assert main(["players", "scrofa"]) == 0
    said = capsys.readouterr().out
    assert "weights.beta = 0.015\n" in said
    assert "its best checkpoint is taken" in said
    assert main(["players", "nobody"]) == 2
