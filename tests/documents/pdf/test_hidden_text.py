"""Hidden text of scans: what looks like text in any script, what does not, and where that counts."""

from __future__ import annotations

from typing import Any

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader

from service.documents.limits import DocumentLimits
from service.documents.pdf.hidden_text import agree, looks_like_text
from service.documents.pdf.reader import read_pdf
from tests.support.document_files import drawn

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
        (3, GARBAGE, False, ()),
    ],
)
def test_a_page_of_hidden_garbage_is_unread(
    mode: int, text: str, unread: tuple[int, ...], *, has_picture: bool
) -> None:
    def draw(canvas: Any) -> None:
        if has_picture:
            canvas.drawImage(ImageReader(Image.new("L", (60, 80), 250)), 0, 0, 600, 800)
        layer = canvas.beginText(48, 520)
        layer.setTextRenderMode(mode)
        layer.textLine(text)
        canvas.drawText(layer)

    assert read_pdf(drawn(draw), limits=DocumentLimits()).incomplete_pages == unread


def test_hidden_text_agrees_with_the_picture_by_most_of_its_words() -> None:
    assert agree(["Invoice", "No", "17"], ["INVOICE", "17", "Total"])
    assert not agree(["lnvo1ce", "N0", "17"], ["INVOICE", "17", "Total"])
    assert not agree([], ["Invoice"])
