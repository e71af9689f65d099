"""Documents as a model sees them: token ids and tags of the windows that serving would cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.core.arrays import TokenIds
from service.engine.tools.training.labels import IGNORED, open_tags, token_tags
from service.engine.tools.training.records import LabelledDocument
from service.text.pipeline import prepare
from service.text.tokenizer import TextTokenizer


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """One window: ids int32 `[tokens]` with special tokens, tags int64 `[tokens]`, open_tags bool `[tags]`.

    Tokens of the overlap are tagged in the one window whose logits serving keeps, special tokens never (IGNORED).
    """

    ids: TokenIds
    tags: NDArray[np.int64]
    open_tags: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Cutter:
    """Cuts documents for a model: its tokenizer, its tags, its longest sequence, and the overlap of windows."""

    tokenizer: TextTokenizer
    tags: tuple[str, ...]
    longest_tokens: int
    overlap_tokens: int

    def examples(self, documents: Sequence[LabelledDocument], marked: dict[str, frozenset[str]]) -> list[Example]:
        """The windows of all documents; `marked`: set → the labels whose absence it tells."""
        opened = {source: open_tags(self.tags, labels) for source, labels in marked.items()}
        return [each for document in documents for each in self._windows(document, opened[document.source])]

    def _windows(self, document: LabelledDocument, opened: NDArray[np.bool_]) -> list[Example]:
        prepared = prepare(self.tokenizer, document.text, longest=self.longest_tokens, overlap=self.overlap_tokens)
        tags = token_tags(prepared.tokens.offsets, document.entities, {tag: n for n, tag in enumerate(self.tags)})
        before = len(self.tokenizer.prefix)
        found = []
        for window, ids in zip(prepared.windows, prepared.sequences, strict=True):
            of_window = np.full(len(ids), IGNORED, dtype=np.int64)
            start = before + window.keep_start - window.start
            of_window[start : start + window.keep_stop - window.keep_start] = tags[window.keep_start : window.keep_stop]
            found.append(Example(ids, of_window, opened))
        return found
