"""Submissions of one turn of the event loop: one delivery, of those that still wait."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from msgspec.structs import replace

from service.api.engine.pending import MOST_BYTES, MOST_TOGETHER, Pending, SubmissionQueue
from service.core.types import Priority
from service.wire import Parts, Submitted, delivery, messages_in


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


def test_what_is_ready_in_one_turn_is_sent_together() -> None:
    async def scene() -> None:
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

    asyncio.run(scene())


def test_who_left_meanwhile_is_not_sent() -> None:
    async def scene() -> None:
        line = Line()
        gone, stays = _pending("gone"), _pending("stays")
        for each in (gone, stays, stays):
            line.queue.add(each)
        gone.result.cancel()
        await asyncio.sleep(0)
        assert line.deliveries == [["stays"]]
        assert not gone.submitted
        assert not gone.is_abandoned, "or a document that no engine has would be cancelled there"

    asyncio.run(scene())


def test_without_an_engine_it_waits_for_the_next_one() -> None:
    async def scene() -> None:
        line = Line()
        line.connected = False
        line.queue.add(waits := _pending("waits"))
        await asyncio.sleep(0)
        assert waits.needs_submission
        assert waits not in line.queue

    asyncio.run(scene())


def test_one_that_cannot_be_packed_fails_alone() -> None:
    async def scene() -> None:
        line = Line()
        bad = _pending("bad", client="\ud800")
        for each in (_pending("a"), bad, _pending("b")):
            line.queue.add(each)
        await asyncio.sleep(0)
        assert line.deliveries == [["a", "b"]]
        with pytest.raises(UnicodeEncodeError):
            await bad.result

    asyncio.run(scene())


def test_long_documents_are_deliveries_of_their_own_and_short_ones_are_not() -> None:
    async def scene() -> None:
        line = Line()
        some = [_pending(str(number)) for number in range(5)]
        for each in some[1:4]:
            each.tokens = np.zeros(MOST_BYTES // 6, dtype=np.int32)
            each.submission = replace(each.submission, lengths=(len(each.tokens),))
        for each in some:
            line.queue.add(each)
        await asyncio.sleep(0)
        assert line.deliveries == [["0", "1"], ["2"], ["3", "4"]]

    asyncio.run(scene())
