"""Every key of every command is explained, by `--help` and on the page, from one source."""

from pathlib import Path

import pytest

from experiments.common.cli import SETTINGS, compose
from experiments.common.explain import command_options
from experiments.report import options
from experiments.train import main


def test_the_page_is_up_to_date() -> None:
    """`python -m experiments.report.options` writes it."""
    assert options.PAGE.read_text() == options.page()


def test_every_key_is_explained() -> None:
    options.page()  # imports all commands
    assert len(SETTINGS) > 15
    silent = [
        f"{name}: {option.name}"
        for name, settings in SETTINGS.items()
        for option in command_options(name, settings, compose(name, []))
        if not option.meaning
    ]
    assert silent == []


def test_help(capsys: pytest.CaptureFixture) -> None:
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Trains a network by self-play")
    assert "  learner.value_weight=0.03\n      lambda of the loss\n" in said  # at the field
    assert "  start=null\n      a weights file" in said  # in configs/train.yaml
    assert "  learner.value_loss=rmse\n      estimates the mean" in said  # in the preset


def test_the_page_is_written_where_it_is_asked_for(tmp_path: Path) -> None:
    assert options.main(tmp_path / "options.md") == 0
    assert (tmp_path / "options.md").read_text().startswith("# Options\n")
