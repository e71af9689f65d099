"""Cache of words' tokens: a word that came before is looked up, in place of being tokenized again.

A tokenizer's work on a word is the same wherever the word stands, if it stands between two split points; and most words
of a text are those of other texts. So a text is cut at its word split points, each word is looked up, and the tokenizer
gets only the unknown ones, end to end: between any two of them there is a split point again.

The rule: the tokens are those that the tokenizer gives for the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import accumulate, chain, pairwise

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding as Encoded

MOST_WORDS = 32_768
"""Words of a generation. Two are kept, some 15 MB; what no text has had for so many new words is forgotten."""
LONGEST_WORD, MOST_TOKENS = 32, 16
"""Characters and tokens of a word that is kept: 35 MB are the most, whatever clients send."""
ROW_BYTES = 3 * np.dtype(np.int32).itemsize
"""A token is three numbers: its id, and its offsets from the beginning of its word."""


class TokenCache:
    """The words that one tokenizer has seen recently. Thread-safe: at worst a word is tokenized once more.

    Args:
        word_start: finds where words begin, with their white space.
        encode: the tokenizer, without special tokens.
    """

    def __init__(self, word_start: re.Pattern[str], encode: Callable[[str], Encoded]) -> None:
        self._word_start = word_start
        self._encode = encode
        self._young: dict[str, bytes] = {}
        self._old: dict[str, bytes] = {}

    def tokens(self, text: str) -> npt.NDArray[np.int32]:
        """Id, start and end of each token of a text, int32 `[tokens, 3]`."""
        starts = [0, *[found.start() for found in self._word_start.finditer(text)]]
        words = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
        try:
            rows = [*map(self._young.__getitem__, words)]
        except KeyError:
            found = self._lookup(words)
            if found is None:
                return rows_of(self._encode(text))
            rows = [found[word] for word in words]
        return _placed(b"".join(rows), np.fromiter(map(len, rows), dtype=np.intp), starts)

    def _lookup(self, words: Sequence[str]) -> dict[str, bytes] | None:
        """The rows of each word; what is unknown is tokenized, all of it at once, and known from now on.

        None where a token reaches across words after all.
        """
        young, old = self._young, self._old
        found = {word: rows for word in words if (rows := young.get(word, old.get(word))) is not None}
        if unknown := [word for word in dict.fromkeys(words) if word not in found]:
            fresh = self._tokenized(unknown)
            if fresh is None:
                return None
            found.update(zip(unknown, fresh, strict=True))
        young.update((word, rows) for word, rows in found.items() if _is_kept(word, rows))
        if len(young) > MOST_WORDS:
            self._young, self._old = {}, young
        return found

    def _tokenized(self, words: Sequence[str]) -> list[bytes] | None:
        """The rows of each word by the tokenizer; None where one is not within its word."""
        rows = rows_of(self._encode("".join(words)))
        borders = np.fromiter(accumulate(map(len, words), initial=0), dtype=np.int32)
        firsts = [*np.searchsorted(rows[:, 1], borders[:-1]).tolist(), len(rows)]
        counts = np.diff(firsts)
        if (rows[:, 2] > np.repeat(borders[1:], counts)).any():
            return None
        rows[:, 1:] -= np.repeat(borders[:-1], counts)[:, None]
        return [rows[first:stop].tobytes() for first, stop in pairwise(firsts)]


def rows_of(encoding: Encoded) -> npt.NDArray[np.int32]:
    """Id, start and end of each token, int32 `[tokens, 3]`."""
    rows = np.empty((len(encoding.ids), 3), dtype=np.int32)
    rows[:, 0] = encoding.ids
    rows[:, 1:] = np.fromiter(chain.from_iterable(encoding.offsets), dtype=np.int32).reshape(-1, 2)
    return rows


def _is_kept(word: str, rows: bytes) -> bool:
    return len(word) <= LONGEST_WORD and len(rows) <= MOST_TOKENS * ROW_BYTES


def _placed(rows: bytes, sizes: npt.NDArray[np.intp], starts: Sequence[int]) -> npt.NDArray[np.int32]:
    """The rows of a text's words, with offsets from the text's beginning. `sizes`: of each word's rows, in bytes."""
    placed = np.frombuffer(rows, dtype=np.int32).reshape(-1, 3).copy()
    placed[:, 1:] += np.repeat(np.array(starts, dtype=np.int32), sizes // ROW_BYTES)[:, None]
    return placed
