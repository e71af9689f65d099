"""Submission queue: submissions of one turn of the event loop, sent together.

A request's documents are ready in the same few turns, and to receive a delivery costs the engine more than to read one
of the messages in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from service.api.engine.pending import Pending
from service.wire import Parts, pack

MOST_TOGETHER = 32
"""Submissions in one delivery."""
MOST_BYTES = 1 << 20
"""Of a delivery, unless a single document has more."""


class SubmissionQueue:
    """Documents that are submitted at the end of this turn.

    Args:
        deliver: sends the parts of messages, end to end; False when no engine is connected.
    """

    def __init__(self, deliver: Callable[[Parts], bool]) -> None:
        self._deliver = deliver
        self._waiting: dict[str, Pending] = {}

    def add(self, pending: Pending) -> None:
        """Submit a document soon, unless it has ended by then."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._send)
        self._waiting[pending.submission.key] = pending

    def __contains__(self, pending: Pending) -> bool:
        return pending.submission.key in self._waiting

    def _send(self) -> None:
        packed = [(each, parts) for each in self._waiting.values() if (parts := _packed(each))]
        self._waiting.clear()
        for some in _deliveries(packed):
            sent = self._deliver([part for _, parts in some for part in parts])
            for pending, _ in some:
                pending.submitted = sent


def _packed(pending: Pending) -> Parts:
    """The parts of a submission; none if it is not wanted any more, or fails because it cannot be packed."""
    if not pending.needs_submission:
        return []
    try:
        return pack(pending.submission, pending.tokens)
    except Exception as error:  # Its neighbours go on without it.
        pending.result.set_exception(error)
        return []


def _deliveries(packed: list[tuple[Pending, Parts]]) -> Iterator[list[tuple[Pending, Parts]]]:
    """The submissions of each delivery."""
    some, size = list[tuple[Pending, Parts]](), 0
    for pending, parts in packed:
        own = sum(map(len, parts))
        if some and (len(some) == MOST_TOGETHER or size + own > MOST_BYTES):
            yield some
            some, size = [], 0
        some.append((pending, parts))
        size += own
    if some:
        yield some
