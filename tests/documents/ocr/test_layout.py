"""Lines of recognized words in their order: papers beside each other one by one, tables and forms by rows."""

from __future__ import annotations

import pytest

from service.documents.limits import DocumentLimits
from service.documents.ocr.reader import recognize_pages
from tests.support.drawn_sheets import networks, sheet


def text_of(data: bytes) -> str:
    return recognize_pages(data, (1,), networks(), limits=DocumentLimits(), is_pdf=False).text


def beside(*columns: tuple[int, str, int]) -> bytes:
    """A picture of texts: left edge, lines that hold cells 300 pixels from each other, and pixels from line to line."""
    texts = [
        ((left + 300 * cell, 40 + pitch * row), text)
        for left, lines, pitch in columns
        for row, line in enumerate(lines.split("|"))
        for cell, text in enumerate(line.split("\t"))
        if text
    ]
    return sheet(tuple(texts), (1200, 460)).file()


MARKET = "ALPINE MARKET|High Street, Salzburg||Milk\t1.49|Cheese\t4.35|Apples\t2.99||TOTAL EUR\t8.83"
CAFE = "CAFE LINDEN|Mill Lane, Graz||Espresso\t2.40|Croissant\t2.10|TOTAL EUR\t4.50"
CARD = "Rosalind Pickering|Head of Sales|Tamar Heating|rosalind@tamar.example"
STORY = "On a cold morning in March the ship left|the harbour and none of the men knew how|long the journey was."
SEQUEL = "The second week brought rain and little|else. Everybody was wet and tired, and|the fire had gone out again."


def lines_of(text: str) -> str:
    return "\n".join(line for line in text.split("|") if line)


@pytest.mark.parametrize(
    ("left", "right", "pitch"), [(MARKET, CAFE, 40), (MARKET, MARKET, 40), (MARKET, CARD, 53), (STORY, SEQUEL, 40)]
)
def test_papers_beside_each_other_are_read_each_by_itself(left: str, right: str, pitch: int) -> None:
    text = text_of(beside((40, left, 40), (620, right, pitch)))
    assert text == f"{lines_of(left)}\n{lines_of(right)}"


@pytest.mark.parametrize(
    "table",
    [
        "Name\tHours\tTask\tCost|Anna\t8.00\tPlan\t640.00|lead|Jo Holm\t6.50\tDraft\t520.00|Mia\t7.00\tVisit\t5.00",
        "Name: Anna Berg\t\tPhone: 512 555 018|Street: Hofgasse\t\tMobile: 664 555 771|Town: Innsbruck\t\tFax: 512 4",
        "Tenant\t\tAnna Berg|Landlord\t\tHaus und Grund eG|Begin\t\tFirst of April|Deposit\t\tEUR 2,400.00",
    ],
)
def test_the_rows_of_a_wide_table_or_form_stay_whole(table: str) -> None:
    text = text_of(beside((40, table, 40)))
    assert text == lines_of(table).replace("\t\t", "\t")
