"""A page of fragments as a real PDF file, in type of equal width; and as the words that the service lays out."""

from __future__ import annotations

import io
from collections.abc import Sequence

from reportlab.pdfgen.canvas import Canvas

from model_store.builtin.training.pages.reading import (
    POINTS_A_CHARACTER,
    POINTS_A_LINE,
    POINTS_HIGH,
    is_rtl,
    shown_order,
)
from model_store.builtin.training.pages.sheet import Fragment, width_of
from service.documents.pdf.words import Word

MARGIN = 36.0


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


def page_words(fragments: Sequence[Fragment]) -> tuple[list[Word], str]:
    """The page's words and the text that their [start, end) refer to; for scripts that Courier lacks.

    Words of a script from right to left stand from right to left within their fragment, other runs among them do not.
    """
    words: list[Word] = []
    text = ""
    for fragment in fragments:
        found = fragment.text.split(" ")
        x = fragment.x
        for number in shown_order(found):
            word = found[number]
            words.append(_word(word, x, fragment.y, len(text)))
            x += width_of(word) + 1
            text += word
    return words, text


def _word(word: str, x: float, y: float, start: int) -> Word:
    left, top = POINTS_A_CHARACTER * x, POINTS_A_LINE * y
    numeric = sum(letter in "0123456789.,:;-+/%$()#*'€£¥" for letter in word) * 2 >= len(word)
    right, bottom = left + POINTS_A_CHARACTER * width_of(word), top + POINTS_HIGH
    end = start + len(word)
    return Word(left, top, right, bottom, start, end, True, numeric, word[-1] in ":：", is_rtl(word))
