"""Ctrl-C is remembered as well as raised, so that code which catches it cannot swallow it."""

import signal
import threading
from collections.abc import Generator
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
