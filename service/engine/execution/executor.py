"""Device executor: runs batches and other work on the device in order; batches may overlap where the device gains.

A GPU runs one batch after the other, and copies the results of one while it computes the next. On a CPU the shards of a
batch end at different times, and the next batch may begin on free cores. Everything else, such as moving
weights or profiling memory, waits for the batches before it, and the batches after it wait for it. A batch that has no
such work before it goes to the batches' threads at once. On a CPU, batches that yield to others have threads of
their own: the kernel lets them wait while another batch computes. Knows nothing of what is computed.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from functools import partial
from threading import Lock
from typing import Any, ParamSpec, Protocol, TypeVar

from service.engine.device.watch import DeviceHealth
from service.process import yield_processor

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class DeviceWork(Protocol):
    """A device's executor as seen by code that knows nothing of its threads.

    Attributes:
        health: the device's signs of life.
        compute_threads: threads that batches run on.
        concurrent: True if the device computes several batches at once; else one after the other.
    """

    health: DeviceHealth
    compute_threads: int
    concurrent: bool

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]: ...

    def submit_in_order(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]: ...

    def submit_batch(self, batch: Callable[[], None], *, yields: bool = False) -> None: ...


class DeviceExecutor(Executor):
    """Executor with one thread, and one more for each batch that may overlap."""

    def __init__(self, health: DeviceHealth | None = None) -> None:
        self.health = health or DeviceHealth()
        self.compute_threads = 1
        self.concurrent = False
        self._order = ThreadPoolExecutor(1, thread_name_prefix="compute")
        self._batches: ThreadPoolExecutor | None = None
        self._yielding: ThreadPoolExecutor | None = None
        self._running: list[Future[None]] = []
        self._in_order = 0
        self._lock = Lock()

    def overlap(self, batches: int, *, concurrent: bool = False) -> None:
        """Let this number of batches overlap; to be called before the first one."""
        self.concurrent = concurrent
        self._batches = ThreadPoolExecutor(batches, thread_name_prefix="batch")
        if concurrent:
            self._yielding = ThreadPoolExecutor(batches, "yielding", initializer=yield_processor)
        self.compute_threads = batches

    def submit(
        self, work: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Future[Result]:
        """Run work alone, after all work submitted before."""
        return self._submit(self._alone, partial(work, *args, **kwargs))

    def submit_batch(self, batch: Callable[[], None], *, yields: bool = False) -> None:
        """Run a batch after all other work submitted before, concurrently with earlier batches. It must not raise.

        Args:
            yields: on a CPU, its threads yield the processor to those of other batches.
        """
        threads = self._yielding if yields and self._yielding is not None else self._batches
        with self._lock:
            if threads is not None and not self._in_order:
                self._begin(threads, batch)
                return
        self._submit(self._start_batch, threads, batch)

    def submit_in_order(
        self, work: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Future[Result]:
        """Run short work concurrently with the batches submitted before, and before those submitted later."""
        return self._submit(work, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        for threads in (self._order, self._batches, self._yielding):
            if threads is not None:
                threads.shutdown(wait=wait, cancel_futures=cancel_futures)

    def _submit(
        self, work: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Future[Result]:
        """Run work in the order of submission, before batches submitted later."""

        def run() -> Result:
            try:
                return work(*args, **kwargs)
            finally:
                with self._lock:
                    self._in_order -= 1

        with self._lock:
            self._in_order += 1
            return self._order.submit(run)

    def _alone(self, work: Callable[[], Result]) -> Result:
        with self._lock:
            running = list(self._running)
        wait(running)
        return work()

    def _start_batch(self, threads: ThreadPoolExecutor | None, batch: Callable[[], None]) -> None:
        if threads is None:
            return batch()
        with self._lock:
            self._begin(threads, batch)

    def _begin(self, threads: ThreadPoolExecutor, batch: Callable[[], None]) -> None:
        self._running = [each for each in self._running if not each.done()]
        self._running.append(threads.submit(batch))
