"""Every key of every command is explained, by `--help` and on the page, from one source."""

from pathlib import Path

import pytest

from experiments.common.cli import SETTINGS, compose
from experiments.common.explain import command_options
from experiments.report import options
from experiments.train import main


@pytest.fixture(scope="module")
def page() -> str:
    """What it says now; to make it imports all commands."""
    return options.page()


def test_the_page_is_up_to_date(page: str) -> None:
    """`python -m experiments.report.options` writes it."""
    assert options.PAGE.read_text() == page


@pytest.mark.usefixtures("page")
def test_every_key_is_explained() -> None:
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
    assert (
        "  learner.value_weight=0.03\n      lambda of the loss: the weight of the value error\n"
        in said
    )  # at the field
    assert "  start=null\n      a weights file" in said  # in configs/train.yaml
    assert "  learner.value_loss=rmse\n      rmse estimates the mean" in said  # in the preset


def test_the_page_is_written_where_it_is_asked_for(tmp_path: Path, page: str, monkeypatch) -> None:
    monkeypatch.setattr(options, "page", lambda: page)  # as it was made above
    assert options.main(tmp_path / "options.md") == 0
    assert (tmp_path / "options.md").read_text() == page
    assert page.startswith("# Options\n")
