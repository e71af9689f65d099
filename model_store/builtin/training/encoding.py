"""Encodes examples as arrays of token ids and tag ids.

A token belongs to a span if their characters overlap. A token that overlaps a span outside the scheme (label None) is
IGNORED: it does not count in the loss.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from model_store.builtin.training.examples import Example
from model_store.builtin.training.labels import LABELS, TAG_IDS, Span

IGNORED: Final = -100


@dataclass(frozen=True, slots=True)
class Encoded:
    """One document as tokens, without [CLS] and [SEP]. `open_tags` [71]: tags that a token marked O may have."""

    ids: NDArray[np.int32]
    tags: NDArray[np.int16]
    open_tags: NDArray[np.bool_]
    source: str


def encode(tokenizer: Tokenizer, examples: Iterable[Example], *, chunk: int = 512) -> Iterator[Encoded]:
    """Encode in chunks, because the tokenizer is parallel within one call."""
    waiting: list[Example] = []
    for example in examples:
        waiting.append(example)
        if len(waiting) == chunk:
            yield from _encode_chunk(tokenizer, waiting)
            waiting = []
    yield from _encode_chunk(tokenizer, waiting)


def tag_ids(offsets: Sequence[tuple[int, int]], spans: Sequence[Span]) -> list[int]:
    """One tag id a token; `spans` in order and without overlap."""
    tags: list[int] = []
    upcoming = 0
    inside: Span | None = None
    for start, end in offsets:
        while upcoming < len(spans) and spans[upcoming].end <= start:
            upcoming += 1
        span = spans[upcoming] if upcoming < len(spans) and spans[upcoming].start < end else None
        tags.append(_tag_id(span, begins=span is not inside))
        inside = span
    return tags


def _tag_id(span: Span | None, *, begins: bool) -> int:
    if span is None:
        return TAG_IDS["O"]
    return TAG_IDS[f"{'B' if begins else 'I'}-{span.label}"] if span.label else IGNORED


def open_tags(settled: frozenset[str]) -> NDArray[np.bool_]:
    """[71] True for both tags of each label that a set may leave unmarked."""
    return np.array([False, *(label not in settled for label in LABELS for _ in "BI")])


def _encode_chunk(tokenizer: Tokenizer, examples: Sequence[Example]) -> Iterator[Encoded]:
    encodings = tokenizer.encode_batch([example.text for example in examples], add_special_tokens=False)
    for example, encoding in zip(examples, encodings, strict=True):
        yield Encoded(
            ids=np.array(encoding.ids, dtype=np.int32),
            tags=np.array(tag_ids(encoding.offsets, example.spans), dtype=np.int16),
            open_tags=open_tags(example.settled),
            source=example.source,
        )
