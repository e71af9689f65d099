"""Windows of words for models with free labels, laid by tokens and words at once: each takes as many words as fit."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from service.core.decoding.windows import Window


def word_windows(
    token_counts: NDArray[np.int64], *, most_tokens: int, most_words: int, overlap_words: int
) -> tuple[Window, ...]:
    """Windows over words, neighbours sharing `overlap_words` where so many leave half a window of new ones.

    The kept parts partition the words; their borders lie in the middle of the overlaps.

    Args:
        token_counts: of each word, none over `most_tokens`.
    """
    words = len(token_counts)
    if not words:
        return ()
    ends = np.cumsum(token_counts)
    spans = [(0, _stop(ends, 0, most_tokens, most_words))]
    while spans[-1][1] < words:
        start, stop = spans[-1]
        start = stop - min(overlap_words, (stop - start) // 2)
        while (further := _stop(ends, start, most_tokens, most_words)) <= stop:
            start += 1
        spans.append((start, further))
    borders = [0, *((right + stop) // 2 for (_, stop), (right, _) in pairwise(spans)), words]
    return tuple(Window(*span, *kept) for span, kept in zip(spans, pairwise(borders), strict=True))


def _stop(ends: NDArray[np.int64], start: int, most_tokens: int, most_words: int) -> int:
    """The word after the last one of a window that begins at `start`."""
    before = int(ends[start - 1]) if start else 0
    fits = int(np.searchsorted(ends, before + most_tokens, side="right"))
    return min(fits, start + most_words)
