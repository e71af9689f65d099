"""Training data: labelled sets, their split by groups, windows with a tag for each token, and padded batches.

Windows are cut as in serving. A token that overlaps an entity has its tag. If words are given, as on pages, only the
first token of a word has a tag. Tokens of a window's overlap are tagged in the one window whose logits serving keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from service.core.arrays import TokenIds, ids_in
from service.core.decoding.tag_scheme import scheme_of
from service.documents.document import Document
from service.evaluation.labelled_documents import LabelledDocument, LabelledSet, LabelledSpan, left_out, text_key
from service.families.engine.page_input import PageInput
from service.families.processor import WindowSizes, prepare
from service.families.token_classifier.processor import TagTask, TokenClassifier
from service.text.pipeline import Prepared
from service.text.tokenizer import TextTokenizer, Tokens
from service.training.options import BadData, TooLittleData

OUTSIDE = "O"
IGNORED = -100
"""Tag of a token that does not count in the loss; torch's own number for it."""
POOL_ROWS = 512
"""Windows drawn at a time and sorted by length, so that batches have little padding."""


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """Documents, and the labels whose entities are all marked in them."""

    documents: tuple[LabelledDocument, ...]
    settled: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """One window: a sequence with special tokens, its tags int64 `[tokens]`, open_tags bool `[tags]`.

    `open_tags`: tags that a token tagged O may have, because the set never marks their labels.
    """

    sequence: TokenIds
    tags: NDArray[np.int64]
    open_tags: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Cutter:
    """Cuts documents for a model as in serving; `page`: how boxes enter the model; None if it sees none."""

    processor: TokenClassifier
    tags: tuple[str, ...]
    sizes: WindowSizes
    page: PageInput | None = None

    @property
    def tokenizer(self) -> TextTokenizer:
        return self.processor.tokenizer

    def prepared(self, document: Document) -> Prepared:
        """Tokenize and cut a document. Raises UnreadableDocument if the model needs pages and there are none."""
        return prepare(TagTask(self.processor, scheme_of(self.tags), self.sizes), document)

    def examples(self, sets: Iterable[TrainingSet]) -> list[Example]:
        """Cut the windows of all documents."""
        return [
            window
            for each in sets
            for opened in [open_tags(self.tags, each.settled)]
            for document in each.documents
            for window in self._windows(document, opened)
        ]

    def _windows(self, document: LabelledDocument, opened: NDArray[np.bool_]) -> Iterator[Example]:
        prepared = self.prepared(document.document)
        tag_ids = {tag: number for number, tag in enumerate(self.tags)}
        tags = _tags(prepared.tokens, document, tag_ids)
        before = len(self.tokenizer.prefix)
        for window, sequence in zip(prepared.windows, prepared.sequences, strict=True):
            of_window = np.full(len(sequence), IGNORED, dtype=np.int64)
            start = before + window.keep_start - window.start
            of_window[start : start + window.keep_stop - window.keep_start] = tags[window.keep_start : window.keep_stop]
            yield Example(sequence, of_window, opened)


def _tags(tokens: Tokens, document: LabelledDocument, tag_ids: dict[str, int]) -> NDArray[np.int64]:
    """Find the tag of each token, `[tokens]`; if words are given, the first token of each has the word's tag."""
    if tokens.words is None:
        return token_tags(tokens.offsets, document.spans, tag_ids, document.unmapped)
    firsts = tokens.words.firsts
    lasts = np.append(firsts[1:], len(tokens.offsets))[: len(firsts)] - 1
    words = np.column_stack([tokens.offsets[firsts, 0], tokens.offsets[lasts, 1]])
    tags = np.full(len(tokens.offsets), IGNORED, dtype=np.int64)
    tags[firsts] = token_tags(words, document.spans, tag_ids, document.unmapped)
    return tags


@dataclass(frozen=True, slots=True, eq=False)
class TrainingBatch:
    """Padded rows: the model's inputs by name and tags, each `[rows, length]` or boxes `[rows, length, 4]`.

    `open_tags` is `[rows, tags]`.
    """

    inputs: dict[str, Tensor]
    tags: Tensor
    open_tags: Tensor

    def to(self, device: torch.device) -> TrainingBatch:
        inputs = {name: each.to(device) for name, each in self.inputs.items()}
        return TrainingBatch(inputs, self.tags.to(device), self.open_tags.to(device))


def check_learnable(sets: Iterable[LabelledSet]) -> None:
    """Check for faults that evaluation tolerates and training does not.

    Raises:
        BadData: entities of a document overlap, or hold white space alone.
        TooLittleData: no document has an entity.
    """
    documents = [document for each in sets for document in each.documents]
    problems = [f"document {document.id}: {problem}" for document in documents for problem in _problems(document)]
    if problems:
        raise BadData(problems)
    if not any(document.spans for document in documents):
        raise TooLittleData("There is nothing to learn: no document has an entity.")


