"""Characters in the boxes of a form, and rows of single characters that are none."""

from __future__ import annotations

from typing import Any

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth

from service.documents.limits import DocumentLimits
from service.documents.pdf.reader import read_pdf
from tests.support import document_files

IBAN, BIC = "DE89370400440532013000", "COBADEFFXXX"


def boxed(
    canvas: Any, text: str, x: float, y: float, step: float, *, centred: bool = False, frames: bool = True
) -> None:
    for number, character in enumerate(text):
        left = x + step * number
        if frames:
            canvas.rect(left, y - 4, step, 16)
        if character != " ":
            shift = (step - stringWidth(character, "Helvetica", 11)) / 2 if centred else 4
            canvas.drawString(left + shift, y, character)


def read(draw: Any) -> Any:
    def drawn(canvas: Any) -> None:
        canvas.setFont("Helvetica", 11)
        draw(canvas)

    return read_pdf(document_files.drawn(drawn), limits=DocumentLimits())


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("step", [11.5, 14.17, 18, 22])
def test_characters_in_boxes_are_one_word(step: float, centred: bool) -> None:
    def draw(canvas: Any) -> None:
        canvas.drawString(40, 700, "IBAN:")
        boxed(canvas, IBAN, 90, 700, step, centred=centred)

    document = read(draw)
    assert document.text.split() == ["IBAN:", IBAN]
    [(left, _, right, _)] = document.boxes(6, 6 + len(IBAN))
    assert 90 < left < 90 + step
    assert 90 + 21 * step < right < 90 + 22 * step


def test_two_combs_below_each_other_are_two_words() -> None:
    def draw(canvas: Any) -> None:
        boxed(canvas, IBAN, 90, 700, 16)
        boxed(canvas, BIC, 90, 668, 16)

    assert read(draw).text == f"{IBAN}\n{BIC}"


def test_empty_boxes_and_gaps_between_groups_are_spaces() -> None:
    def draw(canvas: Any) -> None:
        boxed(canvas, "LENA HARTWIG", 90, 740, 14)
        for number in range(0, len(IBAN), 4):
            boxed(canvas, IBAN[number : number + 4], 90 + number * 17, 700, 14)

    assert read(draw).text == "LENA HARTWIG\nDE89 3704 0044 0532 0130 00"


@pytest.mark.parametrize(
    "rows",
    [
        ["ABCDEFGHIJ"],
        ["1234567890"],
        ["MTWTFSS"],
        ["xxxxxxxxxx"],
        ["3454435345", "4445344354"],
        ["0110100101", "1101011100", "0011010110"],
    ],
    ids="letters scale weekdays crosses two-rows three-rows".split(),
)
def test_rows_of_single_characters_are_not_glued(rows: list[str]) -> None:
    def draw(canvas: Any) -> None:
        for number, row in enumerate(rows):
            boxed(canvas, row, 90, 700 - 18 * number, 18)

    assert read(draw).text.split() == list("".join(rows))


def test_typed_spaces_and_wide_columns_are_not_glued() -> None:
    def draw(canvas: Any) -> None:
        canvas.setFont("Courier", 11)
        canvas.drawString(60, 700, "1 0 0 4 7 3 2 2 9 5")
        boxed(canvas, "1004732295", 60, 600, 40, frames=False)

    assert read(draw).text.split() == list("1004732295" * 2)
