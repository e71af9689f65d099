"""Request table: keeps every admitted document, its tokens and its worker from admission to the last answer.

The scheduler holds the entries as its payloads, so queue and table cannot disagree: a document leaves both at once, and
one that left gets no further answer. Every admitted document is answered exactly once: all its sequences as Scored, its
words in one Tagged, which may be about several documents, or one Refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from collections.abc import Sequence as Several
from itertools import accumulate, islice
from typing import TYPE_CHECKING, NamedTuple
from weakref import finalize

from service.core.arrays import Logits, TokenIds
from service.core.debug_snapshot import EngineHistory
from service.core.decoding.word_tags import WordTags
from service.core.errors import GleanerError, InternalError, QueueFull, is_clients_to_mend
from service.core.labels.marking import unmarked
from service.core.scheduling.scheduler import Scheduler
from service.core.sequences import picture_of, with_picture
from service.core.types import Batch, Refusal, ResponseKind, Sequence, Submission
from service.engine.engine_socket import EngineSocket
from service.families.processor import Reducer
from service.metrics.engine import EngineMetrics
from service.wire import MOST_TAGGED, Refused, Scored, Started, tagged

if TYPE_CHECKING:  # It imports torch, for which the engine's first phase does not wait.
    from service.engine.execution.in_flight import InFlightBatch
    from service.engine.execution.runner import Finish


MOST_WAITING_PICTURE_BYTES = 1 << 30
"""Most bytes of the pictures of all admitted documents: 7,133 pages for LayoutLMv3."""
RETRY_SECONDS = 1.0


class Request(NamedTuple):
    """Payload of an admitted document: its sequences end to end, and the border of each.

    Token ids are as sent: for `WORD_TAGS` and `SPANS`, ids below 0 begin no word.
    """

    worker: bytes
    submission: Submission
    tokens: TokenIds
    borders: tuple[int, ...]

    @classmethod
    def of(cls, worker: bytes, submission: Submission, tokens: TokenIds) -> Request:
        return cls(worker, submission, tokens, (0, *accumulate(submission.lengths)))

    def sequence(self, index: int) -> TokenIds:
        """Cut out one sequence, unmarked for word tags; a model with free labels gets them marked."""
        is_marked = self.submission.response_kind is ResponseKind.WORD_TAGS
        tokens = unmarked(self.tokens) if is_marked else self.tokens[self.borders[index] : self.borders[index + 1]]
        pictures = picture_of(self.tokens)
        return tokens if pictures is None else with_picture(tokens, pictures[self.submission.picture_of[index]])


class RequestTable:
    """The documents between admission and their last answer.

    Attributes:
        history: batches that ran, and refusals.
    """

    def __init__(self, scheduler: Scheduler[Request], ipc: EngineSocket, metrics: EngineMetrics) -> None:
        self.scheduler = scheduler
        self.history = EngineHistory()
        self._ipc = ipc
        self._metrics = metrics
        self._picture_bytes = 0

    def admit(
        self, worker: bytes, submission: Submission, tokens: TokenIds, now: float, tokens_per_second: float | None
    ) -> Refusal | None:
        """Admit a document, or return why it is refused."""
        pictures = submission.picture_bytes
        if pictures and self._picture_bytes + pictures > MOST_WAITING_PICTURE_BYTES and not submission.readmitted:
            return Refusal(submission.key, QueueFull.code, "Too many pictures of pages wait.", RETRY_SECONDS)
        refusal = self.scheduler.admit(submission, now, tokens_per_second, Request.of(worker, submission, tokens))
        if refusal is None and pictures:
            self._picture_bytes += pictures
            finalize(tokens, self._release_pictures, pictures).atexit = False
        return refusal

    def _release_pictures(self, count: int) -> None:
        """Count the bytes of pictures whose document has left."""
        self._picture_bytes -= count

    def start(self, batch: Batch) -> list[TokenIds]:
        """Tell each worker which of its documents are launched; returns the tokens of each sequence."""
        requests = {key: self._admitted(key) for key in dict.fromkeys(each.key for each in batch.sequences)}
        keys: dict[bytes, list[str]] = {}
        for key, request in requests.items():
            keys.setdefault(request.worker, []).append(key)
        for worker, own in keys.items():
            self._ipc.send(worker, Started(tuple(own)))
        return [requests[each.key].sequence(each.index) for each in batch.sequences]

    def postprocessor(self, batch: Batch, reduce: Reducer, labels: tuple[str, ...]) -> Finish | None:
        """Make the function that reduces a batch's logits before delivery, off the loop's thread."""
        requests = [self._admitted(each.key) for each in batch.sequences]
        if all(each.submission.response_kind is ResponseKind.LOGITS for each in requests):
            return None
        return lambda outcomes: reduce(outcomes, requests, labels)

    def ran(self, launched: InFlightBatch) -> None:
        """Remember a batch that ran, before it is delivered."""
        handle, batch = launched.handle, launched.batch
        clients = Counter(self.scheduler.client(sequence.key) for sequence in batch.sequences)
        named = {client: count for client, count in clients.items() if client is not None}
        seconds = handle.begun_seconds, handle.ended_seconds
        self.history.ran(launched.number, batch, seconds, launched.full_tokens, named)

    def deliver(
        self, batch: Batch, outcomes: Several[Logits | WordTags | GleanerError], number: int, batch_seconds: float
    ) -> None:
        """Send each sequence's outcome from the engine's `number`th batch; a failed one refuses its document."""
        tags: dict[bytes, dict[str, WordTags]] = {}
        for sequence, outcome in zip(batch.sequences, outcomes, strict=True):
            if isinstance(outcome, GleanerError):
                self.refuse(refusal_of(sequence.key, outcome))
            elif (request := self.scheduler.payload(sequence.key)) is None:
                continue
            elif isinstance(outcome, WordTags):
                tags.setdefault(request.worker, {})[sequence.key] = outcome
            else:
                self._send_scores(request.worker, sequence, outcome, number, batch_seconds)
        for worker, own in tags.items():
            for some in _parts(own):
                self._ipc.send(worker, *tagged(some, number, batch_seconds))
        self.scheduler.delivered(batch)

    def cancel(self, worker: bytes, key: str) -> None:
        """Remove a worker's document that needs no answer any more."""
        request = self.scheduler.payload(key)
        if request is not None and request.worker == worker:
            self.scheduler.cancel(key)

    def expire(self, now: float, tokens_per_second: float | None, alone: Callable[[str], float | None]) -> None:
        """Refuse the documents whose deadlines can no longer be met; `alone`: as `Scheduler.expire`."""
        for refusal, request in self.scheduler.expire(now, tokens_per_second, alone):
            if request is not None:
                self.send_refusal(request.worker, refusal)

    def refuse(self, refusal: Refusal) -> None:
        """Refuse an admitted document, unless it has left."""
        request = self.scheduler.cancel(refusal.key)
        if request is not None:
            self.send_refusal(request.worker, refusal)

    def refuse_all(
        self, code: str, detail: str, *, worker: bytes | None = None, retry_after_seconds: float | None = None
    ) -> None:
        """Refuse every admitted document, or those of one worker."""
        for key in self.scheduler:
            if worker in (None, self._admitted(key).worker):
                self.refuse(Refusal(key, code, detail, retry_after_seconds))

    def send_refusal(self, worker: bytes, refusal: Refusal) -> None:
        """Send and count the refusal of a document that is not in the table."""
        if not is_clients_to_mend(refusal.code):
            self._metrics.refusals.labels(refusal.code).inc()
        self.history.refused(refusal)
        self._ipc.send(worker, Refused(refusal.key, refusal.code, refusal.detail, refusal.retry_after_seconds))

    def _admitted(self, key: str) -> Request:
        request = self.scheduler.payload(key)
        assert request is not None, f"{key} is not admitted"
        return request

    def _send_scores(
        self, worker: bytes, sequence: Sequence, scores: Logits, number: int, batch_seconds: float
    ) -> None:
        tokens, labels = scores.shape
        message = Scored(sequence.key, sequence.index, tokens, labels, number, batch_seconds)
        self._ipc.send(worker, message, scores)


def _parts(tags: dict[str, WordTags]) -> Iterator[dict[str, WordTags]]:
    """Divide documents into parts of at most `MOST_TAGGED` for a message."""
    left = iter(tags.items())
    while some := dict(islice(left, MOST_TAGGED)):
        yield some


def refusal_of(key: str, error: GleanerError) -> Refusal:
    return Refusal(key, getattr(error, "code", InternalError.code), error.detail)
