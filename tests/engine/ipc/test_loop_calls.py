"""Work handed to the loop's thread."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.engine.ipc.loop_calls import LoopCalls


def test_work_is_done_by_whoever_runs_it_in_order_and_its_result_comes_back() -> None:
    handed = threading.Semaphore(0)
    calls, threads = LoopCalls(handed.release), []
    with ThreadPoolExecutor(1) as other:
        first = other.submit(lambda: calls.call(lambda: threads.append(threading.current_thread())))
        handed.acquire(timeout=30)
        calls.run()
        first.result(30)
    assert threads == [threading.current_thread()]


def test_what_fails_fails_for_the_one_who_asked() -> None:
    handed = threading.Semaphore(0)
    calls = LoopCalls(handed.release)
    with ThreadPoolExecutor(1) as other:
        asked = other.submit(lambda: calls.call(lambda: 1 // 0))
        handed.acquire(timeout=30)
        calls.run()
        with pytest.raises(ZeroDivisionError):
            asked.result(30)
