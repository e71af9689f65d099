"""Splits a long document into overlapping windows, and merges the windows' logits.

Counts content tokens only; special tokens are added around each window elsewhere (`service/text/tokenizer.py`).

The rule: windows lie where Hugging Face's fast tokenizers put their overflowing chunks (`tokenizers`,
`Encoding::truncate`): one begins every `window - overlap` tokens, and the first that reaches the end is the last.
Each token's logits are kept from one window, the one that shows it the most context, so the borders between the kept
parts lie in the middle of the overlaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from service.core.arrays import Logits


@dataclass(frozen=True, slots=True)
class Window:
    """One model input: tokens `[start, stop)` are sent, the logits of `[keep_start, keep_stop)` are kept.

    All four count content tokens from the document's beginning.
    """

    start: int
    stop: int
    keep_start: int
    keep_stop: int


def split_windows(tokens: int, *, window: int, overlap: int) -> tuple[Window, ...]:
    """Lay windows of at most `window` tokens over a document, neighbours sharing `overlap` (the last may share more).

    The kept parts partition `[0, tokens)`; a document without tokens has no windows.
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


def merge_windows(windows: Sequence[Window], logits: Sequence[Logits]) -> Logits:
    """Merge the windows' logits, each `[window_tokens, labels]`, to one array `[tokens, labels]`."""
    assert len(windows) == len(logits), "every window needs its logits"
    if not windows:
        return np.empty((0, 0), dtype=np.float32)
    for window, part in zip(windows, logits, strict=True):
        assert len(part) == window.stop - window.start, "logits must have a row for each token, special tokens removed"
    if len(windows) == 1:
        return logits[0]
    kept = [part[w.keep_start - w.start : w.keep_stop - w.start] for w, part in zip(windows, logits, strict=True)]
    return np.concatenate(kept)
