from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from service.core.errors import UnreadableDocument
from service.documents.document import UnreadReason
from service.documents.limits import DocumentLimits
from service.documents.pdf.reader import read_pdf
from tests.support.document_files import drawn
from tests.support.odd_pdfs import new_pdf, odd_pdf, saved

OLD, NEW = (f"BT /F1 10 Tf 72 700 Td (GBP {amount}) Tj ET" for amount in ("300.00", "400.00"))
STRIKE = "1 w 72 703 m 129 703 l S"


def struck(
    text: str = "GBP 300.00",
    *,
    size: float = 10,
    height: float = 0.3,
    thickness: float = 0.06,
    beyond: float = 0,
    colour: tuple[float, float, float] = (0, 0, 0),
    font: str = "Helvetica",
    is_filled: bool = False,
) -> Callable[[Any], None]:
    """Draw a text with a line over it (heights and thickness in font sizes, above the base line), and another text."""

    def draw(canvas: Any) -> None:
        canvas.setFont(font, size)
        canvas.drawString(72, 700, text)
        wide = canvas.stringWidth(text, font, size)
        canvas.drawString(72 + wide + size, 700, "kept")
        canvas.setStrokeColorRGB(*colour)
        canvas.setFillColorRGB(*colour)
        canvas.setLineWidth(thickness * size)
        if is_filled:
            bottom = 700 + (height - thickness / 2) * size
            canvas.rect(72 - beyond, bottom, wide + 2 * beyond, thickness * size, stroke=0, fill=1)
        else:
            canvas.line(72 - beyond, 700 + height * size, 72 + wide + beyond, 700 + height * size)

    return draw


def text_of(draw: Callable[[Any], None]) -> str:
    return read_pdf(drawn(draw), limits=DocumentLimits()).text


@pytest.mark.parametrize(
    "draw",
    [
        struck(),
        struck(height=0.22),
        struck(height=0.37),
        struck(is_filled=True),
        struck(colour=(1, 0, 0)),
        struck(size=40),
        struck(size=6),
        struck(beyond=3),
        struck(thickness=0.15),
        struck("12"),
        struck("gypsum, page 9"),
        struck("Lieferung am 3. Mai", font="Times-Roman"),
    ],
)
def test_text_with_a_line_through_its_middle_is_struck_out(draw: Callable[[Any], None]) -> None:
    assert text_of(draw) == "kept"


@pytest.mark.parametrize(
    "draw",
    [
        struck(height=-0.1),
        struck(height=0),
        struck(height=0.8),
        struck("jggpqy", height=-0.1),
        struck(beyond=60),
        struck(colour=(1, 1, 1)),
        struck(thickness=0.4),
        struck("-------", height=0.25),
        struck("......", height=0.05),
    ],
)
def test_underlines_rules_and_bars_strike_nothing_out(draw: Callable[[Any], None]) -> None:
    assert text_of(draw).endswith(" kept")


@pytest.mark.parametrize(
    "content",
    [
        f"{OLD} {STRIKE} 1 g 70 692 200 20 re f 0 g {NEW}",
        f"{OLD} {STRIKE} 0.2 0.3 0.6 rg 70 692 200 20 re f 1 g {NEW}",
        f"{STRIKE} 0.9 1 0.9 rg 70 692 200 20 re f 0 g {NEW}",
        f"{NEW} q 300 100 9 9 re W n {STRIKE} Q",
        f"{NEW} q 70 600 200 50 re W n 70 692 200 20 re W n {STRIKE} Q",
    ],
)
@pytest.mark.parametrize("turn", [0, 180])
def test_a_line_that_nobody_sees_strikes_nothing_out(content: str, turn: int) -> None:
    pdf = new_pdf(content.encode())
    pdf.pages[0].obj["/Rotate"] = turn
    assert read_pdf(saved(pdf), limits=DocumentLimits()).text == "GBP 400.00"


@pytest.mark.parametrize("clip", ["70 692 200 20", "72 702 60 2", "72 702.5 58 1"])
def test_a_line_within_its_clip_strikes_out(clip: str) -> None:
    data = odd_pdf(f"{OLD} q {clip} re W n {STRIKE} Q {NEW.replace('700', '600')}".encode())
    assert read_pdf(data, limits=DocumentLimits()).text == "GBP 400.00"


def test_a_line_drawn_for_each_word_is_one() -> None:
    def draw(canvas: Any) -> None:
        canvas.setFont("Courier", 10)
        canvas.drawString(72, 700, "a 300 b")
        for place in range(3):
            canvas.line(84 + 6 * place, 703, 90 + 6 * place, 703)

    assert text_of(draw).split() == ["a", "b"]


def test_a_file_of_nothing_but_struck_out_text_says_so() -> None:
    with pytest.raises(UnreadableDocument, match="9 characters are struck out"):
        read_pdf(odd_pdf(f"{OLD} {STRIKE}".encode()), limits=DocumentLimits())


def test_struck_out_text_is_said_with_its_place() -> None:
    (part,) = read_pdf(drawn(struck()), limits=DocumentLimits()).partly_read
    assert (part.page, part.reason) == (1, UnreadReason.STRUCK)
    assert part.characters >= 3
    assert part.boxes
