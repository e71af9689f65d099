from __future__ import annotations

from typing import Any

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase.pdfmetrics import stringWidth

from service.core.errors import DocumentTooLarge, UnreadableDocument
from service.documents.document import Document
from service.documents.limits import DocumentLimits
from service.documents.pdf.reader import read_pdf
from tests.support import document_files
from tests.support.document_files import column

LEFT_LINES = [f"The left column, line {n}, tells its story" for n in "abcdefgh"]
RIGHT_LINES = [f"and the right one, row {n}, tells another" for n in "abcdefgh"]


def read(data: bytes, limits: DocumentLimits | None = None) -> Document:
    return read_pdf(data, limits=limits or DocumentLimits())


def boxes_of(document: Document, word: str) -> list[tuple[float, float, float, float]]:
    start = document.text.index(word)
    return document.boxes(start, start + len(word))


def test_lines_read_from_top_to_bottom_in_any_drawing_order() -> None:
    assert (
        read(document_files.pdf([(50, 100, "second"), (50, 130, "third"), (50, 70, "first")])).text
        == "first\nsecond\nthird"
    )


@pytest.mark.parametrize("leading", [12, 13])
def test_two_columns_are_read_one_after_the_other(leading: float) -> None:
    page = [(150.0, 50.0, "A title that stands across both of the columns below it")]
    page += column(40, 90, LEFT_LINES) + column(320, 90, RIGHT_LINES, leading)
    assert read(document_files.pdf(page)).text.split("\n")[1:] == LEFT_LINES + RIGHT_LINES


def test_three_columns_are_read_one_after_the_other() -> None:
    sides = [[f"column {c} says {n}" for n in "abcd"] for c in "xyz"]
    page = [placed for index, side in enumerate(sides) for placed in column(40 + 180 * index, 90, side)]
    assert read(document_files.pdf(page)).text.split("\n") == [line for side in sides for line in side]


def test_rows_of_a_table_stay_rows() -> None:
    rows = [("Paper", "10", "4.20"), ("Pencils", "3", "1.05"), ("Ink", "1", "19.90")]
    page = [(x, 100 + 14 * i, cell) for i, row in enumerate(rows) for x, cell in zip((50, 300, 500), row, strict=True)]
    assert read(document_files.pdf(page)).text == "Paper\t10\t4.20\nPencils\t3\t1.05\nInk\t1\t19.90"


@pytest.mark.parametrize(
    ("left", "gap", "right", "between"),
    [
        ("1", 5, "278,61", "\t"),
        ("40.39", 6, "319.00", "\t"),
        ("1", 2.8, "278,61", " "),
        ("1", 5, "278", " "),
        ("EUR", 5, "278,61", " "),
        ("CH9300762011623852957", 5, "01.03.2026", " "),
        ("1", 5, "kg", " "),
    ],
)
def test_numbers_in_near_columns_are_cells(left: str, gap: float, right: str, between: str) -> None:
    place = 300 + stringWidth(left, "Helvetica", 10) + gap
    assert read(document_files.pdf([(300, 100, left), (place, 100, right)])).text == f"{left}{between}{right}"


def test_a_typed_space_in_a_number_is_no_border_of_cells() -> None:
    assert read(document_files.pdf([(300, 100, "1 278,61 319,00")])).text == "1 278,61 319,00"


@pytest.mark.parametrize(
    ("keys", "values"),
    [
        (["Number:", "Date:", "Due:"], ["INV-1", "today", "tomorrow"]),
        (["Net", "Tax", "Total"], ["100.00", "19.00", "119.00"]),
    ],
)
def test_keys_and_values_stay_together_also_when_drawn_column_by_column(keys: list[str], values: list[str]) -> None:
    text = read(document_files.pdf(column(50, 100, keys) + column(300, 100, values))).text
    assert text.split("\n") == [f"{key}\t{value}" for key, value in zip(keys, values, strict=True)]


def test_addresses_side_by_side_are_read_one_after_the_other() -> None:
    ours, theirs = ["Seller Ltd", "1 High Street", "London"], ["Buyer Inc", "2 Low Street", "Leeds"]
    assert read(document_files.pdf(column(50, 100, ours) + column(300, 100, theirs))).text.split("\n") == ours + theirs


def test_a_word_drawn_in_pieces_is_one_word() -> None:
    width = stringWidth("Invo", "Helvetica", 10)
    assert read(
        document_files.pdf([(50, 100, "Invo"), (200, 300, "between"), (50 + width, 100, "ice")])
    ).text.startswith("Invoice")


def test_pages_are_separated_by_an_empty_line_and_cover_the_text() -> None:
    document = read(document_files.pdf([(50, 50, "one")], [(50, 50, "two")], [(50, 50, "three")]))
    assert document.text == "one\n\ntwo\n\nthree"
    assert [document.text[page.start : page.end] for page in document.pages or ()] == ["one", "two", "three"]
    assert document.page_at(document.text.index("two")) == 2


