"""Decodes a document's logits to the entities in its text.

Windows have been merged before (`windows`); an entity's value is read afterwards (`service/text/values`).

The rules of `constrained`, the default:

- The tag path is the best *valid* one over the whole document (`viterbi`), and it runs over words (`tokens`): a word
  is tagged by its first token. So no entity begins or ends inside a word, and only those tokens are used that models
  are usually trained on.
- An entity's score is the mean, over its words, of the probability of its type: the sum over that type's tags, so that
  uncertainty between `B-X` and `I-X` does not lower it.
- Entities do not begin or end with white space, a comma, a colon or a semicolon.

The other strategies follow the rules of transformers' pipeline, offsets included (`aggregation_strategies`).
"""

from __future__ import annotations

import math
import string
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from service.core.decoding.aggregation_strategies import Aggregation, aggregate
from service.core.decoding.tag_scheme import Scheme
from service.core.decoding.tokens import Encoding, Span, word_starts
from service.core.decoding.word_tags import WordTags, search
from service.core.errors import ModelError

_LOOSE = string.whitespace + "\u00a0\u2007\u202f\u3000,;:"
"""Characters at which no entity of `constrained` begins or ends."""


class Source(StrEnum):
    """Who found an entity: the model (its borders may be a rule's), or a rule alone."""

    MODEL = "model"
    RULE = "rule"


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
    text: str, encoding: Encoding, logits: NDArray[np.float32], scheme: Scheme, aggregation: Aggregation
) -> list[Entity]:
    """The entities of one document, in order; `logits` is `[tokens, labels]`.

    Raises:
        ModelError: a logit is NaN or infinite.
    """
    assert len(logits) == len(encoding.offsets), "logits must have one row for each token"
    if len(logits) == 0:
        return []
    if aggregation is Aggregation.CONSTRAINED:
        check_finite(logits)
        firsts = np.flatnonzero(word_starts(text, encoding.offsets))
        words = logits if len(firsts) == len(logits) else logits[firsts]
        return decode_words(text, encoding.offsets, firsts, words, scheme)
    check_finite(logits)
    spans = aggregate(logits, encoding.is_subword, scheme.labels, aggregation)
    return _locate(text, encoding.offsets, spans, trim=False)


def decode_words(
    text: str,
    offsets: NDArray[np.int32],
    firsts: NDArray[np.intp],
    words: NDArray[np.float32] | WordTags,
    scheme: Scheme,
) -> list[Entity]:
    """The entities of one document by the rules of `constrained`, from the tags of its words, or their logits.

    Args:
        offsets: of all tokens, `[tokens, 2]` in code points.
        firsts: each word's first token (`word_starts`).
        words: the logits `[words, labels]` are finite.
    """
    tags = words if isinstance(words, WordTags) else search(words, scheme)
    return _locate(text, offsets, _spans(tags, np.append(firsts, len(offsets)), scheme), trim=True)


def check_finite(logits: NDArray[np.float32]) -> None:
    """Raise ModelError if a logit is NaN or infinite."""
    if logits.size and not (math.isfinite(logits.min()) and math.isfinite(logits.max())):
        raise ModelError(
            "The model gave scores that are not finite numbers; its weights or its data type are at fault."
        )


def _spans(tags: WordTags, borders: NDArray[np.intp], scheme: Scheme) -> list[Span]:
    """The entities on a tag path over words; word w's tokens run from `borders[w]` to `borders[w + 1]`."""
    path = tags.labels
    kind = scheme.type_of[path]
    inside = np.flatnonzero(kind >= 0)
    if not len(inside):
        return []
    splits = (kind[1:] != kind[:-1]) | scheme.begins[path[1:]] | scheme.ends[path[:-1]]
    starts = np.flatnonzero(np.append(True, splits))
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


def _locate(text: str, offsets: NDArray[np.int32], spans: list[Span], *, trim: bool) -> list[Entity]:
    """The entities of these token spans; those that trimming leaves empty are dropped."""
    starts = offsets[[span.start_token for span in spans], 0].tolist() if spans else []
    ends = offsets[[span.stop_token - 1 for span in spans], 1].tolist() if spans else []
    entities = []
    for span, start, end in zip(spans, starts, ends, strict=True):
        if trim:
            start, end = _trim(text, start, end)
        if start < end or not trim:
            entities.append(Entity(span.label, text[start:end], start, end, span.score))
    return entities


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip(_LOOSE)), start + len(part.rstrip(_LOOSE))
