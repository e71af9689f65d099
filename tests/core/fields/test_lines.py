"""Lines by offset, what stands before an offset, and what stands above."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.fields.cells import Cell, Span
from service.core.fields.lines import TextLines, cells_above, has_sum, is_one_of_several, key_above, key_of

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
    assert lines.line(TEXT.index("and")) == lines.around(TEXT.index("and")) == "two and more"
    assert len(TextLines("x" * 1_000).around(500)) == 480
    assert (lines.count, lines.text) == (4, TEXT)
    assert list(lines.first(6)) == [(0, "one"), (4, "tw")]
    assert list(lines.first(40)) == [(0, "one"), (4, "two and more"), (17, ""), (18, "four")]
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
        ("Total of 18.09.2019 9.00", "9.00", "Total of 18.09.2019 "),
        ("Total\n9.00", "9.00", "Total"),
        ("Date\tDue date\n1.1.2026\t2.2.2026", "1.1.2026", "Date"),
        ("Date  Number\nBill of 1.1.2026", "1.1.2026", "Bill of "),
        ("Date  Number  Total\n1.1.2026  5", "1.1.2026", "Date"),
        ("Date\tNumber\tTotal\n1.1.2026\t5", "1.1.2026", ""),
        ("Rounding 0.01\n9.00", "9.00", ""),
        ("Rule 2\n9.00", "9.00", ""),
        ("Total\n3  9.00", "9.00", ""),
        ("9.00", "9.00", ""),
        ("x" * 300 + "\n9.00", "9.00", ""),
        ("Total\n9.00" + "x" * 300, "9.00", ""),
        ("Net\tVAT 25 %\tTo pay SEK\n12.00\t3.00\t15.00", "12.00", "Net"),
        ("Net\tVAT 25 %\tTo pay SEK\n12.00\t3.00\t15.00", "3.00", "VAT 25 %"),
        ("Net\tVAT 25 %\tTo pay SEK\n12.00\t3.00\t15.00", "15.00", "To pay SEK"),
        ("Net\tTo pay\n12.00\tEUR 16.00", "EUR 16.00", "To pay"),
        ("VAT\tTotal\namount\tamount\n3.00\t16.00", "3.00", "VAT amount"),
        ("VAT of the foreign country\tTotal\namount in euros\tamount\n3.00\t16.00", "3.00", "amount in euros"),
        ("Rate\tNet\tVAT\nA 19%\t7.00\t1.33", "1.33", "VAT"),
        ("Net\tVAT\n7.00\t1.33\n8.00\t0.56", "1.33", ""),
        ("Net\tVAT\n7.00\t1.33\nThank you\tagain", "1.33", "VAT"),
        ("Net\tVAT\nMount 2\t1.33", "1.33", "Mount 2\t"),
        ("Net\tVAT\nMount 2.00\t1.33", "1.33", ""),
        ("Net 5\tVAT\n7.00\t1.33", "1.33", ""),
        ("Net\tVAT\n7.00\tpaid 1.33", "1.33", "\tpaid "),
    ],
)
def test_a_key_stands_before_its_value_or_above(text: str, value: str, key: str) -> None:
    assert key_of(TextLines(text), text.index(value)) == key


@pytest.mark.parametrize(
    ("text", "is_sum"),
    [
        ("Total 10.50.", True),
        ("Total ....1.234.567,00", True),
        ("12,34,567.00", True),
        ("18.09.2019  10,50", True),
        ("Rechnung Nr. 5 vom 18.09.2019", False),
        ("1.9.19", False),
        ("VAT 19.00 %", False),
        ("Invoice 5", False),
    ],
)
def test_a_sum_has_decimals_and_is_no_day_and_no_rate(text: str, *, is_sum: bool) -> None:
    assert has_sum(text) is is_sum


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
    text = "Date\n" + "1.1.2026  " * 40
    lines = TextLines(text)
    assert key_above(lines, text.rindex("1.1.2026")) == ""
    assert lines.row(1).cells == ()


def by_characters(spans: Sequence[Span]) -> list[tuple[float, float]]:
    """Places of a text of one line height in which a character is 6 points wide, from the line's beginning."""
    return [(6.0 * (start % 100), 6.0 * (end % 100)) for start, end in spans]


