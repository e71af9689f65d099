"""The processors of all models that a worker knows, each of its family's class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from model_store.families.registry import family_name
from service.families.processor import Processor
from service.text.tokenizer import Vocabulary


def open_processor(folder: Path, known: Callable[[], Iterable[Vocabulary]] = tuple) -> Processor[Any]:
    """The processor of a model's folder; its tokenizer is read when it is first needed."""
    family = import_module(f"service.families.{family_name(folder)}.processor").FAMILY
    return cast(Processor[Any], family(folder, known))


class Processors:
    """A cache of processors by revision, which share the vocabularies of equal files. Thread-safe."""

    def __init__(self) -> None:
        self._by_revision: dict[str, Processor[Any]] = {}

    def get(self, revision: str, folder: Path) -> Processor[Any]:
        """The processor of a revision in a folder."""
        if found := self._by_revision.get(revision):
            return found
        return self._by_revision.setdefault(revision, open_processor(folder, self._vocabularies))

    def _vocabularies(self) -> list[Vocabulary]:
        return [each.tokenizer.vocabulary for each in list(self._by_revision.values()) if each.is_read]

    def replace(self, folders: Mapping[str, Path]) -> None:
        """Read the tokenizers of new revisions, and drop those of all revisions that are not named.

        Where none is named, an engine starts anew, most likely with the same ones.
        """
        for revision, folder in folders.items():
            _ = self.get(revision, folder).tokenizer
        if not folders:
            return
        for revision in set(self._by_revision) - set(folders):
            self._by_revision.pop(revision, None)
