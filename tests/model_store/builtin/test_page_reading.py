"""What the generator makes of a page is what the service reads from it."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from math import prod
from random import Random

import numpy as np
import pytest
from reportlab.pdfgen.canvas import Canvas

from model_store.builtin.training.pages.documents import KINDS, drawn
from model_store.builtin.training.pages.grammar import Axes, Template
from model_store.builtin.training.pages.lexicon import lexicons
from model_store.builtin.training.pages.reading import POINTS_A_CHARACTER, POINTS_A_LINE, placed, transcribed
from model_store.builtin.training.pages.sheet import Fragment, Piece, grid, lines, mirrored, row, side_by_side, stack
from service.documents.document import Document
from service.documents.limits import DocumentLimits
from service.documents.pdf.reader import read_pdf
from service.documents.words import words_between_spaces
from service.evaluation.labelled_documents import LabelledSpan

LATIN = ("en", "de")
MARGIN = 36.0
POINTS_NEAR = 3.5


def page_pdf(fragments: Sequence[Fragment]) -> bytes:
    """A PDF of one page, large enough, with each fragment drawn at its place in Courier at 10 points.

    Raises:
        UnicodeEncodeError: text outside of Windows-1252, which the font lacks.
    """
    width = 2 * MARGIN + POINTS_A_CHARACTER * max(f.x + f.width for f in fragments)
    height = 2 * MARGIN + POINTS_A_LINE * (1 + max(f.y for f in fragments))
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(width, height), invariant=1)
    canvas.setFont("Courier", 10)
    for fragment in fragments:
        fragment.text.encode("cp1252")
        left, down = MARGIN + POINTS_A_CHARACTER * fragment.x, MARGIN + POINTS_A_LINE * (fragment.y + 1)
        canvas.drawString(left, height - down, fragment.text)
    canvas.showPage()
    canvas.save()
    return file.getvalue()


def read_back(fragments: tuple[Fragment, ...]) -> Document:
    return read_pdf(page_pdf(fragments), limits=DocumentLimits())


def assert_boxes_alike(one: Document, other: Document) -> None:
    """Words stand in the same places, to a few points; marks alone may be higher or lower."""
    words, others = words_between_spaces(one), words_between_spaces(other)
    assert words is not None
    assert others is not None
    assert np.array_equal(words.ranges, others.ranges)
    has_letters = [any(map(str.isalnum, one.text[start:end])) for start, end in words.ranges.tolist()]
    assert float(np.abs(words.boxes - others.boxes)[has_letters].max()) < POINTS_NEAR


def is_drawable(fragments: tuple[Fragment, ...]) -> bool:
    try:
        "".join(fragment.text for fragment in fragments).encode("cp1252")
    except UnicodeEncodeError:
        return False
    return True


def some_templates(kind: str, axes: Axes, count: int) -> Iterator[Template]:
    """Different templates, the same ones each time."""
    for number in Random(kind).sample(range(prod(map(len, axes.values()))), count):
        options: dict[str, str] = {}
        for axis, choices in axes.items():
            number, chosen = divmod(number, len(choices))
            options[axis] = choices[chosen]
        yield Template(kind, options)


@pytest.mark.parametrize("kind", KINDS)
def test_a_drawn_page_is_read_as_the_generator_says(kind: str) -> None:
    compared = 0
    for number, template in enumerate(some_templates(kind, KINDS[kind].axes, 14)):
        rng = Random(f"{kind}/{number}")
        fragments = drawn(rng, rng.choice(lexicons(rng.choice(LATIN))), template).fragments
        if is_drawable(fragments):
            document, read = read_back(fragments), transcribed(fragments)
            assert document.text == read.text, template.signature
            assert_boxes_alike(document, placed(read, (MARGIN, MARGIN), is_sheet=False, is_inked=True))
            compared += 1
    assert compared >= 10


def test_columns_are_read_one_by_one_and_addresses_are_whole() -> None:
    left = lines([row(Piece("Acme GmbH", "SUPPLIER_NAME")), row(Piece("Am Markt 5\n10115 Berlin", "ADDRESS"))])
    right = lines([row(Piece("Maria Gruber", "RECEIVER_NAME")), row(Piece("Ring 3\n50667 Köln", "ADDRESS"))])
    text, spans, _ = transcribed(side_by_side(left, right, gap=10).fragments)
    assert text == "Acme GmbH\nAm Markt 5\n10115 Berlin\nMaria Gruber\nRing 3\n50667 Köln"
    assert [text[start:end] for start, end, label, _ in spans if label == "ADDRESS"] == [
        "Am Markt 5\n10115 Berlin",
        "Ring 3\n50667 Köln",
    ]


def test_an_entity_that_another_cell_interrupts_has_a_span_for_each_part() -> None:
    cells = [[row(Piece("Ergonomic office\nchair", "LINE_ITEM")), row(Piece("99.00", "MONEY"))]]
    text, spans, _ = transcribed(grid(cells, gap=6).fragments)
    assert text == "Ergonomic office\t99.00\nchair"
    assert [text[start:end] for start, end, _, _ in spans] == ["Ergonomic office", "99.00", "chair"]


def test_equal_names_one_below_the_other_stay_two_entities() -> None:
    name = lines([row(Piece("Acme GmbH", "SUPPLIER_NAME"))])
    assert transcribed(stack(name, lines([row(Piece("Acme GmbH", "SUPPLIER_NAME"))])).fragments)[1] == (
        LabelledSpan(0, 9, "SUPPLIER_NAME"),
        LabelledSpan(10, 19, "SUPPLIER_NAME"),
    )


def test_the_columns_of_an_arabic_row_are_read_from_right_to_left() -> None:
    item = Piece("ورق طباعة", "LINE_ITEM")
    text, spans, _ = transcribed(mirrored(grid([[row(item), row("172.00"), row("516.00")]]), 60).fragments)
    assert text == "ورق طباعة\t172.00\t516.00"
    assert spans == (LabelledSpan(0, 9, "LINE_ITEM"),)
