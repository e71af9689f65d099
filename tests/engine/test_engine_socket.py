"""The engine's socket over real sockets, and calls onto the loop's thread."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import zmq

from service.core.types import Priority
from service.engine.engine_socket import MOST_AT_ONCE, EngineSocket, LoopCalls, Received, Waker
from service.wire import (
    Buffer,
    Cancelled,
    Hello,
    Message,
    Refused,
    Scored,
    Submitted,
    WireError,
    delivery,
    messages_in,
    pack,
)

LIMIT_SECONDS = 20.0


class Worker:
    """An API worker's DEALER socket."""

    def __init__(self, address: str, name: bytes) -> None:
        self._context = zmq.Context()
        self.socket = self._context.socket(zmq.DEALER)
        self.socket.setsockopt(zmq.IDENTITY, name)
        self.socket.setsockopt(zmq.RCVTIMEO, int(LIMIT_SECONDS * 1000))
        self.socket.setsockopt(zmq.SNDHWM, 0)
        self.socket.connect(address)

    def send(self, message: Message, buffer: Buffer | None = None) -> None:
        self.socket.send(delivery(pack(message, buffer)))

    def receive(self) -> tuple[Message, Buffer | None]:
        ((message, buffer),) = messages_in(self.socket.recv_multipart())
        assert not isinstance(message, WireError)
        return message, buffer

    def close(self) -> None:
        self._context.destroy(linger=0)


class Place:
    """A socket with its waker, and the workers connected to it."""

    def __init__(self, folder: Path) -> None:
        self.address = f"ipc://{folder}/engine"
        self.waker = Waker()
        self.ipc = EngineSocket(self.address, self.waker)
        self._workers: list[Worker] = []

    def worker(self, name: bytes = b"w") -> Worker:
        self._workers.append(Worker(self.address, name))
        return self._workers[-1]

    def receive(self, count: int) -> list[Received]:
        """So many messages, however many looks it takes."""
        end, found = time.monotonic() + LIMIT_SECONDS, list[Received]()
        while len(found) < count:
            assert time.monotonic() < end, f"only {len(found)} of {count} messages came"
            found += self.ipc.receive(0.1)
        return found

    def close(self) -> None:
        for worker in self._workers:
            worker.close()
        self.ipc.close(linger_seconds=0)
        self.waker.close()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    place.close()


def test_messages_come_with_their_worker_and_buffer_in_the_order_sent(place: Place) -> None:
    worker = place.worker(b"a")
    ids = np.arange(4, dtype=np.int32)
    worker.send(Hello(2))
    worker.send(Submitted("k", "m", (4,), "c", Priority.BATCH, 9.0, 0), ids)
    worker.send(Cancelled("k"))
    found = place.receive(3)
    assert [(name, type(message)) for name, message, _ in found] == [
        (b"a", Hello),
        (b"a", Submitted),
        (b"a", Cancelled),
    ]
    assert np.asarray(found[1][2]).tolist() == ids.tolist()


def test_answers_go_to_the_worker_that_asked(place: Place) -> None:
    first, second = place.worker(b"a"), place.worker(b"b")
    for worker in (first, second):
        worker.send(Hello(0))
    place.receive(2)
    rows = np.linspace(0, 1, 6, dtype=np.float32).reshape(3, 2)
    place.ipc.send(b"b", Scored("k", 0, 3, 2, 1, 0.5), rows)
    place.ipc.send(b"a", Refused("j", "queue_full", "full"))
    assert first.receive() == (Refused("j", "queue_full", "full"), None)
    message, numbers = second.receive()
    assert message == Scored("k", 0, 3, 2, 1, 0.5)
    assert np.array_equal(np.asarray(numbers).reshape(3, 2), rows)


def test_what_is_no_message_comes_as_an_error_with_its_worker(place: Place) -> None:
    worker = place.worker(b"a")
    worker.socket.send(b"nonsense")
    worker.socket.send_multipart([b"", b"", b""])
    worker.send(Hello(1))
    found = place.receive(3)
    assert [(name, type(message)) for name, message, _ in found] == [*[(b"a", WireError)] * 2, (b"a", Hello)]


