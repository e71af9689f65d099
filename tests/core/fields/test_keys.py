"""The key of a value: on its line, or in the cell above."""

from __future__ import annotations

import pytest

from service.core.fields.keys import is_one_of_several, key_above, key_of
from service.core.fields.lines import TextLines


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
