"""Submission queue: submissions of one turn of the event loop, sent together.

A request's documents are ready in the same few turns, and to receive a delivery costs the engine more than to read one
of the messages in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from service.api.engine.pending import Pending
from service.wire import Buffer, Message

MOST_TOGETHER = 32
"""Submissions in one delivery."""


class SubmissionQueue:
    """Documents that are submitted at the end of this turn.

    Args:
        send: sends messages with their buffers as one delivery; False when no engine is connected.
    """

    def __init__(self, send: Callable[[Sequence[tuple[Message, Buffer]]], bool]) -> None:
        self._send_all = send
        self._waiting: dict[str, Pending] = {}

    def add(self, pending: Pending) -> None:
        """Submit a document soon, unless it has ended by then."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._send)
        self._waiting[pending.submission.key] = pending

    def __contains__(self, pending: Pending) -> bool:
        return pending.submission.key in self._waiting

    def _send(self) -> None:
        ready = [pending for pending in self._waiting.values() if pending.needs_submission]
        self._waiting.clear()
        for first in range(0, len(ready), MOST_TOGETHER):
            some = ready[first : first + MOST_TOGETHER]
            sent = self._send_all([(pending.submission, pending.tokens) for pending in some])
            for pending in some:
                pending.submitted = sent
