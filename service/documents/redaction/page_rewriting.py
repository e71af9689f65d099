"""One page: what is to go from it, its content rewritten, and whether the rest of its text is as it was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import pikepdf
import pypdfium2

from service.documents.document import Box, Document
from service.documents.pdf.glyphs import Indices, PageFrame
from service.documents.redaction.content_stream import ACTUAL_TEXT, HIDDEN_TEXT_KEYS, ContentRewriter
from service.documents.redaction.fonts import FontMetrics, read_font
from service.documents.redaction.geometry import BoxGrid, GraphicsState, Point, Rectangle, joined
from service.documents.redaction.shown_text import SAME_PLACE, PageText, Places, RedactedArea
from service.documents.redaction.standard_fonts import standard_widths
from service.documents.redaction.values import CannotRewrite


@dataclass(slots=True)
class PageTargets:
    """The deletions of one page: glyphs in `boxes` or at `origins`, of which each must be found; `bars` are drawn.

    `painted`: boxes of what images show. `inked`: the origins of all glyphs of the page that have ink. `unseen`: index
    and origin of glyphs that do not show.
    """

    frame: PageFrame
    boxes: list[Rectangle] = field(default_factory=list)
    origins: list[Point] = field(default_factory=list)
    bars: list[Rectangle] = field(default_factory=list)
    inked: list[Point] = field(default_factory=list)
    unseen: dict[int, Point] = field(default_factory=dict)
    painted: list[Rectangle] = field(default_factory=list)

    def add(self, text: PageText, characters: Iterable[int]) -> None:
        """Let characters of a text page go, all on one line."""
        inked = text.inked_ones()
        found = [index for index in characters if index in inked]
        if found:
            self.origins += map(text.origin, found)
            boxes = list(map(text.box, found))
            self.boxes += boxes
            self.bars.append(joined(boxes))

    def add_words(self, text: PageText, start: int, end: int) -> None:
        """Let a run of characters of a text page go, with a bar for each line."""
        line = list[int]()
        for index in sorted(text.inked_ones().intersection(range(start, end))):
            if line and _are_apart(text.box(line[-1]), text.box(index)):
                self.add(text, line)
                line = []
            line.append(index)
        self.add(text, line)

    def add_unseen(self, text: PageText, characters: Iterable[int]) -> None:
        """Let characters go of which the page shows nothing, without a bar."""
        self.unseen |= {index: text.origin(index) for index in characters if not text.generated[index]}

    def add_painted(self, boxes: Sequence[Box]) -> None:
        """Let go what images show in boxes of the page as shown."""
        placed = self.frame.placed(np.array(boxes, np.float32).reshape(-1, 4)).tolist()
        self.painted += [(left, bottom, right, top) for left, bottom, right, top in placed]

    def add_passages(self, passages: Iterable[list[Rectangle]]) -> None:
        """Let each passage go as a whole of which a part goes: which glyphs say which of its words is not known."""
        grid = BoxGrid(self.boxes)
        for passage in passages:
            if any(grid.touches(glyph) for glyph in passage):
                self.boxes += passage
                self.bars += [joined(line) for _, line in groupby(passage, lambda box: round(box[1]))]


@dataclass(frozen=True, slots=True)
class RewrittenPage:
    """The origins of the glyphs that went, and the indices of those that did not show."""

    removed: tuple[Point, ...]
    unseen: frozenset[int] = frozenset()


def add_ranges(
    targets: PageTargets, text: PageText, ranges: Iterable[tuple[int, int]], indices: Indices, document: Document
) -> None:
    """Let go what these ranges of the document, all on one page, are there; a bar for each line."""
    assert document.layout is not None, "a PDF has a layout"
    lines = document.layout.line_starts
    for start, end in ranges:
        inner = lines[(lines > start) & (lines < end)].tolist()
        for first, last in pairwise([start, *inner, end]):
            targets.add(text, [int(index) for index in indices[first:last] if index >= 0])


def rewrite_page(
    pdf: pikepdf.Pdf, page: pikepdf.Page, targets: PageTargets, document: pypdfium2.PdfDocument
) -> RewrittenPage:
    """Take what goes out of a page's content, and draw its bars.

    Raises:
        CannotRewrite: it is not understood, or not all that goes was found in it.
    """
    bars = BoxGrid(targets.bars)
    area = RedactedArea(
        BoxGrid(targets.boxes), _around(targets.origins), bars, _around(filter(bars.holds, targets.inked)),
        Places((0, origin) for origin in targets.unseen.values()), painted=targets.painted,
    )  # fmt: skip
    rewritten = _rewritten(pdf, page, area, document)
    _check_found(targets, area)
    if rewritten is not None:
        _replace(pdf, page, *rewritten, after=_bars(targets.bars))
    return RewrittenPage(tuple(area.removed), frozenset(targets.unseen))


def drop_hidden_words(
    pdf: pikepdf.Pdf, page: pikepdf.Page, document: pypdfium2.PdfDocument, *, in_forms: bool
) -> list[list[Rectangle]] | None:
    """Take out of a page's content what it says in words that do not show (`ActualText`, `Alt`).

    Returns:
        The glyphs' boxes of each passage for which there were other words; None if there was nothing to do.

    Raises:
        CannotRewrite: it is not understood.
    """
    if not has_hidden_words(page, in_forms=in_forms):
        return None
    area = RedactedArea(BoxGrid(()), BoxGrid(()))
    rewritten = _rewritten(pdf, page, area, document)
    if rewritten is None:
        return None
    _replace(pdf, page, *rewritten, after=b"")
    return area.reworded


def is_as_it_was(before: PageText, done: RewrittenPage, after: PageText) -> bool:
    """True if what is left of a page's text is what it was, in its place, and nothing else.

    In any order, as pdfium puts the runs of a line in order by what else there is.
    """
    gone = _around(done.removed)
    expected = [i for i in before.inked() if i not in done.unseen and not gone.holds(before.origin(i))]
    places = Places((int(after.codes[i]), after.origin(i)) for i in after.inked())
    return len(expected) == places.left and all(places.take(int(before.codes[i]), before.origin(i)) for i in expected)


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


def _are_apart(first: Rectangle, second: Rectangle) -> bool:
    """True if two characters stand on different lines, or with more than two of them between."""
    across = max(first[0], second[0]) - min(first[2], second[2])
    down = max(first[1], second[1]) - min(first[3], second[3])
    return max(across, down) > max(first[3] - first[1], 2 * (first[2] - first[0])) or min(across, down) > 0


def _around(points: Iterable[Point]) -> BoxGrid:
    near = SAME_PLACE
    return BoxGrid((x - near, y - near, x + near, y + near) for x, y in points)


def _check_found(targets: PageTargets, area: RedactedArea) -> None:
    went = _around(area.removed)
    if area.unseen.left or not all(map(went.holds, targets.origins)):
        raise CannotRewrite("not all of the text was found in its content")
    if not all(box in area.paintings for box in targets.painted):
        raise CannotRewrite("text to be removed is shown by something else than an image")


def _bars(bars: Iterable[Rectangle]) -> bytes:
    boxes = (f"{left:.2f} {bottom:.2f} {right - left:.2f} {top - bottom:.2f} re" for left, bottom, right, top in bars)
    return ("q 0 g\n" + "\n".join(boxes) + "\nf Q\n").encode()


def has_hidden_words(page: pikepdf.Page, *, in_forms: bool) -> bool:
    """True if a page may say something in words that do not show; `in_forms`: some form of the file does."""
    resources = page.resources
    if in_forms and "/XObject" in resources:
        return True
    if any(ACTUAL_TEXT in each for _, each in resources.get("/Properties", pikepdf.Dictionary()).items()):
        return True
    contents = page.obj.get("/Contents")
    streams = contents if isinstance(contents, pikepdf.Array) else [] if contents is None else [contents]
    return any(_says_hidden_words(stream) for stream in streams)


def forms_have_hidden_words(pdf: pikepdf.Pdf) -> bool:
    """True if a form XObject of the file says something in words that do not show."""
    return any(
        isinstance(each, pikepdf.Stream) and each.get("/Subtype") == pikepdf.Name.Form and _says_hidden_words(each)
        for each in pdf.objects
    )


def _says_hidden_words(stream: Any) -> bool:
    if any(ACTUAL_TEXT in each for _, each in _properties(stream).items()):
        return True
    try:
        data = stream.read_bytes()
    except pikepdf.PdfError:
        return True
    return any(key.encode() in data for key in HIDDEN_TEXT_KEYS[:2])


def _properties(stream: Any) -> Any:
    return stream.get("/Resources", pikepdf.Dictionary()).get("/Properties", pikepdf.Dictionary())
