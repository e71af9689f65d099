"""Models with free labels between text and scores.

The engine answers each sequence with candidates of spans, or with scores of its words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from msgspec.structs import replace

from service.core.arrays import Logits, TokenIds
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.entities import Entity, check_finite
from service.core.decoding.records import PLACE_COLUMNS
from service.core.decoding.spans import COLUMNS, LOW_LIMIT, MOST_BEATEN_BY_LOW, CandidateFinder, Overlaps
from service.core.errors import GleanerError, InvalidOptions, ModelError
from service.core.labels.label_set import NO_LIMITS, Label, LabelSet, ScoreLimits, label_problem, read_labels
from service.core.labels.record_schema import read_schema, record_labels, schema_problem
from service.core.types import ResponseKind
from service.documents.document import Document
from service.families.free_labels.config import LabelConfig
from service.families.free_labels.decoding import decode_records, decode_spans
from service.families.free_labels.word_tokenizer import PreparedWords, WordTokenizer
from service.families.processor import (
    AtEngine,
    Decoder,
    Findings,
    ModelInput,
    PreparedDocument,
    Processor,
    RecordTable,
    ReducedOutcome,
    Reducer,
    Scores,
    TaskOptions,
    WindowSizes,
)
from service.families.refusals import no_records, refuse_unknown
from service.text.values.reading import reading_label
from service.wire import ModelStatus

MOST_SPANS = 192
"""Spans in the pool of a window that is searched for records, as models are published; a long text has more tokens."""
CANDIDATES_A_WORD = 32
"""Candidates per word; enough unless the least score is below `LOW_LIMIT`."""


class PromptedProcessor(Processor[WordTokenizer]):
    """One revision of a model with free labels; a family adds how its folder is read."""

    @property
    def largest_token_id(self) -> int:
        return self.tokenizer.largest_id

    def blank(self) -> Callable[[int], TokenIds]:
        return self.tokenizer.blank()

    def reducer(self) -> Reducer:
        return partial(reduce_to_candidates, self.tokenizer.config.condense)

    def described(self, status: ModelStatus) -> ModelStatus:
        config = self.tokenizer.config
        return replace(status, free_labels=True, labels_per_pass=config.most_labels, finds_records=config.finds_records)

    def takes(self, option: str, model: ModelStatus) -> bool:
        return model.finds_records if option == "schema" else option in ("labels", "overlaps")

    def task(
        self, options: TaskOptions, model: ModelStatus, sizes: WindowSizes, decoder: Decoder | None = None
    ) -> LabelTask:
        if decoder is not None:
            raise InvalidOptions(
                f"model: {model.name} is given its labels by each request, and this protocol has none."
            )
        given = self._labels if options.records is None else self._records
        return LabelTask(self, given(options, model, sizes.longest), sizes)

    def example(
        self, labels: Sequence[str], min_score: float | None, model: ModelStatus, sizes: WindowSizes
    ) -> LabelTask:
        return LabelTask(self, LabelSet.of([*map(Label, labels)], ScoreLimits(min_score)), sizes)

    def _records(self, options: TaskOptions, model: ModelStatus, longest: int) -> LabelSet:
        """The fields of the records that are asked for, as the model's labels."""
        if not model.finds_records:
            raise no_records(model)
        schema = read_schema(options.records) or ()
        if problem := schema_problem(schema, model.labels_per_pass):
            raise InvalidOptions(f"schema: {problem}.")
        if options.labels is not None:
            raise InvalidOptions("labels: a request has either `labels`, for entities, or a `schema`, for records.")
        if options.overlaps is not Overlaps.FLAT:
            raise InvalidOptions("overlaps: values of one field of a record never overlap, those of others may.")
        if options.min_score.by_label:
            raise InvalidOptions(
                "min_score: with a `schema` a number for all; a field may have a `min_score` of its own."
            )
        _refuse_tags_and_fields(options, model)
        labels = record_labels(schema, options.min_score.default)
        self.tokenizer.check_records(labels, longest)
        return labels

    def _labels(self, options: TaskOptions, model: ModelStatus, longest: int) -> LabelSet:
        """The labels that are asked for."""
        labels = read_labels(options.labels)
        if labels is None:
            raise InvalidOptions(
                f"labels: {model.name} has no labels of its own; name what it is to find, as in "
                '["person", "invoice number"].'
            )
        if problem := label_problem(labels):
            raise InvalidOptions(f"labels: {problem}.")
        _refuse_tags_and_fields(options, model)
        limited = [name for name, _ in options.min_score.by_label]
        refuse_unknown("min_score", model, limited, [each.name for each in labels])
        self.tokenizer.check(labels, longest, model.label_tokens)
        return LabelSet.of(labels, options.min_score, options.overlaps)


