"""Wrappers of encoders: pipelined, sharded, throttled."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from service.core.arrays import Logits, TokenIds
from service.engine.encoder.encoder import load_encoder
from service.engine.execution.encoder_wrappers import (
    EVEN,
    SMALLEST_SHARD_TOKENS,
    PipelinedEncoder,
    ShardedEncoder,
    Threads,
    ThrottledEncoder,
    shard,
)
from service.engine.execution.in_flight import MOST_IN_FLIGHT
from service.host_memory import usable_cores
from service.process import NICENESS, yield_processor
from tests.support.tiny_models import make_model

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


@given(st.lists(st.integers(1, 512), min_size=1, max_size=60), st.integers(1, 4))
def test_shards_hold_every_sequence_once_and_are_even_or_one(lengths: list[int], most: int) -> None:
    shards = shard(lengths, most)
    assert sorted(index for indices in shards for index in indices) == list(range(len(lengths)))
    tokens = [sum(lengths[index] for index in indices) for indices in shards]
    assert 1 <= len(shards) <= most
    assert len(shards) == 1 or max(tokens) <= EVEN * sum(tokens) / len(tokens)


def test_a_lone_sequence_a_small_or_an_uneven_batch_is_one_shard() -> None:
    assert shard([400], 4) == [[0]]
    assert shard([SMALLEST_SHARD_TOKENS // 2] * 3, 4) == [[0, 1, 2]]
    assert shard([500, 20], 2) == [[0, 1]]
    assert len(shard([500, 480], 2)) == 2


def test_logits_come_back_in_the_order_given(tmp_path: Path) -> None:
    encoder = load_encoder(make_model(tmp_path, "bert"), torch.device("cpu"), torch.float32)
    sharded = ShardedEncoder(encoder, Threads(2))
    draw = np.random.default_rng(0)
    sequences = [draw.integers(5, 200, length).astype(np.int32) for length in (100, 60, 90, 80, 70)]
    for part, whole in zip(sharded.forward(sequences), encoder.forward(sequences), strict=True):
        np.testing.assert_allclose(part, whole, atol=1e-5)


def test_a_failure_in_one_shard_fails_the_batch(tmp_path: Path) -> None:
    encoder = load_encoder(make_model(tmp_path, "bert"), torch.device("cpu"), torch.float32)
    sharded = ShardedEncoder(encoder, Threads(2))
    with pytest.raises(Exception, match="vocabulary"):
        sharded.forward([np.full(200, 10_000_000, dtype=np.int32), np.zeros(200, dtype=np.int32)])


def test_threads_split_the_cores_and_the_process_keeps_all() -> None:
    threads = Threads(usable_cores())
    assert torch.get_num_threads() == usable_cores()
    own = list(threads.pool.map(lambda _: torch.get_num_threads(), range(threads.count)))
    assert own == [max(1, usable_cores() // threads.count)] * threads.count


@pytest.mark.skipif(sys.platform != "linux", reason="niceness by thread")
def test_the_shards_of_a_batch_that_yields_yield_too() -> None:
    threads = Threads(2)

    def niceness(_: object) -> int:
        return os.getpriority(os.PRIO_PROCESS, 0)

    with ThreadPoolExecutor(1, initializer=yield_processor) as yielding:
        found = yielding.submit(lambda: list(threads.pool.map(niceness, range(4)))).result(LIMIT_SECONDS)
    own = niceness(None)
    assert set(found) == {min(own + NICENESS, 19)}
    assert set(threads.pool.map(niceness, range(4))) == {own}


class Echo:
    device = torch.device("cpu")
    max_tokens = 512

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        return [np.full((len(tokens), 2), tokens[0], dtype=np.float32) for tokens in sequences]


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
