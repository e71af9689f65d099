"""A throttled encoder: real logits, no sooner than its speed allows, also when batches overlap."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from service.core.arrays import Logits, TokenIds
from service.engine.execution.throttle import ThrottledEncoder


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


def test_it_has_its_encoder_s_device_and_limit() -> None:
    throttled = ThrottledEncoder(Echo(), 1.0)
    assert (throttled.device, throttled.max_tokens) == (Echo.device, Echo.max_tokens)
