"""The steps around inference: a text to the model's input sequences, and the model's logits to entities.

Requests and golden examples take the same steps. Does not know where inference runs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from service.core.arrays import Logits, TokenIds, ids_in, with_ids
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.entities import Entity, decode_logits, decode_words
from service.core.decoding.tag_scheme import Scheme, scheme_of
from service.core.decoding.tokens import word_firsts
from service.core.decoding.windows import Window, merge_windows
from service.core.decoding.word_tags import WordTags
from service.core.fields.keyword_values import keyword_values
from service.core.fields.lines import TextLines
from service.text.rules.rule_set import ALL_RULES
from service.text.rules.span_extension import date_spans
from service.text.tokenizer import TextTokenizer, Tokens
from service.text.values.context import DocumentContext
from service.text.values.number_marks import PAGE_CHARACTERS
from service.text.values.reading import read_value, shielded

Rows = tuple[int, int]
"""Rows `[start, stop)` of an array."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A tokenized text, its windows, and one input sequence for each window, special tokens included."""

    text: str
    tokens: Tokens
    windows: tuple[Window, ...]
    sequences: list[TokenIds]

    @cached_property
    def context(self) -> DocumentContext:
        """What the text says of itself: one for all that is read in it."""
        return DocumentContext(self.text)


@dataclass(frozen=True, slots=True, eq=False)
class WordStarts:
    """The words of a text: the place of each one's first token, and the sequence with all other ids as `-1 - id`."""

    firsts: NDArray[np.intp]
    sequence: TokenIds


def prepare(tokenizer: TextTokenizer, text: str, *, longest: int, overlap: int) -> Prepared:
    """Tokenize a text and cut it for a model that takes `longest` tokens, special tokens included."""
    return _cut(tokenizer, text, tokenizer.encode(text), longest, overlap)


def prepare_in_steps(
    tokenizer: TextTokenizer, text: str, *, longest: int, overlap: int, composed: bool = True
) -> Iterator[int | Prepared]:
    """What `prepare` does, one chunk of the text a step, so that it may end early.

    Yields the number of tokens so far, at last the result; a text of one chunk is done in the first step. `composed` as
    in `TextTokenizer.encode_chunk`.
    """
    parts: list[Tokens] = []
    count = 0
    for start, end in tokenizer.chunks(text):
        if parts:
            yield count
        parts.append(tokenizer.encode_chunk(text, start, end, composed=composed))
        count += len(parts[-1].ids)
    yield _cut(tokenizer, text, Tokens.joined(parts), longest, overlap)


def _cut(tokenizer: TextTokenizer, text: str, tokens: Tokens, longest: int, overlap: int) -> Prepared:
    windows = tokenizer.windows(len(tokens.ids), longest=longest, overlap=overlap)
    return Prepared(text, tokens, windows, tokenizer.sequences(tokens.ids, windows))


def kept_rows(tokenizer: TextTokenizer, prepared: Prepared) -> tuple[Rows, ...]:
    """The rows of each sequence's logits that are kept; one after another they are those of the text's tokens."""
    before = len(tokenizer.prefix)
    return tuple((before + w.keep_start - w.start, before + w.keep_stop - w.start) for w in prepared.windows)


def mark_word_starts(tokenizer: TextTokenizer, prepared: Prepared) -> WordStarts:
    """The words of a text that has one sequence."""
    encoding = tokenizer.encoding(prepared.text, prepared.tokens, with_subwords=False)
    firsts = word_firsts(prepared.text, encoding, compounds=tokenizer.decoding.compounds)
    (sequence,) = prepared.sequences
    ids = ids_in(sequence)
    marked = ~ids
    places = firsts + len(tokenizer.prefix)
    marked[places] = ids[places]
    return WordStarts(firsts, with_ids(sequence, marked))


def decode_word_scores(
    tokenizer: TextTokenizer, prepared: Prepared, words: WordStarts, scores: Logits | WordTags, scheme: Scheme
) -> list[Entity]:
    """The entities in a text by the rules of `constrained`, from its words' tags or finite logits `[words, labels]`."""
    encoding = tokenizer.encoding(prepared.text, prepared.tokens, with_subwords=False)
    return decode_words(prepared.text, encoding, words.firsts, scores, scheme, tokenizer.decoding)


def decode_entities(
    tokenizer: TextTokenizer, prepared: Prepared, logits: Sequence[Logits], scheme: Scheme
) -> list[Entity]:
    """The entities in a text, from the model's logits for each sequence, special tokens included.

    Raises:
        ModelError: the logits are not finite numbers.
    """
    if not logits:
        return []
    return decode_merged(tokenizer, prepared, token_logits(tokenizer, prepared, logits), scheme)


def token_logits(tokenizer: TextTokenizer, prepared: Prepared, logits: Sequence[Logits]) -> Logits:
    """The logits of a text's tokens, from the model's logits for each sequence, special tokens included."""
    return merge_windows(prepared.windows, [tokenizer.content(part) for part in logits])


def decode_merged(
    tokenizer: TextTokenizer,
    prepared: Prepared,
    logits: Logits,
    scheme: Scheme,
    aggregation: Aggregation = Aggregation.CONSTRAINED,
) -> list[Entity]:
    """The entities in a text, from the logits of its tokens, `[tokens, labels]`.

    Raises:
        ModelError: the logits are not finite numbers.
    """
    if prepared.tokens.words is not None and aggregation is Aggregation.SIMPLE:
        aggregation = Aggregation.FIRST  # Of a given word, no token but its first was trained.
    wordwise = aggregation not in (Aggregation.CONSTRAINED, Aggregation.SIMPLE)
    found: list[Entity] = []
    start = 0
    for tokens in prepared.tokens.pages() if len(logits) else ():
        encoding = tokenizer.encoding(prepared.text, tokens, with_subwords=wordwise)
        rows = logits[start : (start := start + len(tokens.ids))]
        found += decode_logits(prepared.text, encoding, rows, scheme, aggregation, tokenizer.decoding)
    return found


def apply_rules(
    tokenizer: TextTokenizer,
    prepared: Prepared,
    found: list[Entity],
    labels: tuple[str, ...],
    asked: Collection[str] = (),
) -> list[Entity]:
    """The model's entities and those of the rules that its folder asks for; `asked`: labels that a request wants."""
    return tokenizer.rules.apply(prepared.context, found, scheme_of(labels).types, asked)


def answered_labels(
    labels: tuple[str, ...], tokenizer: TextTokenizer | None = None, *, has_rules: bool = True
) -> list[str]:
    """The labels that a model and its rules answer; those of all rules where its tokenizer is not loaded."""
    types = scheme_of(labels).types if labels else ()
    rules = tokenizer.rules if tokenizer else ALL_RULES
    return sorted({*types, *(rules.labels(types) if has_rules else ())})


def keyword_entities(context: DocumentContext, lines: TextLines, found: list[Entity]) -> list[Entity]:
    """Values of a bill that are not among the entities found, by keywords and rows.

    `lines`: of the context's text; values are searched in the first `PAGE_CHARACTERS`.
    """
    lines = lines.beginning(PAGE_CHARACTERS)

    def read() -> list[Entity]:
        return keyword_values(
            lines, found, date_spans(lines.text), lambda label, part: read_value(label, part, context)
        )

    return shielded(context, "keyword_values", read, [])
