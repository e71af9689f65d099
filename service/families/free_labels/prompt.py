"""Prompt: the tokens of a sequence beside its words, the words of a text, and the tokens of each word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from service.core.arrays import TokenIds
from service.core.errors import ModelError
from service.core.labels.label_set import Label, LabelSet
from service.text.tokenizer import Vocabulary

Span = tuple[int, int]


class Prompt(Protocol):
    """Prompt and words of one kind of model.

    Attributes:
        class_id: the id of the token before each label in a prompt; None where labels stand apart.
        field_id: the id of the token before each field of a record; None where no records are found.
    """

    @property
    def class_id(self) -> int | None: ...
    @property
    def field_id(self) -> int | None: ...

    def words(self, text: str) -> Iterator[Span]:
        """Start and end of each word in code points; the last one may end with a full stop behind the text."""

    def tokens(self, words: Sequence[str]) -> list[list[int]]:
        """The tokens of each word by itself."""

    def label_tokens(self, labels: Sequence[Label]) -> list[int]:
        """How many tokens each label has in a prompt."""

    def frame(self, labels: Sequence[Label]) -> tuple[TokenIds, TokenIds]:
        """The tokens before the words and behind them, marked."""

    def record_frame(self, labels: LabelSet) -> tuple[TokenIds, TokenIds]:
        """What `frame` gives, for records with these labels as fields, of a model that finds records."""


def token_id(vocabulary: Vocabulary, token: str) -> int:
    """The id of a token that a prompt needs. Raises ModelError where there is none."""
    found = vocabulary.tokenizer.token_to_id(token)
    if found is None:
        raise ModelError(f"the tokenizer has no token {token}, which the model's prompt needs")
    return int(found)
