"""Windows of a document, starts of its words, and offsets in the caller's unit and in composed texts."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit

from service.core.decoding.offsets import OffsetMap, OffsetUnit, compose
from service.core.decoding.tokens import code_points, word_starts
from service.core.decoding.windows import Window, merge_windows, split_windows


@st.composite
def layouts(draw: st.DrawFn) -> tuple[int, int, int]:
    window = draw(st.integers(1, 24))
    return draw(st.integers(1, 150)), window, draw(st.integers(0, window - 1))


def test_a_document_without_tokens_has_no_windows() -> None:
    assert split_windows(0, window=8, overlap=2) == ()
    assert merge_windows((), ()).shape == (0, 0)


def test_borders_lie_in_the_middle_of_overlaps() -> None:
    assert split_windows(20, window=10, overlap=4) == (
        Window(0, 10, 0, 8),
        Window(6, 16, 8, 14),
        Window(12, 20, 14, 20),
    )


def test_no_window_lies_wholly_inside_the_one_before() -> None:
    assert len(split_windows(16, window=10, overlap=4)) == 2
    assert len(split_windows(17, window=10, overlap=4)) == 3


@given(layouts())
@settings(deadline=None)
def test_windows_lie_where_the_tokenizers_library_puts_its_overflow(layout: tuple[int, int, int]) -> None:
    tokens, window, overlap = layout
    tokenizer = Tokenizer(WordLevel({"a": 0}, unk_token="a"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.enable_truncation(window, stride=overlap)
    first = tokenizer.encode("a " * tokens)
    chunks = [(part.offsets[0][0] // 2, part.offsets[-1][0] // 2 + 1) for part in [first, *first.overflowing]]
    assert [(w.start, w.stop) for w in split_windows(tokens, window=window, overlap=overlap)] == chunks


@given(layouts())
@settings(deadline=None)
def test_the_kept_parts_partition_the_document(layout: tuple[int, int, int]) -> None:
    tokens, window, overlap = layout
    windows = split_windows(tokens, window=window, overlap=overlap)
    assert windows[0].keep_start == 0
    assert windows[-1].keep_stop == tokens
    assert all(left.keep_stop == right.keep_start for left, right in pairwise(windows))
    assert all(w.start <= w.keep_start < w.keep_stop <= w.stop for w in windows)


@given(layouts())
@settings(deadline=None)
def test_each_token_is_kept_where_it_has_the_most_context(layout: tuple[int, int, int]) -> None:
    tokens, window, overlap = layout
    windows = split_windows(tokens, window=window, overlap=overlap)

    def context(w: Window, token: int) -> float:
        left = np.inf if w.start == 0 else token - w.start
        right = np.inf if w.stop == tokens else w.stop - 1 - token
        return float(min(left, right))

    for kept in windows:
        for token in range(kept.keep_start, kept.keep_stop):
            assert context(kept, token) == max(context(w, token) for w in windows if w.start <= token < w.stop)


@given(layouts())
@settings(deadline=None)
def test_rows_cut_into_windows_merge_to_themselves(layout: tuple[int, int, int]) -> None:
    tokens, window, overlap = layout
    logits = np.arange(tokens * 3, dtype=np.float32).reshape(tokens, 3)
    windows = split_windows(tokens, window=window, overlap=overlap)
    assert (merge_windows(windows, [logits[w.start : w.stop] for w in windows]) == logits).all()


@pytest.mark.parametrize(("tokens", "window", "overlap"), [(-1, 4, 0), (5, 4, 4), (5, 4, -1), (5, 0, 0)])
def test_impossible_layouts_are_broken_invariants(tokens: int, window: int, overlap: int) -> None:
    with pytest.raises(AssertionError):
        split_windows(tokens, window=window, overlap=overlap)


def test_rows_of_another_length_than_the_window_are_refused() -> None:
    with pytest.raises(AssertionError, match="a row for each token"):
        merge_windows(split_windows(5, window=8, overlap=0), [np.zeros((7, 2), dtype=np.float32)])


@pytest.mark.parametrize(
    ("text", "pieces", "starts"),
    [
        ("Angela Merkel", [(0, 3), (3, 6), (7, 10), (10, 13)], [1, 0, 1, 0]),
        ("Angela Merkel", [(0, 6), (6, 13)], [1, 1]),  # the space belongs to the second token
        ("INV-20931", [(0, 3), (3, 4), (4, 6), (6, 9)], [1, 1, 1, 0]),
        ("€1,200", [(0, 1), (1, 2), (2, 3), (3, 6)], [1, 1, 0, 0]),
        ("cafe\u0301s", [(0, 4), (4, 5), (5, 6)], [1, 0, 0]),
        ("東京タワー", [(0, 1), (1, 2), (2, 4), (4, 5)], [1, 1, 1, 1]),
        ("김철수는", [(0, 3), (3, 4)], [1, 1]),
        ("สมชาย", [(0, 3), (3, 5)], [1, 1]),
        ("😀x", [(0, 1), (0, 1), (0, 1), (1, 2)], [1, 0, 0, 1]),  # byte pieces of one character
        ("ab", [(0, 0), (0, 1), (1, 2), (2, 2)], [1, 1, 0, 1]),
        ("Co\u0301rdo", [(0, 2), (3, 5)], [1, 0]),  # the tokenizer has nothing for the accent
        ("Zoe\u0301\u0327 e", [(0, 3), (6, 7)], [1, 1]),
        ("ดีที่", [(0, 1), (1, 2), (2, 4), (4, 5)], [1, 0, 1, 0]),
        ("علی\u200cرضا", [(0, 3), (3, 4), (4, 7)], [1, 0, 0]),
        ("Mül\u00adler", [(0, 3), (4, 7)], [1, 0]),
        ("a\u200bb", [(0, 1), (1, 2), (2, 3)], [1, 1, 1]),
        ("☎\ufe0f030", [(0, 1), (1, 2), (2, 5)], [1, 0, 1]),
        ("a \u200eb", [(0, 1), (1, 3), (3, 4)], [1, 1, 1]),
        ("\u0301a", [(0, 1), (1, 2)], [1, 1]),
    ],
)
def test_words_are_runs_of_letters_digits_and_marks(
    text: str, pieces: list[tuple[int, int]], starts: list[int]
) -> None:
    assert word_starts(text, np.array(pieces, dtype=np.int32)).astype(int).tolist() == starts


def test_code_points_count_characters_even_broken_ones() -> None:
    assert code_points("a€😀\ud800").tolist() == [0x61, 0x20AC, 0x1F600, 0xD800]


def test_a_number_is_one_word_with_the_marks_between_its_digits() -> None:
    text = "pay 10,686.25, or 5 by 1.a"
    pieces = ["pay", "10", ",", "686", ".", "25", ",", "or", "5", "by", "1", ".", "a"]
    starts: list[int] = []
    for piece in pieces:
        starts.append(text.index(piece, starts[-1] if starts else 0))
    offsets = np.array([(start, start + len(piece)) for start, piece in zip(starts, pieces, strict=True)], np.int32)
    words = [piece for piece, begins in zip(pieces, word_starts(text, offsets), strict=True) if begins]
    assert words == ["pay", "10", ",", "or", "5", "by", "1", ".", "a"]


def test_an_emoji_is_one_code_point_two_utf16_units_and_four_bytes() -> None:
    text = "a😀é!"
    assert [OffsetMap(text, OffsetUnit.CODEPOINT)[i] for i in range(5)] == [0, 1, 2, 3, 4]
    assert [OffsetMap(text, OffsetUnit.UTF16)[i] for i in range(5)] == [0, 1, 3, 4, 5]
    assert [OffsetMap(text, OffsetUnit.BYTE)[i] for i in range(5)] == [0, 1, 5, 7, 8]


@given(st.text(st.characters(exclude_categories=["Cs"])), st.data())
def test_offsets_slice_the_encoded_text(text: str, data: st.DataObject) -> None:
    end = data.draw(st.integers(0, len(text)))
    start = data.draw(st.integers(0, end))
    utf16, utf8 = OffsetMap(text, OffsetUnit.UTF16), OffsetMap(text, OffsetUnit.BYTE)
    assert text.encode("utf-16-le")[2 * utf16[start] : 2 * utf16[end]].decode("utf-16-le") == text[start:end]
    assert text.encode()[utf8[start] : utf8[end]].decode() == text[start:end]


MARKED = st.text("aeĄữ가ᄒ\u1161\u11abか\u3099\u0301\u0323\u0344\u0958\u093c\u05e9\u05c1\u05b8\u212b. \n", max_size=30)


@given(MARKED)
@example("e\u0301a\u0334")
def test_characters_of_a_composed_text_are_placed_in_the_one_written(text: str) -> None:
    composed = compose(text)
    assert composed.text == unicodedata.normalize("NFC", text)
    singles = np.stack([np.arange(len(composed.text)), np.arange(len(composed.text)) + 1], axis=1).astype(np.int32)
    for character, (start, end) in zip(composed.text, composed.written(singles).tolist(), strict=True):
        assert character in unicodedata.normalize("NFC", text[start:end])
    whole = composed.written(np.array([[0, len(composed.text)]], dtype=np.int32))
    assert whole.tolist() == [[0, len(text)]]
    if composed.places is not None:
        assert composed.read(whole).tolist() == [[0, len(composed.text)]]
        for span in singles.tolist():
            (start, end), *_ = composed.read(composed.written(np.array([span], dtype=np.int32))).tolist()
            assert start <= span[0] < span[1] <= end


@pytest.mark.parametrize(
    ("text", "composed"),
    [
        ("e\u0301" + "a" + "\u0301\u0334" * 50_000, "é" + "a" + "\u0301\u0334" * 50_000),
        ("\u212b" + "\u0301\u0334" * 50_000, "Å" + "\u0301\u0334" * 50_000),
        ("ᄒ" + "\u1161\u11ab" * 50_000, "ᄒ" + "\u1161\u11ab" * 50_000),
        ("Zoë\u0334", "Zoë\u0334"),
        ("a" + "\u0323\u0301" * 31, unicodedata.normalize("NFC", "a" + "\u0323\u0301" * 31)),
    ],
)
def test_a_run_of_marks_longer_than_any_word_has_stays_as_it_is(text: str, composed: str) -> None:
    assert compose(text).text == composed


def test_a_place_behind_a_composed_text_is_the_end_of_what_was_written() -> None:
    assert compose("Zoe\u0308").written(np.array([[0, 3], [2, 4]], dtype=np.int32)).tolist() == [[0, 4], [2, 4]]


def test_a_composed_text_is_read_as_it_is() -> None:
    offsets = np.array([[0, 3]], dtype=np.int32)
    assert compose("Zoë").written(offsets) is offsets
