"""Batches are queued one at a time and waited for side by side; logits are copied exactly."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import numpy as np
import pytest
import torch

from service.core.arrays import Logits, TokenIds
from service.engine.execution.gpu_pipeline import BATCHES, PipelinedEncoder

LIMIT_SECONDS = 30.0


class QueuingEncoder:
    """Counts batches that are being queued; all finish when `finish` is set."""

    device = torch.device("cpu")
    max_tokens = 512

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
    encoders = [PipelinedEncoder(encoder, queuing) for _ in range(BATCHES)]
    with ThreadPoolExecutor(BATCHES) as threads:
        futures = [threads.submit(each.forward, [np.full(3, n, np.int32)]) for n, each in enumerate(encoders)]
        for _ in encoders:
            assert encoder.queued.acquire(timeout=LIMIT_SECONDS)
        assert not any(future.done() for future in futures)
        encoder.finish.set()
        assert [int(future.result()[0][0, 0]) for future in futures] == [*range(BATCHES)]
    assert encoder.most_queuing == 1


def test_a_batch_that_cannot_be_queued_releases_the_lock() -> None:
    class Failing(QueuingEncoder):
        def begin(self, sequences: Sequence[TokenIds]) -> Callable[[], list[Logits]]:
            raise torch.OutOfMemoryError("CUDA out of memory")

    queuing = Lock()
    with pytest.raises(torch.OutOfMemoryError):
        PipelinedEncoder(Failing(), queuing).forward([])
    assert not queuing.locked()