def _refuse_tags_and_fields(options: TaskOptions, model: ModelStatus) -> None:
    if options.aggregation is not Aggregation.CONSTRAINED:
        raise InvalidOptions(f"aggregation: {model.name} scores spans and has no tags to aggregate.")
    if options.fields:
        raise InvalidOptions(f"fields: {model.name} has no labels of its own, by which fields are chosen.")


@dataclass(frozen=True)
class LabelTask:
    """What a request asks of a model with free labels: entities of some labels, or records with them as fields."""

    processor: PromptedProcessor
    labels: LabelSet
    sizes: WindowSizes

    @property
    def limits(self) -> ScoreLimits:
        """No further limits: the labels' own are applied where candidates are found."""
        return NO_LIMITS

    @cached_property
    def reading_labels(self) -> Mapping[str, str]:
        """A label for each name, as its words or the request say."""
        return {each.name: reading_label(each) for each in self.labels.labels}

    @property
    def answered(self) -> tuple[str, ...]:
        """The labels of the request; none where they are fields of records."""
        return () if self.labels.records else self.labels.names

    @property
    def scores_a_token(self) -> int:
        """The columns of what is found at a word, or of a window's pool."""
        count = len(self.labels.labels)
        if self.labels.records:
            return PLACE_COLUMNS + 2 * count + MOST_SPANS
        candidates = MOST_BEATEN_BY_LOW * count
        if self.labels.least_limit >= LOW_LIMIT:
            candidates = min(candidates, CANDIDATES_A_WORD)
        return max(COLUMNS * candidates, 3 * count)

    def prepare_in_steps(self, document: Document) -> Iterator[int | PromptedDocument]:
        """Some words at a time, so that it may end early: yields the tokens so far, at last the document."""
        longest, overlap = self.sizes
        tokenizer = self.processor.tokenizer
        for step in tokenizer.prepare_in_steps(document.text, self.labels, longest=longest, overlap=overlap):
            if isinstance(step, int):
                yield step
            else:
                yield PromptedDocument(**vars(step), task=self)


@dataclass(frozen=True, eq=False)
class PromptedDocument(PreparedWords, PreparedDocument):
    """A document for a model with free labels."""

    task: LabelTask

    @property
    def charged_tokens(self) -> int:
        """Tokens of all sequences, which hold the labels as well."""
        return sum(map(len, self.sequences))

    @property
    def is_short(self) -> bool:
        """False where records are shared out, which takes longer."""
        return super().is_short and not self.task.labels.records

    def model_input(self) -> ModelInput:
        return ModelInput(self.sequences, response_kind=ResponseKind.SPANS, least_score=self.task.labels.least_limit)

    def findings(self, id_: str, scores: Scores) -> Findings:
        labels = self.task.labels
        if not labels.records:
            return Findings(self._entities(scores.spans))
        found = decode_records(self, scores.spans, labels, self._config)
        return Findings(
            [],
            [
                RecordTable(
                    kind.name,
                    tuple(labels.labels[number] for number in kind.fields),
                    [each for each in found if each.kind == kind.name],
                )
                for kind in labels.records
            ],
        )

    def entities_in(self, scores: Sequence[Logits]) -> list[Entity]:
        return self._entities([self._config.condense(each, self.task.labels.least_limit) for each in scores])

    @property
    def _config(self) -> LabelConfig:
        return self.task.processor.tokenizer.config

    def _entities(self, found: Sequence[Logits]) -> list[Entity]:
        return decode_spans(self, found, self.task.labels, self._config)


def reduce_to_candidates(
    find: CandidateFinder,
    outcomes: Sequence[Logits | GleanerError],
    documents: Sequence[AtEngine],
    _labels: tuple[str, ...],
) -> list[ReducedOutcome]:
    """The candidates of each sequence, of at least its document's limit; its scores as they are where it wants those.

    A sequence with a score that is not finite has a ModelError in its place.
    """
    found: list[ReducedOutcome] = list(outcomes)
    for index, (outcome, document) in enumerate(zip(outcomes, documents, strict=True)):
        if isinstance(outcome, np.ndarray) and document.submission.response_kind is ResponseKind.SPANS:
            try:
                check_finite(outcome)
                found[index] = find(outcome, document.submission.least_score)
            except ModelError as error:
                found[index] = error
    return found
