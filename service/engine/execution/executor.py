"""The compute thread: what is submitted is done in order; batches may overlap where the device gains by it.

A GPU runs one batch after the other. On a CPU the shares of a batch end at different times, and the next batch may
begin on the cores that are free (`crew.py`). Everything else, such as moving weights or measuring memory, waits until
the batches before it are done, and the batches after it wait for it. Owns this order; does not know what is computed.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class DeviceExecutor(Executor):
    """An executor with one thread, and, once batches may overlap, one more for each of them."""

    def __init__(self) -> None:
        self._order = ThreadPoolExecutor(1, thread_name_prefix="compute")
        self._lanes: ThreadPoolExecutor | None = None
        self._running: list[Future[None]] = []

    def overlap(self, batches: int) -> None:
        """From now on so many batches may run side by side; to be called before the first one."""
        self._lanes = ThreadPoolExecutor(batches, thread_name_prefix="batch")

    def submit(
        self, work: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Future[Result]:
        """Do work after all that was submitted before, alone."""
        return self._order.submit(self._alone, partial(work, *args, **kwargs))

    def fly(self, batch: Callable[[], None]) -> None:
        """Run a batch after all work, and beside batches, that were submitted before. It must not raise."""
        self._order.submit(self._board, batch)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the threads, after their work."""
        self._order.shutdown(wait=wait, cancel_futures=cancel_futures)
        if self._lanes is not None:
            self._lanes.shutdown(wait=wait, cancel_futures=cancel_futures)

    def _alone(self, work: Callable[[], Result]) -> Result:
        wait(self._running)
        return work()

    def _board(self, batch: Callable[[], None]) -> None:
        if self._lanes is None:
            return batch()
        self._running = [each for each in self._running if not each.done()]
        self._running.append(self._lanes.submit(batch))
