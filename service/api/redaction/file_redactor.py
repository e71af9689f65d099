"""File redactor: has a parser take ranges out of a PDF or a picture, and reads again what became of its pictures.

    the document as read → texts to delete, boxes to paint over → the file (one job) → its painted pages recognized
    (a job each) → is a secret read? → painted once more with it, and read again → refused

Each page that is a picture is read again as a stranger would, by its picture alone.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from service.api.extraction.ocr import PageRecognizer
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.parsers.pool import ParserPool
from service.api.redaction.schemas import RedactOptions
from service.core.errors import UnredactableDocument
from service.core.redaction import RedactedSpan, Repeats, unify_lookalikes
from service.core.types import Ocr
from service.documents.document import Box, Document, RecognizedPage, RedactedPicture
from service.documents.ocr.joining import typed_parts
from service.documents.redaction.painting import boxes_to_paint, by_page
from service.documents.redaction.values import PaintedPage, Range, RedactedFile, Redaction

LEAST_WORD = 0.6
"""Least mean probability of a word's characters; a word below it counts as not read."""
_WORD = re.compile(r"\w{2,}")
_ROUNDS = 2
"""Times that a file is painted: the second time with what was still read after the first."""

_INNER, _NEAR = 0.25, 0.5
"""Shares of a box's shorter side: edge that may be a neighbour's ink; distance of ink that the box missed."""
_KEPT = 0.4
"""Share of a character's longer side by which its place may be off: its place in its word is an estimate."""

BoxesByPage = dict[int, list[Box]]
Boxes = npt.NDArray[np.float32]


class FileRedactor:
    """Redacts PDFs and pictures, one call for each."""

    def __init__(self, parsers: ParserPool, ocr: PageRecognizer) -> None:
        self._parsers = parsers
        self._ocr = ocr

    async def redact(
        self,
        source: DocumentInput,
        request: ExtractRequest,
        options: RedactOptions,
        document: Document,
        spans: Sequence[RedactedSpan],
    ) -> RedactedFile:
        """The file without ranges of the document that was read from it.

        Raises:
            UnredactableDocument: it was not read in full, or something that is to go is still read.
            GleanerError: as `ParserPool.redact`.
        """
        ranges = [Range(each.start, each.end, document.text[each.start : each.end]) for each in spans]
        secrets = tuple(sorted({each.text for each in ranges}))
        redaction = Redaction((), secrets, everywhere=options.repeats, allow_unread=options.allow_unread)
        redaction.check_complete({*document.incomplete_pages, *_unsure_pages(document)})
        pages = _ReadPages.of(document, is_forced=options.ocr is Ocr.FORCE)
        boxes = await asyncio.to_thread(boxes_to_paint, document, ranges, pages.recognized | pages.by_pictures)
        for _ in range(_ROUNDS):
            redaction = _with_pages(redaction, document, ranges, boxes, pages)
            file = await self._made(source, request, redaction)
            pictures = {page.number for page in file.pages if page.method != "rewritten"}
            if options.ocr is Ocr.OFF or not self._ocr.is_available:
                pictures &= pages.recognized | pages.by_pictures
            rasterized = {page.number for page in file.pages if page.method == "rasterized"} - pages.recognized
            boxes |= await asyncio.to_thread(boxes_to_paint, document, ranges, rasterized, with_typed=True)
            painted = {page: pages.painted(page, boxes.get(page, ()), rasterized) for page in sorted(pictures)}
            left = await self._left(file, source, request, redaction, document, painted) if painted else {}
            if not left:
                return file
            for number, more in left.items():
                boxes.setdefault(number, []).extend(more)
            pages = pages.with_recognized(left.keys() & rasterized)
        raise UnredactableDocument(f"Text to be removed is still read on pages {', '.join(map(str, sorted(left)))}.")

    async def _made(self, source: DocumentInput, request: ExtractRequest, redaction: Redaction) -> RedactedFile:
        return await self._parsers.redact(
            source.data,
            source.media_type,
            source.name,
            redaction,
            client=request.sender or request.client,
            deadline_seconds=request.deadline_seconds,
        )

    async def _left(
        self,
        file: RedactedFile,
        source: DocumentInput,
        request: ExtractRequest,
        redaction: Redaction,
        document: Document,
        pictures: Mapping[int, RedactedPicture],
    ) -> BoxesByPage:
        """Page number → the boxes of what is still read on pages that are pictures.

        Raises:
            UnredactableDocument: one that was recognized before is not any more.
        """
        made = replace(source, data=file.data, media_type=None, name=None)
        again = await self._ocr.read_again(made, request, pictures)
        redaction.check_complete({page.number for page in redaction.painted} & pictures.keys() - again.keys())
        secrets = Repeats(map(unify_lookalikes, redaction.secrets if redaction.everywhere else ()))

        def still_read() -> BoxesByPage:
            found = {n: _still_read(page, secrets, pictures[n], document) for n, page in again.items()}
            return {number: each for number, each in found.items() if each}

        return await asyncio.to_thread(still_read)


@dataclass(frozen=True, slots=True)
class _ReadPages:
    """How the pages of a document were read.

    Attributes:
        recognized: as a whole; they are painted over as a whole.
        by_pictures: by their text layer, and their pictures one by one.
        places: page number → how each of its pictures, or all of it, lay.
        is_forced: True if text layers are not to stay.
    """

    recognized: frozenset[int]
    by_pictures: frozenset[int]
    places: Mapping[int, Sequence[RecognizedPage]]
    is_forced: bool

    @classmethod
    def of(cls, document: Document, *, is_forced: bool) -> _ReadPages:
        places = document.recognized_places
        by_pictures = frozenset(number for number, parts in places.items() if any(part.box for part in parts))
        return cls(frozenset(places) - by_pictures, by_pictures, places, is_forced)

    def painted(self, page: int, boxes: Sequence[Box], rasterized: Collection[int]) -> RedactedPicture:
        """A page to read again: as a whole, or those of its pictures on which something was painted over."""
        places = () if page in rasterized else self.places.get(page, ())
        return _painted(boxes, tuple(each for each in places if each.box is None or _touches(each.box, boxes)))

    def with_recognized(self, pages: Collection[int]) -> _ReadPages:
        """The same, but these pages as a whole."""
        return replace(
            self, recognized=self.recognized | frozenset(pages), by_pictures=self.by_pictures - frozenset(pages)
        )


