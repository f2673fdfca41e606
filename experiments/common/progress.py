"""Progress with the time left, and notes, on stderr, so that stdout has the results only: bars on a
terminal, and a line now and then in a file, such as the log of a job."""

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from gongzhu_jax.evaluation.seatings import ProgressFn

LINE_SECONDS = 60.0
"""How often a line is written where there is no terminal to draw bars on."""

_displays: list[Progress] = []
"""The display of a command that runs others, whose bars then go into it."""


class _LeftColumn(TimeRemainingColumn):
    """The time left: of a task that knows it, what it says; else by the speed so far."""

    def render(self, task: Task) -> Text:
        known = task.fields.get("left")
        return Text(in_words(known())) if known else super().render(task)


class _Lines:
    """How far work has come, as a line now and then."""

    def __init__(self, description: str, left: Callable[[], float] | None) -> None:
        self._description, self._left = description, left
        self._said = time.monotonic()
        self._first: tuple[int, float] | None = None  # how much was done when; a run may be resumed

    def advance(self, done: int, total: int) -> None:
        now = time.monotonic()
        before, begun = self._first = self._first or (done, now)
        if now - self._said < LINE_SECONDS or done == before:
            return
        self._said = now
        left = self._left() if self._left else (now - begun) * (total - done) / (done - before)
        note(f"{self._description}: {done} of {total}, {in_words(left)} left")


def in_words(seconds: float) -> str:
    """A time as minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def note(text: str) -> None:
    """A line for the person who waits, above the bars if there are any."""
    console = _displays[-1].console if _displays else Console(stderr=True)
    console.print(text, highlight=False, soft_wrap=True, markup=False)


@contextmanager
def progress(description: str, left: Callable[[], float] | None = None) -> Generator[ProgressFn]:
    """Gives a function (done, in all) that moves a bar, or writes lines where there is no terminal;
    `left` says the seconds left if it knows better than the speed so far. Bars of work within this
    work stand below it."""
    outermost = not _displays
    if outermost:
        columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        console = Console(stderr=True)
        # It goes when the work is over: the results, or one line of error, stand alone.
        _displays.append(Progress(*columns, "left", _LeftColumn(), console=console, transient=True))
        _displays[-1].start()
    bar = _displays[-1]
    indent = "" if outermost else "  "
    task = bar.add_task(f"{indent}{description}", total=None, left=left)
    lines = _Lines(description, left)

    def advance(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)
        if not bar.console.is_terminal:
            lines.advance(done, total)

    try:
        yield advance
    finally:
        bar.remove_task(task)
        if outermost:
            _displays.pop().stop()


def print_table(title: str, lines: Sequence[Sequence[str]]) -> None:
    """Lines as a table on stdout; the first has the heads."""
    head, *rest = lines
    table = Table(*head, title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    for line in rest:
        table.add_row(*line)
    Console().print(table)


def as_lines(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Rows with the same keys as lines of a table; the keys are the heads."""
    heads = [name.replace("_", " ") for name in rows[0]] if rows else []
    return [heads, *([cell(value) for value in row.values()] for row in rows)]


def cell(value: Any) -> str:
    """A value as it stands in a table."""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return "" if value is None else str(value)
