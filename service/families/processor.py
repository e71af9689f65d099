"""Processor: the work of a kind of model around its forward pass, from a request's options to its findings.

    Processor          a revision: reads its folder's tokenizer, checks options, describes its model to the engine
    Task               a request to that model
    PreparedDocument   a document of that request: makes the sequences to compute, and decodes their scores

Each family of models has a class for each of the three, in a package with the family's name; nothing else tells
families apart. Workers and engine import all modules of a package but `engine`, so those do not import torch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from service.core.arrays import Logits, TokenIds
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.entities import Entity
from service.core.decoding.spans import Candidates, Overlaps
from service.core.decoding.word_tags import WordTags
from service.core.errors import GleanerError
from service.core.labels.label_set import Label, ScoreLimits
from service.core.types import ResponseKind, Submission
from service.documents.document import Document
from service.text.pipeline import Prepared, Rows
from service.text.tokenizer import SHORT_CHARACTERS, TextTokenizer, Vocabulary
from service.wire import ModelStatus

SHORT_TOKENS = 1_024
"""Documents up to this length are decoded on the event loop: about a millisecond, and 25 if every word is an entity."""

ReducedOutcome = Logits | WordTags | GleanerError
"""What the worker is sent of a sequence of a batch."""


class TaskOptions(Protocol):
    """The options of a request that a family reads."""

    @property
    def labels(self) -> object: ...
    @property
    def records(self) -> object: ...
    @property
    def overlaps(self) -> Overlaps: ...
    @property
    def min_score(self) -> ScoreLimits: ...
    @property
    def aggregation(self) -> Aggregation: ...
    @property
    def fields(self) -> bool: ...


class WindowSizes(NamedTuple):
    """Tokens of the longest sequence of a model, special tokens included, and how many neighbouring windows share."""

    longest: int
    overlap: int


class PictureFormat(NamedTuple):
    """How a model sees a page: as a square of `side` pixels, made by one of Pillow's filters, by its number."""

    side: int
    resample: int


class Decoder(Protocol):
    """A protocol's own way from tags to entities. Called in any thread, once for each document.

    Attributes:
        reads_as_written: a text's characters are not composed before it is read.
    """

    reads_as_written: bool

    def __call__(
        self, id_: str, document: Document, tokenizer: TextTokenizer, prepared: Prepared, logits: Logits, /
    ) -> list[Entity]:
        """The entities in finite or other logits `[tokens, labels]`; raises ModelError where they are not finite."""


@dataclass(frozen=True, slots=True, eq=False)
class ModelInput:
    """What the engine is sent of one document.

    Attributes:
        kept: the rows of each sequence's logits that decoding needs, with `ResponseKind.LOGITS` and `WORD_TAGS`.
        special_tokens_at_end: last tokens of each sequence, which continue no word.
        least_score: lowest score of a candidate in the answer.
    """

    sequences: list[TokenIds]
    kept: tuple[Rows, ...] = ()
    response_kind: ResponseKind = ResponseKind.LOGITS
    special_tokens_at_end: int = 0
    least_score: float = 0.0


class Scores(Protocol):
    """The engine's answer about one document: the one of the three that its `ResponseKind` names."""

    @property
    def logits(self) -> Logits: ...
    @property
    def tags(self) -> WordTags | None: ...
    @property
    def spans(self) -> Sequence[Candidates]: ...


class Record(NamedTuple):
    """A record: the name of its kind, its probability, and of each field the values in the text's order."""

    kind: str
    score: float
    fields: tuple[list[Entity], ...]


class RecordTable(NamedTuple):
    """The records of one kind in a document, and the fields that they have."""

    name: str
    fields: tuple[Label, ...]
    records: list[Record]


class Findings(NamedTuple):
    """What is found in a document; `records` is None where a request asks for entities alone."""

    entities: list[Entity]
    records: list[RecordTable] | None = None


@dataclass(frozen=True, eq=False)
class PreparedDocument(Prepared, ABC):
    """A document's text for one task: its windows, and one sequence or more for each."""

    @property
    def charged_tokens(self) -> int:
        """Tokens that its client is charged for."""
        return len(self.tokens.ids)

    @property
    def is_short(self) -> bool:
        """True where decoding takes so little time that a thread is not worth its start."""
        return len(self.tokens.ids) <= SHORT_TOKENS and len(self.text) <= SHORT_CHARACTERS

    @abstractmethod
    def model_input(self) -> ModelInput:
        """Make what the engine is sent of a document."""

    @abstractmethod
    def findings(self, id_: str, scores: Scores) -> Findings:
        """Decode the engine's answer; `id_`: the document's name in its request.

        Raises:
            ModelError: a score is NaN or infinite.
        """

    @abstractmethod
    def entities_in(self, scores: Sequence[Logits]) -> list[Entity]:
        """Decode the finite scores of each sequence as the model gives them, before any reduction."""


