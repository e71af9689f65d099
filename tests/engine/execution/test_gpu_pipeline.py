"""Turns: batches are queued one at a time, and waited for side by side."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from service.core.arrays import Logits, TokenIds
from service.engine.execution.gpu_pipeline import BATCHES, PipelinedEncoder, copy_to_host

LIMIT_SECONDS = 30.0


class QueuingEncoder:
    """Notes what is going on; a batch lands when it is told to."""

    device = torch.device("cpu")
    max_tokens = 512

    def __init__(self) -> None:
        self.queuing = 0
        self.most_queuing = 0
        self.queued = threading.Semaphore(0)
        self.complete = threading.Event()

    def begin(self, sequences: Sequence[TokenIds]) -> Callable[[], list[Logits]]:
        self.queuing += 1
        self.most_queuing = max(self.most_queuing, self.queuing)
        self.queuing -= 1
        self.queued.release()

        def landing() -> list[Logits]:
            assert self.complete.wait(LIMIT_SECONDS)
            return [tokens.astype(np.float32)[:, None] for tokens in sequences]

        return landing


def test_the_next_batch_is_queued_while_one_is_waited_for() -> None:
    encoder, turn = QueuingEncoder(), threading.Lock()
    lanes = [PipelinedEncoder(encoder, turn) for _ in range(BATCHES)]
    with ThreadPoolExecutor(BATCHES) as threads:
        flights = [threads.submit(lane.forward, [np.full(3, n, np.int32)]) for n, lane in enumerate(lanes)]
        for _ in lanes:
            assert encoder.queued.acquire(timeout=LIMIT_SECONDS)
        assert not any(flight.done() for flight in flights)
        encoder.complete.set()
        assert [int(flight.result()[0][0, 0]) for flight in flights] == [0, 1]
    assert encoder.most_queuing == 1


def test_a_batch_that_cannot_be_queued_gives_its_turn_away() -> None:
    class Failing(QueuingEncoder):
        def begin(self, sequences: Sequence[TokenIds]) -> Callable[[], list[Logits]]:
            raise torch.OutOfMemoryError("CUDA out of memory")

    turn = threading.Lock()
    try:
        PipelinedEncoder(Failing(), turn).forward([])
    except torch.OutOfMemoryError:
        assert not turn.locked()


def test_rows_in_half_precision_come_home_exactly() -> None:
    rows = torch.randn(5, 3).bfloat16()
    home = copy_to_host(rows)()
    assert home.dtype == np.float32
    assert torch.equal(torch.from_numpy(home).bfloat16(), rows)
