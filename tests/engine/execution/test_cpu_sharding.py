"""A batch in shards gives what it gives as a whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from service.engine.device.selection import usable_cores
from service.engine.encoder.encoder import load_encoder
from service.engine.execution.cpu_sharding import EVEN, SMALLEST_SHARD_TOKENS, ShardedEncoder, Threads, shard
from tests.support.tiny_models import make_model


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
