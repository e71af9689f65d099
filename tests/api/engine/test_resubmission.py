"""A pending document: logits in any order, deaths of engines counted, one result."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.api.engine.resubmission import MOST_BYTES, MOST_TOGETHER, InferenceResult, Pending, SubmissionQueue
from service.core.errors import InternalError, PoisonDocument, QueueFull
from service.core.types import Priority
from service.wire import Parts, Refused, Scored, Submitted, delivery, messages_in

LABELS = 2


def pending(*lengths: int, attempt: int = 0) -> Pending:
    """A submission with an open future; needs a running event loop."""
    submission = Submitted("k", "sha256:0", lengths, "client", Priority.INTERACTIVE, 1e9, attempt)
    result: asyncio.Future[InferenceResult] = asyncio.get_running_loop().create_future()
    kept = tuple((0, length) for length in lengths)
    return Pending(submission, np.zeros(sum(lengths), dtype=np.int32), kept, result)


def collect(document: Pending, index: int, *, batch: int = 1, seconds: float = 0.0) -> None:
    """Collect the logits of one sequence, filled with its index."""
    tokens = document.submission.lengths[index]
    rows = np.full(tokens * LABELS, index, dtype=np.float32)
    document.collect(Scored("k", index, tokens, LABELS, batch, seconds), rows)


def run(scene: Coroutine[Any, Any, None]) -> None:
    asyncio.run(scene)


@given(st.permutations(range(5)))
def test_windows_in_any_order_make_the_same_answer(order: list[int]) -> None:
    async def scene() -> None:
        document = pending(3, 1, 4, 1, 5)
        for index in order[:-1]:
            collect(document, index)
            assert not document.result.done()
        collect(document, order[-1])
        logits = (await document.result).logits
        assert logits.shape == (14, 2)
        assert logits[:, 0].tolist() == [0, 0, 0, 1, 2, 2, 2, 2, 3, 4, 4, 4, 4, 4]

    run(scene())


async def test_the_windows_that_have_come_back_are_counted() -> None:
    document = pending(4, 4, 2)
    assert document.windows == (0, 3)
    collect(document, 2)
    assert document.windows == (1, 3)
    document.on_engine_death()
    assert document.windows == (0, 3)


async def test_of_each_sequence_only_the_kept_rows_stay() -> None:
    document = pending(4, 5)
    document.kept = ((1, 3), (2, 4))
    for index in (1, 0):
        rows = np.arange(document.submission.lengths[index] * LABELS, dtype=np.float32) + 100 * index
        document.collect(Scored("k", index, document.submission.lengths[index], LABELS, 1, 0.0), rows)
    assert (await document.result).logits.tolist() == [[2, 3], [4, 5], [104, 105], [106, 107]]


async def test_compute_time_counts_each_batch_once_and_the_rest_is_queueing() -> None:
    document = pending(1, 1, 1)
    for index, batch, seconds in ((0, 7, 20.0), (1, 7, 20.0), (2, 8, 30.0)):
        collect(document, index, batch=batch, seconds=seconds)
    inference = await document.result
    assert inference.compute_seconds == 50.0
    assert inference.queue_seconds == 0.0  # Never negative, though the batches took longer than the test.


async def test_logits_after_the_result_change_nothing() -> None:
    document = pending(1)
    collect(document, 0)
    first = await document.result
    collect(document, 0)
    document.refuse(Refused("k", "queue_full", "full"))
    assert document.result.result() is first


async def test_a_refusal_becomes_the_error_that_its_code_names() -> None:
    document = pending(1)
    document.refuse(Refused("k", "queue_full", "full", 2.5))
    with pytest.raises(QueueFull, match="full") as caught:
        await document.result
    assert caught.value.retry_after_seconds == 2.5


async def test_a_refusal_with_an_unknown_code_is_an_internal_error() -> None:
    document = pending(1)
    document.refuse(Refused("k", "from_the_future", "what?"))
    with pytest.raises(InternalError, match="what"):
        await document.result


async def test_not_ready_keeps_it_pending_for_resubmission() -> None:
    document = pending(1)
    document.submitted = True
    document.refuse(Refused("k", "not_ready", "still loading"))
    assert not document.result.done()
    assert document.needs_submission


async def test_a_document_that_waited_when_the_engine_died_is_not_suspect() -> None:
    document = pending(1)
    for _ in range(5):
        document.submitted = True
        document.on_engine_death()
        assert document.submission.attempt == 0
        assert document.needs_submission


async def test_only_a_document_that_an_engine_had_is_marked_as_readmitted() -> None:
    sent, unsent = pending(1), pending(1)
    sent.submitted = True
    for document in (sent, unsent):
        document.on_engine_death()
    assert (sent.submission.readmitted, unsent.submission.readmitted) == (True, False)
    sent.on_engine_death()
    assert sent.submission.readmitted


async def test_a_document_that_ran_at_two_deaths_is_poison() -> None:
    document = pending(1)
    document.submitted = document.running = True
    document.on_engine_death()
    assert (document.submission.attempt, document.running, document.needs_submission) == (1, False, True)
    document.submitted = document.running = True
    document.on_engine_death()
    assert not document.needs_submission
    with pytest.raises(PoisonDocument, match="twice"):
        await document.result


async def test_logits_of_a_dead_engine_are_dropped() -> None:
    document = pending(1, 1)
    collect(document, 0, batch=1, seconds=40.0)
    document.on_engine_death()
    collect(document, 1, batch=1, seconds=2.0)
    assert not document.result.done()
    collect(document, 0, batch=2, seconds=3.0)
    assert (await document.result).compute_seconds == 5.0


async def test_it_is_abandoned_when_submitted_and_cancelled() -> None:
    unsent, answered, hung_up = pending(1), pending(1), pending(1)
    answered.submitted = hung_up.submitted = True
    collect(answered, 0)
    hung_up.result.cancel()
    assert [each.is_abandoned for each in (unsent, answered, hung_up)] == [False, False, True]


class Line:
    """Takes deliveries, as long as it is connected."""

    def __init__(self) -> None:
        self.connected = True
        self.deliveries: list[list[str]] = []
        self.queue = SubmissionQueue(self._deliver)

    def _deliver(self, parts: Parts) -> bool:
        found = [message for message, _ in messages_in([delivery(parts)])]
        self.deliveries.append([message.key for message in found if isinstance(message, Submitted)])
        return self.connected


def _pending(key: str, client: str = "c") -> Pending:
    submission = Submitted(key, "sha256:0", (3,), client, Priority.INTERACTIVE, 1.0)
    result = asyncio.get_running_loop().create_future()
    return Pending(submission, np.zeros(3, dtype=np.int32), ((0, 3),), result)


async def test_what_is_ready_in_one_turn_is_sent_together() -> None:
    line = Line()
    some = [_pending(str(number)) for number in range(MOST_TOGETHER + 2)]
    for each in some:
        line.queue.add(each)
    assert line.deliveries == []
    assert some[0] in line.queue
    await asyncio.sleep(0)
    keys = [each.submission.key for each in some]
    assert line.deliveries == [keys[:MOST_TOGETHER], keys[MOST_TOGETHER:]]
    assert all(each.submitted for each in some)
    line.queue.add(late := _pending("late"))
    await asyncio.sleep(0)
    assert line.deliveries[2:] == [["late"]]
    assert late not in line.queue


async def test_who_left_meanwhile_is_not_sent() -> None:
    line = Line()
    gone, stays = _pending("gone"), _pending("stays")
    for each in (gone, stays, stays):
        line.queue.add(each)
    gone.result.cancel()
    await asyncio.sleep(0)
    assert line.deliveries == [["stays"]]
    assert not gone.submitted
    assert not gone.is_abandoned, "or a document that no engine has would be cancelled there"


async def test_without_an_engine_it_waits_for_the_next_one() -> None:
    line = Line()
    line.connected = False
    line.queue.add(waits := _pending("waits"))
    await asyncio.sleep(0)
    assert waits.needs_submission
    assert waits not in line.queue


async def test_one_that_cannot_be_packed_fails_alone() -> None:
    line = Line()
    bad = _pending("bad", client="\ud800")
    for each in (_pending("a"), bad, _pending("b")):
        line.queue.add(each)
    await asyncio.sleep(0)
    assert line.deliveries == [["a", "b"]]
    with pytest.raises(UnicodeEncodeError):
        await bad.result


async def test_long_documents_are_deliveries_of_their_own_and_short_ones_are_not() -> None:
    line = Line()
    some = [_pending(str(number)) for number in range(5)]
    for each in some[1:4]:
        each.buffer = np.zeros(MOST_BYTES // 6, dtype=np.int32)
        each.submission = replace(each.submission, lengths=(len(each.buffer),))
    for each in some:
        line.queue.add(each)
    await asyncio.sleep(0)
    assert line.deliveries == [["0", "1"], ["2"], ["3", "4"]]
