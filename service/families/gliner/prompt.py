"""GLiNER's sequences.

    [CLS] (ENT label)… SEP word… [SEP]
    [CLS] word… [SEP] ([CLS] label [SEP])…    of a bi-encoder; its labels are for an encoder of their own

A word is: letters and digits, joined by single hyphens and underscores, or one other character that is no white space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from model_store.families.gliner import LABELS_FOLDER
from service.core.arrays import TokenIds
from service.core.errors import ModelError
from service.core.labels import marking
from service.core.labels.label_set import Label, LabelSet
from service.families.free_labels.prompt import Prompt, Span, token_id
from service.families.gliner.config import GlinerConfig
from service.text.tokenizer import TOKENIZER_FILE, Vocabulary, vocabulary_of

_WORD = re.compile(r"\w+(?:[-_]\w+)*|\S")


def prompt_of(folder: Path, vocabulary: Vocabulary, config: GlinerConfig) -> Prompt:
    """The prompt of a folder's model.

    Raises:
        ModelError: its tokenizer lacks a token of the prompt, or a tokenizer is missing.
    """
    if config.reads_labels_apart:
        return BiGlinerPrompt(vocabulary, labels_vocabulary(folder))
    return GlinerPrompt(vocabulary, config)


def labels_vocabulary(folder: Path) -> Vocabulary:
    """The vocabulary of a bi-encoder's labels. Raises ModelError where it cannot be read."""
    return vocabulary_of(folder / LABELS_FOLDER / TOKENIZER_FILE)


class _GlinerWords:
    """GLiNER's words, each by itself."""

    field_id: int | None = None

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def words(self, text: str) -> Iterator[Span]:
        return (found.span() for found in _WORD.finditer(text))

    def tokens(self, words: Sequence[str]) -> list[list[int]]:
        single = [[word] for word in words]
        found = self._vocabulary.tokenizer.encode_batch(single, is_pretokenized=True, add_special_tokens=False)
        return [each.ids for each in found]

    def record_frame(self, labels: LabelSet) -> tuple[TokenIds, TokenIds]:
        raise NotImplementedError("GLiNER finds no records")


class GlinerPrompt(_GlinerWords):
    """A prompt before the words: labels and words are pretokenized."""

    def __init__(self, vocabulary: Vocabulary, config: GlinerConfig) -> None:
        super().__init__(vocabulary)
        self.class_id = token_id(vocabulary, config.ent_token)
        self._separator_id = token_id(vocabulary, config.sep_token)
        if config.class_token_index not in (-1, self.class_id):
            raise ModelError(f"class_token_index is {config.class_token_index}, and not the id of {config.ent_token}")

    def label_tokens(self, labels: Sequence[Label]) -> list[int]:
        return [1 + len(ids) for ids in self.tokens([each.prompt for each in labels])]

    def frame(self, labels: Sequence[Label]) -> tuple[TokenIds, TokenIds]:
        prompt = [i for ids in self.tokens([each.prompt for each in labels]) for i in (self.class_id, *ids)]
        before = [*self._vocabulary.prefix.tolist(), *prompt, self._separator_id]
        return ~np.array(before, dtype=np.int32), ~self._vocabulary.suffix


class BiGlinerPrompt(_GlinerWords):
    """A bi-encoder's: each label is a sequence of its own, by a tokenizer of its own."""

    class_id: int | None = None

    def __init__(self, vocabulary: Vocabulary, of_labels: Vocabulary) -> None:
        super().__init__(vocabulary)
        self._labels = of_labels.tokenizer

    def label_tokens(self, labels: Sequence[Label]) -> list[int]:
        return [*map(len, self._label_ids(labels))]

    def frame(self, labels: Sequence[Label]) -> tuple[TokenIds, TokenIds]:
        beside = [marking.label(np.array(ids, dtype=np.int32)) for ids in self._label_ids(labels)]
        return ~self._vocabulary.prefix, np.concatenate([~self._vocabulary.suffix, *beside])

    def _label_ids(self, labels: Sequence[Label]) -> list[list[int]]:
        return [each.ids for each in self._labels.encode_batch([label.prompt for label in labels])]
