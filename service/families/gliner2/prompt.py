"""GLiNER2's sequences.

    ( [P] entities ( ([E] label)… ) ) [SEP_TEXT] word…
    ( [P] record ( ([C] field)… ) ) ([SEP_STRUCT] another)… [SEP_TEXT] word…    of 2.5

A word is: letters and digits, joined by single hyphens and underscores, a URL, an e-mail address, a @name, or one other
character that is no white space. Words are read in lower case. A text that ends with none of `.!?` gets a full stop: a
word of its own or the last character of a URL, and no part of any entity.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from service.core.arrays import TokenIds
from service.core.labels.label_set import Label, LabelSet
from service.families.free_labels.prompt import Span, token_id
from service.text.tokenizer import Vocabulary

PROMPT = "[P]"
_CLASS, _TEXT, _DESCRIPTION = "[E]", "[SEP_TEXT]", "[DESCRIPTION]"
_FIELD, _NEXT_RECORD = "[C]", "[SEP_STRUCT]"
_MAILBOX_CHARACTERS = 128
"""Longest part of an e-mail address before its @, twice what RFC 5321 allows. Without a limit, a run of dashes takes
time that grows with the square of its length."""


class Gliner2Prompt:
    """GLiNER2's and GLiNER2.5's, for entities; for records where a model finds some."""

    class_id: int
    field_id: int | None

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
