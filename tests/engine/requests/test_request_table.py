"""Request table: ids by sequence, answers to the worker that asked, and no document is answered twice."""

from __future__ import annotations

from functools import partial
from typing import cast

import numpy as np
import pytest
from msgspec.structs import replace

from service.core.arrays import Logits
from service.core.decoding.model_decoding import PLAIN
from service.core.decoding.spans import pool_candidates
from service.core.decoding.word_tags import WordTags
from service.core.errors import GleanerError, InsufficientMemory
from service.core.scheduling.scheduler import QueueLimits, Scheduler
from service.core.sequences import picture_of, with_picture
from service.core.types import Batch, Refusal, ResponseKind
from service.engine.engine_socket import EngineSocket
from service.engine.requests.request_table import RequestTable
from service.families.free_labels.processor import reduce_to_candidates
from service.families.token_classifier.reducing import reduce_to_tags
from service.metrics.engine import EngineMetrics
from service.wire import MOST_TAGGED, Buffer, Message, Refused, Scored, Started, Tagged, tags_in
from tests.support.budgets import FixedBudget
from tests.support.submissions import submission

WORKER, OTHER = b"worker", b"other"


class Sent:
    """A socket that only records what is sent."""

    def __init__(self) -> None:
        self.messages: list[tuple[bytes, Message]] = []
        self.buffers: list[Buffer | None] = []

    def send(self, worker: bytes, message: Message, buffer: Buffer | None = None) -> None:
        self.messages.append((worker, message))
        self.buffers.append(buffer)

    def answers(self) -> list[tuple[bytes, Message]]:
        """All but the starts."""
        return [each for each in self.messages if not isinstance(each[1], Started)]


def make_table() -> tuple[RequestTable, Sent]:
    sent = Sent()
    return RequestTable(Scheduler(QueueLimits(1_000)), cast(EngineSocket, sent), EngineMetrics()), sent


def admit(table: RequestTable, key: str, *lengths: int, worker: bytes = WORKER, deadline: float = 1e9) -> None:
    document = submission(key, *lengths, deadline_seconds=deadline)
    assert table.admit(worker, document, np.arange(sum(lengths), dtype=np.int32), 0.0, None) is None


def launch(table: RequestTable) -> Batch:
    """A batch of everything, started."""
    batch = table.scheduler.next_batch(FixedBudget(1_000))
    assert batch is not None
    table.start(batch)
    return batch


def logits(batch: Batch) -> list[Logits | GleanerError]:
    return [np.full((each.tokens, 7), each.index, dtype=np.float32) for each in batch.sequences]


def test_a_sequence_s_ids_are_its_own_slice() -> None:
    table, _ = make_table()
    admit(table, "k", 2, 1, 3)
    batch = table.scheduler.next_batch(FixedBudget(1_000))
    assert batch is not None
    assert [tokens.tolist() for tokens in table.start(batch)] == [[0, 1], [2], [3, 4, 5]]


def test_each_sequence_has_the_picture_of_its_page() -> None:
    table, _ = make_table()
    pictures = np.arange(24, dtype=np.uint8).reshape(2, 3, 2, 2)
    tokens = with_picture(np.arange(20, dtype=np.int32).reshape(4, 5), pictures)
    document = submission("k", 1, 2, 1, columns=5, picture_of=(1, 0, 1), picture_side=2)
    assert table.admit(WORKER, document, tokens, 0.0, None) is None
    batch = table.scheduler.next_batch(FixedBudget(1_000))
    assert batch is not None
    for sequence, number in zip(table.start(batch), document.picture_of, strict=True):
        assert np.array_equal(np.asarray(picture_of(sequence)), pictures[number])


