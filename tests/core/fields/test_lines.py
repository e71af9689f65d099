"""Lines by offset, what stands before an offset, and what stands above."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.core.fields.lines import TextLines

TEXT = "one\ntwo and more\n\nfour"


def test_lines_before_and_above() -> None:
    lines = TextLines(TEXT)
    assert [lines.at(TEXT.index(word)) for word in ("one", "two", "more", "four")] == [0, 1, 1, 3]
    assert lines.before(TEXT.index("more"), 40) == "two and "
    assert lines.before(TEXT.index("more"), 4) == "and "
    assert lines.above(TEXT.index("four"), 2, 40) == ["", "two and more"]
    assert lines.above(TEXT.index("four"), 9, 5) == ["", "one"]
    assert lines.above(0, 3, 40) == []
    assert lines.after(TEXT.index("and"), 40) == "and more"
    assert lines.after(TEXT.index("and"), 5) == "and m"
    assert lines.line(TEXT.index("and")) == "two and more"
    assert lines.column(TEXT.index("and")) == 4
    assert [lines.end(number) for number in (0, 3, 9)] == [3, len(TEXT), len(TEXT)]


@given(st.text("ab\n", max_size=30), st.data())
def test_lines_are_those_that_splitting_gives(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    lines = TextLines(text)
    before = text[:offset].split("\n")
    assert lines.at(offset) == len(before) - 1
    assert lines.before(offset, 100) == before[-1]
    assert lines.above(offset, 100, 100) == before[-2::-1]
    assert lines.between(lines.start(lines.at(offset)), offset) == before[-1]
    assert lines.start(text.count("\n") + 1) == len(text)
