"""Ctrl-C is remembered as well as raised, so that code which catches it cannot swallow it."""

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

_received: list[int] = []


def received() -> bool:
    return bool(_received)


def _receive(number: int, frame: object) -> None:
    _received.append(number)
    raise KeyboardInterrupt


@contextmanager
def remembered() -> Generator[None]:
    """Remembers Ctrl-C for the time of a command."""
    _received.clear()
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may listen
        return
    before = signal.signal(signal.SIGINT, _receive)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        _received.clear()


@contextmanager
def wished() -> Generator[Callable[[], bool]]:
    """Turns SIGTERM and Ctrl-C into a wish to stop while a training runs, which reads it between
    epochs by the function that this gives; a second one stops it at once."""
    wishes: list[int] = []

    def receive(number: int, frame: object) -> None:
        if wishes:
            raise KeyboardInterrupt
        wishes.append(number)

    before = {number: signal.signal(number, receive) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield lambda: bool(wishes)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
