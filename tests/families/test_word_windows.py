from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from service.families.free_labels.word_tokenizer import word_windows


@given(st.lists(st.integers(1, 8), min_size=1, max_size=80), st.integers(8, 30), st.integers(1, 12), st.integers(0, 20))
def test_windows_cover_the_words_and_fit(tokens: list[int], most_tokens: int, most_words: int, overlap: int) -> None:
    counts = np.array(tokens, dtype=np.int64)
    windows = word_windows(counts, most_tokens=most_tokens, most_words=most_words, overlap_words=overlap)
    assert windows[0].keep_start == 0
    assert windows[-1].keep_stop == len(tokens)
    for left, right in pairwise(windows):
        assert left.keep_stop == right.keep_start
        assert left.start < right.start <= left.stop < right.stop
    for window in windows:
        assert window.start <= window.keep_start < window.keep_stop <= window.stop
        assert counts[window.start : window.stop].sum() <= most_tokens
        assert window.stop - window.start <= most_words


def test_a_span_that_starts_in_a_kept_part_lies_in_the_window() -> None:
    windows = word_windows(np.ones(1_000, dtype=np.int64), most_tokens=64, most_words=64, overlap_words=24)
    assert all(window.keep_stop - 1 + 12 <= window.stop for window in windows[:-1])
