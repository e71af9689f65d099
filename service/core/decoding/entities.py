"""Decodes a document's logits to the entities in its text.

Windows have been merged before (`windows`); an entity's value is derived afterwards (`normalize`).

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

import string
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from service.core.decoding.aggregation_strategies import Aggregation, aggregate, softmax
from service.core.decoding.tag_scheme import Scheme
from service.core.decoding.tokens import Encoding, Span, word_starts
from service.core.decoding.viterbi import best_path
from service.core.errors import ModelError

ROWS_AT_ONCE = 8_192
"""Rows whose probabilities are computed at a time, so that a long document takes little more than its logits."""
_LOOSE = string.whitespace + "\u00a0\u2007\u202f\u3000,;:"
"""Characters at which no entity of `constrained` begins or ends."""


class Entity(NamedTuple):
    """An entity as the code points `[start, end)`; `text` is exactly the document's text there.

    A tuple, because a document may have hundreds, and a frozen dataclass takes twice as long to create.
    """

    label: str
    text: str
    start: int
    end: int
    score: float


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
    if not np.isfinite((logits.min(), logits.max())).all():
        raise ModelError(
            "The model gave scores that are not finite numbers; its weights or its data type are at fault."
        )
    if aggregation is Aggregation.CONSTRAINED:
        return _locate(text, encoding, constrained(text, encoding, logits, scheme), trim=True)
    return _locate(text, encoding, aggregate(logits, encoding.is_subword, scheme.labels, aggregation), trim=False)


def constrained(text: str, encoding: Encoding, logits: NDArray[np.float32], scheme: Scheme) -> list[Span]:
    """The entities on the best valid tag path over the words of `text`; `logits` is `[tokens, labels]`."""
    firsts = np.flatnonzero(word_starts(text, encoding.offsets))
    logits = logits if len(firsts) == len(logits) else logits[firsts]
    path = best_path(logits, scheme)
    kind = scheme.type_of[path]
    splits = (kind[1:] != kind[:-1]) | scheme.begins[path[1:]] | scheme.ends[path[:-1]]
    starts = np.flatnonzero(np.append(True, splits))
    stops = np.append(starts[1:], len(path))
    means = np.add.reduceat(_type_probability(logits, kind, scheme), starts) / (stops - starts)
    borders = np.append(firsts, len(encoding.offsets))
    found = kind[starts] >= 0
    columns = (kind[starts], borders[starts], borders[stops], means)
    return [
        Span(scheme.types[label], start, stop, score)
        for label, start, stop, score in zip(*(column[found].tolist() for column in columns), strict=True)
    ]


def _type_probability(logits: NDArray[np.float32], kind: NDArray[np.int32], scheme: Scheme) -> NDArray[np.float64]:
    """Each word's probability of the entity type that it was tagged with, `[words]`; 0 for words outside entities."""
    inside = np.flatnonzero(kind >= 0)
    probability = np.zeros(len(logits))
    for start in range(0, len(inside), ROWS_AT_ONCE):
        some = inside[start : start + ROWS_AT_ONCE]
        of_type = scheme.type_of == kind[some, None]
        probability[some] = np.where(of_type, softmax(logits[some]), 0).sum(axis=1, dtype=np.float64)
    return np.minimum(probability, 1.0)


def _locate(text: str, encoding: Encoding, spans: list[Span], *, trim: bool) -> list[Entity]:
    """The entities of these token spans; those that trimming leaves empty are dropped."""
    starts = encoding.offsets[[span.start_token for span in spans], 0].tolist() if spans else []
    ends = encoding.offsets[[span.stop_token - 1 for span in spans], 1].tolist() if spans else []
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
