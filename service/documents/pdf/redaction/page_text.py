"""The characters of a page as pdfium reads them, with their origins: what goes, and what must be left as it was."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdfium2
import pypdfium2.raw as pdfium

from service.documents.pdf.glyphs import HYPHENS, PageFrame, address, code_points, loose_boxes
from service.documents.pdf.reader import loaded_page, opened_text
from service.documents.pdf.redaction.geometry import Point, Rectangle

SAME_PLACE = 0.3
"""Points: origins that are nearer than this are one glyph's, if its text is not tiny."""
_Flag = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
_Origin = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_UNKNOWN = "\ufffd"
_BLANK = frozenset(("\t", "\n", "\r", " ", "\u00a0"))


@dataclass(frozen=True, slots=True)
class PageText:
    """The characters of one page's text page, in content order: code points, origins and loose boxes, n of each.

    Origins and boxes [left, bottom, right, top] are in the page's own space; `generated` are of no glyph.
    """

    codes: npt.NDArray[np.uint32]
    origins: npt.NDArray[np.float64]
    loose: npt.NDArray[np.float32]
    generated: npt.NDArray[np.bool_]
    frame: PageFrame
    _inked: list[frozenset[int]] = field(default_factory=list, repr=False)

    def box(self, index: int) -> Rectangle:
        """The loose box of a character."""
        left, bottom, right, top = map(float, self.loose[index])
        return left, bottom, right, top

    def origin(self, index: int) -> Point:
        """The origin of a character."""
        return float(self.origins[index, 0]), float(self.origins[index, 1])

    def inked_ones(self) -> frozenset[int]:
        """The same as a set, made once."""
        if not self._inked:
            self._inked.append(frozenset(self.inked()))
        return self._inked[0]

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
    with loaded_page(document, number) as page, opened_text(page, number) as text_page:
        count = max(int(pdfium.FPDFText_CountChars(text_page)), 0)
        codes = code_points(text_page, count)
        codes[np.isin(codes, HYPHENS)] = ord("-")  # Which of them it is depends on what comes after it.
        return PageText(
            codes,
            _origins(text_page, count),
            loose_boxes(text_page, count),
            _generated(text_page, count),
            PageFrame.of(page),
        )


def read_page_string(document: pypdfium2.PdfDocument, number: int) -> str:
    """The text of a page in the order of its content, as pdfium reads it: one character for each of its indices.

    Raises:
        UnreadableDocument: it cannot be read.
    """
    with loaded_page(document, number) as page, opened_text(page, number) as text_page:
        count = max(int(pdfium.FPDFText_CountChars(text_page)), 0)
        codes = code_points(text_page, count).tolist()
    return "".join(chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else _UNKNOWN for code in codes)


def _generated(text_page: Any, count: int) -> npt.NDArray[np.bool_]:
    call, handle = _Flag(address(pdfium.FPDFText_IsGenerated)), address(text_page)
    return np.fromiter((call(handle, i) == 1 for i in range(count)), np.bool_, count)


def _origins(text_page: Any, count: int) -> npt.NDArray[np.float64]:
    origins = np.zeros((count, 2), np.float64)
    call, handle, base = _Origin(address(pdfium.FPDFText_GetCharOrigin)), address(text_page), origins.ctypes.data
    for i in range(count):
        call(handle, i, base + 16 * i, base + 16 * i + 8)
    return origins
