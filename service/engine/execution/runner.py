"""Model runner: runs one encoder's batches on the device's executor, and wakes the loop's thread after each.

It handles failures: releases the allocator's cache, splits the batch and runs the halves again, so that a sequence
that fails alone is the only one that fails. Knows nothing of the queue.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, TypeAlias

import torch

from service.core.arrays import Logits, TokenIds
from service.core.errors import GleanerError, InsufficientMemory
from service.core.scheduling.throughput import TimedBatch
from service.core.types import Shape
from service.engine.device.watch import summary
from service.engine.execution.device_errors import DeviceBroken, is_broken_device, to_service_error
from service.engine.execution.encoder_wrappers import Encoder
from service.engine.execution.executor import DeviceWork
from service.families.processor import Blank, zeros

WARM_LENGTH_TOKENS = 128
WARM_SEQUENCES = (1, 4)
TIMED_ROUNDS = 3
"""Rounds whose least time counts: the first of a shape chooses kernels and maps memory, and other work makes a batch
longer. A device that looks a hundred times too slow would refuse requests for their deadlines at first."""
PAUSES_SECONDS = (0.25, 1.0)
MEETING_SECONDS = 60.0

log = logging.getLogger(__name__)

Outcome: TypeAlias = Logits | GleanerError
"""Logits [tokens, labels] of one sequence, or the error in their place."""
Finish: TypeAlias = Callable[[list[Outcome]], list[Any]]
"""Function that turns a batch's outcomes into its handle's result, off the loop's thread. It must not raise."""


class BatchHandle:
    """One launched batch.

    Attributes:
        begun_seconds, ended_seconds: its times on the device, with splits, by time.monotonic(); 0 until done.
        attempts: times that it or a part of it was begun on the device.
        splits: times that a failed batch was halved.
        out_of_memory: shapes for which memory ran out.
        device_error: the reason for which the device is lost, if it is.
    """

    def __init__(self, finish: Finish | None = None) -> None:
        self._finish = finish
        self.begun_seconds = 0.0
        self.ended_seconds = 0.0
        self.attempts = 0
        self.splits = 0
        self.out_of_memory: list[Shape] = []
        self.device_error: str | None = None
        self._outcomes: Future[list[Any]] = Future()

    @property
    def seconds(self) -> float:
        return self.ended_seconds - self.begun_seconds

    def done(self) -> bool:
        """True when `result` returns at once."""
        return self._outcomes.done()

    def result(self) -> list[Outcome]:
        """Wait for the outcomes of the sequences, in order, as `finish` turned them out.

        Raises:
            DeviceBroken: the device is lost.
        """
        return self._outcomes.result()

    def fail(self, error: DeviceBroken) -> None:
        """End the batch with an error that `result` raises; called by the executor in place of `complete`."""
        self.device_error = str(error)
        self._outcomes.set_exception(error)

    def complete(self, outcomes: list[Outcome]) -> None:
        """End the batch with its outcomes; called once, by the executor."""
        self._outcomes.set_result(outcomes if self._finish is None else self._finish(outcomes))