def _unsure_pages(document: Document) -> set[int]:
    """The pages with a word that was not recognized for certain; single signs, such as %, do not count."""
    if document.layout is None or document.layout.confidence is None:
        return set()
    pages = set()
    unsure = np.append(document.layout.confidence < LEAST_WORD, False)
    for word in _WORD.finditer(document.text) if unsure.any() else ():
        if unsure[word.start()] and (number := document.page_at(word.start())) is not None:
            pages.add(number)
    return pages


def _with_pages(
    redaction: Redaction,
    document: Document,
    ranges: Sequence[Range],
    boxes: Mapping[int, Sequence[Box]],
    read: _ReadPages,
) -> Redaction:
    """The redaction with the boxes of recognized pages and pictures, and the ranges of all text layers."""
    if not read.recognized and not read.by_pictures:
        return replace(redaction, ranges=tuple(ranges))
    painted = [
        PaintedPage(number, tuple(boxes.get(number, ())), read.is_forced or bool(boxes.get(number)))
        for number in sorted(read.recognized)
    ]
    painted += [
        PaintedPage(number, tuple(boxes.get(number, ())), in_pictures=True) for number in sorted(read.by_pictures)
    ]
    left = list[Range]()
    for each in ranges:
        for page, first, last in by_page(document.pages or (), each.start, each.end):
            if page.number in read.by_pictures:
                for start, end, place in typed_parts(document, page, first, last):
                    at = page.start + place
                    left.append(Range(at, at + end - start, document.text[start:end]))
            elif page.number not in read.recognized:
                left.append(Range(first, last, document.text[first:last]))
    starts = tuple(page.start for page in document.pages or ())
    return replace(redaction, ranges=tuple(left), painted=tuple(painted), page_starts=starts)


def _still_read(page: Document, secrets: Repeats, redacted: RedactedPicture, before: Document) -> list[Box]:
    """The boxes of what a painted page still says: secrets, and what is read elsewhere than it was and may stay.

    On a page that was recognized before, that is anywhere; on others, in the painted boxes and beside them.

    Args:
        page: as it is read now, alone.
        before: the whole document, as it was.
    """
    assert page.layout is not None, "a recognized page has boxes"
    assert before.layout is not None, "only formats with boxes are painted"
    number = (page.pages or ())[0].number
    own = next(each for each in before.pages or () if each.number == number)
    painted, characters = _array(redacted.painted), before.layout.boxes[own.start : own.end]
    stays = characters[~_lie_in(characters, painted)]
    kept = np.concatenate((_grown(stays, _KEPT * _sides(stays).max(axis=1)), _unread(before, number)))
    inner, near = (_grown(painted, share * _sides(painted).min(axis=1)) for share in (-_INNER, _NEAR))

    def is_left(boxes: Boxes, may_be_left: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        return np.asarray((may_be_left & ~_lie_in(boxes, kept)) | _lie_in(boxes, inner))

    read, unread = page.layout.boxes, _unread(page, number)
    may_be_left = np.ones(len(read), np.bool_) if redacted.before else _lie_in(read, near)
    found = [Range(start, end, "") for start, end in secrets.find(unify_lookalikes(page.text))]
    found += [Range(at, at + 1, "") for at in np.flatnonzero(is_left(read, may_be_left)).tolist()]
    left = unread[is_left(unread, _lie_in(unread, near))]
    return [*boxes_to_paint(page, found, [number]).get(number, ()), *map(tuple, left.tolist())]


def _unread(document: Document, page: int) -> Boxes:
    return _array(box for part in document.partly_read if part.page == page for box in part.boxes)


def _painted(boxes: Sequence[Box], before: tuple[RecognizedPage, ...]) -> RedactedPicture:
    """A page to read again; on one that was not recognized, bars of the size of its letters cover them."""
    if not before:
        array = _array(boxes)
        boxes = list(map(tuple, _grown(array, -_INNER * _sides(array).min(axis=1)).tolist()))
    return RedactedPicture(tuple(boxes), before)


def _touches(place: Box, boxes: Sequence[Box]) -> bool:
    return any(b[0] < place[2] and place[0] < b[2] and b[1] < place[3] and place[1] < b[3] for b in boxes)


def _array(boxes: Iterable[Box]) -> Boxes:
    return np.array(list(boxes), np.float32).reshape(-1, 4)


def _sides(boxes: Boxes) -> Boxes:
    return boxes[:, 2:] - boxes[:, :2]


def _grown(boxes: Boxes, more: Boxes) -> Boxes:
    """Boxes that are larger on each side by a length of their own."""
    return np.asarray(boxes + more[:, None] * np.array((-1, -1, 1, 1), np.float32))


def _lie_in(boxes: Boxes, areas: Boxes) -> npt.NDArray[np.bool_]:
    """For each box whether its middle lies in one of some areas."""
    left, top, right, bottom = areas.T
    middles = ((boxes[:, :2] + boxes[:, 2:]) / 2).tolist()
    inside = (((left <= x) & (x <= right) & (top <= y) & (y <= bottom)).any() for x, y in middles)
    return np.fromiter(inside, np.bool_, len(boxes))
