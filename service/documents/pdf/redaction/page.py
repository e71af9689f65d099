"""One page: what is to go from it, its content rewritten, and whether the rest of its text is as it was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pikepdf
import pypdfium2

from service.documents.document import Document
from service.documents.pdf.glyphs import Indices
from service.documents.pdf.redaction.content import HIDDEN_TEXT_KEYS, ContentRewriter
from service.documents.pdf.redaction.fonts import FontMetrics, read_font
from service.documents.pdf.redaction.geometry import BoxGrid, Point, Rectangle, joined
from service.documents.pdf.redaction.graphics_state import GraphicsState
from service.documents.pdf.redaction.page_text import SAME_PLACE, PageText
from service.documents.pdf.redaction.shown_text import RedactedArea
from service.documents.pdf.redaction.standard_fonts import standard_widths
from service.documents.pdf.redaction.unsupported import CannotRewrite


@dataclass(frozen=True, slots=True)
class PageTargets:
    """What goes from one page: characters by index on its text page, and the bars that are drawn, one for each line."""

    text: PageText
    characters: tuple[int, ...]
    bars: list[Rectangle]


@dataclass(frozen=True, slots=True)
class RewrittenPage:
    """The origins of the glyphs that went."""

    removed: tuple[Point, ...]


def targets_of(
    text: PageText, ranges: Iterable[tuple[int, int]], indices: Indices, document: Document
) -> PageTargets:
    """What these ranges of the document, all on one page, are there."""
    characters: set[int] = set()
    bars = []
    assert document.layout is not None, "a PDF has a layout"
    for start, end in ranges:
        lines = document.layout.line_starts
        inner = lines[(lines > start) & (lines < end)].tolist()
        for first, last in pairwise([start, *inner, end]):
            found = [int(index) for index in indices[first:last] if index >= 0]
            characters.update(found)
            if found:
                bars.append(joined(map(text.box, found)))
    return PageTargets(text, tuple(sorted(characters)), bars)


def rewrite_page(
    pdf: pikepdf.Pdf, page: pikepdf.Page, targets: PageTargets | None, document: pypdfium2.PdfDocument
) -> RewrittenPage | None:
    """Rewrite a page's content and draw its bars; None if it was left alone.

    Raises:
        CannotRewrite: it is not understood, or not all that goes was found in it.
    """
    if targets is None:
        if not _has_hidden_text(page):
            return None
        area = RedactedArea(BoxGrid(()), BoxGrid(()))
    else:
        area = _area(targets)
    fonts = _Fonts(document)
    rewriter = ContentRewriter(pdf, area, fonts.metrics)
    try:
        rewritten = rewriter.rewrite(page, page.obj.get("/Resources"), GraphicsState())
    except (TypeError, ValueError, IndexError, KeyError, AttributeError, ArithmeticError) as error:
        raise CannotRewrite("its content stream is malformed") from error
    if targets is not None:
        _check_found(targets, area.removed)
    if rewritten is None:
        return None
    content, resources = rewritten
    drawn = _bars(targets.bars) if targets else b""
    page.obj["/Contents"] = pikepdf.Stream(pdf, b"q\n" + content + b"\nQ\n" + drawn)
    page.obj["/Resources"] = resources
    return RewrittenPage(tuple(area.removed))


def is_as_it_was(before: PageText, done: RewrittenPage, after: PageText) -> bool:
    """Whether what is left of a page's text is what it was, in its place, and nothing else."""
    gone = _around(done.removed)
    expected = [i for i in before.inked() if not gone.holds(before.origin(i))]
    found = after.inked()
    if before.codes[expected].tolist() != after.codes[found].tolist():
        return False
    if not expected:
        return True
    moved = np.abs(before.origins[expected] - after.origins[found])
    return bool(moved.max() <= SAME_PLACE)


class _Fonts:
    """The metrics of one page's fonts, each read once."""

    def __init__(self, document: pypdfium2.PdfDocument) -> None:
        self._document = document
        self._known: dict[tuple[int, int], FontMetrics] = {}

    def metrics(self, dictionary: Any) -> FontMetrics:
        key = dictionary.objgen
        if key == (0, 0):
            return read_font(dictionary, self._standard)
        if key not in self._known:
            self._known[key] = read_font(dictionary, self._standard)
        return self._known[key]

    def _standard(self, name: str, encoding: str, differences: dict[int, str]) -> dict[int, float]:
        return standard_widths(self._document.raw, name, encoding, differences)


def _area(targets: PageTargets) -> RedactedArea:
    text = targets.text
    return RedactedArea(BoxGrid(map(text.box, targets.characters)), _around(map(text.origin, targets.characters)))


def _around(points: Iterable[Point]) -> BoxGrid:
    near = SAME_PLACE
    return BoxGrid((x - near, y - near, x + near, y + near) for x, y in points)


def _check_found(targets: PageTargets, removed: Sequence[Point]) -> None:
    went = _around(removed)
    inked = set(targets.text.inked())
    if not all(went.holds(targets.text.origin(index)) for index in targets.characters if index in inked):
        raise CannotRewrite("not all of the text was found in its content")


def _bars(bars: Iterable[Rectangle]) -> bytes:
    boxes = (f"{left:.2f} {bottom:.2f} {right - left:.2f} {top - bottom:.2f} re" for left, bottom, right, top in bars)
    return ("q 0 g\n" + "\n".join(boxes) + "\nf Q\n").encode()


def _has_hidden_text(page: pikepdf.Page) -> bool:
    try:
        contents = page.obj.get("/Contents")
        streams = contents if isinstance(contents, pikepdf.Array) else [contents] if contents is not None else []
        data = b"\n".join(stream.read_bytes() for stream in streams)
    except pikepdf.PdfError:
        return True
    return any(key.encode() in data for key in HIDDEN_TEXT_KEYS[:2])