class Runner:
    """Runs one encoder on an executor, which it may share with other runners.

    Args:
        executor: runs batches in order.
        wake: called on its thread after each batch.
        pauses_seconds: pauses before further tries of a lone sequence for which memory ran out.
        blank: makes a sequence of a number of tokens, for measurements.
    """

    def __init__(
        self,
        encoder: Encoder,
        executor: DeviceWork,
        wake: Callable[[], None],
        pauses_seconds: Sequence[float] = PAUSES_SECONDS,
        blank: Blank = zeros,
    ) -> None:
        self.encoder = encoder
        self.blank = blank
        self._executor = executor
        self._wake = wake
        self._pauses_seconds = pauses_seconds

    def launch(
        self, sequences: Sequence[TokenIds], finish: Finish | None = None, *, yields: bool = False
    ) -> BatchHandle:
        """Start a batch, or queue it behind the running one; `yields`: as in `DeviceExecutor.submit_batch`."""
        handle = BatchHandle(finish)
        self._executor.submit_batch(partial(self._run, handle, list(sequences)), yields=yields)
        return handle

    def warm(self, longest_tokens: int) -> None:
        """Run a few small shapes once, so that kernels are chosen and memory is mapped before the first request.

        They run on all threads at once: each has its own handles and workspaces of CUDA's libraries, which must exist
        before memory at rest is measured.
        """
        length = min(WARM_LENGTH_TOKENS, longest_tokens)
        for count in WARM_SEQUENCES:
            for handle in self._launch_on_all_threads([self.blank(length)] * count):
                handle.result()

    def time(self, longest_tokens: int, most_tokens: int) -> TimedBatch | None:
        """Time a batch of about `most_tokens` on the warm device; None if it cannot be run whole."""
        length = min(WARM_LENGTH_TOKENS, longest_tokens)
        count = max(most_tokens // length, 1)
        batch = [self.blank(length)] * count
        seconds = math.inf
        for _ in range(TIMED_ROUNDS):
            handle = self.launch(batch)
            outcomes = handle.result()
            if handle.splits or handle.out_of_memory or isinstance(outcomes[0], GleanerError):
                return None
            seconds = min(seconds, handle.seconds)
        return TimedBatch(length * count, seconds)

    def _launch_on_all_threads(self, sequences: list[TokenIds]) -> list[BatchHandle]:
        """Launch a batch on each thread; a thread that has begun its own waits for the others to begin theirs."""
        all_begun = threading.Barrier(self._executor.compute_threads)
        handles = [BatchHandle() for _ in range(self._executor.compute_threads)]

        def run(handle: BatchHandle) -> None:
            with suppress(threading.BrokenBarrierError):
                all_begun.wait(MEETING_SECONDS)
            self._run(handle, sequences)

        for handle in handles:
            self._executor.submit_batch(partial(run, handle))
        return handles

    def _run(self, handle: BatchHandle, sequences: list[TokenIds]) -> None:
        handle.begun_seconds = time.monotonic()
        try:
            outcomes = self._attempt(handle, sequences)
            handle.ended_seconds = time.monotonic()
            handle.complete(outcomes)
        except DeviceBroken as error:
            handle.fail(error)
        except BaseException as error:  # Nobody would wait for it in vain: a batch that cannot end, ends the engine.
            log.exception("a batch crashed")
            handle.fail(DeviceBroken(summary(error)))
        finally:
            self._wake()

    def _attempt(self, handle: BatchHandle, sequences: list[TokenIds]) -> list[Outcome]:
        outcomes = self._try(handle, sequences)
        for pause_seconds in self._pauses_seconds if len(sequences) == 1 else ():
            if not isinstance(outcomes, InsufficientMemory):
                break
            time.sleep(pause_seconds)  # The budget admitted it, so another process has the memory, often for a moment.
            outcomes = self._try(handle, sequences)
        if isinstance(outcomes, list):
            return outcomes
        return self._confine(handle, sequences, outcomes)

    def _try(self, handle: BatchHandle, sequences: list[TokenIds]) -> list[Outcome] | GleanerError:
        """Run a batch; returns its outcomes, or the batch's failure after releasing the allocator's cache."""
        handle.attempts += 1
        try:
            return list(self.encoder.forward(sequences))
        except Exception as error:  # One sequence must not fail the others of its batch.
            failure = _classified(error)
        if isinstance(failure, InsufficientMemory):
            handle.out_of_memory.append(Shape.of([len(tokens) for tokens in sequences]))
        try:  # Outside the handler above: its traceback would keep the batch's tensors alive.
            torch.cuda.empty_cache()
        except Exception as error:  # Of an earlier kernel: freeing is the first call that learns of it.
            _classified(error)
        return failure

    def _confine(self, handle: BatchHandle, sequences: list[TokenIds], failure: GleanerError) -> list[Outcome]:
        """Run the halves of a failed batch; the failure of a lone sequence is its outcome."""
        if len(sequences) == 1:
            log.error("a sequence failed", extra={"code": failure.code, "tokens": len(sequences[0])})
            return [failure]
        log.warning("a batch failed and is split", extra={"code": failure.code, "sequences": len(sequences)})
        handle.splits += 1
        middle = len(sequences) // 2
        return self._attempt(handle, sequences[:middle]) + self._attempt(handle, sequences[middle:])


def _classified(error: Exception) -> GleanerError:
    """Classify a batch's error. Raises DeviceBroken when no other batch can run."""
    if is_broken_device(error):
        raise DeviceBroken(summary(error)) from error
    return to_service_error(error)
