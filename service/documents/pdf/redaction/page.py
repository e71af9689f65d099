"""One page: what is to go from it, its content rewritten, and whether the rest of its text is as it was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

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

    def with_runs(self, runs: Iterable[tuple[int, int]]) -> PageTargets:
        """These and runs of characters of the text page, of each of whose words what is not there yet gets a bar."""
        inked, known = set(self.text.inked()), set(self.characters)
        words: list[list[int]] = []
        for start, end in runs:
            words.append([])
            for index in range(start, end):
                if index not in inked:
                    words.append([])
                elif index not in known:
                    words[-1].append(index)
        new = [word for word in words if word]
        characters = sorted(known.union(*new))
        return PageTargets(self.text, tuple(characters), [*self.bars, *(joined(map(self.text.box, w)) for w in new)])


@dataclass(frozen=True, slots=True)
class RewrittenPage:
    """The origins of the glyphs that went."""

    removed: tuple[Point, ...]


def targets_of(text: PageText, ranges: Iterable[tuple[int, int]], indices: Indices, document: Document) -> PageTargets:
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
    pdf: pikepdf.Pdf, page: pikepdf.Page, targets: PageTargets, document: pypdfium2.PdfDocument
) -> RewrittenPage:
    """Take what goes out of a page's content, and draw its bars.

    Raises:
        CannotRewrite: it is not understood, or not all that goes was found in it.
    """
    text = targets.text
    boxes = BoxGrid(map(text.box, targets.characters))
    area = RedactedArea(boxes, _around(map(text.origin, targets.characters)))
    rewritten = _rewritten(pdf, page, area, document)
    _check_found(targets, area.removed)
    if rewritten is not None:
        _replace(pdf, page, *rewritten, after=_bars(targets.bars))
    return RewrittenPage(tuple(area.removed))


def drop_hidden_words(pdf: pikepdf.Pdf, page: pikepdf.Page, document: pypdfium2.PdfDocument) -> bool:
    """Take out of a page's content what it says in words that do not show (`ActualText`, `Alt`); whether it said any.

    Raises:
        CannotRewrite: it is not understood.
    """
    if not _has_hidden_words(page):
        return False
    rewritten = _rewritten(pdf, page, RedactedArea(BoxGrid(()), BoxGrid(())), document)
    if rewritten is not None:
        _replace(pdf, page, *rewritten, after=b"")
    return rewritten is not None


def is_as_it_was(before: PageText, done: RewrittenPage, after: PageText) -> bool:
    """Whether what is left of a page's text is what it was, in its place, and nothing else.

    In any order, as pdfium puts the runs of a line in order by what else there is.
    """
    gone = _around(done.removed)
    expected = [i for i in before.inked() if not gone.holds(before.origin(i))]
    return _Places(after).hold_exactly(before, expected)


class _Places:
    """The characters of a page by code and place."""

    def __init__(self, text: PageText) -> None:
        self._cells: dict[tuple[int, int, int], list[Point]] = {}
        self._count = 0
        for index in text.inked():
            x, y = point = text.origin(index)
            self._cells.setdefault((int(text.codes[index]), round(x), round(y)), []).append(point)
            self._count += 1

    def hold_exactly(self, text: PageText, indices: Sequence[int]) -> bool:
        """Whether these characters of another page are all of this one's, each in its place."""
        return len(indices) == self._count and all(self._take(int(text.codes[i]), text.origin(i)) for i in indices)

    def _take(self, code: int, point: Point) -> bool:
        x, y = round(point[0]), round(point[1])
        for cell in ((code, x + i, y + j) for i in (0, -1, 1) for j in (0, -1, 1)):
            for other in self._cells.get(cell, ()):
                if abs(other[0] - point[0]) <= SAME_PLACE and abs(other[1] - point[1]) <= SAME_PLACE:
                    self._cells[cell].remove(other)
                    return True
        return False


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


def _rewritten(
    pdf: pikepdf.Pdf, page: pikepdf.Page, area: RedactedArea, document: pypdfium2.PdfDocument
) -> tuple[bytes, Any] | None:
    rewriter = ContentRewriter(pdf, area, _Fonts(document).metrics)
    try:
        return rewriter.rewrite(page, page.obj.get("/Resources"), GraphicsState())
    except (TypeError, ValueError, IndexError, KeyError, AttributeError, ArithmeticError) as error:
        raise CannotRewrite("its content stream is malformed") from error


def _replace(pdf: pikepdf.Pdf, page: pikepdf.Page, content: bytes, resources: Any, *, after: bytes) -> None:
    page.obj["/Contents"] = pikepdf.Stream(pdf, b"q\n" + content + b"\nQ\n" + after)
    page.obj["/Resources"] = resources


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


def _has_hidden_words(page: pikepdf.Page) -> bool:
    try:
        contents = page.obj.get("/Contents")
        streams = contents if isinstance(contents, pikepdf.Array) else [contents] if contents is not None else []
        data = b"\n".join(stream.read_bytes() for stream in streams)
    except pikepdf.PdfError:
        return True
    return any(key.encode() in data for key in HIDDEN_TEXT_KEYS[:2])