def test_a_delivery_may_hold_several_messages_of_which_one_is_none(place: Place) -> None:
    worker = place.worker(b"a")
    rows = np.zeros((1, 2), dtype=np.float32)
    first, bad, last = (pack(Scored(key, 0, 1, 2, 1, 0.5), rows) for key in ("first", "bad", "last"))
    worker.socket.send(delivery([*first, bad[0], b"no numbers", *last]))
    found = [message for _, message, _ in place.receive(3)]
    assert [getattr(message, "key", None) for message in found] == ["first", "bad", "last"]
    assert [type(message) for message in found] == [Scored, WireError, Scored]


def test_bytes_that_are_not_even_of_the_protocol_disturb_nobody(place: Place) -> None:
    """Straight into the Unix socket, as whoever may open it could: garbage, and a greeting that is never finished."""
    path = place.address.removeprefix("ipc://")
    for noise in (b"GET / HTTP/1.1\r\n\r\n", bytes(range(256)) * 64, b"\xff" + bytes(8) + b"\x7f\x03", b"\xff"):
        with socket.socket(socket.AF_UNIX) as raw:
            raw.connect(path)
            raw.sendall(noise)
            place.worker(noise[:5]).send(Hello(1))
            assert [message for _, message, _ in place.receive(1)] == [Hello(1)]


def test_an_answer_to_a_worker_that_is_gone_is_no_failure(place: Place) -> None:
    worker = place.worker(b"a")
    worker.send(Hello(0))
    place.receive(1)
    worker.close()
    for _ in range(100):
        place.ipc.send(b"a", Refused("k", "draining", "over"))
        place.ipc.send(b"nobody", Refused("k", "draining", "over"))


def test_a_flood_is_taken_in_portions_and_nothing_of_it_is_lost(place: Place) -> None:
    worker, count = place.worker(), 2 * MOST_AT_ONCE + 5
    for number in range(count):
        worker.send(Hello(number))
    end, portions = time.monotonic() + LIMIT_SECONDS, list[list[int]]()
    while sum(map(len, portions)) < count and time.monotonic() < end:
        found = [message for _, message, _ in place.ipc.receive(0.1)]
        portions.append([message.active_requests for message in found if isinstance(message, Hello)])
    assert [number for portion in portions for number in portion] == list(range(count))
    assert max(map(len, portions)) <= MOST_AT_ONCE


def test_waiting_ends_with_the_bell_though_nothing_came(place: Place) -> None:
    threading.Timer(0.05, place.waker.wake).start()
    begun = time.monotonic()
    assert list(place.ipc.receive(LIMIT_SECONDS)) == []
    assert time.monotonic() - begun < LIMIT_SECONDS / 2


def test_a_bell_that_rang_before_the_wait_is_not_missed_and_is_heard_once(place: Place) -> None:
    place.waker.wake()
    place.waker.wake()
    assert list(place.ipc.receive(LIMIT_SECONDS)) == []
    begun = time.monotonic()
    assert list(place.ipc.receive(0.1)) == []
    assert time.monotonic() - begun >= 0.09


def test_closing_delivers_what_is_on_its_way(tmp_path: Path) -> None:
    waker = Waker()
    ipc = EngineSocket(f"ipc://{tmp_path}/engine", waker)
    worker = Worker(f"ipc://{tmp_path}/engine", b"a")
    worker.send(Hello(0))
    while not list(ipc.receive(0.1)):
        pass
    rows = np.zeros((500, 100), dtype=np.float32)
    for number in range(50):
        ipc.send(b"a", Scored("k", number, 500, 100, 1, 0.5), rows)
    ipc.close()
    assert [worker.receive()[0] for _ in range(50)][-1] == Scored("k", 49, 500, 100, 1, 0.5)
    worker.close()
    waker.close()


def test_work_is_done_in_order_and_its_result_comes_back() -> None:
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
