"""Wrappers of encoders: pipelined, divided, throttled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from service.core.arrays import Logits, TokenIds
from service.engine.execution.encoder_wrappers import (
    LENGTH_STEP,
    UNIT_TOKENS,
    YIELDING_TOKENS,
    DividedEncoder,
    PipelinedEncoder,
    ThrottledEncoder,
)
from service.engine.execution.executor import MOST_IN_FLIGHT, DeviceTurns

LIMIT_SECONDS = 30.0


class QueuingEncoder:
    """Counts batches that are being queued; all finish when `finish` is set."""

    def __init__(self) -> None:
        self.queuing = 0
        self.most_queuing = 0
        self.queued = threading.Semaphore(0)
        self.finish = threading.Event()

    def begin(self, sequences: Sequence[TokenIds]) -> Callable[[], list[Logits]]:
        self.queuing += 1
        self.most_queuing = max(self.most_queuing, self.queuing)
        self.queuing -= 1
        self.queued.release()

        def wait() -> list[Logits]:
            assert self.finish.wait(LIMIT_SECONDS)
            return [tokens.astype(np.float32)[:, None] for tokens in sequences]

        return wait


def test_the_next_batch_is_queued_while_one_is_waited_for() -> None:
    encoder, queuing = QueuingEncoder(), Lock()
    encoders = [PipelinedEncoder(encoder, queuing) for _ in range(MOST_IN_FLIGHT)]
    with ThreadPoolExecutor(MOST_IN_FLIGHT) as threads:
        futures = [threads.submit(each.forward, [np.full(3, n, np.int32)]) for n, each in enumerate(encoders)]
        for _ in encoders:
            assert encoder.queued.acquire(timeout=LIMIT_SECONDS)
        assert not any(future.done() for future in futures)
        encoder.finish.set()
        assert [int(future.result()[0][0, 0]) for future in futures] == [*range(MOST_IN_FLIGHT)]
    assert encoder.most_queuing == 1


def test_a_batch_that_cannot_be_queued_releases_the_lock() -> None:
    class Failing(QueuingEncoder):
        def begin(self, sequences: Sequence[TokenIds]) -> Callable[[], list[Logits]]:
            raise torch.OutOfMemoryError("CUDA out of memory")

    queuing = Lock()
    with pytest.raises(torch.OutOfMemoryError):
        PipelinedEncoder(Failing(), queuing).forward([])
    assert not queuing.locked()


class Echo:
    """Gives each token its id; notes the lengths of its batches."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        self.batches.append([len(tokens) for tokens in sequences])
        return [np.full((len(tokens), 2), tokens[0], dtype=np.float32) for tokens in sequences]


def _divided(lengths: Sequence[int], *, yields: bool) -> list[list[int]]:
    """The units of a batch whose logits came back in order."""
    turns, encoder = DeviceTurns(), Echo()
    sequences = [np.full(length, index, dtype=np.int32) for index, length in enumerate(lengths)]

    def run() -> None:
        for index, logits in enumerate(DividedEncoder(encoder, turns).forward(sequences)):
            assert logits.shape == (lengths[index], 2)
            assert (logits == index).all()

    turns.run(run, yields=yields)
    return encoder.batches


@pytest.mark.parametrize("yields", [False, True])
@given(lengths=st.lists(st.integers(1, 512), min_size=1, max_size=60))
def test_units_hold_every_sequence_once_and_one_padded_length(lengths: list[int], yields: bool) -> None:
    units = _divided(lengths, yields=yields)
    assert sorted(length for unit in units for length in unit) == sorted(lengths)
    for unit in units:
        (steps,) = {-(-length // LENGTH_STEP) for length in unit}
        padded = steps * LENGTH_STEP * len(unit)
        assert len(unit) == 1 or padded <= (YIELDING_TOKENS if yields else UNIT_TOKENS)


def test_similar_sequences_share_a_unit_and_batch_work_has_small_ones() -> None:
    assert _divided([100, 400, 97, 396, 96], yields=False) == [[400, 396], [100, 97], [96]]
    assert _divided([100, 400, 97, 396, 96], yields=True) == [[400], [396], [100, 97], [96]]


def tokens(count: int) -> TokenIds:
    return np.full(count, 7, dtype=np.int32)


def test_a_batch_takes_at_least_its_tokens_time() -> None:
    begun = time.monotonic()
    (logits,) = ThrottledEncoder(Echo(), 1000.0).forward([tokens(50)])
    assert time.monotonic() - begun >= 0.05
    assert logits.shape == (50, 2)
    assert (logits == 7).all()


def test_overlapping_batches_share_one_device() -> None:
    throttled = ThrottledEncoder(Echo(), 1000.0)
    begun = time.monotonic()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: throttled.forward([tokens(40)]), range(3)))
    assert time.monotonic() - begun >= 0.12
