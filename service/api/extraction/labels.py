"""Labels of a request: what a model with free labels is given; of another one, those that its entities are kept by.

The rule: what cannot be answered is refused before any work. An unknown label of a model that has its own would find
nothing, and nobody would be told.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from service.api.options import ExtractOptions
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.spans import Overlaps
from service.core.errors import InvalidOptions
from service.core.labels.label_set import LabelSet, label_problem, read_labels
from service.core.labels.record_schema import read_schema, record_labels, schema_problem
from service.text.pipeline import answered_labels
from service.text.tokenizer import TextTokenizer
from service.text.words.word_tokenizer import WordTokenizer
from service.wire import ModelStatus

SHOWN_CHARACTERS = 64
"""Longest part of a label that is not known in the sentence that refuses it."""


def given_records(model: ModelStatus, tokenizer: WordTokenizer, options: ExtractOptions, longest: int) -> LabelSet:
    """The fields of the records that a model is asked for, as its labels.

    Raises:
        InvalidOptions: it finds none, the schema cannot be given, or an option has no use beside it.
    """
    if not model.finds_records:
        raise _no_records(model)
    schema = read_schema(options.records) or ()
    if problem := schema_problem(schema, model.labels_per_pass):
        raise InvalidOptions(f"schema: {problem}.")
    if options.labels is not None:
        raise InvalidOptions("labels: a request has either `labels`, for entities, or a `schema`, for records.")
    if options.overlaps is not Overlaps.FLAT:
        raise InvalidOptions("overlaps: values of one field of a record never overlap, those of others may.")
    if options.min_score.by_label:
        raise InvalidOptions("min_score: with a `schema` a number for all; a field may have a `min_score` of its own.")
    _refuse_tags_and_fields(model, options)
    labels = record_labels(schema, options.min_score.default)
    tokenizer.check_records(labels, longest)
    return labels


def given_labels(model: ModelStatus, tokenizer: WordTokenizer, options: ExtractOptions, longest: int) -> LabelSet:
    """The labels that a model with free labels is given.

    Raises:
        InvalidOptions: there are none, too many, one that it cannot be given, or an option that it has no use for.
    """
    labels = read_labels(options.labels)
    if labels is None:
        raise InvalidOptions(
            f"labels: {model.name} has no labels of its own; name what it is to find, as in "
            '["person", "invoice number"].'
        )
    if problem := label_problem(labels):
        raise InvalidOptions(f"labels: {problem}.")
    _refuse_tags_and_fields(model, options)
    names = [each.name for each in labels]
    _refuse_unknown("min_score", model, [name for name, _ in options.min_score.by_label], names)
    tokenizer.check(labels, longest, model.label_tokens)
    return LabelSet.of(labels, options.min_score, options.overlaps)


def _no_records(model: ModelStatus) -> InvalidOptions:
    return InvalidOptions(f"schema: {model.name} finds no records; `finds_records` in /models says which do.")


def _refuse_tags_and_fields(model: ModelStatus, options: ExtractOptions) -> None:
    if options.aggregation is not Aggregation.CONSTRAINED:
        raise InvalidOptions(f"aggregation: {model.name} scores spans and has no tags to aggregate.")
    if options.fields:
        raise InvalidOptions(f"fields: {model.name} has no labels of its own, by which fields are chosen.")


def check_labels(model: ModelStatus, tokenizer: TextTokenizer | None, options: ExtractOptions) -> None:
    """Refuse labels that neither the model nor its rules answer, and what is for models with free labels alone.

    Rules take part in `constrained` alone.

    Raises:
        InvalidOptions: names the first, and those that are like it.
    """
    if options.records is not None:
        raise _no_records(model)
    has_rules = options.aggregation is Aggregation.CONSTRAINED
    asked = options.labels or ()
    if asked or options.min_score.by_label:
        known = answered_labels(model.labels, tokenizer, has_rules=has_rules)
        _refuse_unknown("labels", model, list(asked), known)
        _refuse_unknown("min_score", model, [name for name, _ in options.min_score.by_label], known)
    if more := next((each for each in read_labels(options.labels) or () if not each.is_plain), None):
        raise InvalidOptions(
            f"labels: {model.name} has labels of its own and reads no descriptions; give {more.name!r} by its name."
        )
    if options.overlaps is not Overlaps.FLAT:
        raise InvalidOptions(f"overlaps: {model.name} has labels of its own, and its entities never overlap.")


def _refuse_unknown(option: str, model: ModelStatus, asked: Sequence[str], known: Sequence[str]) -> None:
    if (wrong := next((each for each in asked if each not in known), None)) is not None:
        said, hint = wrong[:SHOWN_CHARACTERS], _known_labels_like(wrong, known)
        raise InvalidOptions(f"{option}: {model.name} has no label {said!r}; {hint}")


def _known_labels_like(wrong: str, known: Sequence[str]) -> str:
    """A hint: labels in other case, those with it as one of their words, the one most like it, or else all."""
    wanted, in_upper = wrong[:SHOWN_CHARACTERS].upper(), {each.upper(): each for each in known}
    like = [each for each in known if each.upper() == wanted] or [each for each in known if wanted in each.split("_")]
    like = like or [in_upper[each] for each in get_close_matches(wanted, in_upper, n=1, cutoff=0.5)]
    return f"did you mean {' or '.join(like)}?" if like else f"there are: {', '.join(known)}."
