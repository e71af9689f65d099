"""Layouts: what a model's sequence holds beside the words, which words a text has, and how each is spelled.

    GLiNER     [CLS] (ENT label)… SEP word… [SEP]
               [CLS] word… [SEP] ([CLS] label [SEP])…    of a bi-encoder; its labels are for an encoder of their own
    GLiNER2    ( [P] entities ( ([E] label)… ) ) [SEP_TEXT] word…
               ( [P] record ( ([C] field)… ) ) ([SEP_STRUCT] another)… [SEP_TEXT] word…    of 2.5

A word is, in GLiNER: letters and digits, joined by single hyphens and underscores, or one other character that is no
white space. In GLiNER2 also a URL, an e-mail address or a @name; its words are read in lower case, and a text that ends
with none of `.!?` gets a full stop, a word of its own or the last character of a URL, and no part of any entity.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np

from service.core.arrays import TokenIds
from service.core.errors import ModelError
from service.core.labels import marking
from service.core.labels.label_set import Label, LabelSet
from service.text.tokenizer import TOKENIZER_FILE, Vocabulary, vocabulary_of
from service.text.words.label_config import LABELS_TOKENIZER, GlinerConfig, LabelConfig

Span = tuple[int, int]
_WORD = re.compile(r"\w+(?:[-_]\w+)*|\S")
PROMPT = "[P]"
_CLASS, _TEXT, _DESCRIPTION = "[E]", "[SEP_TEXT]", "[DESCRIPTION]"
_FIELD, _NEXT_RECORD = "[C]", "[SEP_STRUCT]"
_MAILBOX_CHARACTERS = 128
"""Longest part of an e-mail address before its @, twice what RFC 5321 allows. Without a limit, a run of dashes takes
time that grows with the square of its length."""


class PromptLayout(Protocol):
    """One kind of model.

    Attributes:
        class_id: of the token before each label in a prompt; None where they stand apart.
        field_id: of the token before each field of a record; None where none are found.
        largest_label_id: of the tokenizer that labels have of their own; -1 where they have none.
    """

    class_id: int | None
    field_id: int | None
    largest_label_id: int

    def words(self, text: str) -> Iterator[Span]:
        """Start and end of each word in code points; the last one may end with a full stop behind the text."""

    def tokens(self, words: Sequence[str]) -> list[list[int]]:
        """The tokens of each word by itself."""

    def label_tokens(self, labels: Sequence[Label]) -> list[int]:
        """How many tokens each label has in a prompt."""

    def frame(self, labels: Sequence[Label]) -> tuple[TokenIds, TokenIds]:
        """The tokens before the words and behind them, marked."""


def layout_of(folder: Path, vocabulary: Vocabulary, config: LabelConfig) -> PromptLayout:
    """The layout of a folder's model.

    Raises:
        ModelError: its tokenizer lacks a token of the prompt, or a tokenizer is missing.
    """
    if not isinstance(config, GlinerConfig):
        return Gliner2Layout(vocabulary, finds_records=config.finds_records)
    if config.reads_labels_apart:
        return BiGlinerLayout(vocabulary, vocabulary_of(folder / LABELS_TOKENIZER / TOKENIZER_FILE))
    return GlinerLayout(vocabulary, config)


class _GlinerWords:
    """GLiNER's words, each by itself."""

    field_id: int | None = None
    largest_label_id = -1

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def words(self, text: str) -> Iterator[Span]:
        return (found.span() for found in _WORD.finditer(text))

    def tokens(self, words: Sequence[str]) -> list[list[int]]:
        return pretokenized(self._vocabulary, words)


class GlinerLayout(_GlinerWords):
    """GLiNER's: labels and words are pretokenized."""

    class_id: int | None

    def __init__(self, vocabulary: Vocabulary, config: GlinerConfig) -> None:
        super().__init__(vocabulary)
        self.class_id = self._class_id = token_id(vocabulary, config.ent_token)
        self._separator_id = token_id(vocabulary, config.sep_token)
        if config.class_token_index not in (-1, self.class_id):
            raise ModelError(f"class_token_index is {config.class_token_index}, and not the id of {config.ent_token}")

    def label_tokens(self, labels: Sequence[Label]) -> list[int]:
        return [1 + len(ids) for ids in self.tokens([each.prompt for each in labels])]

    def frame(self, labels: Sequence[Label]) -> tuple[TokenIds, TokenIds]:
        prompt = [i for ids in self.tokens([each.prompt for each in labels]) for i in (self._class_id, *ids)]
        before = [*self._vocabulary.prefix.tolist(), *prompt, self._separator_id]
        return ~np.array(before, dtype=np.int32), ~self._vocabulary.suffix