def test_pictures_that_wait_are_bounded_until_their_documents_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.engine.requests.request_table.MOST_WAITING_PICTURE_BYTES", 30)
    table, _ = make_table()

    def admit_one(key: str, *, readmitted: bool = False) -> Refusal | None:
        document = submission(key, 1, columns=5, picture_of=(0,), picture_side=2, readmitted=readmitted)
        tokens = with_picture(np.zeros((1, 5), dtype=np.int32), np.zeros((1, 3, 2, 2), dtype=np.uint8))
        return table.admit(WORKER, document, tokens, 0.0, None)

    assert [admit_one("a"), admit_one("b")] == [None, None]
    refused = admit_one("c")
    assert refused is not None
    assert (refused.key, refused.code) == ("c", "queue_full")
    assert admit_one("c", readmitted=True) is None
    table.cancel(WORKER, "a")
    table.cancel(WORKER, "b")
    assert admit_one("d") is None


def test_each_worker_is_told_once_which_of_its_documents_are_launched() -> None:
    table, sent = make_table()
    admit(table, "a", 1, 1)
    admit(table, "b", 1)
    admit(table, "c", 1, worker=OTHER)
    launch(table)
    assert {worker: set(message.keys) for worker, message in sent.messages if isinstance(message, Started)} == {
        WORKER: {"a", "b"},
        OTHER: {"c"},
    }
    assert len(sent.messages) == 2


def test_logits_are_sent_with_their_shape_and_batch() -> None:
    table, sent = make_table()
    admit(table, "k", 2, 3)
    batch = launch(table)
    table.deliver(batch, logits(batch), 9, 0.5)
    assert sent.answers() == [(WORKER, Scored("k", 0, 2, 7, 9, 0.5)), (WORKER, Scored("k", 1, 3, 7, 9, 0.5))]
    assert [buffer.shape for buffer in sent.buffers if buffer is not None] == [(2, 7), (3, 7)]
    assert len(table.scheduler) == 0


def test_a_refused_document_gets_no_logits_afterwards() -> None:
    table, sent = make_table()
    admit(table, "k", 1, 1)
    batch = launch(table)
    for _ in range(2):
        table.refuse(Refusal("k", "deadline_exceeded", "late", 2.0))
    table.deliver(batch, logits(batch), 1, 0.5)
    assert sent.answers() == [(WORKER, Refused("k", "deadline_exceeded", "late", 2.0))]


def test_a_failed_sequence_refuses_its_document_once_and_no_other() -> None:
    table, sent = make_table()
    admit(table, "bad", 1, 1)
    admit(table, "good", 1, worker=OTHER)
    batch = launch(table)
    error = InsufficientMemory("too long")
    outcomes = [
        error if each.key == "bad" else found for each, found in zip(batch.sequences, logits(batch), strict=True)
    ]
    table.deliver(batch, outcomes, 1, 0.5)
    assert sorted(sent.answers(), key=lambda each: each[0]) == [
        (OTHER, Scored("good", 0, 1, 7, 1, 0.5)),
        (WORKER, Refused("bad", "insufficient_memory", "too long")),
    ]


def test_a_cancelled_document_is_answered_nothing() -> None:
    table, sent = make_table()
    admit(table, "k", 1)
    batch = launch(table)
    table.cancel(WORKER, "k")
    table.cancel(WORKER, "k")
    table.deliver(batch, logits(batch), 1, 0.5)
    table.refuse(Refusal("k", "draining", "over"))
    assert sent.answers() == []


def test_an_expired_document_is_refused_to_its_worker() -> None:
    table, sent = make_table()
    admit(table, "late", 1, worker=OTHER, deadline=5.0)
    admit(table, "k", 1)
    table.expire(6.0, None, lambda _: None)
    ((worker, refused),) = sent.answers()
    assert isinstance(refused, Refused)
    assert (worker, refused.key, refused.code) == (OTHER, "late", "deadline_exceeded")


