"""A device that computes when told, with an encoder that gives token ids back, or fails where it is told to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from typing import Any

import numpy as np
import torch

from service.core.arrays import Logits, TokenIds
from service.engine.device.watch import DeviceHealth

BROKEN, DEADLY, TOO_LARGE = -1, -2, -3


class HandMovedDevice(Executor):
    """Computes one launched batch each time it is told to; with `at_once`, as soon as it is launched."""

    def __init__(self) -> None:
        self.health = DeviceHealth()
        self.compute_threads = 1
        self.takes_turns = False
        self.waiting: list[Callable[[], object]] = []
        self.at_once = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.waiting.append(lambda: fn(*args, **kwargs))
        if self.at_once:
            self.step()
        return Future()

    def submit_in_order(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done

    def submit_batch(self, batch: Callable[[], None], *, yields: bool = False) -> None:
        self.submit(batch)

    def step(self) -> None:
        self.waiting.pop(0)()

    def finish(self) -> None:
        while self.waiting:
            self.step()


class Encoder:
    """Gives each token its own id as logit, and its box as more; fails over a batch that holds a broken sequence."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        self.batches.append([len(tokens) for tokens in sequences])
        if any(BROKEN in tokens for tokens in sequences):
            raise ValueError("a bug")
        if any(DEADLY in tokens for tokens in sequences):
            raise torch.AcceleratorError("CUDA error: device-side assert triggered")
        if len(sequences) > 1 and any(TOO_LARGE in tokens for tokens in sequences):
            raise torch.OutOfMemoryError("CUDA out of memory")
        return [tokens.astype(np.float32).reshape(len(tokens), -1) for tokens in sequences]

    def offload(self) -> None:
        """The weights are nowhere in particular."""

    load = offload
