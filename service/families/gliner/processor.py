"""GLiNER's folder as workers read it."""

from __future__ import annotations

from collections.abc import Iterable

from service.families.free_labels.processor import PromptedProcessor
from service.families.free_labels.word_tokenizer import WordTokenizer
from service.families.gliner.config import read_config
from service.families.gliner.prompt import prompt_of
from service.text.tokenizer import TOKENIZER_FILE, Vocabulary, vocabulary_of


class Gliner(PromptedProcessor):
    """One revision of a GLiNER model."""

    def _read(self, known: Iterable[Vocabulary]) -> WordTokenizer:
        vocabulary = vocabulary_of(self._folder / TOKENIZER_FILE, known)
        config = read_config(self._folder)
        return WordTokenizer(vocabulary, prompt_of(self._folder, vocabulary, config), config)


FAMILY = Gliner
