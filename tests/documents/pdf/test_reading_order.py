from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.documents.limits import DocumentLimits
from service.documents.pdf.reader import read_pdf
from service.documents.pdf.reading_order import order_lines
from service.documents.pdf.words import Word
from tests.support.document_files import Placed, column, pdf


def word(left: float, top: float, start: int, width: float = 60) -> Word:
    return Word(left, top, left + width, top + 10, start, start + 1, True, False, False, False)


def starts_of(words: list[Word]) -> list[list[int]]:
    return [[one.start for one in line] for line in order_lines(words)]


def test_sides_written_in_one_go_each_are_columns() -> None:
    words = [word(0, 12 * row, row) for row in range(3)] + [word(200, 12 * row, 3 + row) for row in range(3)]
    assert starts_of(words) == [[0], [1], [2], [3], [4], [5]]


def test_sides_written_row_by_row_are_rows() -> None:
    words = [word(200 * side, 12 * row, 2 * row + side) for row in range(3) for side in range(2)]
    assert starts_of(words) == [[0, 1], [2, 3], [4, 5]]


def test_a_line_across_the_gutter_ends_the_columns() -> None:
    columns = [word(200 * side, 12 * row, 3 * side + row) for side in range(2) for row in range(3)]
    across = [word(0, 36, 6, width=260)]
    assert starts_of(columns + across) == [[0], [1], [2], [3], [4], [5], [6]]


PLACES = st.tuples(st.integers(0, 500), st.integers(0, 700), st.integers(1, 200))


@given(st.lists(PLACES, min_size=1, max_size=60))
def test_every_word_is_read_exactly_once(places: list[tuple[int, int, int]]) -> None:
    words = [word(left, top, index, width) for index, (left, top, width) in enumerate(places)]
    assert sorted(start for line in starts_of(words) for start in line) == list(range(len(words)))


@pytest.mark.timeout(30)
def test_a_page_of_ten_thousand_cells_takes_no_longer_than_its_size_asks() -> None:
    words = [word(20 * (i % 100), 12 * (i // 100), i, width=5) for i in range(10_000)]
    assert len(order_lines(words)) == 100


SELLER = ["Kestrel Paper Ltd", "14 Dock Road", "Hull HU1 2AB", "United Kingdom"]
BUYER = ["Alder Timber GmbH", "Hafenstrasse 9", "20457 Hamburg", "Germany"]
PROSE = [
    "The quick brown fox jumps over the lazy dog and then",
    "it goes on to say more about nothing in particular, as",
    "the end of the column is reached, which takes a while.",
]
NOTE = ["Please pay within 30 days", "to the account below. Goods", "stay ours until paid."]
CONTACT = ["Sales contact", "Jane Doe", "+44 1632 960134"]
KEYS = [("Invoice number:", "INV-77"), ("Invoice date:", "12 May 2025"), ("Due date:", "11 June 2025")]
TOTALS = [("Net", "100.00"), ("VAT 20 %", "20.00"), ("Total", "120.00")]


def pairs(left: float, top: float, rows: list[tuple[str, str]]) -> list[Placed]:
    return [
        (left + 110 * side, top + 12 * row, cell) for row, cells in enumerate(rows) for side, cell in enumerate(cells)
    ]


def read_row_by_row(*blocks: Sequence[Placed]) -> list[str]:
    """The lines of a page whose content goes from left to right across all blocks, then down."""
    placed = sorted((each for block in blocks for each in block), key=lambda each: (each[1], each[0]))
    return read_pdf(pdf(placed), limits=DocumentLimits()).text.split("\n")


def tabbed(rows: list[tuple[str, str]]) -> list[str]:
    return ["\t".join(row) for row in rows]


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        ([column(60, 100, SELLER), column(330, 100, BUYER)], SELLER + BUYER),
        ([column(60, 100, SELLER), column(330, 106, BUYER)], SELLER + BUYER),
        ([column(60, 100, [*SELLER, "Tel. 01632 960134"]), column(330, 103, BUYER, leading=15)],
         [*SELLER, "Tel. 01632 960134", *BUYER]),
        ([column(60, 100, ["Bill to", *SELLER]), column(330, 100, ["Ship to", *BUYER[:3]])],
         ["Bill to", *SELLER, "Ship to", *BUYER[:3]]),
        ([column(60, 100, ["From:", "Ann Lee", "Hull"]), column(330, 100, ["To:", "Max Lee", "Ghent"])],
         ["From:", "Ann Lee", "Hull", "To:", "Max Lee", "Ghent"]),
        ([column(60, 100, SELLER[:3]), pairs(330, 100, KEYS)], SELLER[:3] + tabbed(KEYS)),
        ([pairs(60, 100, KEYS), column(400, 100, CONTACT)], tabbed(KEYS) + CONTACT),
        ([column(60, 100, NOTE), pairs(330, 104, TOTALS)], NOTE + tabbed(TOTALS)),
        ([column(60, 100, PROSE), column(400, 100, CONTACT)], PROSE + CONTACT),
        ([column(60, 100, CONTACT), column(250, 100, PROSE)], CONTACT + PROSE),
    ],
)  # fmt: skip
def test_blocks_side_by_side_are_not_mixed(blocks: list[list[Placed]], expected: list[str]) -> None:
    assert read_row_by_row(*blocks) == expected


def test_totals_drawn_after_the_note_beside_them_are_a_block() -> None:
    text = read_pdf(pdf([*column(60, 100, NOTE), *pairs(330, 100, TOTALS)]), limits=DocumentLimits()).text
    assert text.split("\n") == NOTE + tabbed(TOTALS)


ROWS = [
    [("Name", "Town"), ("Jane Doe", "Hull"), ("Max Muster", "Hamburg"), ("Ann Lee", "Ghent")],
    [("Item", "Price"), ("Paper A4, 80 g", "10.00"), ("Paper A3, 90 g", "20.00"), ("Pens, 7 pieces", "3.50")],
    [("Invoice number", "INV-77"), ("Invoice date", "12 May 2025"), ("Terms of payment", "30 days net")],
    [("Buyer:", "Kestrel Paper Ltd"), ("Street:", "14 Dock Road"), ("Town:", "HU1 2AB Hull")],
    [("Order", ": B123456789"), ("Reference", ": A456123, kind: data sheet")],
    [("A long row that says what the article is made of", "12.50"), ("Another long row that says a lot", "8.00"),
     ("One more of these rows with a lot of words", "9.25")],
    [("Net", "100.00"), ("VAT 20 %", "20.00"), ("Total", "120.00")],
]  # fmt: skip


@pytest.mark.parametrize("rows", ROWS)
def test_the_rows_of_tables_and_forms_stay_rows(rows: list[tuple[str, str]]) -> None:
    cells = [
        (60.0 + 300 * side, 100 + 12 * row, cell) for row, pair in enumerate(rows) for side, cell in enumerate(pair)
    ]
    assert read_row_by_row(cells) == tabbed(rows)


def test_amounts_beside_the_middle_of_two_lines_stay_with_them() -> None:
    items = [("Paper A4, white,", "80 g", "10.00"), ("Paper A3, white,", "90 g", "20.00")]
    cells = [
        cell
        for row, (first, second, amount) in enumerate(items)
        for cell in ((60.0, 100.0 + 24 * row, first), (60, 112 + 24 * row, second), (400, 106 + 24 * row, amount))
    ]
    lines = read_row_by_row(cells)
    assert lines.index("10.00") < lines.index("Paper A3, white,")
