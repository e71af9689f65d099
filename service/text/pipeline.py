"""A text's way to a model and back: text → sequences, rows → entities. The same for requests and golden examples.

Knows tokenizers and decoding; knows neither who asks nor who judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from service.core.arrays import Logits, TokenIds
from service.core.decoding.aggregation import Aggregation
from service.core.decoding.spans import Entity, decode
from service.core.decoding.tag_scheme import Scheme
from service.core.decoding.tag_scheme import read as read_scheme
from service.core.decoding.windows import Window, merge
from service.text.tokenizer import TextTokenizer, Tokens


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A text ready for the engine."""

    text: str
    tokens: Tokens
    windows: tuple[Window, ...]
    sequences: list[TokenIds]


def prepare(tokenizer: TextTokenizer, text: str, *, longest: int, overlap: int) -> Prepared:
    """Tokenize a text and cut it for a model that takes `longest` tokens, special tokens included."""
    tokens = tokenizer.encode(text)
    windows = tokenizer.windows(len(tokens.ids), longest=longest, overlap=overlap)
    return Prepared(text, tokens, windows, tokenizer.sequences(tokens.ids, windows))


def decode_entities(
    tokenizer: TextTokenizer,
    prepared: Prepared,
    rows: Sequence[Logits],
    labels: tuple[str, ...],
    aggregation: Aggregation = Aggregation.CONSTRAINED,
) -> list[Entity]:
    """The entities in a text, from the model's rows for each of its sequences, special tokens included."""
    if not rows:
        return []
    wordwise = aggregation not in (Aggregation.CONSTRAINED, Aggregation.SIMPLE)
    encoding = tokenizer.encoding(prepared.text, prepared.tokens, with_subwords=wordwise)
    merged = merge(prepared.windows, [tokenizer.content(part) for part in rows])
    return decode(prepared.text, encoding, merged, _scheme(labels), aggregation)


@lru_cache(maxsize=64)
def _scheme(labels: tuple[str, ...]) -> Scheme:
    return read_scheme(dict(enumerate(labels)))
