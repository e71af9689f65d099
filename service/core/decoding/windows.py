"""Long documents as overlapping windows, and their rows put together again.

Owns where windows lie and which window judges which token. Knows neither text nor model: it counts content tokens
only; special tokens are added around each window elsewhere.

The rule: windows lie where Hugging Face's fast tokenizers put their overflowing chunks (`tokenizers`,
`Encoding::truncate`): every `window - overlap` tokens one begins, and the first that reaches the end is the last.
Each token is judged once, from the window that shows it the most context, so the borders between the judged parts
lie in the middle of the overlaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Window:
    """One model input: `[start, stop)` is what it sees, `[keep_start, keep_stop)` what is judged from it.

    All four count content tokens from the document's beginning.
    """

    start: int
    stop: int
    keep_start: int
    keep_stop: int


def split(tokens: int, *, window: int, overlap: int) -> tuple[Window, ...]:
    """Lay windows of at most `window` tokens over a document, neighbours sharing `overlap` (the last may share more).

    The judged parts partition `[0, tokens)`; a document without tokens has no windows.
    """
    assert tokens >= 0, f"a document cannot have {tokens} tokens"
    assert 0 <= overlap < window, f"an overlap of {overlap} does not fit a window of {window}"
    if tokens == 0:
        return ()
    last_start = max(tokens - overlap - 1, 0)
    starts = range(0, last_start + 1, window - overlap)
    stops = [min(start + window, tokens) for start in starts]
    middles = [(right + stop) // 2 for (_, right), stop in zip(pairwise(starts), stops, strict=False)]
    borders = [0, *middles, tokens]
    return tuple(map(Window, starts, stops, borders, borders[1:]))


def merge(windows: Sequence[Window], rows: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Put the windows' rows together: each `[window_tokens, labels]` in, one `[tokens, labels]` out."""
    assert len(windows) == len(rows), "every window needs its rows"
    if not windows:
        return np.empty((0, 0), dtype=np.float32)
    for window, part in zip(windows, rows, strict=True):
        assert len(part) == window.stop - window.start, "a window's rows are one per token, special tokens removed"
    if len(windows) == 1:
        return rows[0]
    kept = [part[w.keep_start - w.start : w.keep_stop - w.start] for w, part in zip(windows, rows, strict=True)]
    return np.concatenate(kept)
