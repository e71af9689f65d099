"""Shared value types of scheduler, wire and engine: submission, sequence, batch, shape, refusal, load, phase.

A document is submitted to the engine as a `Submission`: the lengths of its sequences, its client and its deadline. The
tokens travel beside it; no decision needs them. All times are seconds of one monotonic clock, which the processes of
a host share.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from service.core.tenants import UNLIMITED, ClientQuota

MOST_SEQUENCES = 1 << 22
MOST_TOKENS = 1 << 20
"""Most tokens of one sequence."""
MOST_PICTURES = 2_000
"""Most pictures of pages of one document."""
MOST_PICTURE_SIDE = 1_024
MOST_PICTURE_BYTES = 1 << 28
"""Most bytes of the pictures of one document: of 1,783 pages of 224 pixels."""
DocumentKey = Annotated[str, Meta(min_length=1, max_length=128)]
Name = Annotated[str, Meta(max_length=1_024)]
Lengths = Annotated[
    tuple[Annotated[int, Meta(ge=1, le=MOST_TOKENS)], ...], Meta(min_length=1, max_length=MOST_SEQUENCES)
]
PictureNumbers = Annotated[tuple[Annotated[int, Meta(ge=0, lt=MOST_PICTURES)], ...], Meta(max_length=MOST_SEQUENCES)]
MonotonicSeconds = Annotated[float, Meta(ge=0.0, le=1e12)]
"""Absolute time of the monotonic clock; the bounds exclude NaN."""


class Ocr(StrEnum):
    """Pages of a file that are read by OCR: those without readable text, none, or all."""

    AUTO = "auto"
    OFF = "off"
    FORCE = "force"


class Priority(StrEnum):
    """Interactive work takes precedence; batch work takes what is left, and a small share in any case."""

    INTERACTIVE = "interactive"
    BATCH = "batch"


class ResponseKind(StrEnum):
    """Form of the scores in a document's answer.

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
        key: name, unique among all documents of all workers.
        model: revision for which it was tokenized.
        lengths: tokens of each sequence, special tokens included.
        client: the client in fair sharing.
        deadline_seconds: absolute time after which its answer is of no use.
        attempt: number of engines that died while it was running.
        quota: its client's limits in the queue.
        readmitted: True if an engine that died had accepted it; then no limit refuses it.
        response_kind: form of its answer.
        special_tokens_at_end: last tokens of each sequence that continue no word.
        columns: numbers of each token: its id, and `BOXED` with the box of its word (`core/arrays.py`).
        least_score: least score of the candidates in its answer.
        picture_of: number of the picture of each sequence's page, from 0 on; none where the model sees no pictures.
        picture_side: width and height of each picture.
        allowed_seconds: seconds that its deadline would leave an engine of an idle service for it.
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
    allowed_seconds: Annotated[float, Meta(ge=0.0)] = math.inf
    columns: Literal[1, 5] = 1
    picture_of: PictureNumbers = ()
    picture_side: Annotated[int, Meta(ge=0, le=MOST_PICTURE_SIDE, multiple_of=2)] = 0

    @property
    def tokens(self) -> int:
        """Tokens of all sequences together."""
        return self.lengths[0] if len(self.lengths) == 1 else sum(self.lengths)

    @property
    def picture_bytes(self) -> int:
        """Bytes of all pictures."""
        return (max(self.picture_of, default=-1) + 1) * 3 * self.picture_side**2

    @property
    def buffer_bytes(self) -> int:
        """Bytes of its tokens and, behind them, its pictures."""
        return 4 * self.columns * self.tokens + self.picture_bytes


class Sequence(msgspec.Struct, frozen=True):
    """One model input: window `index` of document `key`."""

    key: str
    index: int
    tokens: int


class Shape(msgspec.Struct, frozen=True):
    """Sizes of a batch on which its memory depends. `longest`: tokens of its longest sequence."""

    tokens: int = 0
    longest: int = 0
    sequences: int = 0

    @classmethod
    def of(cls, lengths: Collection[int]) -> Shape:
        """The shape of a batch of sequences with these lengths."""
        return cls(sum(lengths), max(lengths, default=0), len(lengths))

    def plus(self, tokens: int) -> Shape:
        return Shape(self.tokens + tokens, max(self.longest, tokens), self.sequences + 1)


class Batch(msgspec.Struct, frozen=True):
    """Sequences of one model that run together."""

    model: str
    sequences: tuple[Sequence, ...]

    @property
    def tokens(self) -> int:
        return sum(sequence.tokens for sequence in self.sequences)

    @property
    def shape(self) -> Shape:
        return Shape.of([sequence.tokens for sequence in self.sequences])


@dataclass(frozen=True, slots=True)
class Refusal:
    """Refusal of one document; `code` is one of `errors.BY_CODE`."""

    key: str
    code: str
    detail: str
    retry_after_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Load:
    """Load of the queue: admitted and not yet launched. `running_tokens`: launched and not yet delivered."""

    documents: int = 0
    sequences: int = 0
    tokens: int = 0
    running_tokens: int = 0
    oldest_age_seconds: float = 0.0
