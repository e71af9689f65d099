"""Shared value types of scheduler, wire and engine: submission, sequence, batch, shape, refusal, load, phase.

A document is submitted to the engine as a `Submission`: the lengths of its sequences, its client and its deadline. The
token ids travel beside it; no decision needs them. All times are seconds of one monotonic clock, which the processes of
a host share.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from service.core.tenants import UNLIMITED, ClientQuota

MOST_SEQUENCES = 1 << 22
MOST_TOKENS = 1 << 20
"""Of one sequence."""
DocumentKey = Annotated[str, Meta(min_length=1, max_length=128)]
Name = Annotated[str, Meta(max_length=1_024)]
Lengths = Annotated[
    tuple[Annotated[int, Meta(ge=1, le=MOST_TOKENS)], ...], Meta(min_length=1, max_length=MOST_SEQUENCES)
]
MonotonicSeconds = Annotated[float, Meta(ge=0.0, le=1e12)]
"""A time; NaN is none."""


class Ocr(StrEnum):
    """Pages of a file whose text is recognized in their picture: those not read in full, none, or all."""

    AUTO = "auto"
    OFF = "off"
    FORCE = "force"


class Priority(StrEnum):
    """Interactive work takes precedence; batch work takes what is left, and a small share in any case."""

    INTERACTIVE = "interactive"
    BATCH = "batch"


class ResponseKind(StrEnum):
    """The form of the scores that a document is answered with.

    `word_tags`: of a document of one sequence, the tags of its words (`decoding/word_tags`). The ids of all tokens but
    each word's first are sent as `-1 - id`.
    `spans`: of a model with free labels, the candidates of each sequence, or starts, ends and insides of its words
    (`decoding/spans`); the ids are marked in the same way.
    """

    LOGITS = "logits"
    WORD_TAGS = "word_tags"
    SPANS = "spans"


class Phase(StrEnum):
    """The phase of the service, in the order of its life."""

    SYNCING = "syncing"
    LOADING = "loading"
    WARMING = "warming"
    READY = "ready"
    DRAINING = "draining"
    FAILED = "failed"


class Submission(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One document for the engine. What its fields may hold is checked where it comes off the wire.

    Attributes:
        key: unique among all documents of all workers.
        model: revision that its sequences are for.
        lengths: tokens of each sequence, special tokens included.
        client: whom fair sharing counts it for.
        deadline_seconds: absolute; its answer is of no use later.
        attempt: how many engines died while it was running.
        quota: what its client may take of the queue.
        readmitted: an engine that died had it, so it was accepted already, and no limit turns it away.
        response_kind: what its answer is to hold.
        special_tokens_at_end: of each sequence, which continue no word.
        least_score: of the candidates that it is answered with.
    """

    key: DocumentKey
    model: Name
    lengths: Lengths
    client: Name
    priority: Priority
    deadline_seconds: MonotonicSeconds
    attempt: Annotated[int, Meta(ge=0, le=100)] = 0
    quota: ClientQuota = UNLIMITED
    readmitted: bool = False
    response_kind: ResponseKind = ResponseKind.LOGITS
    special_tokens_at_end: Annotated[int, Meta(ge=0, le=100)] = 0
    least_score: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.0

    @property
    def tokens(self) -> int:
        """Tokens of all sequences together."""
        return self.lengths[0] if len(self.lengths) == 1 else sum(self.lengths)


class Sequence(msgspec.Struct, frozen=True):
    """One model input: window `index` of document `key`."""

    key: str
    index: int
    tokens: int


class Shape(msgspec.Struct, frozen=True):
    """The sizes of a batch on which its memory depends. `longest`: tokens of its longest sequence."""

    tokens: int = 0
    longest: int = 0
    sequences: int = 0

    @classmethod
    def of(cls, lengths: Collection[int]) -> Shape:
        """The shape of a batch of sequences with these lengths."""
        return cls(sum(lengths), max(lengths, default=0), len(lengths))

    def plus(self, tokens: int) -> Shape:
        """With one more sequence."""
        return Shape(self.tokens + tokens, max(self.longest, tokens), self.sequences + 1)


class Batch(msgspec.Struct, frozen=True):
    """Sequences of one model that run together."""

    model: str
    sequences: tuple[Sequence, ...]

    @property
    def tokens(self) -> int:
        """Tokens of all sequences together."""
        return sum(sequence.tokens for sequence in self.sequences)

    @property
    def shape(self) -> Shape:
        """What its memory depends on."""
        return Shape.of([sequence.tokens for sequence in self.sequences])


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why one document is not served; `code` is one of `errors.BY_CODE`."""

    key: str
    code: str
    detail: str
    retry_after_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Load:
    """The queue at one moment: admitted and not yet launched. `running_tokens`: launched and not yet delivered."""

    documents: int = 0
    sequences: int = 0
    tokens: int = 0
    running_tokens: int = 0
    oldest_age_seconds: float = 0.0
