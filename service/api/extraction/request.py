"""Extract request: the inputs of its documents, what is wanted of them, and the message that submits one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from service.api.extraction.trace import RequestTrace
from service.api.schemas import Options
from service.core.admission.size import WorkEstimate
from service.core.arrays import Logits, TokenIds
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.entities import Entity
from service.core.tenants import UNLIMITED, ClientQuota
from service.core.types import ResponseKind
from service.documents.document import Document
from service.documents.format_detection import declared_format
from service.documents.limits import characters_of
from service.text.pipeline import Prepared, WordStarts, mark_word_starts
from service.text.tokenizer import SHORT_CHARACTERS, TextTokenizer
from service.wire import ModelStatus, Submitted

TEXT, UNKNOWN = "text", "unknown"
"""The formats of an estimate that are none of a file: of a text, and of a file that does not say its own."""
LONG_TEXTS_AT_ONCE = 2
"""Long texts of one request that are tokenized at a time, in their order, so that the first are ready early."""


def _turns() -> asyncio.Semaphore:
    return asyncio.Semaphore(LONG_TEXTS_AT_ONCE)


@dataclass(frozen=True, slots=True)
class DocumentInput:
    """One document as it was sent: `text`, or a file's `data` with its declared media type and name."""

    id: str
    text: str | None = None
    data: bytes = b""
    media_type: str | None = None
    name: str | None = None


class Decoder(Protocol):
    """Finds the entities of a document in its own way. Called in any thread, once for each document."""

    def __call__(
        self, source: DocumentInput, document: Document, tokenizer: TextTokenizer, prepared: Prepared, logits: Logits, /
    ) -> list[Entity]:
        """The entities in finite or other logits `[tokens, labels]`; raises ModelError where they are not finite."""


@dataclass(frozen=True, slots=True)
class ExtractRequest:
    """What one request wants of each of its documents.

    Attributes:
        model: the revision that its options lead to.
        client: whose API key it has; fairness counts documents by client.
        sender: whose files may share a parser.
        deadline_seconds: absolute, on the monotonic clock.
        alone: True when the request has a single document.
        quota: what its client may take of the engine's queue.
        charge_tokens: is told the tokens of every document that was answered.
        long_texts: held by its documents whose long texts are being tokenized.
        decoder: finds the entities where no aggregation of the options does.
        trace: where its documents are noted, if anywhere.
    """

    model: ModelStatus
    options: Options
    client: str
    deadline_seconds: float
    alone: bool = False
    quota: ClientQuota = UNLIMITED
    charge_tokens: Callable[[int], None] = lambda _: None
    long_texts: asyncio.Semaphore = field(default_factory=_turns, compare=False, repr=False)
    sender: str = ""
    decoder: Decoder | None = None
    trace: RequestTrace | None = field(default=None, compare=False, repr=False)

    @property
    def queue(self) -> tuple[str, bool]:
        """Where its short work waits for the event loop: lone documents are not behind their client's batches."""
        return self.client, self.alone

    def estimate(self, source: DocumentInput, now: float) -> WorkEstimate:
        """The work of a document of this request, estimated from its size alone."""
        return WorkEstimate(
            model=self.model.revision,
            client=self.client,
            priority=self.options.priority,
            format=TEXT if source.text is not None else declared_format(source.media_type, source.name) or UNKNOWN,
            size=characters_of(source.text) if source.text is not None else len(source.data),
            at_seconds=now,
            left_seconds=self.deadline_seconds - now,
        )

    def word_starts(self, tokenizer: TextTokenizer, prepared: Prepared) -> WordStarts | None:
        """The words whose tags are all that decoding needs; None where it needs more, or they take long to find."""
        is_short = len(prepared.sequences) == 1 and len(prepared.text) <= SHORT_CHARACTERS
        if self.decoder is not None or self.options.aggregation is not Aggregation.CONSTRAINED or not is_short:
            return None
        return mark_word_starts(tokenizer, prepared)

    def submission(
        self,
        key: str,
        sequences: list[TokenIds],
        response_kind: ResponseKind = ResponseKind.LOGITS,
        *,
        special_tokens_at_end: int = 0,
    ) -> Submitted:
        """The message that submits a document of this request to the engine; its token ids travel beside it."""
        return Submitted(
            key=key,
            model=self.model.revision,
            lengths=tuple(map(len, sequences)),
            client=self.client,
            priority=self.options.priority,
            deadline_seconds=self.deadline_seconds,
            attempt=0,
            quota=self.quota,
            response_kind=response_kind,
            special_tokens_at_end=special_tokens_at_end,
        )
