"""A progress bar with the time left, on stderr, so that stdout has the results only."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from gongzhu_jax.evaluation.seatings import ProgressFn

_display: list[Progress] = []
"""The display of a command that runs others, whose bars then go into it."""


class _LeftColumn(ProgressColumn):
    """The time left: of a task that knows it, what it says; else by the speed so far."""

    max_refresh = 0.5

    def __init__(self) -> None:
        super().__init__()
        self._by_speed = TimeRemainingColumn()

    def render(self, task: Task) -> Text:
        known = task.fields.get("left")
        return Text(in_words(known())) if known else self._by_speed.render(task)


def in_words(seconds: float) -> str:
    """A time as minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _make_display() -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        _LeftColumn(),
    )
    # It goes when the work is over: the results, or one line of error, stand alone.
    return Progress(*columns, console=Console(stderr=True), transient=True)


@contextmanager
def progress(description: str) -> Generator[ProgressFn]:
    """Gives a function (done, in all) that moves the bar."""
    if not _display:
        with _make_display() as bar:
            task = bar.add_task(description, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
        return
    bar = _display[-1]
    task = bar.add_task(f"  {description}", total=None)
    try:
        yield lambda done, total: bar.update(task, completed=done, total=total)
    finally:
        bar.remove_task(task)


class Overall:
    """The bar of a command that runs others."""

    def __init__(self, display: Progress, task: TaskID):
        self._display, self._task = display, task

    def advance(self, done: int, total: int) -> None:
        self._display.update(self._task, completed=done, total=total)

    def say(self, text: str) -> None:
        """A line above the bars."""
        self._display.console.print(text, highlight=False)


@contextmanager
def overall_progress(description: str, left: Callable[[], float]) -> Generator[Overall]:
    """A bar above those of everything that is done meanwhile; `left` says the seconds left."""
    with _make_display() as bar:
        task = bar.add_task(description, total=None, left=left)
        _display.append(bar)
        try:
            yield Overall(bar, task)
        finally:
            _display.pop()
