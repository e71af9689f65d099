"""Scans: hidden text that looks like text in any script, and writing in the picture beside recognized words."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader

from service.documents.limits import DocumentLimits
from service.documents.pdf.hidden_text import agree, looks_like_text
from service.documents.pdf.reader import read_pdf
from service.documents.pdf.written_cells import has_shades, writing_beside
from tests.support.document_files import PAGE_HEIGHT, PAGE_WIDTH, drawn
from tests.support.drawn_sheets import noise, sheet
from tests.support.scans import scanned, with_note, written

GARBAGE = "l nv0 ice N0 ### rn|l1 ~~ c0ns II|/ _l1 i. i. 'l l j ; |f t1 1l"


@pytest.mark.parametrize(
    "text",
    [
        "Nordlicht Optik GmbH Invoice No: RE-2026-118 Date: 12 March 2026 Total 1,240.50 (incl. 19% VAT)",
        "INVOICE NO. 4711 / AMOUNT DUE: $99.00 – O'Brien & Sons, 14–16 High Street, A4 5B",
        "DE89370400440532013000 COBADEFFXXX RE-2026-118 (040) 12345-67 1.240,50 € USt-IdNr. DE136695976",
        "Счёт № 17 от 12 марта 2026 г. Всего к оплате 1240,50 руб.",
        "請求書 番号 第12号 合計 金額 ¥1,240 円",
        "फ़ैक्टरी का पता और कुल राशि नीचे दी गई है",
        "Ελληνικά Τιμολόγιο αριθμός 12 ημερομηνία",
        "l n 0 #",
    ],
)
def test_text_of_any_script_looks_like_text(text: str) -> None:
    assert looks_like_text(text.split())


@pytest.mark.parametrize(
    "text", [GARBAGE, "Nqrd1iChl 0pt!k 6mbH |n\\/0!ce ^^ {8 }}", "i l I t f j r l i I t", "~~ ## __ || \\\\ ^^ total"]
)
def test_strokes_taken_for_letters_do_not(text: str) -> None:
    assert not looks_like_text(text.split())


@pytest.mark.parametrize(
    ("mode", "text", "has_picture", "unread"),
    [
        (3, GARBAGE, True, (1,)),
        (3, "A scan of which another program read the text", True, ()),
        (0, GARBAGE, True, ()),
        (0, GARBAGE, False, ()),
    ],
)
def test_a_page_of_hidden_garbage_is_unread(
    mode: int, text: str, unread: tuple[int, ...], *, has_picture: bool
) -> None:
    def draw(canvas: Any) -> None:
        if has_picture:
            canvas.drawImage(ImageReader(written([(48, 520, text)])), 0, 0, PAGE_WIDTH, PAGE_HEIGHT)
        layer = canvas.beginText(48, 520)
        layer.setTextRenderMode(mode)
        layer.textLine(text)
        canvas.drawText(layer)

    assert read_pdf(drawn(draw), limits=DocumentLimits()).incomplete_pages == unread


def test_hidden_text_agrees_with_the_picture_by_most_of_its_words() -> None:
    assert agree(["Invoice", "No", "17"], ["INVOICE", "17", "Total"])
    assert not agree(["lnvo1ce", "N0", "17"], ["INVOICE", "17", "Total"])
    assert not agree([], ["Invoice"])


SIZE = (360.0, 252.0)
WORDS = np.array(list(sheet().boxes.values()), np.float32) * 0.36
BLANK = Image.new("L", (1000, 700), 255)


def dithered(picture: Image.Image) -> npt.NDArray[np.uint8]:
    """As a fax has a sheet on gray paper."""
    gray = Image.fromarray((np.asarray(picture).astype(np.uint16) * 240 // 255).astype(np.uint8))
    return np.asarray(gray.resize((2000, 1400)).convert("1").convert("L"))


@pytest.mark.parametrize("picture", [with_note(), scanned(with_note(), light=1)])
def test_writing_that_no_box_covers_is_found(picture: Image.Image) -> None:
    ((left, top, right, bottom),) = writing_beside(np.asarray(picture), SIZE, WORDS)
    assert (left <= 108, right >= 290, 160 < top < 190, bottom > 225) == (True,) * 4


@pytest.mark.parametrize("gray", [np.asarray(scanned(sheet().picture)), dithered(sheet().picture), dithered(BLANK)])
def test_a_sheet_whose_words_are_covered_has_none_beside(gray: npt.NDArray[np.uint8]) -> None:
    assert writing_beside(gray, SIZE, WORDS) == ()


def test_paper_print_and_bars_have_no_shades_but_noise_has() -> None:
    bars = sheet().gray.copy()
    bars[100:200, 50:900] = 0
    pictures = (np.asarray(scanned(BLANK)), sheet().gray, bars, np.asarray(noise((1000, 700), 60)))
    assert [has_shades(gray, SIZE) for gray in pictures] == [False, False, False, True]
