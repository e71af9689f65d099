"""Token classifiers between text and scores: the words' tags of a short text, the tokens' logits of others."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from msgspec.structs import replace

from service.core.arrays import Logits
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.entities import Entity
from service.core.decoding.model_decoding import seen_inside_begins
from service.core.decoding.spans import Overlaps
from service.core.decoding.tag_scheme import IOB1, Scheme, scheme_named, scheme_of
from service.core.decoding.tokens import word_firsts
from service.core.decoding.value import ValueKind
from service.core.errors import InvalidOptions
from service.core.labels.label_set import NO_LIMITS, ScoreLimits, read_labels
from service.core.types import ResponseKind
from service.documents.document import Document
from service.families.processor import (
    Decoder,
    Findings,
    Infer,
    MarkedDocument,
    ModelInput,
    PreparedDocument,
    Processor,
    Reducer,
    Scores,
    TaskOptions,
    WindowSizes,
    prepare,
)
from service.families.refusals import no_records, refuse_unknown
from service.families.token_classifier.reducing import reduce_to_tags
from service.families.token_classifier.sample_texts import sample_texts
from service.text.pipeline import (
    WordStarts,
    answered_labels,
    apply_rules,
    decode_entities,
    decode_merged,
    decode_word_scores,
    kept_rows,
    mark_word_starts,
    prepare_in_steps,
    token_logits,
)
from service.text.tokenizer import SHORT_CHARACTERS, TextTokenizer, Vocabulary
from service.text.values.reading import own_reading_labels
from service.wire import ModelStatus


class TokenClassifier(Processor[TextTokenizer]):
    """One revision of a token classifier."""

    _inside_begins = False
    """Seen in its own tags: `I-` may begin an entity."""

    def _read(self, known: Iterable[Vocabulary]) -> TextTokenizer:
        return TextTokenizer(self._folder, known)

    def task(
        self, options: TaskOptions, model: ModelStatus, sizes: WindowSizes, decoder: Decoder | None = None
    ) -> TagTask:
        """What a request with these options asks.

        Labels that neither the model nor its rules answer are refused, and what is for models with free labels alone.
        Rules take part in `constrained` alone; before the folder is read, they may be any.
        """
        if options.records is not None:
            raise no_records(model)
        labels = read_labels(options.labels) or ()
        if labels or options.min_score.by_label:
            has_rules = options.aggregation is Aggregation.CONSTRAINED
            known = answered_labels(model.labels, self.tokenizer if self.is_read else None, has_rules=has_rules)
            refuse_unknown("labels", model, [each.name for each in labels], known)
            refuse_unknown("min_score", model, [name for name, _ in options.min_score.by_label], known)
        if more := next((each for each in labels if not each.is_plain), None):
            raise InvalidOptions(
                f"labels: {model.name} has labels of its own and reads no descriptions; give {more.name!r} by its name."
            )
        if options.overlaps is not Overlaps.FLAT:
            raise InvalidOptions(f"overlaps: {model.name} has labels of its own, and its entities never overlap.")
        names = tuple(each.name for each in labels)
        scheme = scheme_named(model.scheme, model.labels)
        return TagTask(self, scheme, sizes, options.min_score, options.aggregation, names, decoder)

    def steps(self, task: TagTask, document: Document) -> Iterator[int | TagDocument]:
        """The steps of `TagTask.prepare_in_steps`."""
        longest, overlap = task.sizes
        text, composed = document.text, task.reads_composed
        for step in prepare_in_steps(self.tokenizer, text, longest=longest, overlap=overlap, composed=composed):
            if isinstance(step, int):
                yield step
            else:
                yield TagDocument(step.text, step.tokens, step.windows, step.sequences, task, document)

    def example(
        self, labels: Sequence[str], min_score: float | None, model: ModelStatus, sizes: WindowSizes
    ) -> TagTask:
        return TagTask(self, scheme_named(model.scheme, model.labels), sizes)

    def observe(
        self, status: ModelStatus, examples: Sequence[MarkedDocument], sizes: WindowSizes, infer: Infer
    ) -> None:
        """See whether `I-` may begin an entity, where neither the folder nor its learned transitions say it.

        The examples decide if they hold in one of both cases alone; else the tags of sample texts do.
        """
        scheme = scheme_of(status.labels)
        if not self.tokenizer.decoding.leaves_open(scheme):
            return
        tasks = [TagTask(self, scheme_named(name, status.labels), sizes) for name in (scheme.name, IOB1)]
        holds = [all(_holds(task, example, infer) for example in examples) for task in tasks]
        if holds[0] is not holds[1]:
            self._inside_begins = holds[1]
            return
        words = (_word_logits(tasks[0], text, infer) for text in sample_texts(self.tokenizer.vocabulary))
        self._inside_begins = seen_inside_begins(words, scheme)

    def reducer(self) -> Reducer:
        return partial(reduce_to_tags, dataclasses.replace(self.tokenizer.decoding, inside_begins=self._begins))

    def described(self, status: ModelStatus) -> ModelStatus:
        scheme = scheme_of(status.labels, inside_begins=self._begins)
        return replace(status, calibrated=self.tokenizer.decoding.calibration is not None, scheme=scheme.name)

    @property
    def _begins(self) -> bool:
        said = self.tokenizer.decoding.inside_begins
        return self._inside_begins if said is None else said


@dataclass(frozen=True, slots=True)
class TagTask:
    """What a request asks of a token classifier.

    Attributes:
        scheme: of the model's tags.
        labels: those that the request wants, if it names some: rules may find more for them.
    """

    processor: TokenClassifier
    scheme: Scheme
    sizes: WindowSizes
    limits: ScoreLimits = NO_LIMITS
    aggregation: Aggregation = Aggregation.CONSTRAINED
    labels: tuple[str, ...] = ()
    decoder: Decoder | None = None

    @property
    def reading_labels(self) -> Mapping[str, str]:
        """A label for each of the model's own whose values are read by the folder's `kinds` or its name's words."""
        processor = self.processor
        kinds = processor.tokenizer.rules.value_kinds if processor.is_read else frozenset[tuple[str, ValueKind]]()
        return own_reading_labels(self.scheme.types, kinds)

    @property
    def scores_a_token(self) -> int:
        return len(self.scheme.labels)

    @property
    def answered(self) -> frozenset[str]:
        """The model's labels, and those that the request wants of rules."""
        return frozenset((*self.scheme.types, *self.labels))

    @property
    def needs_words_alone(self) -> bool:
        """True where decoding needs no more than the tags of words."""
        return self.decoder is None and self.aggregation is Aggregation.CONSTRAINED

    def prepare_in_steps(self, document: Document) -> Iterator[int | TagDocument]:
        """A chunk of the text at a time, so that it may end early: yields its tokens so far, at last the document."""
        return self.processor.steps(self, document)

    @property
    def reads_composed(self) -> bool:
        """True where the model reads a text's composed form, False where it reads it as it is written."""
        as_written = self.decoder is not None and self.decoder.reads_as_written
        return self.aggregation is Aggregation.CONSTRAINED and not as_written


