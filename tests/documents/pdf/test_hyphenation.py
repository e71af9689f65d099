"""Words that are divided at the ends of lines, and hyphens that stay."""

from __future__ import annotations

import pytest

from service.documents.document import Document
from service.documents.limits import DocumentLimits
from service.documents.pdf.reader import read_pdf
from tests.support import document_files
from tests.support.document_files import column


def read(*lines: str) -> Document:
    return read_pdf(document_files.pdf(column(50, 50, lines)), limits=DocumentLimits())


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["Die Feinmechanik Sonnen-", "schein GmbH liefert"], "Die Feinmechanik Sonnenschein\nGmbH liefert"),
        (["am 15. Septem-", "ber 2025"], "am 15. September\n2025"),
        (["maria.kest-", "ler@beispiel.example"], "maria.kestler@beispiel.example"),
        (["une repré-", "sentation, et com-", "mentaire"], "une représentation,\net commentaire"),
        (["an exam-", "ple that is ex-", "am-", "ple"], "an example\nthat is example"),
        (["Tel. +49 89 1234-", "5678 oder Fax"], "Tel. +49 89 1234-5678\noder Fax"),
        (["Phone (555) 010-", "7788"], "Phone (555) 010-7788"),
        (["call 202-", "5550 if"], "call 202-\n5550 if"),
    ],
)
def test_a_divided_word_is_joined_on_the_first_line(lines: list[str], text: str) -> None:
    assert read(*lines).text == text


@pytest.mark.parametrize(
    "lines",
    [
        ["the well-", "known rule, as well-known as any"],
        ["privacy by a privacy-", "preserving step"],
        ["state-of-the-", "art tools"],
        ["Vor-", "und Nachname"],
        ["a T-", "shirt"],
        ["Schmidt-", "Rottluff"],
        ["info@sonnen-", "schein.example"],
        ["Invoice KP-", "77120"],
        ["Skonto 89,90-", "119,00-"],
        ["1 Papier 89-", "20 Tinte 19-"],
    ],
)
def test_hyphens_of_their_own_stay(lines: list[str]) -> None:
    assert read(*lines).text == "\n".join(lines)


def test_a_document_of_compounds_keeps_its_hyphens() -> None:
    lines = [
        "ever-changing and self-styled",
        "the ever-",
        "changing tide of the blood-",
        "stained, self-",
        "styled lot",
    ]
    assert read(*lines).text == "\n".join(lines)


def test_hyphens_at_the_ends_of_columns_and_cells_stay() -> None:
    page = [(50.0, 50.0, "Preis-"), (200.0, 50.0, "9.00"), (50.0, 62.0, "liste"), (200.0, 62.0, "8.00")]
    assert read_pdf(document_files.pdf(page), limits=DocumentLimits()).text == "Preis-\t9.00\nliste\t8.00"


def test_boxes_pages_and_lines_of_joined_words_are_exact() -> None:
    first = column(50, 50, ["on page one: Sonnen-", "schein GmbH"])
    document = read_pdf(document_files.pdf(first, column(50, 70, ["page two"])), limits=DocumentLimits())
    assert document.text == "on page one: Sonnenschein\nGmbH\n\npage two"
    assert [document.text[page.start : page.end] for page in document.pages or ()] == [
        "on page one: Sonnenschein\nGmbH",
        "page two",
    ]
    start = document.text.index("Sonnenschein")
    parts = [(document.text[a:b], round(box[3])) for a, b, box in document.parts(start, start + 12)]
    assert parts == [("Sonnen", 50), ("schein", 62)]
    start = document.text.index("two")
    [(_, _, _, bottom)] = document.boxes(start, start + 3)
    assert bottom == pytest.approx(70, abs=1)
