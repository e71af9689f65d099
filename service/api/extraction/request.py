"""The values of one request: its documents' inputs, what is wanted of all of them, and their work for the engine."""

from __future__ import annotations

from dataclasses import dataclass

from service.api.engine.refusal_cache import WorkEstimate
from service.api.schemas import Options
from service.core.arrays import TokenIds
from service.wire import ModelStatus, Submitted


@dataclass(frozen=True, slots=True)
class DocumentInput:
    """One document as it was sent: `text`, or a file's `data` with its declared media type and name."""

    id: str
    text: str | None = None
    data: bytes = b""
    media_type: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class ExtractRequest:
    """What one request wants of each of its documents.

    Attributes:
        model: the revision that its options lead to.
        client: whose API key it has; fairness counts documents by client.
        sender: whose files may share a parser.
        deadline_seconds: absolute, on the monotonic clock.
        alone: True when the request has a single document.
    """

    model: ModelStatus
    options: Options
    client: str
    deadline_seconds: float
    alone: bool = False
    sender: str = ""

    def estimate(self, source: DocumentInput, now: float) -> WorkEstimate:
        """The work of a document of this request, estimated from its size alone."""
        return WorkEstimate(
            model=self.model.revision,
            client=self.client,
            priority=self.options.priority,
            media_type="text" if source.text is not None else source.media_type or "",
            size=len(source.text) if source.text is not None else len(source.data),
            at_seconds=now,
            left_seconds=self.deadline_seconds - now,
        )

    def submission(self, key: str, sequences: list[TokenIds]) -> Submitted:
        """The message that submits a document of this request to the engine; its token ids travel beside it."""
        return Submitted(
            key=key,
            model=self.model.revision,
            lengths=tuple(map(len, sequences)),
            client=self.client,
            priority=self.options.priority,
            deadline_seconds=self.deadline_seconds,
            attempt=0,
        )