@dataclass(frozen=True, eq=False)
class TagDocument(PreparedDocument):
    """A document for a token classifier."""

    task: TagTask
    document: Document

    @cached_property
    def _words(self) -> WordStarts | None:
        """The words whose tags are all that decoding needs; None where it needs more, or they take long to find."""
        is_short = len(self.sequences) == 1 and len(self.text) <= SHORT_CHARACTERS
        return mark_word_starts(self._tokenizer, self) if is_short and self.task.needs_words_alone else None

    @property
    def _tokenizer(self) -> TextTokenizer:
        return self.task.processor.tokenizer

    def model_input(self) -> ModelInput:
        if (words := self._words) is None:
            return ModelInput(self.sequences, kept_rows(self._tokenizer, self))
        return ModelInput(
            [words.sequence],
            kept=((0, len(words.firsts)),),
            response_kind=ResponseKind.WORD_TAGS,
            special_tokens_at_end=len(self._tokenizer.suffix),
        )

    def findings(self, id_: str, scores: Scores) -> Findings:
        """Entities alone. Rules belong to `constrained`; the other strategies give what transformers' pipeline does."""
        task, tokenizer = self.task, self._tokenizer
        if task.decoder is not None:
            return Findings(task.decoder(id_, self.document, tokenizer, self, scores.logits))
        if (words := self._words) is None:
            found = decode_merged(tokenizer, self, scores.logits, task.scheme, task.aggregation)
        else:
            of_words = scores.logits if scores.tags is None else scores.tags
            found = decode_word_scores(tokenizer, self, words, of_words, task.scheme)
        if task.aggregation is Aggregation.CONSTRAINED:
            found = apply_rules(tokenizer, self, found, task.scheme.labels, task.labels)
        return Findings(found)

    def entities_in(self, scores: Sequence[Logits]) -> list[Entity]:
        found = decode_entities(self._tokenizer, self, scores, self.task.scheme)
        return apply_rules(self._tokenizer, self, found, self.task.scheme.labels)


def _holds(task: TagTask, example: MarkedDocument, infer: Infer) -> bool:
    """True if a model finds in an example what it should."""
    prepared = prepare(task, task.processor.readable(example.document))
    found = prepared.entities_in(infer(prepared.sequences))
    return {(each.label, each.start, each.end) for each in found} == example.places


def _word_logits(task: TagTask, text: str, infer: Infer) -> Logits:
    """The logits of a text's words, of which it has some."""
    prepared, tokenizer = prepare(task, task.processor.readable(Document(text))), task.processor.tokenizer
    logits = token_logits(tokenizer, prepared, infer(prepared.sequences))
    return logits[word_firsts(text, tokenizer.encoding(text, prepared.tokens, with_subwords=False))]


FAMILY = TokenClassifier
