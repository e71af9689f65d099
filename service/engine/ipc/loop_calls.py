"""Calls onto the loop's thread: other threads submit work for it, because it alone owns the queue and the models."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

Result = TypeVar("Result")


class LoopCalls:
    """Submitted work, run in order.

    Args:
        wake: called after each submission.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self.wake = wake
        self._waiting: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()

    def submit(self, work: Callable[[], Result]) -> Future[Result]:
        """Have `work` run by the loop's thread, in its next turn."""
        future: Future[Result] = Future()
        self._waiting.put((future, work))
        self.wake()
        return future

    def call(self, work: Callable[[], Result]) -> Result:
        """Submit `work`, wait for it, and return its result or raise its exception."""
        return self.submit(work).result()

    def run(self) -> None:
        """Run everything submitted; called by the loop's thread."""
        while True:
            try:
                future, work = self._waiting.get_nowait()
            except Empty:
                return
            try:
                future.set_result(work())
            except Exception as error:
                future.set_exception(error)
