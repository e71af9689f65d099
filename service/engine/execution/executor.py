"""Device executor: runs batches and other work on the device in order, where batches may overlap.

A GPU runs one batch after the other, and copies the results of one while it computes the next. On a CPU batches take
turns: each computes on all cores, one unit after the other, and after each unit the more urgent batch continues. All
else, such as moving weights or profiling memory, waits for the batches before it, and the batches after it wait for it.
A batch that has no such work before it goes to the batches' threads at once. Knows nothing of what is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from heapq import heappop, heappush
from itertools import count
from threading import Condition, Lock, local
from typing import Any, ParamSpec, Protocol, TypeVar

from service.engine.device.watch import DeviceHealth

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

MOST_IN_FLIGHT = 2
"""Most batches in flight: a GPU computes one and has one queued; on a CPU two take turns, so that no core waits."""


class DeviceWork(Protocol):
    """A device's executor as seen by code that knows nothing of its threads.

    Attributes:
        health: the device's signs of life.
        compute_threads: threads that batches run on.
        takes_turns: True if a batch may overtake one that was launched before it; else they run in order.
    """

    health: DeviceHealth
    compute_threads: int
    takes_turns: bool

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]: ...

    def submit_in_order(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]: ...

    def submit_batch(self, batch: Callable[[], None], *, yields: bool = False) -> None: ...


class DeviceTurns:
    """Order in which batches compute their units, one at a time: interactive work before batch work, then the batch
    with the fewest tokens left, then the one that waits longest.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._waiting: list[tuple[bool, int, int]] = []
        self._arrivals = count()
        self._is_taken = False
        self._batch = local()

    @property
    def waiting(self) -> int:
        """Number of batches that wait for their turn."""
        return len(self._waiting)

    @property
    def yields(self) -> bool:
        """True on a thread that runs batch work."""
        return getattr(self._batch, "yields", False)

    def run(self, batch: Callable[[], None], *, yields: bool) -> None:
        """Run a batch on this thread; `yields`: its units come after those of other batches."""
        self._batch.yields = yields
        batch()

    @contextmanager
    def turn(self, left_tokens: int) -> Iterator[None]:
        """Wait for this thread's turn to compute, and hold it; `left_tokens`: tokens left of its batch."""
        with self._changed:
            place = self.yields, left_tokens, next(self._arrivals)
            heappush(self._waiting, place)
            self._changed.wait_for(lambda: not self._is_taken and self._waiting[0] == place)
            heappop(self._waiting)
            self._is_taken = True
        try:
            yield
        finally:
            with self._changed:
                self._is_taken = False
                self._changed.notify_all()


class DeviceExecutor(Executor):
    """Executor with one thread, and one more for each batch that may overlap.

    Attributes:
        takes_turns: set for a CPU, before the first batch.
        turns: for encoders whose batches take turns.
    """

    def __init__(self, health: DeviceHealth | None = None, batches: int = MOST_IN_FLIGHT) -> None:
        self.health = health or DeviceHealth()
        self.compute_threads = batches
        self.takes_turns = False
        self.turns = DeviceTurns()
        self._order = ThreadPoolExecutor(1, thread_name_prefix="compute")
        self._batches = ThreadPoolExecutor(batches, thread_name_prefix="batch")
        self._running: list[Future[None]] = []
        self._in_order = 0
        self._lock = Lock()

    def submit(
        self, work: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Future[Result]:
        """Run work alone, after all work submitted before."""
        return self.submit_in_order(self._alone, partial(work, *args, **kwargs))

    def submit_batch(self, batch: Callable[[], None], *, yields: bool = False) -> None:
        """Run a batch after all other work submitted before, concurrently with earlier batches. It must not raise.

        Args:
            yields: where batches take turns, it comes after others.
        """
        run = partial(self.turns.run, batch, yields=yields)
        with self._lock:
            if not self._in_order:
                self._begin(run)
                return
        self.submit_in_order(self._start_batch, run)

    def submit_in_order(
        self, work: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Future[Result]:
        """Run short work concurrently with the batches submitted before, and before those submitted later."""

        def run() -> Result:
            try:
                return work(*args, **kwargs)
            finally:
                with self._lock:
                    self._in_order -= 1

        with self._lock:
            self._in_order += 1
            return self._order.submit(run)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        for threads in (self._order, self._batches):
            threads.shutdown(wait=wait, cancel_futures=cancel_futures)

    def _alone(self, work: Callable[[], Result]) -> Result:
        with self._lock:
            running = list(self._running)
        wait(running)
        return work()

    def _start_batch(self, batch: Callable[[], None]) -> None:
        with self._lock:
            self._begin(batch)

    def _begin(self, batch: Callable[[], None]) -> None:
        self._running = [each for each in self._running if not each.done()]
        self._running.append(self._batches.submit(batch))
