"""The characters of a page as pdfium reads them, with their origins: what goes, and what must be left as it was."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdfium2
import pypdfium2.raw as pdfium

from service.documents.pdf.glyphs import PageFrame, loose_boxes
from service.documents.pdf.reader import opened_page, opened_text
from service.documents.pdf.redaction.geometry import Point, Rectangle

SAME_PLACE = 0.3
"""Points: origins that are nearer than this are one glyph's, if its text is not tiny."""
_BLANK = frozenset(("\t", "\n", "\r", " ", "\u00a0", "\x02", "\ufffe"))


@dataclass(frozen=True, slots=True)
class PageText:
    """The characters of one page's text page, in content order: code points, origins and loose boxes, n of each.

    Origins and boxes [left, bottom, right, top] are in the page's own space. `string` is what pdfium says it reads.
    """

    codes: npt.NDArray[np.uint32]
    origins: npt.NDArray[np.float64]
    loose: npt.NDArray[np.float32]
    generated: npt.NDArray[np.bool_]
    string: str
    frame: PageFrame

    def box(self, index: int) -> Rectangle:
        """The loose box of a character."""
        left, bottom, right, top = map(float, self.loose[index])
        return left, bottom, right, top

    def origin(self, index: int) -> Point:
        """The origin of a character."""
        return float(self.origins[index, 0]), float(self.origins[index, 1])

    def inked(self) -> list[int]:
        """The indices of the characters that a font drew, white space left out."""
        return [
            i
            for i, code in enumerate(self.codes.tolist())
            if not self.generated[i] and code and chr(min(code, 0x10FFFF)) not in _BLANK
        ]


def read_page_text(document: pypdfium2.PdfDocument, number: int) -> PageText:
    """The characters of a page; its annotations must have been flattened.

    Raises:
        UnreadableDocument: it cannot be read.
    """
    with opened_page(document, number) as page, opened_text(page, number) as text_page:
        count = max(int(pdfium.FPDFText_CountChars(text_page)), 0)
        codes = [int(pdfium.FPDFText_GetUnicode(text_page, i)) for i in range(count)]
        generated = [pdfium.FPDFText_IsGenerated(text_page, i) == 1 for i in range(count)]
        return PageText(
            np.array(codes, np.uint32),
            _origins(text_page, count),
            loose_boxes(text_page, count),
            np.array(generated, np.bool_),
            "".join(chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd" for code in codes),
            PageFrame.of(page),
        )


def _origins(text_page: Any, count: int) -> npt.NDArray[np.float64]:
    origins = np.zeros((count, 2), np.float64)
    x, y = ctypes.c_double(), ctypes.c_double()
    for i in range(count):
        if pdfium.FPDFText_GetCharOrigin(text_page, i, x, y):
            origins[i] = x.value, y.value
    return origins