class Task(Protocol):
    """A request to a model.

    Attributes:
        limits: least scores that are still to be applied to the findings.
        reading_labels: label → label by which its values are read, where that is another.
        scores_a_token: most numbers that come back for a token of a long text.
        answered: labels that entities may have, whoever finds them; empty where records are asked for.
    """

    @property
    def processor(self) -> Processor[Any]: ...
    @property
    def limits(self) -> ScoreLimits: ...
    @property
    def reading_labels(self) -> Mapping[str, str]: ...
    @property
    def scores_a_token(self) -> int: ...
    @property
    def answered(self) -> Collection[str]: ...

    def prepare_in_steps(self, document: Document) -> Iterator[int | PreparedDocument]:
        """Prepare a document piece by piece, so that it may end early: yields its tokens so far, at last the result."""


def prepare(task: Task, document: Document) -> PreparedDocument:
    """Prepare a document in one go."""
    *_, prepared = task.prepare_in_steps(document)
    assert isinstance(prepared, PreparedDocument), "the last step is the result"
    return prepared


class AtEngine(Protocol):
    """A document at the engine: its submission, and its tokens as they came."""

    @property
    def submission(self) -> Submission: ...
    @property
    def tokens(self) -> TokenIds: ...


Reducer = Callable[[Sequence[Logits | GleanerError], Sequence[AtEngine], tuple[str, ...]], list[ReducedOutcome]]
"""Reduces a batch's scores to what the workers need; arguments: a score array and a document for each sequence, and the
model's labels. A score that is not finite makes a ModelError of its sequence."""


class MarkedDocument(NamedTuple):
    """A document, and the label, start and end of each entity in it."""

    document: Document
    places: set[tuple[str, int, int]]


Infer = Callable[[list[TokenIds]], list[Logits]]
"""Infers the logits of each sequence, special tokens included."""


Blank = Callable[[int], TokenIds]
"""Makes a sequence of so many tokens."""


def zeros(length: int) -> TokenIds:
    """A sequence of so many tokens, where it does not matter which."""
    return np.zeros(length, dtype=np.int32)


class Tokenizing(Protocol):
    """A tokenizer of any kind."""

    @property
    def vocabulary(self) -> Vocabulary: ...


T = TypeVar("T", bound=Tokenizing)


class Processor(ABC, Generic[T]):
    """One revision of a kind of model. Its folder's tokenizer is read when it is first needed. Thread-safe.

    Args:
        known: vocabularies that may be shared.
    """

    def __init__(self, folder: Path, known: Callable[[], Iterable[Vocabulary]] = tuple) -> None:
        self._folder = folder
        self._known = known
        self._tokenizer: T | None = None

    @property
    def is_read(self) -> bool:
        """True once the folder's tokenizer is in memory."""
        return self._tokenizer is not None

    @property
    def tokenizer(self) -> T:
        """The folder's tokenizer, which is read now unless it was.

        Raises:
            ModelError: it cannot be read.
        """
        if self._tokenizer is None:
            self._tokenizer = self._read(self._known())
        return self._tokenizer

    @property
    def largest_token_id(self) -> int:
        """The largest id of the tokens that a sequence may have."""
        return self.tokenizer.vocabulary.largest_id

    @property
    def picture(self) -> PictureFormat | None:
        """How the model sees pages; None if it sees none. Raises as `tokenizer`."""
        return None

    @abstractmethod
    def _read(self, known: Iterable[Vocabulary]) -> T:
        """Read the folder's tokenizer. Raises ModelError."""

    def takes(self, option: str, model: ModelStatus) -> bool:
        """True if a request to its model may say by this option what to find: `labels`, `overlaps` or `schema`."""
        return False

    @abstractmethod
    def task(
        self, options: TaskOptions, model: ModelStatus, sizes: WindowSizes, decoder: Decoder | None = None
    ) -> Task:
        """What a request with these options asks.

        Args:
            decoder: finds the entities in the tokens' scores, in place of the options' aggregation.

        Raises:
            InvalidOptions: the model cannot answer that, or has no use for an option.
        """

    @abstractmethod
    def example(self, labels: Sequence[str], min_score: float | None, model: ModelStatus, sizes: WindowSizes) -> Task:
        """What a golden example asks, with these labels, of a model that is given some."""

    def readable(self, document: Document) -> Document:
        """A document of a check of the revision, as its model can read it: with the same text."""
        return document

    def blank(self) -> Blank:
        """Makes sequences that are as much work as any, for measurements; does not hold the tokenizer."""
        return zeros

    def observe(
        self, status: ModelStatus, examples: Sequence[MarkedDocument], sizes: WindowSizes, infer: Infer
    ) -> None:
        """Learn from its model's scores what its folder does not say, before `reducer` and `described` are asked."""

    @abstractmethod
    def reducer(self) -> Reducer:
        """What the engine does with a batch's scores before they are sent; does not hold the tokenizer."""

    @abstractmethod
    def described(self, status: ModelStatus) -> ModelStatus:
        """The status of its model, with what its family says of it."""