class BiGlinerLayout(_GlinerWords):
    """A bi-encoder's: each label is a sequence of its own, by a tokenizer of its own."""

    class_id: int | None = None

    def __init__(self, vocabulary: Vocabulary, of_labels: Vocabulary) -> None:
        super().__init__(vocabulary)
        self._labels = of_labels.tokenizer
        self.largest_label_id = of_labels.largest_id

    def label_tokens(self, labels: Sequence[Label]) -> list[int]:
        return [*map(len, self._label_ids(labels))]

    def frame(self, labels: Sequence[Label]) -> tuple[TokenIds, TokenIds]:
        beside = [marking.label(np.array(ids, dtype=np.int32)) for ids in self._label_ids(labels)]
        return ~self._vocabulary.prefix, np.concatenate([~self._vocabulary.suffix, *beside])

    def _label_ids(self, labels: Sequence[Label]) -> list[list[int]]:
        return [each.ids for each in self._labels.encode_batch([label.prompt for label in labels])]


class Gliner2Layout:
    """GLiNER2's and GLiNER2.5's, for entities; for records where a model finds some."""

    class_id: int | None
    field_id: int | None
    largest_label_id = -1

    def __init__(self, vocabulary: Vocabulary, *, finds_records: bool = False) -> None:
        self._tokenizer = vocabulary.tokenizer
        self._word = _gliner2_word()
        self.class_id = token_id(vocabulary, _CLASS)
        self.field_id = token_id(vocabulary, _FIELD) if finds_records else None
        for token in (_TEXT, PROMPT, _DESCRIPTION, *([_NEXT_RECORD] if finds_records else [])):
            token_id(vocabulary, token)

    def words(self, text: str) -> Iterator[Span]:
        if not text.strip():
            return iter(())
        ended = text if text.endswith((".", "!", "?")) else f"{text}."
        return (found.span() for found in self._word.finditer(ended))

    def tokens(self, words: Sequence[str]) -> list[list[int]]:
        return self._tokens([word.lower() for word in words])

    def _tokens(self, pieces: Sequence[str]) -> list[list[int]]:
        return [each.ids for each in self._tokenizer.encode_batch(list(pieces), add_special_tokens=False)]

    def label_tokens(self, labels: Sequence[Label]) -> list[int]:
        names, descriptions = (self._tokens(each) for each in ([x.name for x in labels], [*map(_described, labels)]))
        return [1 + len(name) + len(described) for name, described in zip(names, descriptions, strict=True)]

    def frame(self, labels: Sequence[Label]) -> tuple[TokenIds, TokenIds]:
        return self._before([*_prompt("entities", labels, _CLASS), _TEXT])

    def record_frame(self, labels: LabelSet) -> tuple[TokenIds, TokenIds]:
        """What `frame` gives, for records with these labels as fields."""
        prompts = [_prompt(each.name, [labels.labels[i] for i in each.fields], _FIELD) for each in labels.records]
        pieces = [piece for prompt in prompts for piece in (*prompt, _NEXT_RECORD)]
        return self._before([*pieces[:-1], _TEXT])

    def _before(self, pieces: Sequence[str]) -> tuple[TokenIds, TokenIds]:
        before = [i for ids in self._tokens(pieces) for i in ids]
        return ~np.array(before, dtype=np.int32), np.empty(0, dtype=np.int32)


def pretokenized(vocabulary: Vocabulary, words: Sequence[str]) -> list[list[int]]:
    """The tokens of each word by itself, as of one in a list of words."""
    single = [[word] for word in words]
    return [
        each.ids for each in vocabulary.tokenizer.encode_batch(single, is_pretokenized=True, add_special_tokens=False)
    ]


def token_id(vocabulary: Vocabulary, token: str) -> int:
    """The id of a token that a prompt needs. Raises ModelError where there is none."""
    found = vocabulary.tokenizer.token_to_id(token)
    if found is None:
        raise ModelError(f"the tokenizer has no token {token}, which the model's prompt needs")
    return int(found)


def _prompt(task: str, labels: Sequence[Label], mark: str) -> list[str]:
    """The pieces of a prompt, each of which is tokenized by itself."""
    named = (piece for each in labels for piece in (mark, each.name))
    return ["(", PROMPT, task + "".join(map(_described, labels)), "(", *named, ")", ")"]


def _described(label: Label) -> str:
    return f" {_DESCRIPTION} {label.name}: {label.description}" if label.description else ""


@cache
def _gliner2_word() -> re.Pattern[str]:
    marks = "".join(chr(point) for point in range(sys.maxunicode + 1) if unicodedata.category(chr(point))[0] == "M")
    word = rf"[\w{marks}\u200c\u200d]"
    return re.compile(
        r"(?:https?://[^\s]+|www\.[^\s]+)"
        rf"|[a-z0-9._%+-]{{1,{_MAILBOX_CHARACTERS}}}+@[a-z0-9.-]+\.[a-z]{{2,}}|@[a-z0-9_]+"
        rf"|{word}+(?:[-_]{word}+)*|\S",
        re.IGNORECASE,
    )
