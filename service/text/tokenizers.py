"""The tokenizers of all models that a worker knows: of texts, or of words where a model is given its labels."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from service.text.tokenizer import TextTokenizer
from service.text.words.label_config import is_label_model
from service.text.words.word_tokenizer import WordTokenizer

ModelTokenizer = TextTokenizer | WordTokenizer


class Tokenizers:
    """A cache of tokenizers by revision, which share the vocabularies of equal files. Thread-safe."""

    def __init__(self) -> None:
        self._loaded: dict[str, ModelTokenizer] = {}

    def get(self, revision: str, folder: Path) -> ModelTokenizer:
        """The tokenizer of a revision, read from its folder the first time."""
        if loaded := self.loaded(revision):
            return loaded
        known = [each.vocabulary for each in list(self._loaded.values())]
        kind = WordTokenizer if is_label_model(folder) else TextTokenizer
        return self._loaded.setdefault(revision, kind(folder, known))

    def loaded(self, revision: str) -> ModelTokenizer | None:
        """The tokenizer of a revision, if it has been read already."""
        return self._loaded.get(revision)

    def replace(self, folders: Mapping[str, Path]) -> None:
        """Read the tokenizers of new revisions, and drop those of all revisions that are not named.

        Where none is named, an engine starts anew, most likely with the same ones.
        """
        for revision, folder in folders.items():
            self.get(revision, folder)
        if not folders:
            return
        for revision in set(self._loaded) - set(folders):
            self._loaded.pop(revision, None)
