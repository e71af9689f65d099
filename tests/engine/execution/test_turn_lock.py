"""The lock that is passed on in turn."""

from __future__ import annotations

import threading

import pytest

from service.engine.execution.turn_lock import TurnLock
from tests.support.service import wait_until


def test_threads_have_it_in_the_order_in_which_they_came() -> None:
    lock, served, threads = TurnLock(), list[int](), list[threading.Thread]()

    def serve(number: int) -> None:
        with lock:
            served.append(number)

    with lock:
        for number in range(20):
            thread = threading.Thread(target=serve, args=(number,))
            thread.start()
            threads.append(thread)
            wait_until(lambda count=number + 1: len(lock._waiting) == count)  # type: ignore[misc]
    for thread in threads:
        thread.join()
    assert served == list(range(20))
    assert not lock.locked()


def test_one_thread_at_a_time_has_it() -> None:
    lock, inside, most = TurnLock(), 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(500):
            with lock:
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, lock.locked()) == (1, False)


def test_an_error_passes_it_on() -> None:
    lock = TurnLock()
    with pytest.raises(ZeroDivisionError), lock:
        raise ZeroDivisionError
    with lock:
        assert lock.locked()
