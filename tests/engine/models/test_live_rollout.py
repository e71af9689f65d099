"""A caller inside the process, against a ROUTER socket that plays the engine."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import zmq

from service.core.errors import DeadlineExceeded, InsufficientMemory
from service.engine.models.live_rollout import LocalClient
from service.wire import Message, Refused, Scored, Submitted, delivery, messages_in, pack

IDS = [np.arange(3, dtype=np.int32), np.arange(5, dtype=np.int32)]
SECONDS = 30.0


class Engine:
    """The engine's end."""

    def __init__(self, address: str) -> None:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.bind(address)

    def hear(self, numbers: Sequence[int] = (0, 1, 2, 0, 1, 2, 3, 4)) -> Submitted:
        assert self._socket.poll(int(SECONDS * 1000))
        self._guest, *frames = self._socket.recv_multipart()
        ((message, buffer),) = messages_in(frames)
        assert isinstance(message, Submitted)
        assert buffer is not None
        assert buffer.tolist() == [*numbers]
        return message

    def score(self, key: str, index: int, tokens: int) -> None:
        rows = np.full((tokens, 2), index, dtype=np.float32)
        self._socket.send_multipart([self._guest, delivery(pack(Scored(key, index, tokens, 2, 1, 0.1), rows))])

    def say(self, message: Message) -> None:
        self._socket.send_multipart([self._guest, delivery(pack(message))])

    def close(self) -> None:
        self._context.destroy(linger=0)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = Engine(f"ipc://{tmp_path}/engine")
    yield engine
    engine.close()


@pytest.fixture
def client(tmp_path: Path, engine: Engine) -> Iterator[LocalClient]:
    client = LocalClient(f"ipc://{tmp_path}/engine")
    yield client
    client.close()


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def test_rows_come_back_in_the_order_of_the_sequences(
    engine: Engine, client: LocalClient, pool: ThreadPoolExecutor
) -> None:
    asked = pool.submit(client.infer, "sha256:0", IDS, time.monotonic() + SECONDS)
    message = engine.hear()
    assert (message.model, message.lengths) == ("sha256:0", (3, 5))
    engine.score(message.key, 1, 5)
    engine.score("an older one", 0, 3)
    engine.score(message.key, 0, 3)
    assert [rows.tolist() for rows in asked.result(SECONDS)] == [[[0, 0]] * 3, [[1, 1]] * 5]


def test_tokens_with_boxes_are_sent_as_such(engine: Engine, client: LocalClient, pool: ThreadPoolExecutor) -> None:
    pages = [np.arange(5, dtype=np.int32).reshape(1, 5), np.arange(10, dtype=np.int32).reshape(2, 5)]
    asked = pool.submit(client.infer, "sha256:0", pages, time.monotonic() + SECONDS)
    message = engine.hear([*range(5), *range(10)])
    assert (message.lengths, message.columns) == ((1, 2), 5)
    engine.score(message.key, 0, 1)
    engine.score(message.key, 1, 2)
    assert [len(rows) for rows in asked.result(SECONDS)] == [1, 2]


def test_a_refusal_is_raised_as_the_error_that_it_names(
    engine: Engine, client: LocalClient, pool: ThreadPoolExecutor
) -> None:
    asked = pool.submit(client.infer, "sha256:0", IDS, time.monotonic() + SECONDS)
    engine.say(Refused(engine.hear().key, "insufficient_memory", "too long"))
    with pytest.raises(InsufficientMemory, match="too long"):
        asked.result(SECONDS)


def test_it_comes_again_while_the_engine_is_too_busy(
    engine: Engine, client: LocalClient, pool: ThreadPoolExecutor
) -> None:
    asked = pool.submit(client.infer, "sha256:0", IDS, time.monotonic() + SECONDS)
    engine.say(Refused(engine.hear().key, "queue_full", "full", 1.0))
    message = engine.hear()
    for index, tokens in enumerate(message.lengths):
        engine.score(message.key, index, tokens)
    assert len(asked.result(SECONDS)) == 2


def test_an_engine_that_does_not_answer_is_not_waited_for_for_ever(engine: Engine, client: LocalClient) -> None:
    with pytest.raises(DeadlineExceeded):
        client.infer("sha256:0", IDS, time.monotonic() + 0.1)
