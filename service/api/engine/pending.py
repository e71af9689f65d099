"""One document between its submission and its answer, as its worker sees it. No socket here.

The rule: a document that was running when an engine died is suspect; one that was running at two deaths is poison and
is refused, so that it cannot take a third engine with it. The engine runs suspects alone, so no neighbour is blamed.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from service.core.arrays import Logits
from service.core.errors import BY_CODE, Draining, GleanerError, InternalError, PoisonDocument
from service.wire import Refused, Scored, Submitted

MOST_DEATHS = 2


@dataclass(frozen=True, slots=True)
class InferenceResult:
    """What the engine says of one document: logits `[tokens, labels]` of each sequence, special tokens included.

    `compute_seconds` is the time of the batches that it ran in; `queue_seconds` all other time in the engine.
    """

    rows: list[Logits]
    queue_seconds: float
    compute_seconds: float


@dataclass(slots=True)
class Pending:
    """A submission, what has come back of it so far, and the future that ends it."""

    message: Submitted
    tokens: npt.NDArray[np.int32]
    answer: asyncio.Future[InferenceResult]
    submitted: bool = False
    running: bool = False
    again: bool = False
    _begun_seconds: float = field(default_factory=time.monotonic)
    _rows: dict[int, Logits] = field(default_factory=dict)
    _batches: dict[int, float] = field(default_factory=dict)

    @property
    def wants_submission(self) -> bool:
        """Whether no engine has it."""
        return not self.submitted and not self.answer.done()

    @property
    def is_abandoned(self) -> bool:
        """Whether an engine works on it for nobody."""
        return self.submitted and (self.answer.cancelled() or not self.answer.done())

    def collect(self, scored: Scored, logits: Logits) -> None:
        """Take one sequence's rows; the last one makes the answer."""
        self._rows[scored.index] = logits.reshape(scored.tokens, scored.labels)
        self._batches[scored.batch] = scored.batch_seconds
        if len(self._rows) == len(self.message.lengths) and not self.answer.done():
            compute = sum(self._batches.values())
            queue = max(time.monotonic() - self._begun_seconds - compute, 0.0)
            self.answer.set_result(InferenceResult([self._rows[i] for i in range(len(self._rows))], queue, compute))

    def refuse(self, refused: Refused) -> None:
        """Take the engine's no, as the error that its code names."""
        if refused.code == "not_ready":  # Sent to an engine that died, read by the next one: it will be sent again.
            self.submitted = False
        elif not self.answer.done():
            error: type[GleanerError] = BY_CODE.get(refused.code, InternalError)
            self.answer.set_exception(error(refused.detail, retry_after_seconds=refused.retry_after_seconds))

    def dismiss(self) -> None:
        """The worker stops: nothing will come any more."""
        if not self.answer.done():
            self.answer.set_exception(Draining("The worker stopped before the document was done."))

    def mourn(self) -> None:
        """The engine died: begin again, unless that was once too often."""
        self.message = replace(self.message, attempt=self.message.attempt + self.running)
        if self.message.attempt >= MOST_DEATHS and not self.answer.done():
            self.answer.set_exception(PoisonDocument("The engine died twice while it worked on this document."))
        self.again = self.again or self.submitted
        self._rows.clear()
        self._batches.clear()
        self.submitted = self.running = False
