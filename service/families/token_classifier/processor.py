"""Token classifiers between text and scores: the words' tags of a short text, the tokens' logits of others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from msgspec.structs import replace

from service.core.arrays import Logits
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.entities import Entity
from service.core.decoding.spans import Overlaps
from service.core.errors import InvalidOptions
from service.core.labels.label_set import NO_LIMITS, ScoreLimits, read_labels
from service.core.types import ResponseKind
from service.documents.document import Document
from service.families.processor import (
    Decoder,
    Findings,
    ModelInput,
    PreparedDocument,
    Processor,
    Reducer,
    Scores,
    TaskOptions,
    WindowSizes,
)
from service.families.refusals import no_records, refuse_unknown
from service.families.token_classifier.reducing import reduce_to_tags
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
)
from service.text.tokenizer import SHORT_CHARACTERS, TextTokenizer, Vocabulary
from service.wire import ModelStatus


class TokenClassifier(Processor[TextTokenizer]):
    """One revision of a token classifier."""

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
        return TagTask(self, model.labels, sizes, options.min_score, options.aggregation, names, decoder)

    def example(
        self, labels: Sequence[str], min_score: float | None, model: ModelStatus, sizes: WindowSizes
    ) -> TagTask:
        return TagTask(self, model.labels, sizes)

    def reducer(self) -> Reducer:
        return partial(reduce_to_tags, self.tokenizer.decoding)

    def described(self, status: ModelStatus) -> ModelStatus:
        return replace(status, calibrated=self.tokenizer.decoding.calibration is not None)


@dataclass(frozen=True, slots=True)
class TagTask:
    """What a request asks of a token classifier.

    Attributes:
        model_labels: the model's tags.
        labels: those that the request wants, if it names some: rules may find more for them.
    """

    processor: TokenClassifier
    model_labels: tuple[str, ...]
    sizes: WindowSizes
    limits: ScoreLimits = NO_LIMITS
    aggregation: Aggregation = Aggregation.CONSTRAINED
    labels: tuple[str, ...] = ()
    decoder: Decoder | None = None

    @property
    def reading_labels(self) -> Mapping[str, str]:
        """Empty: values are read by the model's labels."""
        return {}

    @property
    def scores_a_token(self) -> int:
        return len(self.model_labels)

    @property
    def needs_words_alone(self) -> bool:
        """True where decoding needs no more than the tags of words."""
        return self.decoder is None and self.aggregation is Aggregation.CONSTRAINED

    def prepare_in_steps(self, document: Document) -> Iterator[int | TagDocument]:
        """A chunk of the text at a time, so that it may end early: yields its tokens so far, at last the document."""
        longest, overlap = self.sizes
        tokenizer, composed = self.processor.tokenizer, self.needs_words_alone
        for step in prepare_in_steps(tokenizer, document.text, longest=longest, overlap=overlap, composed=composed):
            if isinstance(step, int):
                yield step
            else:
                yield TagDocument(step.text, step.tokens, step.windows, step.sequences, self, document)


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
            found = decode_merged(tokenizer, self, scores.logits, task.model_labels, task.aggregation)
        else:
            of_words = scores.logits if scores.tags is None else scores.tags
            found = decode_word_scores(tokenizer, self, words, of_words, task.model_labels)
        if task.aggregation is Aggregation.CONSTRAINED:
            found = apply_rules(tokenizer, self, found, task.model_labels, task.labels)
        return Findings(found)

    def entities_in(self, scores: Sequence[Logits]) -> list[Entity]:
        found = decode_entities(self._tokenizer, self, scores, self.task.model_labels)
        return apply_rules(self._tokenizer, self, found, self.task.model_labels)


FAMILY = TokenClassifier
