"""Pieces cover a text in order, and none is longer than the limit, whatever the text holds."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from service.text.pieces import SEAM_KINDS, Seam, Separator, pieces

TEXTS = st.lists(st.sampled_from(["a", "one", " ", "\n", "-", "中", "3", "é", "_", "- -", "b\nb"]), max_size=60).map(
    "".join
)
SEAMS = st.lists(st.builds(Seam, st.sampled_from(SEAM_KINDS), st.sampled_from(Separator)), max_size=4)
SIZES = st.tuples(st.integers(1, 12), st.integers(1, 12)).map(lambda sizes: (min(sizes), sum(sizes)))


@given(text=TEXTS, seams=SEAMS, sizes=SIZES)
def test_pieces_cover_the_text_but_for_white_space_between_them(
    text: str, seams: list[Seam], sizes: tuple[int, int]
) -> None:
    shortest, longest = sizes
    found = list(pieces(text, seams, shortest=shortest, longest=longest))
    assert found[0][0] == 0
    assert found[-1][1] == len(text)
    gaps = [text[end:start] for (_, end), (start, _) in pairwise(found)]
    assert set(gaps) <= {"", " ", "\n"}
    assert all(end - start <= longest for start, end in found)
    assert all(start < end for start, end in found) or not text


@given(text=TEXTS, seams=SEAMS)
def test_a_short_text_is_one_piece(text: str, seams: list[Seam]) -> None:
    assert list(pieces(text, seams)) == [(0, len(text))]


def test_a_text_without_seams_is_cut_at_the_limit_alone() -> None:
    assert list(pieces("a" * 25, (), shortest=5, longest=10)) == [(0, 10), (10, 20), (20, 25)]
    words = Seam(SEAM_KINDS[1], Separator.WITH_NEXT)
    assert list(pieces("aaa bbb ccc", (words,), shortest=2, longest=10)) == [(0, 3), (3, 7), (7, 11)]
    neither = Seam(SEAM_KINDS[1], Separator.WITH_NEITHER)
    assert list(pieces("aaa bbb ccc", (neither,), shortest=2, longest=10)) == [(0, 3), (4, 7), (8, 11)]
