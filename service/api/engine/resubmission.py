"""Resubmission: keeps pending documents from submission to result, across deaths of the engine. Knows no socket.

The rule: a document that was running when an engine died is suspect; one running at two deaths is poison and
is refused, so that it cannot take a third engine with it. The engine runs suspects alone, so no neighbour is blamed.

Submissions of one iteration of the event loop are sent together: to receive a delivery costs the engine more than to
read one of the messages in it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from service.core.arrays import Logits
from service.core.decoding.spans import Candidates
from service.core.decoding.word_tags import WordTags
from service.core.errors import BY_CODE, Draining, GleanerError, InternalError, PoisonDocument, TooLongForDeadline
from service.core.types import ResponseKind
from service.wire import Parts, Refused, Scored, Submitted, Tagged, pack

MOST_DEATHS = 2
NO_LOGITS: Logits = np.empty((0, 0), dtype=np.float32)
Kept = tuple[tuple[int, int], ...]
"""Kept rows `[start, stop)` of each sequence's logits."""


@dataclass(frozen=True, slots=True)
class InferenceResult:
    """One document's scores.

    `logits`: `[tokens, labels]`, the kept rows of its sequences' logits, in order. `tags`: instead of
    them, where tags were asked for. `spans`: instead of them, each sequence's candidates.
    `compute_seconds`: time of the batches that it ran in. `queue_seconds`: all other time in the engine.
    `batches`: their numbers.
    """

    logits: Logits
    queue_seconds: float
    compute_seconds: float
    tags: WordTags | None = None
    batches: tuple[int, ...] = ()
    spans: tuple[Candidates, ...] = ()


@dataclass(slots=True)
class Pending:
    """A submission, the sequences that have come back, and the future of the result.

    Attributes:
        submission: the message; its `attempt` grows with every death of an engine that ran it.
        buffer: its tokens and pictures, as they are sent.
        kept: rows `[start, stop)` of each sequence's logits to keep as they come: a long document's
            take most of a worker's memory, and neighbouring windows repeat a third of them. All candidates are kept.
        submitted: True while an engine has it.
        running: True from the engine's `Started` on.
        resubmitted: True once an engine that had it died.
    """

    submission: Submitted
    buffer: npt.NDArray[np.int32]
    kept: Kept
    result: asyncio.Future[InferenceResult]
    submitted: bool = False
    running: bool = False
    resubmitted: bool = False
    _begun_seconds: float = field(default_factory=time.monotonic)
    _logits: Logits | None = None
    _starts: tuple[int, ...] = ()
    _spans: dict[int, Candidates] = field(default_factory=dict)
    _arrived: set[int] = field(default_factory=set)
    _batches: dict[int, float] = field(default_factory=dict)

    @property
    def needs_submission(self) -> bool:
        """True when no engine has it and it has no result."""
        return not self.submitted and not self.result.done()

    @property
    def windows(self) -> tuple[int, int]:
        """Number of sequences that have come back, and of all."""
        return len(self._arrived), len(self.submission.lengths)

    @property
    def is_abandoned(self) -> bool:
        """True when an engine has it, and its caller waits no more (deadline passed, or cancelled)."""
        return self.submitted and (self.result.cancelled() or not self.result.done())

    @property
    def is_too_long(self) -> bool:
        """True when it was refused for good, as too long for its deadline."""
        ended = self.result.done() and not self.result.cancelled()
        return ended and isinstance(self.result.exception(), TooLongForDeadline)

    def collect(self, scored: Scored, logits: Logits) -> None:
        """Add one sequence's logits; the last sequence completes the result."""
        if self.result.done():
            return
        rows = logits.reshape(scored.tokens, scored.labels)
        self._batches[scored.batch] = scored.batch_seconds
        self._arrived.add(scored.index)
        is_last = len(self._arrived) == len(self.submission.lengths)
        if self.submission.response_kind is ResponseKind.SPANS:
            self._spans[scored.index] = rows
            if is_last:
                self._complete(NO_LOGITS, spans=tuple(self._spans[index] for index in sorted(self._spans)))
            return
        merged = self._keep(scored.index, rows[slice(*self.kept[scored.index])])
        if is_last:
            self._complete(merged)

    def take_tags(self, tagged: Tagged, tags: WordTags) -> None:
        """Complete the result with the tags of the document's words."""
        if not self.result.done():
            self._batches[tagged.batch] = tagged.batch_seconds
            self._complete(NO_LOGITS, tags)

    def _complete(self, logits: Logits, tags: WordTags | None = None, spans: tuple[Candidates, ...] = ()) -> None:
        compute = sum(self._batches.values())
        queue = max(time.monotonic() - self._begun_seconds - compute, 0.0)
        self.result.set_result(InferenceResult(logits, queue, compute, tags, tuple(self._batches), spans))

    def _keep(self, index: int, rows: Logits) -> Logits:
        """Copy a sequence's rows to their place among the document's; a single sequence's are not copied."""
        if len(self.kept) == 1:
            return rows
        if self._logits is None:
            self._starts = tuple(accumulate((stop - start for start, stop in self.kept), initial=0))
            self._logits = np.empty((self._starts[-1], rows.shape[1]), dtype=np.float32)
        self._logits[self._starts[index] : self._starts[index + 1]] = rows
        return self._logits

    def refuse(self, refused: Refused) -> None:
        """Fail with the error that the refusal's code names; after `not_ready`, wait for the next submission instead.

        `not_ready` comes when the next engine, while loading, reads a submission to the dead one.
        """
        if refused.code == "not_ready":
            self.submitted = False
        elif not self.result.done():
            error: type[GleanerError] = BY_CODE.get(refused.code, InternalError)
            self.result.set_exception(error(refused.detail, retry_after_seconds=refused.retry_after_seconds))

    def abort(self) -> None:
        """Fail with Draining, because the worker stops."""
        if not self.result.done():
            self.result.set_exception(Draining("The worker stopped before the document was done."))

    def on_engine_death(self) -> None:
        """Reset for resubmission; fail with PoisonDocument at the second death while running."""
        self.resubmitted = self.resubmitted or self.submitted
        attempt = self.submission.attempt + self.running
        self.submission = replace(self.submission, attempt=attempt, readmitted=self.resubmitted)
        if self.submission.attempt >= MOST_DEATHS and not self.result.done():
            self.result.set_exception(PoisonDocument("The engine died twice while it worked on this document."))
        self._arrived.clear()
        self._batches.clear()
        self.submitted = self.running = False


MOST_TOGETHER = 32
"""Most submissions in one delivery."""
MOST_BYTES = 1 << 20
"""Most bytes of a delivery, unless a single document has more."""


class SubmissionQueue:
    """Documents to submit at the end of this turn of the event loop.

    Args:
        deliver: sends the parts of messages, end to end; returns False when no engine is connected.
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
    """Pack a submission; no parts if it is not needed any more, or fails to be packed."""
    if not pending.needs_submission:
        return []
    try:
        return pack(pending.submission, pending.buffer)
    except Exception as error:  # Its neighbours go on without it.
        pending.result.set_exception(error)
        return []


def _deliveries(packed: list[tuple[Pending, Parts]]) -> Iterator[list[tuple[Pending, Parts]]]:
    """Divide submissions into deliveries."""
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