def test_a_caption_over_several_cells_is_divided_by_its_words() -> None:
    text = "Invoice no Invoice date\tDue".ljust(99) + "\n" + "4711-2026".ljust(11) + "\t1.1.2026    \t2.2.2026"
    lines = TextLines(text, by_characters)
    assert key_above(lines, text.index("4711-2026")) == "Invoice no"
    assert key_above(lines, text.index("1.1.2026")) == "Invoice date"
    assert key_above(lines, text.index("2.2.2026")) == "Due"


def test_a_caption_may_stand_two_lines_above_where_others_go_on() -> None:
    text = "No    \tDate  \tOrder".ljust(99) + "\n" + "of doc\tof doc".ljust(99) + "\n" + "17    \t1.1.26\tA-5"
    lines = TextLines(text, by_characters)
    assert [key_above(lines, text.index(value)) for value in ("17", "1.1.26", "A-5")] == [
        *("No of doc", "Date of doc", "Order"),
    ]


def test_the_place_of_a_lone_value_decides_between_captions() -> None:
    text = "Clerk    \tP.O. number\tTerms".ljust(99) + "\n" + " " * 12 + "PO-3333"
    assert key_above(TextLines(text, by_characters), text.index("PO-3333")) == "P.O. number"
    assert key_above(TextLines(text), text.index("PO-3333")) == ""


def test_parts_of_cells_have_places_in_the_unit_of_their_line() -> None:
    text = "Total  9.00\nTotal\t9.00"
    assert TextLines(text).part(0, 8, 9) == Cell(8, 9, 8, 9)
    assert TextLines(text).part(1, 19, 20) == Cell(19, 20, 1, 2)
    assert TextLines(text, by_characters).part(0, 8, 9) == Cell(8, 9, 48, 54)


def test_cells_above_are_the_nearest_ones_of_each_line() -> None:
    text = "Seller\tBuyer\n\nName\nFinch Ltd\tWren Ltd"
    assert list(cells_above(TextLines(text), text.index("Wren"), 4)) == ["Name", "", "Buyer"]
    assert list(cells_above(TextLines(text), text.index("\tWren"), 1)) == [""]


@pytest.mark.parametrize(
    ("left", "found"),
    [(300.0, ["", "", "", "Seller", "Papers"]), (60.0, ["4 Quay", "Finch Ltd", "Buyer"])],
)
def test_cells_of_another_block_beside_the_line_are_none_above_it(left: float, found: list[str]) -> None:
    """The reader puts the left block's lines between the two captions and the right block."""
    text = "Papers\nSeller\nBuyer\nFinch Ltd\n4 Quay\nAcme Ltd"
    lefts = {"Papers": left, "Seller": left, "Acme Ltd": left}

    def extents(spans: Sequence[Span]) -> list[tuple[float, float]]:
        return [(at := lefts.get(text[start:end], 60.0), at + 40.0) for start, end in spans]

    assert list(cells_above(TextLines(text, extents), text.index("Acme"), 3))[: len(found)] == found


def test_the_beginning_of_a_text_has_its_lines_alone() -> None:
    lines = TextLines("Total\n12.00")
    assert lines.beginning(100) is lines
    assert lines.beginning(5).text == "Total"


def test_what_is_found_in_lines_is_found_once() -> None:
    calls: list[TextLines] = []

    def find(lines: TextLines) -> int:
        calls.append(lines)
        return len(calls)

    lines = TextLines("Total")
    assert (lines.once(find), lines.once(find)) == (1, 1)
    assert calls == [lines]
