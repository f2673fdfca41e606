"""A thread for long work, one piece after the other, the most urgent first. The end of the process
does not wait for it."""

import itertools
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any


class Worker:
    def __init__(self, name: str) -> None:
        self._queue: queue.PriorityQueue[tuple[int, int, Future, Callable[[], Any]]] = (
            queue.PriorityQueue()
        )
        self._numbers = itertools.count()  # equally urgent work is done in order
        self._closed = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def submit(self, order: int, work: Callable[..., Any], *values: Any) -> Future:
        """Does `work` after everything with a smaller `order`."""
        future: Future = Future()
        self._queue.put((order, next(self._numbers), future, lambda: work(*values)))
        return future

    def close(self) -> None:
        """What has not begun is not done; what is being done cannot be interrupted."""
        self._closed = True
        self.submit(-1, lambda: None)

    def _work(self) -> None:
        while True:
            _, _, future, work = self._queue.get()
            if self._closed:
                return
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(work())
            except Exception as error:
                future.set_exception(error)
