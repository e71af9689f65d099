"""A model's tokenizer: text to token ids with offsets, and token ids to windows with special tokens around each.

A text is encoded as a whole, without special tokens, and then cut into windows. Texts of over `PIECE_CHARACTERS` are
encoded in pieces, so that other threads run in between. Whether pieces may end at line breaks without changing
the tokens is tried out when the tokenizer is loaded; where they may not, texts are encoded in one piece.
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

from service.core.arrays import Logits, TokenIds
from service.core.decoding.aggregation_strategies import subwords
from service.core.decoding.tokens import Encoding
from service.core.decoding.windows import Window, split_windows
from service.core.errors import ModelError

PIECE_CHARACTERS = 32_768
"""Shortest piece of a long text."""
_LINE_BREAK = re.compile(r"(?<=[^\W\d_])\n(?=[^\W\d_])")
_PROBE = "one two\nthree four.\nFive, 6 seven\neight nine\nten"


class PieceBorder(Enum):
    """Where a piece may end, at a line break between two letters, without changing the tokens."""

    AFTER_BREAK = "the line break belongs to the piece before it"
    WITHOUT_BREAK = "the line break belongs to no piece"
    NONE = "any border would change the tokens"


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """A text's tokens without special tokens: ids int32 `[tokens]`, offsets int32 `[tokens, 2]` in code points."""

    ids: TokenIds
    offsets: npt.NDArray[np.int32]


class TextTokenizer:
    """The fast tokenizer of one model folder. Thread-safe.

    `prefix` and `suffix` are the special tokens before and after each sequence.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:
            raise ModelError(f"the tokenizer in {folder} cannot be read: {error}") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.prefix, self.suffix = self._special_tokens()
        self.piece_border = self._find_piece_border()

    @property
    def special_tokens(self) -> int:
        """The number of special tokens of every sequence."""
        return len(self.prefix) + len(self.suffix)

    def encode(self, text: str) -> Tokens:
        """Tokenize a text of any length."""
        ids, offsets = [], []
        for start, end in pieces(text, self.piece_border):
            encoding = self._tokenizer.encode(text[start:end], add_special_tokens=False)
            ids.append(np.array(encoding.ids, dtype=np.int32))
            borders = np.fromiter(chain.from_iterable(encoding.offsets), dtype=np.int32)
            offsets.append(borders.reshape(-1, 2) + np.int32(start))
        return Tokens(np.concatenate(ids), np.concatenate(offsets))

    def windows(self, tokens: int, *, longest: int, overlap: int) -> tuple[Window, ...]:
        """The windows of a text of `tokens` tokens for a model that takes `longest`, special tokens included."""
        window = longest - self.special_tokens
        return split_windows(tokens, window=window, overlap=min(overlap, window // 2))

    def sequences(self, ids: TokenIds, windows: tuple[Window, ...]) -> list[TokenIds]:
        """The input sequence of each window: its token ids between prefix and suffix."""
        return [np.concatenate([self.prefix, ids[w.start : w.stop], self.suffix]) for w in windows]

    def content(self, logits: Logits) -> Logits:
        """A sequence's logits without those of its special tokens."""
        return logits[len(self.prefix) : len(logits) - len(self.suffix)]

    def encoding(self, text: str, tokens: Tokens, *, with_subwords: bool) -> Encoding:
        """The tokens as decoding needs them; `is_subword` is filled in only with `with_subwords`, for `aggregation`."""
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

    def _find_piece_border(self) -> PieceBorder:
        whole = self._tokenizer.encode(_PROBE, add_special_tokens=False)
        for border in (PieceBorder.AFTER_BREAK, PieceBorder.WITHOUT_BREAK):
            parts = [
                (start, self._tokenizer.encode(_PROBE[start:end], add_special_tokens=False))
                for start, end in pieces(_PROBE, border, shortest=1)
            ]
            ids = [token for _, part in parts for token in part.ids]
            offsets = [(start + a, start + b) for start, part in parts for a, b in part.offsets]
            if ids == whole.ids and offsets == whole.offsets:
                return border
        return PieceBorder.NONE


def pieces(text: str, border: PieceBorder, *, shortest: int = PIECE_CHARACTERS) -> Iterator[tuple[int, int]]:
    """The pieces `[start, end)` of a text, all but the last of at least `shortest` characters."""
    start = 0
    while border is not PieceBorder.NONE and (found := _LINE_BREAK.search(text, start + shortest)):
        yield start, found.end() if border is PieceBorder.AFTER_BREAK else found.start()
        start = found.end()
    yield start, len(text)


class Tokenizers:
    """A cache of tokenizers by revision. Thread-safe."""

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
