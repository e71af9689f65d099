"""Batches in, outcomes out, on one compute thread, so that the loop's thread can sleep until it is woken.

Owns what happens when a batch fails: the cache is freed, the batch is split, the halves are tried again; a sequence
that fails alone fails alone. Does not know the queue; whoever launches keeps at most one batch running and one behind.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Protocol, TypeAlias

import numpy as np

from service.core.arrays import Logits, TokenIds
from service.core.errors import GleanerError, InsufficientMemory
from service.core.scheduling.batch_latency import TimedBatch
from service.core.types import Shape
from service.engine.device.selection import free_cache
from service.engine.execution.device_errors import DeviceBroken, is_broken_device, to_service_error
from service.engine.execution.encoder_protocol import Encoder

WARM_LENGTH_TOKENS = 128
WARM_SEQUENCES = (1, 4)
PAUSES_SECONDS = (0.25, 1.0)

log = logging.getLogger(__name__)

Outcome: TypeAlias = Logits | GleanerError
"""Logits [tokens, labels] of one sequence, or why there are none."""


class BatchExecutor(Protocol):
    """What a runner needs of the compute thread: batches are run in order, each after the work before it."""

    def fly(self, batch: Callable[[], None]) -> None: ...


class BatchHandle:
    """One launched batch.

    Attributes:
        begun_seconds, ended_seconds: when it was in compute, splits included, by time.monotonic(); 0 until done.
        splits: how often a failing batch was halved.
        out_of_memory: shapes for which memory ran out.
        broken: why there is no device any more, if so.
    """

    def __init__(self) -> None:
        self.begun_seconds = 0.0
        self.ended_seconds = 0.0
        self.splits = 0
        self.out_of_memory: list[Shape] = []
        self.broken: str | None = None
        self._outcomes: Future[list[Outcome]] = Future()

    @property
    def seconds(self) -> float:
        """Time in compute."""
        return self.ended_seconds - self.begun_seconds

    def done(self) -> bool:
        """Whether `result` answers at once."""
        return self._outcomes.done()

    def result(self) -> list[Outcome]:
        """One outcome for each sequence, in the order launched; waits if need be.

        Raises:
            DeviceBroken: nothing can be computed any more.
        """
        return self._outcomes.result()

    def crash(self, error: DeviceBroken) -> None:
        """Called instead of `land` when there is no device any more; `result` raises it."""
        self.broken = str(error)
        self._outcomes.set_exception(error)

    def land(self, outcomes: list[Outcome]) -> None:
        """Called once, by the compute thread."""
        self._outcomes.set_result(outcomes)


class Runner:
    """Runs one encoder on a compute thread, which it may share with other runners.

    Args:
        compute: runs batches in order.
        wake: called on its thread after each batch.
        pauses_seconds: how long to wait before each further try of a lone sequence for which memory ran out.
    """

    def __init__(
        self,
        encoder: Encoder,
        compute: BatchExecutor,
        wake: Callable[[], None],
        pauses_seconds: Sequence[float] = PAUSES_SECONDS,
    ) -> None:
        self.encoder = encoder
        self._compute = compute
        self._wake = wake
        self._pauses_seconds = pauses_seconds

    def launch(self, sequences: Sequence[TokenIds]) -> BatchHandle:
        """Start a batch, or queue it behind the one that runs."""
        flight = BatchHandle()
        self._compute.fly(partial(self._fly, flight, list(sequences)))
        return flight

    def warm(self, longest_tokens: int) -> None:
        """Run a few small shapes once, so that the first requests find kernels chosen and memory mapped."""
        length = min(WARM_LENGTH_TOKENS, longest_tokens)
        for count in WARM_SEQUENCES:
            self.launch(_blank(length, count)).result()

    def time(self, longest_tokens: int, most_tokens: int) -> TimedBatch | None:
        """How long a batch of about so many tokens takes on a device that is warm; None: it cannot be run whole."""
        length = min(WARM_LENGTH_TOKENS, longest_tokens)
        count = max(most_tokens // length, 1)
        batch = _blank(length, count)
        if count not in WARM_SEQUENCES:  # The first of a shape chooses kernels and maps memory.
            self.launch(batch).result()
        flight = self.launch(batch)
        outcomes = flight.result()
        if flight.splits or flight.out_of_memory or isinstance(outcomes[0], GleanerError):
            return None
        return TimedBatch(length * count, flight.seconds)

    def _fly(self, flight: BatchHandle, sequences: list[TokenIds]) -> None:
        flight.begun_seconds = time.monotonic()
        try:
            outcomes = self._attempt(flight, sequences)
        except DeviceBroken as error:
            flight.crash(error)
        else:
            flight.ended_seconds = time.monotonic()
            flight.land(outcomes)
        self._wake()

    def _attempt(self, flight: BatchHandle, sequences: list[TokenIds]) -> list[Outcome]:
        outcomes = self._try(flight, sequences)
        for pause_seconds in self._pauses_seconds if len(sequences) == 1 else ():
            if not isinstance(outcomes, InsufficientMemory):
                break
            time.sleep(pause_seconds)  # It fits by rights, so another process has the memory; often for a moment only.
            outcomes = self._try(flight, sequences)
        if isinstance(outcomes, list):
            return outcomes
        return self._confine(flight, sequences, outcomes)

    def _try(self, flight: BatchHandle, sequences: list[TokenIds]) -> list[Outcome] | GleanerError:
        """Outcomes, or why the batch as a whole failed; the device's cache is then free again."""
        try:
            return list(self.encoder.forward(sequences))
        except Exception as error:  # Whatever fails, the neighbours of the sequence that caused it must not.
            if is_broken_device(error):
                raise DeviceBroken(f"{type(error).__name__}: {error}".splitlines()[0]) from error
            failure = to_service_error(error)
        if isinstance(failure, InsufficientMemory):
            flight.out_of_memory.append(Shape.of([len(tokens) for tokens in sequences]))
        free_cache(self.encoder.device)  # Outside the handler: the traceback would keep the batch's tensors alive.
        return failure

    def _confine(self, flight: BatchHandle, sequences: list[TokenIds], failure: GleanerError) -> list[Outcome]:
        """A sequence that fails alone fails alone; of a batch that fails, the halves are tried."""
        if len(sequences) == 1:
            log.error("a sequence failed", extra={"code": failure.code, "tokens": len(sequences[0])})
            return [failure]
        log.warning("a batch failed and is split", extra={"code": failure.code, "sequences": len(sequences)})
        flight.splits += 1
        middle = len(sequences) // 2
        return self._attempt(flight, sequences[:middle]) + self._attempt(flight, sequences[middle:])


def _blank(length: int, count: int) -> list[TokenIds]:
    """A batch of nobody's."""
    return [np.zeros(length, dtype=np.int32)] * count
