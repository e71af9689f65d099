"""What other threads ask the loop's thread to do for them, since only that thread owns the queue and the models."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

Result = TypeVar("Result")


class LoopCalls:
    """Work in the order in which it was asked for.

    Args:
        wake: called after each that is handed in.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._waiting: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()

    def hand(self, work: Callable[[], Result]) -> Future[Result]:
        """Have the loop's thread do `work` some time soon."""
        future: Future[Result] = Future()
        self._waiting.put((future, work))
        self._wake()
        return future

    def ask(self, work: Callable[[], Result]) -> Result:
        """The same; waits for its result, and raises what it raises."""
        return self.hand(work).result()

    def run(self) -> None:
        """Do all that waits; called by the loop's thread."""
        while True:
            try:
                future, work = self._waiting.get_nowait()
            except Empty:
                return
            try:
                future.set_result(work())
            except Exception as error:
                future.set_exception(error)
