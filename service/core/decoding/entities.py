"""Decodes a document's logits to the entities in its text.

Windows have been merged before (`windows`); an entity's value is read afterwards (`service/text/values`).

The rules of `constrained`, the default:

- The tag path is the best *valid* one over the whole document (`transitions`). It runs over words (`tokens`): a word is
  tagged by its first token. So no entity begins or ends inside a word, and only those tokens are used that models
  are usually trained on.
- An entity's score is the mean, over its words, of the probability of its type: the sum over that type's tags, so that
  uncertainty between `B-X` and `I-X` does not lower it.
- Entities hold whole characters, with their combining marks, and do not begin or end with white space, an invisible
  character, a comma, a colon or a semicolon. Where a document's words are given, entities are whole words as they are.
- A model's folder may ask for more (`model_decoding`): learned transitions, wider words, borders, calibrated scores.

The other strategies follow the rules of transformers' pipeline, offsets included (`aggregation_strategies`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from service.core.decoding.aggregation_strategies import Aggregation, aggregate
from service.core.decoding.model_decoding import PLAIN, Decoding, word_logits
from service.core.decoding.span_trimming import behind_gaps, settle, trim
from service.core.decoding.tag_scheme import Scheme
from service.core.decoding.tokens import Encoding, Span, word_firsts
from service.core.decoding.word_tags import WordTags, search
from service.core.errors import ModelError


class Source(StrEnum):
    """The finder of an entity: the model (its borders may be a rule's), a rule alone, or an invoice's embedded XML."""

    MODEL = "model"
    RULE = "rule"
    EMBEDDED = "embedded"


class Entity(NamedTuple):
    """An entity as the code points `[start, end)`; `text` is exactly the document's text there.

    A tuple, because a document may have hundreds, and a frozen dataclass takes twice as long to create.
    """

    label: str
    text: str
    start: int
    end: int
    score: float
    source: Source = Source.MODEL


def decode_logits(
    text: str,
    encoding: Encoding,
    logits: NDArray[np.float32],
    scheme: Scheme,
    aggregation: Aggregation,
    decoding: Decoding = PLAIN,
) -> list[Entity]:
    """The entities of one document, in order; `logits` is `[tokens, labels]`, `decoding` is for `constrained` alone.

    Raises:
        ModelError: a logit is NaN or infinite.
    """
    assert len(logits) == len(encoding.offsets), "logits must have one row for each token"
    if len(logits) == 0:
        return []
    if aggregation is Aggregation.CONSTRAINED:
        check_finite(logits)
        firsts = word_firsts(text, encoding, compounds=decoding.compounds)
        words = word_logits(logits, firsts, len(logits), scheme, decoding.first_piece_share)
        return decode_words(text, encoding, firsts, words, scheme, decoding)
    check_finite(logits)
    spans = aggregate(logits, encoding.is_subword, scheme.labels, aggregation)
    return [Entity(label, text[start:end], start, end, score) for label, start, end, score in _placed(encoding, spans)]


def decode_words(
    text: str,
    encoding: Encoding,
    firsts: NDArray[np.intp],
    words: NDArray[np.float32] | WordTags,
    scheme: Scheme,
    decoding: Decoding = PLAIN,
) -> list[Entity]:
    """The entities of one document by the rules of `constrained`, from the tags of its words, or their logits.

    Args:
        encoding: of all tokens.
        firsts: each word's first token (`word_starts`).
        words: the logits `[words, labels]` are finite.
    """
    tags = words if isinstance(words, WordTags) else search(words, scheme, decoding.transitions)
    parted = behind_gaps(text, encoding.offsets[firsts, 0]) if decoding.cells else None
    spans = _spans(tags, np.append(firsts, len(encoding.offsets)), scheme, parted)
    if decoding.unknown and encoding.is_unknown is not None:
        spans = _known(text, encoding, spans)
    return _locate(text, encoding, spans, decoding)


def check_finite(logits: NDArray[np.float32]) -> None:
    """Raise ModelError if a logit is NaN or infinite."""
    if logits.size and not (math.isfinite(logits.min()) and math.isfinite(logits.max())):
        raise ModelError(
            "The model gave scores that are not finite numbers; its weights or its data type are at fault."
        )


def _spans(tags: WordTags, borders: NDArray[np.intp], scheme: Scheme, parted: NDArray[np.bool_] | None) -> list[Span]:
    """The entities on a tag path over words; word w's tokens run from `borders[w]` to `borders[w + 1]`.

    `parted`: True for words that continue no entity.
    """
    path = tags.labels
    kind = scheme.type_of[path]
    inside = np.flatnonzero(kind >= 0)
    if not len(inside):
        return []
    begins = np.ones(len(path), dtype=np.bool_)
    begins[1:] = (kind[1:] != kind[:-1]) | scheme.begins[path[1:]] | scheme.ends[path[:-1]]
    if parted is not None:
        begins |= parted
    starts = np.flatnonzero(begins)
    stops = np.append(starts[1:], len(path))
    probability = np.zeros(len(path))
    probability[inside] = tags.probabilities
    means = np.add.reduceat(probability, starts) / (stops - starts)
    found = kind[starts] >= 0
    columns = (kind[starts], borders[starts], borders[stops], means)
    return [
        Span(scheme.types[label], start, stop, score)
        for label, start, stop, score in zip(*(column[found].tolist() for column in columns), strict=True)
    ]


def _known(text: str, encoding: Encoding, spans: list[Span]) -> list[Span]:
    """The spans that have a letter or digit in a token that is known."""
    unknown = encoding.is_unknown
    assert unknown is not None
    if not unknown.any():
        return spans

    def is_known(span: Span) -> bool:
        tokens = range(span.start_token, span.stop_token)
        return any(
            not unknown[token] and any(map(str.isalnum, text[slice(*encoding.offsets[token].tolist())]))
            for token in tokens
        )

    return [span for span in spans if not unknown[span.start_token : span.stop_token].any() or is_known(span)]


def _locate(text: str, encoding: Encoding, spans: list[Span], decoding: Decoding) -> list[Entity]:
    """The entities of these token spans; those that trimming leaves empty are dropped. Given words are not trimmed."""
    scores = [span.score for span in spans]
    if decoding.calibration is not None:
        scores = decoding.calibration.shares_of(scores)
    entities = []
    for (label, start, end, _), score in zip(_placed(encoding, spans), scores, strict=True):
        if decoding.marks:
            start, end = settle(text, label, start, end)
        elif encoding.firsts is None:
            start, end = trim(text, start, end)
        if start < end:
            entities.append(Entity(label, text[start:end], start, end, score))
    return entities


def _placed(encoding: Encoding, spans: list[Span]) -> Iterator[tuple[str, int, int, float]]:
    """Label, start, end in code points and score of each span."""
    starts = encoding.offsets[[span.start_token for span in spans], 0].tolist() if spans else []
    ends = encoding.offsets[[span.stop_token - 1 for span in spans], 1].tolist() if spans else []
    for span, start, end in zip(spans, starts, ends, strict=True):
        yield span.label, start, end, span.score
