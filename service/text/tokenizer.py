"""Text → token ids with offsets, and token ids → sequences that a model takes. Knows tokenizer files, not the engine.

A text is encoded without special tokens, as a whole, then cut into windows; each window gets the model's special tokens
around it. Very long texts are encoded in pieces, so that other requests get their turn in between. Which way of cutting
changes nothing is found out when the tokenizer is loaded, by trying it; where none is found, texts are not cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from service.core.arrays import TokenIds
from service.core.decoding.aggregation import subwords
from service.core.decoding.tokens import Encoding
from service.core.decoding.windows import Window, split
from service.core.errors import ModelError

PIECE_CHARACTERS = 32_768
_LINE_BREAK = re.compile(r"(?<=[^\W\d_])\n(?=[^\W\d_])")
_PROBE = "one two\nthree four.\nFive, 6 seven\neight nine\nten"


class Cut(Enum):
    """Where a piece ends at a line break between two letters."""

    AFTER_BREAK = "the line break belongs to the piece before it"
    WITHOUT_BREAK = "the line break belongs to no piece"
    NEVER = "cutting would change the tokens"


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """A text's tokens: ids int32 `[tokens]`, offsets int32 `[tokens, 2]` in code points; no special tokens."""

    ids: TokenIds
    offsets: npt.NDArray[np.int32]


class TextTokenizer:
    """The fast tokenizer of one model folder. Safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        try:
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:
            raise ModelError(f"the tokenizer in {folder} cannot be read: {error}") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.prefix, self.suffix = self._special_tokens()
        self._cut = self._harmless_cut()

    @property
    def special_tokens(self) -> int:
        """How many special tokens every sequence has."""
        return len(self.prefix) + len(self.suffix)

    def encode(self, text: str) -> Tokens:
        """Tokens of a text of any length."""
        ids, offsets = [], []
        for start, end in self._pieces(text):
            encoding = self._tokenizer.encode(text[start:end], add_special_tokens=False)
            ids.append(np.array(encoding.ids, dtype=np.int32))
            borders = np.fromiter(chain.from_iterable(encoding.offsets), dtype=np.int32)
            offsets.append(borders.reshape(-1, 2) + np.int32(start))
        return Tokens(np.concatenate(ids), np.concatenate(offsets))

    def windows(self, tokens: int, *, longest: int, overlap: int) -> tuple[Window, ...]:
        """How a text of so many tokens is cut for a model that takes `longest`, special tokens included."""
        window = longest - self.special_tokens
        return split(tokens, window=window, overlap=min(overlap, window // 2))

    def sequences(self, ids: TokenIds, windows: tuple[Window, ...]) -> list[TokenIds]:
        """One model input for each window."""
        return [np.concatenate([self.prefix, ids[w.start : w.stop], self.suffix]) for w in windows]

    def content(self, rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """A sequence's rows `[tokens, labels]` without those of its special tokens."""
        return rows[len(self.prefix) : len(rows) - len(self.suffix)]

    def encoding(self, text: str, tokens: Tokens, *, with_subwords: bool) -> Encoding:
        """What decoding needs; `with_subwords` only for the pipeline's word strategies."""
        if not with_subwords:
            return Encoding(tokens.offsets, np.zeros(len(tokens.ids), dtype=np.bool_))
        prefix = getattr(self._tokenizer.model, "continuing_subword_prefix", None)
        unknown = getattr(self._tokenizer.model, "unk_token", None)
        return Encoding(
            tokens.offsets,
            subwords(
                [self._tokenizer.id_to_token(token) or "" for token in tokens.ids.tolist()],
                tokens.ids,
                tokens.offsets,
                text,
                continuing_prefix=bool(prefix),
                unk_id=self._tokenizer.token_to_id(unknown) if isinstance(unknown, str) else None,
            ),
        )

    def _special_tokens(self) -> tuple[TokenIds, TokenIds]:
        encoding = self._tokenizer.encode("a")
        mask = np.array(encoding.special_tokens_mask, dtype=np.bool_)
        ids = np.array(encoding.ids, dtype=np.int32)
        content = np.flatnonzero(~mask)
        if not len(content):
            raise ModelError("the tokenizer gives no token for the letter 'a'")
        return ids[: content[0]], ids[content[-1] + 1 :]

    def _harmless_cut(self) -> Cut:
        whole = self._tokenizer.encode(_PROBE, add_special_tokens=False)
        for cut in (Cut.AFTER_BREAK, Cut.WITHOUT_BREAK):
            parts = [
                (start, self._tokenizer.encode(_PROBE[start:end], add_special_tokens=False))
                for start, end in _cut(_PROBE, cut, every=1)
            ]
            ids = [token for _, part in parts for token in part.ids]
            offsets = [(start + a, start + b) for start, part in parts for a, b in part.offsets]
            if ids == whole.ids and offsets == whole.offsets:
                return cut
        return Cut.NEVER

    def _pieces(self, text: str) -> Iterator[tuple[int, int]]:
        return _cut(text, self._cut, every=PIECE_CHARACTERS)


def _cut(text: str, cut: Cut, *, every: int) -> Iterator[tuple[int, int]]:
    """Pieces of at least `every` characters, each as [start, end)."""
    start = 0
    while cut is not Cut.NEVER and (found := _LINE_BREAK.search(text, start + every)):
        yield start, found.end() if cut is Cut.AFTER_BREAK else found.start()
        start = found.end()
    yield start, len(text)


class Tokenizers:
    """A cache of tokenizers by revision. Safe to use from several threads."""

    def __init__(self) -> None:
        self._loaded: dict[str, TextTokenizer] = {}

    def get(self, revision: str, folder: Path) -> TextTokenizer:
        """The tokenizer of a revision, read from its folder the first time."""
        return self.loaded(revision) or self._loaded.setdefault(revision, TextTokenizer(folder))

    def loaded(self, revision: str) -> TextTokenizer | None:
        """The tokenizer of a revision, if it has been read already."""
        return self._loaded.get(revision)

    def replace(self, folders: Mapping[str, Path]) -> None:
        """Read the tokenizers of new revisions, and drop those of all revisions that are not named."""
        for revision, folder in folders.items():
            self.get(revision, folder)
        for revision in set(self._loaded) - set(folders):
            self._loaded.pop(revision, None)
