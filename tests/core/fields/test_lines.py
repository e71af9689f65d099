"""Lines by offset, what stands before an offset, and what stands above."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.fields.lines import TextLines, is_one_of_several, key_above, key_of

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


@pytest.mark.parametrize(
    ("text", "value", "key"),
    [
        ("Total: 9.00", "9.00", "Total: "),
        ("Tax 1.00  Total: 9.00", "9.00", "  Total: "),
        ("Tax 7,00 % 9.00", "9.00", "Tax 7,00 % "),
        ("Total\n9.00", "9.00", "Total"),
        ("Date\tDue date\n1.1.2026\t2.2.2026", "1.1.2026", "Date"),
        ("Date  Number\nBill of 1.1.2026", "1.1.2026", "Bill of "),
        ("Date  Number  Total\n1.1.2026  5", "1.1.2026", ""),
        ("Rounding 0.01\n9.00", "9.00", ""),
        ("Rule 2\n9.00", "9.00", ""),
        ("Total\n3  9.00", "9.00", ""),
        ("9.00", "9.00", ""),
        ("x" * 200 + "\n9.00", "9.00", ""),
        ("Total\n9.00" + "x" * 200, "9.00", ""),
    ],
)
def test_a_key_stands_before_its_value_or_above(text: str, value: str, key: str) -> None:
    assert key_of(TextLines(text), text.index(value)) == key


@pytest.mark.parametrize(
    ("text", "several"),
    [("9.00 1.00", True), ("9.00 RM 1.00", True), ("9.00 -1,00", True), ("9.00 SR", False), ("9.00 6.00%", False),
     ("9.00 Tax 1.00", False), ("9.00\n1.00", False)],
)  # fmt: skip
def test_amounts_in_a_row_are_several(text: str, several: bool) -> None:
    assert is_one_of_several(TextLines(text), len("9.00")) is several


@pytest.mark.parametrize(
    ("value", "above"), [("1.1.2026", "Date"), ("2.2.2026", "Due date"), ("of", "Total"), ("3.3.2026", "")]
)
def test_the_cell_above_is_that_of_a_cell_which_a_value_begins(value: str, above: str) -> None:
    text = "Date\tDue date  Total\n1.1.2026\t2.2.2026  of 3.3.2026"
    assert key_above(TextLines(text), text.index(value)) == above


def test_a_long_line_is_not_copied_for_each_of_its_values() -> None:
    class Lines(TextLines):
        def line(self, offset: int) -> str:
            raise AssertionError("copied")

    text = "Date\n" + "1.1.2026  " * 20
    assert key_above(Lines(text), text.rindex("1.1.2026")) == ""
