"""Captures run once the engine is ready, one at a time, and never after a failure."""

from __future__ import annotations

import logging
from concurrent.futures import Executor, Future
from typing import Any

import pytest

from service.engine.cuda_graphs.capture_queue import CaptureQueue
from service.engine.execution.executor import DeviceExecutor


class ManualExecutor(Executor):
    """Runs its pending work one by one, when told to."""

    def __init__(self) -> None:
        self.pending: list[Any] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.pending.append(lambda: fn(*args, **kwargs))
        return Future()

    def run(self) -> None:
        self.pending.pop(0)()


def test_a_request_before_the_queue_is_open_is_ignored() -> None:
    executor = ManualExecutor()
    captures = CaptureQueue(executor)
    captures.request(lambda: None)
    assert executor.pending == []
    captures.open(lambda: None)
    captures.request(lambda: None)
    assert len(executor.pending) == 1


def test_one_capture_is_pending_at_a_time_and_memory_rebaselined() -> None:
    executor, done = ManualExecutor(), list[object]()
    captures = CaptureQueue(executor)
    captures.open(lambda: done.append("rebaselined"))
    for number in (1, 2):
        captures.request(lambda number=number: done.append(number))  # type: ignore[misc]
    assert len(executor.pending) == 1
    executor.run()
    captures.request(lambda: done.append(3))
    executor.run()
    assert done == [1, "rebaselined", 3, "rebaselined"]


def test_nothing_is_captured_after_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    executor, done = ManualExecutor(), list[object]()
    captures = CaptureQueue(executor)
    captures.open(lambda: done.append("rebaselined"))

    def fail() -> None:
        raise RuntimeError("CUDA error: operation not permitted when stream is capturing")

    captures.request(fail)
    with caplog.at_level(logging.ERROR):
        executor.run()
    assert done == ["rebaselined"]
    assert "nothing more is captured" in caplog.text
    captures.request(lambda: None)
    assert executor.pending == []


def test_early_captures_run_at_once_and_need_no_open_queue() -> None:
    ran: list[str] = []
    CaptureQueue(ManualExecutor()).run_early([lambda: ran.append("a"), lambda: ran.append("b")])
    assert ran == ["a", "b"]


def test_a_failed_early_capture_is_the_last_one(caplog: pytest.LogCaptureFixture) -> None:
    ran: list[str] = []
    queue = CaptureQueue(ManualExecutor())

    def fail() -> None:
        raise RuntimeError("no")

    queue.run_early([fail, lambda: ran.append("early")])
    queue.open(lambda: None)
    queue.request(lambda: ran.append("later"))
    assert not ran
    assert "a capture failed" in caplog.text


def test_a_request_during_shutdown_is_ignored() -> None:
    compute = DeviceExecutor()
    captures = CaptureQueue(compute)
    captures.open(lambda: None)
    compute.shutdown()
    captures.request(lambda: None)
