"""Chunks cover a text in order, and none is longer than the limit, whatever the text holds."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from service.text.split_points import SPLIT_KINDS, Separator, SplitPoint, chunks

TEXTS = st.lists(st.sampled_from(["a", "one", " ", "\n", "-", "中", "3", "é", "_", "- -", "b\nb"]), max_size=60).map(
    "".join
)
SPLIT_POINTS = st.lists(st.builds(SplitPoint, st.sampled_from(SPLIT_KINDS), st.sampled_from(Separator)), max_size=4)
SIZES = st.tuples(st.integers(1, 12), st.integers(1, 12)).map(lambda sizes: (min(sizes), sum(sizes)))


@given(text=TEXTS, split_points=SPLIT_POINTS, sizes=SIZES)
def test_chunks_cover_the_text_but_for_white_space_between_them(
    text: str, split_points: list[SplitPoint], sizes: tuple[int, int]
) -> None:
    shortest, longest = sizes
    found = list(chunks(text, split_points, shortest=shortest, longest=longest))
    assert found[0][0] == 0
    assert found[-1][1] == len(text)
    gaps = [text[end:start] for (_, end), (start, _) in pairwise(found)]
    assert set(gaps) <= {"", " ", "\n"}
    assert all(end - start <= longest for start, end in found)
    assert all(start < end for start, end in found) or not text


def test_a_text_without_split_points_is_cut_at_the_limit_alone() -> None:
    assert list(chunks("a" * 25, (), shortest=5, longest=10)) == [(0, 10), (10, 20), (20, 25)]
    words = SplitPoint(SPLIT_KINDS[1], Separator.WITH_NEXT)
    assert list(chunks("aaa bbb ccc", (words,), shortest=2, longest=10)) == [(0, 3), (3, 7), (7, 11)]
    neither = SplitPoint(SPLIT_KINDS[1], Separator.WITH_NEITHER)
    assert list(chunks("aaa bbb ccc", (neither,), shortest=2, longest=10)) == [(0, 3), (4, 7), (8, 11)]
