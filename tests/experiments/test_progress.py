"""Progress where there is no terminal: lines that say how much is done and how long is left."""

import pytest

from experiments.common import progress as module
from experiments.common.progress import progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def test_a_log_file_gets_a_line_a_minute(clock: list[float], capsys) -> None:
    """A run goes on at 40 of 100, 10 s for each; the time left is by the speed of this stretch."""
    with progress("training") as advance:
        for done in range(40, 54):
            advance(done, 100)
            clock[0] += 10
    out, err = capsys.readouterr()
    assert not out
    assert err.strip().splitlines() == [
        "training: 46 of 100, 9:00 left",
        "training: 52 of 100, 8:00 left",
    ]


def test_work_that_knows_the_time_left_is_believed(clock: list[float], capsys) -> None:
    with progress("all", left=lambda: 75.0) as advance, progress("match") as of_match:
        for done in (1, 2):
            advance(done, 3)
            of_match(done, 2)
            clock[0] += 61
    assert capsys.readouterr().err.strip().splitlines() == [
        "all: 2 of 3, 1:15 left",
        "match: 2 of 2, 0:00 left",
    ]
