"""Offsets count what the caller counts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.core.decoding.offsets import OffsetMap, OffsetUnit


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
