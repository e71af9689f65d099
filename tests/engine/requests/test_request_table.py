"""Each admitted document's papers: who waits, which ids, and that nobody is answered twice."""

from __future__ import annotations

from typing import cast

import numpy as np

from service.core.errors import InsufficientMemory
from service.core.types import Batch, Priority, Refusal, Sequence
from service.engine.ipc.server import EngineSocket
from service.engine.requests.request_table import RequestTable, refusal_of
from service.metrics.engine import EngineMetrics
from service.wire import Buffer, Message, Refused, Scored, Started, Submitted

WORKER, OTHER = b"worker", b"other"


class Sent:
    """A door that only writes down what goes out."""

    def __init__(self) -> None:
        self.messages: list[tuple[bytes, Message]] = []
        self.buffers: list[Buffer | None] = []

    def send(self, worker: bytes, message: Message, buffer: Buffer | None = None) -> None:
        self.messages.append((worker, message))
        self.buffers.append(buffer)


def desk() -> tuple[RequestTable, Sent]:
    sent = Sent()
    return RequestTable(cast(EngineSocket, sent), EngineMetrics()), sent


def put(desk: RequestTable, key: str, *lengths: int, worker: bytes = WORKER) -> None:
    message = Submitted(key, "sha256:0", lengths, "c", Priority.INTERACTIVE, 1e9, 0)
    desk.put(worker, message, np.arange(sum(lengths), dtype=np.int32))


def test_a_sequence_s_ids_are_its_own_slice() -> None:
    table, _ = desk()
    put(table, "k", 2, 1, 3)
    assert [table.tokens(Sequence("k", i, n)).tolist() for i, n in enumerate((2, 1, 3))] == [[0, 1], [2], [3, 4, 5]]


def test_each_worker_hears_once_which_of_its_own_documents_begin() -> None:
    table, sent = desk()
    put(table, "a", 1, 1)
    put(table, "b", 1)
    put(table, "c", 1, worker=OTHER)
    table.started(Batch("m", tuple(Sequence(key, i, 1) for key, i in (("a", 0), ("c", 0), ("a", 1), ("b", 0)))))
    assert sent.messages == [(WORKER, Started(("a", "b"))), (OTHER, Started(("c",)))]


def test_rows_go_to_whoever_waits_with_their_shape_and_batch() -> None:
    table, sent = desk()
    put(table, "k", 2, 3)
    table.scored(Sequence("k", 1, 3), np.ones((3, 7), dtype=np.float32), 9, 0.5)
    assert sent.messages == [(WORKER, Scored("k", 1, 3, 7, 9, 0.5))]
    rows = sent.buffers[0]
    assert rows is not None
    assert rows.shape == (3, 7)


def test_a_document_is_refused_once_and_its_rows_then_find_nobody() -> None:
    table, sent = desk()
    put(table, "k", 1, 1)
    for _ in range(2):
        table.refuse(Refusal("k", "deadline_exceeded", "late", 2.0))
    table.scored(Sequence("k", 0, 1), np.ones((1, 7), dtype=np.float32), 1, 0.5)
    assert sent.messages == [(WORKER, Refused("k", "deadline_exceeded", "late", 2.0))]


def test_a_document_that_nobody_waits_for_is_answered_nothing() -> None:
    table, sent = desk()
    put(table, "k", 1)
    table.clear("k")
    table.clear("k")
    table.scored(Sequence("k", 0, 1), np.ones((1, 7), dtype=np.float32), 1, 0.5)
    table.refuse(Refusal("k", "draining", "over"))
    assert sent.messages == []


def test_documents_are_listed_by_the_worker_that_waits() -> None:
    table, _ = desk()
    put(table, "a", 1)
    put(table, "b", 1, worker=OTHER)
    put(table, "c", 1)
    assert table.documents() == ["a", "b", "c"]
    assert table.documents(WORKER) == ["a", "c"]
    assert table.documents(b"nobody") == []


def test_a_document_is_turned_away_at_the_door_without_papers() -> None:
    table, sent = desk()
    table.turn_away(WORKER, Refusal("k", "queue_full", "full", 3.0))
    assert sent.messages == [(WORKER, Refused("k", "queue_full", "full", 3.0))]


def test_an_error_becomes_the_refusal_of_its_code() -> None:
    assert refusal_of("k", InsufficientMemory("too long")) == Refusal("k", "insufficient_memory", "too long")
