"""GLiNER2's folder as workers read it."""

from __future__ import annotations

from collections.abc import Iterable

from service.families.free_labels.processor import PromptedProcessor
from service.families.free_labels.word_tokenizer import WordTokenizer
from service.families.gliner2.config import read_config
from service.families.gliner2.prompt import Gliner2Prompt
from service.text.tokenizer import TOKENIZER_FILE, Vocabulary, vocabulary_of


class Gliner2(PromptedProcessor):
    """One revision of a GLiNER2 model, which may find records."""

    def _read(self, known: Iterable[Vocabulary]) -> WordTokenizer:
        vocabulary = vocabulary_of(self._folder / TOKENIZER_FILE, known)
        config = read_config(self._folder)
        return WordTokenizer(vocabulary, Gliner2Prompt(vocabulary, finds_records=config.finds_records), config)


FAMILY = Gliner2
