"""Recordings are made once the engine is ready, one at a time, and never after one failed."""

from __future__ import annotations

import logging
from concurrent.futures import Executor, Future
from typing import Any

import pytest

from service.engine.cuda_graphs.capture_queue import CaptureQueue
from service.engine.execution.executor import DeviceExecutor


class Queue(Executor):
    """Work waits until it is told to run."""

    def __init__(self) -> None:
        self.waiting: list[Any] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.waiting.append(lambda: fn(*args, **kwargs))
        return Future()

    def run(self) -> None:
        self.waiting.pop(0)()


def test_nothing_is_recorded_before_the_engine_is_ready() -> None:
    queue = Queue()
    studio = CaptureQueue(queue)
    studio.ask(lambda: None)
    assert queue.waiting == []
    studio.open(lambda: None)
    studio.ask(lambda: None)
    assert len(queue.waiting) == 1


def test_one_recording_waits_at_a_time_and_memory_is_settled_after_each() -> None:
    queue, done = Queue(), list[object]()
    studio = CaptureQueue(queue)
    studio.open(lambda: done.append("settled"))
    for number in (1, 2):
        studio.ask(lambda number=number: done.append(number))  # type: ignore[misc]
    assert len(queue.waiting) == 1
    queue.run()
    studio.ask(lambda: done.append(3))
    queue.run()
    assert done == [1, "settled", 3, "settled"]


def test_one_that_fails_is_the_last(caplog: pytest.LogCaptureFixture) -> None:
    queue, done = Queue(), list[object]()
    studio = CaptureQueue(queue)
    studio.open(lambda: done.append("settled"))

    def fail() -> None:
        raise RuntimeError("CUDA error: operation not permitted when stream is capturing")

    studio.ask(fail)
    with caplog.at_level(logging.ERROR):
        queue.run()
    assert done == ["settled"]
    assert "nothing more is recorded" in caplog.text
    studio.ask(lambda: None)
    assert queue.waiting == []


def test_a_batch_that_asks_while_the_engine_ends_is_not_disturbed() -> None:
    compute = DeviceExecutor()
    studio = CaptureQueue(compute)
    studio.open(lambda: None)
    compute.shutdown()
    studio.ask(lambda: None)
