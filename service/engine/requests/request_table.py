"""Each admitted document's papers: its token ids, and the worker that waits for its answer.

The scheduler decides with lengths alone; the desk keeps what the decision is about and tells the workers of it. A
document whose papers are gone gets no further answer, so nobody is answered twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from service.core.arrays import Logits, TokenIds
from service.core.errors import GleanerError, InternalError
from service.core.types import Batch, Refusal, Sequence
from service.engine.ipc.server import EngineSocket
from service.metrics.engine import EngineMetrics
from service.wire import Refused, Scored, Started, Submitted


@dataclass(frozen=True, slots=True)
class _Request:
    worker: bytes
    tokens: TokenIds
    borders: tuple[int, ...]


class RequestTable:
    """Documents between admission and their last answer."""

    def __init__(self, door: EngineSocket, metrics: EngineMetrics) -> None:
        self._door = door
        self._metrics = metrics
        self._papers: dict[str, _Request] = {}

    def put(self, worker: bytes, message: Submitted, tokens: TokenIds) -> None:
        """Keep a document's token ids, all its sequences end to end."""
        self._papers[message.key] = _Request(worker, tokens, (0, *accumulate(message.lengths)))

    def tokens(self, sequence: Sequence) -> TokenIds:
        """The ids of one sequence."""
        papers = self._papers[sequence.key]
        return papers.tokens[papers.borders[sequence.index] : papers.borders[sequence.index + 1]]

    def clear(self, key: str) -> None:
        """Throw a document's papers away."""
        self._papers.pop(key, None)

    def documents(self, worker: bytes | None = None) -> list[str]:
        """All documents, or those that this worker waits for."""
        return [key for key, papers in self._papers.items() if worker in (None, papers.worker)]

    def started(self, batch: Batch) -> None:
        """Tell each worker which of its documents go to the device."""
        keys: dict[bytes, list[str]] = {}
        for key in dict.fromkeys(sequence.key for sequence in batch.sequences):
            keys.setdefault(self._papers[key].worker, []).append(key)
        for worker, own in keys.items():
            self._door.send(worker, Started(tuple(own)))

    def scored(self, sequence: Sequence, logits: Logits, batch: int, batch_seconds: float) -> None:
        """Send the logits [tokens, labels] of one sequence to whoever waits for them."""
        papers = self._papers.get(sequence.key)
        if papers is not None:
            tokens, labels = logits.shape
            message = Scored(sequence.key, sequence.index, tokens, labels, batch, batch_seconds)
            self._door.send(papers.worker, message, logits)

    def refuse(self, refusal: Refusal) -> None:
        """Turn away a document that had been admitted, once."""
        papers = self._papers.pop(refusal.key, None)
        if papers is not None:
            self.turn_away(papers.worker, refusal)

    def turn_away(self, worker: bytes, refusal: Refusal) -> None:
        """Turn away a document at the door."""
        self._metrics.refusals.labels(refusal.code).inc()
        self._door.send(worker, Refused(refusal.key, refusal.code, refusal.detail, refusal.retry_after_seconds))


def refusal_of(key: str, error: GleanerError) -> Refusal:
    """The refusal that says what failed."""
    return Refusal(key, getattr(error, "code", InternalError.code), error.detail)