def test_all_documents_of_one_worker_can_be_refused_or_all_of_all() -> None:
    table, sent = make_table()
    admit(table, "a", 1)
    admit(table, "b", 1, worker=OTHER)
    admit(table, "c", 1)
    table.refuse_all("internal_error", "silent", worker=WORKER)
    assert [(worker, m.key) for worker, m in sent.answers() if isinstance(m, Refused)] == [(WORKER, "a"), (WORKER, "c")]
    table.refuse_all("draining", "over")
    assert sent.answers()[2:] == [(OTHER, Refused("b", "draining", "over"))]


def test_tags_are_those_of_the_words_and_the_model_sees_plain_ids() -> None:
    table, sent = make_table()
    ids = np.array([7, ~8, 9, ~10], dtype=np.int32)
    document = replace(submission("k", 4), response_kind=ResponseKind.WORD_TAGS)
    assert table.admit(WORKER, document, ids, 0.0, None) is None
    batch = table.scheduler.next_batch(FixedBudget(1_000))
    assert batch is not None
    (sequence,) = table.start(batch)
    assert sequence.tolist() == [7, 8, 9, 10]
    reduce = table.postprocessor(batch, partial(reduce_to_tags, PLAIN), ("O", "B-X", "I-X"))
    assert reduce is not None
    rows = np.array([[0, 9, 0], [0, 0, 9], [9, 0, 0], [0, 0, 9]], dtype=np.float32)
    table.deliver(batch, reduce([rows]), 1, 0.5)
    message = Tagged((("k", 2, 1),), 1, 0.5)
    assert sent.answers() == [(WORKER, message)]
    buffer = sent.buffers[-1]
    assert buffer is not None
    ((_, tags),) = tags_in(message, buffer)
    assert tags.labels.tolist() == [1, 0]
    assert tags.probabilities.tolist() == [pytest.approx(1.0, abs=1e-3)]


def test_candidates_are_sent_and_the_model_sees_marked_ids() -> None:
    table, sent = make_table()
    ids = np.array([~8, 7, ~8, 9], dtype=np.int32)
    document = replace(submission("k", 2, 2), response_kind=ResponseKind.SPANS, least_score=0.5)
    assert table.admit(WORKER, document, ids, 0.0, None) is None
    batch = table.scheduler.next_batch(FixedBudget(1_000))
    assert batch is not None
    assert [each.tolist() for each in table.start(batch)] == [[~8, 7], [~8, 9]]
    reduce = table.postprocessor(batch, partial(reduce_to_candidates, pool_candidates), ())
    assert reduce is not None
    rows = np.array([[5, 5, 5]], dtype=np.float32)
    table.deliver(batch, reduce([rows, -rows]), 1, 0.5)
    assert sent.answers()[-2:] == [(WORKER, Scored("k", 0, 1, 4, 1, 0.5)), (WORKER, Scored("k", 1, 0, 4, 1, 0.5))]


def test_each_worker_gets_the_tags_of_its_documents_in_few_messages() -> None:
    table, sent = make_table()
    workers = {f"k{number}": OTHER if number == 3 else WORKER for number in range(MOST_TAGGED + 3)}
    for key, worker in workers.items():
        document = replace(submission(key, 1), response_kind=ResponseKind.WORD_TAGS)
        assert table.admit(worker, document, np.array([7], dtype=np.int32), 0.0, None) is None
    batch = table.scheduler.next_batch(FixedBudget(1_000))
    assert batch is not None
    table.start(batch)
    table.cancel(WORKER, "k5")
    tags = WordTags(np.array([0]), np.empty(0))
    table.deliver(batch, [tags] * len(batch.sequences), 1, 0.5)
    answers = [(worker, each) for worker, each in sent.answers() if isinstance(each, Tagged)]
    keys = [(worker, [key for key, _, _ in each.documents]) for worker, each in answers]
    own = [key for key, worker in workers.items() if worker == WORKER and key != "k5"]
    assert sorted(keys) == sorted([(WORKER, own[:MOST_TAGGED]), (WORKER, own[MOST_TAGGED:]), (OTHER, ["k3"])])
