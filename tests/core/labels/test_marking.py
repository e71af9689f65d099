from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from service.core.labels import marking

ids = st.lists(st.integers(0, marking.LABEL - 1), min_size=1, max_size=5)


def array(numbers: list[int]) -> np.ndarray:
    return np.array(numbers, dtype=np.int32)


@given(st.lists(ids, max_size=4), ids, st.lists(ids, max_size=4))
@example(words=[[1, 2]], prompt=[3], labels=[[4, 5], [6]])
def test_what_is_marked_comes_back(words: list[list[int]], prompt: list[int], labels: list[list[int]]) -> None:
    parts = [~array(prompt), *(marking.word(array(each)) for each in words)]
    marked = np.concatenate([*parts, *(marking.label(array(each)) for each in labels)])
    text = marking.text_part(marked)
    assert marking.unmarked(text).tolist() == [*prompt, *(number for each in words for number in each)]
    assert (text >= 0).sum() == len(words)
    assert [each.tolist() for each in marking.labels_beside(marked)] == labels
    assert marked.dtype == np.int32
