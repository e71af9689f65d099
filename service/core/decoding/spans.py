"""Entities in a document, from the model's rows of scores for its tokens.

Owns the way from rows to entities. Knows nothing of windows (rows come merged) and of what an entity's value means.

The rules of `constrained`, the default:

- The tag path is the best *valid* one over the whole document (`viterbi`), and it runs over words (`tokens`): a word
  is tagged by its first token. So no entity begins or ends inside a word, and models that learned the first token
  of each word only are asked about nothing else.
- An entity's score is the mean, over its words, of the probability of its type: the sum over that type's tags, so
  doubt between `B-X` and `I-X` is not held against it.
- Entities do not begin or end with white space, a comma, a colon or a semicolon.

The pipeline's strategies, for comparison, have the pipeline's own rules and offsets (`aggregation`).
"""

from __future__ import annotations

import string
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from service.core.decoding.aggregation import Aggregation, aggregate, softmax
from service.core.decoding.tag_scheme import Scheme
from service.core.decoding.tokens import Encoding, Span, word_starts
from service.core.decoding.viterbi import best_path
from service.core.errors import ModelError

__all__ = ["Encoding", "Entity", "Span", "constrained", "decode"]
_LOOSE = string.whitespace + "\u00a0\u2007\u202f\u3000,;:"
"""What surrounds entities and never belongs to them."""


class Entity(NamedTuple):
    """An entity as the code points `[start, end)`; `text` is exactly the document's text there.

    A tuple, as `Span` is: a document may have hundreds, and a frozen dataclass takes twice as long to make.
    """

    label: str
    text: str
    start: int
    end: int
    score: float


def decode(
    text: str, encoding: Encoding, rows: NDArray[np.float32], scheme: Scheme, aggregation: Aggregation
) -> list[Entity]:
    """The entities of one document, in order; `rows` are its merged logits `[tokens, labels]`.

    Raises `ModelError` if the model gave scores that are not numbers.
    """
    assert len(rows) == len(encoding.offsets), "every token needs its row"
    if len(rows) == 0:
        return []
    if not np.isfinite(rows).all():
        raise ModelError(
            "The model gave scores that are not finite numbers; its weights or its data type are at fault."
        )
    if aggregation is Aggregation.CONSTRAINED:
        return _locate(text, encoding, constrained(text, encoding, rows, scheme), trim=True)
    return _locate(text, encoding, aggregate(rows, encoding.is_subword, scheme.labels, aggregation), trim=False)


def constrained(text: str, encoding: Encoding, rows: NDArray[np.float32], scheme: Scheme) -> list[Span]:
    """The entities on the best valid tag path over the words of `text`; `rows` are logits `[tokens, labels]`."""
    firsts = np.flatnonzero(word_starts(text, encoding.offsets))
    rows = rows[firsts]
    path = best_path(rows, scheme)
    kind = scheme.type_of[path]
    parted = (kind[1:] != kind[:-1]) | scheme.begins[path[1:]] | scheme.ends[path[:-1]]
    starts = np.flatnonzero(np.append(True, parted))
    stops = np.append(starts[1:], len(path))
    means = np.add.reduceat(_type_probability(rows, kind, scheme), starts) / (stops - starts)
    borders = np.append(firsts, len(encoding.offsets))
    found = kind[starts] >= 0
    columns = (kind[starts], borders[starts], borders[stops], means)
    return [
        Span(scheme.types[label], start, stop, score)
        for label, start, stop, score in zip(*(column[found].tolist() for column in columns), strict=True)
    ]


def _type_probability(rows: NDArray[np.float32], kind: NDArray[np.int32], scheme: Scheme) -> NDArray[np.float64]:
    """Each word's probability of the entity type it was given, `[words]`; 0 where it was given none."""
    inside = np.flatnonzero(kind >= 0)
    probability = np.zeros(len(rows))
    of_type = scheme.type_of == kind[inside, None]
    probability[inside] = np.where(of_type, softmax(rows[inside]), 0).sum(axis=1, dtype=np.float64)
    return np.minimum(probability, 1.0)


def _locate(text: str, encoding: Encoding, spans: list[Span], *, trim: bool) -> list[Entity]:
    """Spans of tokens as entities in the text; trimmed ones that held nothing else are gone."""
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