def test_the_box_of_a_word_is_where_it_was_drawn() -> None:
    document = read(document_files.pdf([(72, 144, "Total HEIGHT of it")]))
    before, width = stringWidth("Total ", "Helvetica", 10), stringWidth("HEIGHT", "Helvetica", 10)
    [box] = boxes_of(document, "HEIGHT")
    assert box == pytest.approx((72 + before, 144 - 7.2, 72 + before + width, 144), abs=1)


@pytest.mark.parametrize(
    ("rotation", "expected"),
    [
        (0, lambda left, top, right, bottom: (left, top, right, bottom)),
        (90, lambda left, top, right, bottom: (800 - bottom, left, 800 - top, right)),
        (180, lambda left, top, right, bottom: (600 - right, 800 - bottom, 600 - left, 800 - top)),
        (270, lambda left, top, right, bottom: (top, 600 - right, bottom, 600 - left)),
    ],
)
def test_boxes_of_rotated_pages_are_as_shown(rotation: int, expected: Any) -> None:
    [box] = boxes_of(read(document_files.pdf([(72, 144, "HEIGHT")], rotation=rotation)), "HEIGHT")
    width = stringWidth("HEIGHT", "Helvetica", 10)
    assert box == pytest.approx(expected(72, 144 - 7.2, 72 + width, 144), abs=1)


@pytest.mark.parametrize("angle", [90, 270])
def test_text_rotated_on_the_page_reads_as_lines(angle: int) -> None:
    def draw(canvas: Any) -> None:
        canvas.translate(300, 400)
        canvas.rotate(angle)
        canvas.drawString(0, 0, "First line of it")
        canvas.drawString(0, -14, "Second line of it")

    assert read(document_files.drawn(draw)).text == "First line of it\nSecond line of it"


def test_a_rotated_page_reads_as_shown() -> None:
    page = column(50, 100, ["First line of it", "Second line of it"])
    assert read(document_files.pdf(page, rotation=90)).text == "First line of it\nSecond line of it"


def test_every_inked_character_has_a_box_and_no_other() -> None:
    document = read(document_files.pdf([(50, 50, "one two"), (50, 80, "three")], [(50, 50, "four")]))
    assert document.layout is not None
    has_box = ~(document.layout.boxes != document.layout.boxes).any(axis=1)
    assert has_box.tolist() == [not character.isspace() for character in document.text]
    starts = document.layout.line_starts.tolist()
    assert [document.text[start:].split("\n")[0] for start in starts] == ["one two", "three", "four"]


def test_text_beside_the_page_is_left_out() -> None:
    assert read(document_files.pdf([(50, 50, "on it"), (700, 50, "beside")])).text == "on it"


def test_values_of_form_fields_are_text() -> None:
    def draw(canvas: Any) -> None:
        canvas.drawString(50, 700, "Name:")
        canvas.acroForm.textfield(name="name", value="Ada", x=120, y=690, width=100, height=20)

    assert "Ada" in read(document_files.drawn(draw)).text


def scan(canvas: Any) -> None:
    canvas.drawImage(ImageReader(Image.new("RGB", (20, 20), "grey")), 0, 0, 600, 800)
    canvas.showPage()


def test_a_scan_is_refused_with_the_reason() -> None:
    with pytest.raises(
        UnreadableDocument, match=r"no text layer: its page holds only images.* by OCR alone.*`output=text`"
    ):
        read(document_files.drawn(scan))


def test_an_empty_page_is_refused() -> None:
    with pytest.raises(UnreadableDocument, match="neither characters nor images"):
        read(document_files.pdf([]))


def test_a_scanned_page_among_others_is_empty_and_unread() -> None:
    def draw(canvas: Any) -> None:
        scan(canvas)
        canvas.drawString(50, 700, "typed")
        canvas.showPage()

    document = read(document_files.drawn(draw))
    assert document.page_at(document.text.index("typed")) == 2
    assert document.unread_pages == (1,)


def test_an_encrypted_file_is_unreadable() -> None:
    with pytest.raises(UnreadableDocument, match="password"):
        read(document_files.pdf([(50, 50, "secret")], password="secret"))


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7", b"%PDF-1.7\n" + bytes(500)])
def test_a_damaged_file_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableDocument, match="damaged"):
        read(data)


def test_limits_of_pages_and_characters_hold() -> None:
    data = document_files.pdf(*[[(50, 50, "twelve chars")]] * 3)
    with pytest.raises(DocumentTooLarge, match="3 pages"):
        read(data, DocumentLimits(max_pages=2))
    with pytest.raises(DocumentTooLarge, match="characters"):
        read(data, DocumentLimits(max_characters=20))