def _problems(document: LabelledDocument) -> Iterator[str]:
    for span in document.spans:
        if not document.text[span.start : span.end].strip():
            yield f"{span.label} at {span.start}:{span.end} holds white space alone"
    for first, second in pairwise(document.spans):
        if second.start < first.end:
            yield f"{first.label} at {first.start}:{first.end} and {second.label} at {second.start} overlap"


def split(
    sets: Sequence[LabelledSet], *, left_out_percent: int
) -> tuple[tuple[LabelledSet, ...], tuple[LabelledSet, ...]]:
    """Split sets into (training, left out) by whole groups, as `gleaner evaluate --left-out` scores them.

    A text that is left out of one set is learned from no other.

    Raises:
        TooLittleData: a percentage is given, and no set has two groups.
    """
    if not left_out_percent:
        return tuple(sets), tuple(each.only(()) for each in sets)
    outside = [left_out(each, left_out_percent, at_least_one=True) for each in sets]
    scored = {text_key(document.text) for each in outside for document in each.documents}
    training = [_without(each, out, scored) for each, out in zip(sets, outside, strict=True)]
    if not any(each.documents for each in outside):
        raise TooLittleData(
            "Nothing can be left out to score on: each file has one group alone. "
            "Give the records several groups, or leave nothing out with --left-out 0."
        )
    return tuple(training), tuple(outside)


def _without(labelled: LabelledSet, outside: LabelledSet, scored: set[str]) -> LabelledSet:
    """Remove the groups of `outside`, and texts that are scored in another set."""
    groups = {document.group for document in outside.documents}
    kept = (document for document in labelled.documents if document.group not in groups)
    return labelled.only(document for document in kept if text_key(document.text) not in scored)


def tags_of(labels: Iterable[str]) -> tuple[str, ...]:
    """List the BIO tags of a model with these labels."""
    return (OUTSIDE, *(f"{prefix}-{label}" for label in sorted(labels) for prefix in "BI"))


def open_tags(tags: Sequence[str], settled: frozenset[str]) -> NDArray[np.bool_]:
    """Make bool `[tags]`: True for both tags of each label that a set leaves unmarked."""
    return np.array([tag != OUTSIDE and tag[2:] not in settled for tag in tags])


def token_tags(
    offsets: NDArray[np.int32],
    spans: Sequence[LabelledSpan],
    tag_ids: dict[str, int],
    unmapped: Iterable[tuple[int, int]] = (),
) -> NDArray[np.int64]:
    """Find the tag id of each token, `[tokens]`; `offsets`: `[tokens, 2]`. A token of two entities gets the first's.

    Tokens of entities with labels that the model does not have are IGNORED.
    """
    tags = np.full(len(offsets), tag_ids[OUTSIDE], dtype=np.int64)
    for start, end in unmapped:
        tags[(offsets[:, 0] < end) & (offsets[:, 1] > start)] = IGNORED
    free = np.ones(len(offsets), dtype=np.bool_)
    for span in spans:
        inside = np.flatnonzero((offsets[:, 0] < span.end) & (offsets[:, 1] > span.start) & free)
        if len(inside):
            tags[inside] = tag_ids[f"I-{span.label}"]
            tags[inside[0]] = tag_ids[f"B-{span.label}"]
            free[inside] = False
    return tags


def orders(examples: Sequence[Example], *, batch_tokens: int, seed: int, epoch: int) -> list[list[int]]:
    """Order the examples of a pass into batches of at most `batch_tokens` with padding, unless one alone is longer."""
    random = np.random.default_rng((seed, epoch))
    shuffled = random.permutation(len(examples)).tolist()
    batches: list[list[int]] = []
    for first in range(0, len(shuffled), POOL_ROWS):
        pool = sorted(shuffled[first : first + POOL_ROWS], key=lambda number: len(examples[number].sequence))
        batches += _filled(pool, examples, batch_tokens)
    return [batches[number] for number in random.permutation(len(batches))]


def _filled(pool: Sequence[int], examples: Sequence[Example], batch_tokens: int) -> Iterator[list[int]]:
    rows: list[int] = []
    for number in pool:
        if rows and (len(rows) + 1) * len(examples[number].sequence) > batch_tokens:
            yield rows
            rows = []
        rows.append(number)
    if rows:
        yield rows


def padded(examples: Sequence[Example], *, padding_id: int, page: PageInput | None = None) -> TrainingBatch:
    """Pad examples to one length; padding has no tag."""
    shape = len(examples), max(len(example.sequence) for example in examples)
    ids, mask = np.full(shape, padding_id, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    tags = np.full(shape, IGNORED, dtype=np.int64)
    for row, example in enumerate(examples):
        size = len(example.sequence)
        ids[row, :size], mask[row, :size], tags[row, :size] = ids_in(example.sequence), 1, example.tags
    inputs = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}
    if page is not None:
        inputs["bbox"] = torch.from_numpy(page.padded_boxes([each.sequence for each in examples], shape[1]))
    opened = np.stack([example.open_tags for example in examples])
    return TrainingBatch(inputs, torch.from_numpy(tags), torch.from_numpy(opened))
