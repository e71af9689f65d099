"""File redactor: has a parser take ranges out of a PDF or a picture, and reads again what became of its pictures.

    the document as read → texts to delete, boxes to paint over → the file (one job) → its painted pages recognized
    (a job each) → is a secret read? → painted once more with it, and read again → refused

Each page that is a picture is read again as a stranger would, by its picture alone.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

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
        recognized = {each.page for each in document.recognized if each.page is not None}
        boxes = await asyncio.to_thread(boxes_to_paint, document, ranges, recognized)
        for _ in range(_ROUNDS):
            redaction = _with_pages(redaction, document, ranges, boxes, recognized, options.ocr is Ocr.FORCE)
            file = await self._made(source, request, redaction)
            pictures = {page.number for page in file.pages if page.method != "rewritten"}
            if options.ocr is Ocr.OFF or not self._ocr.is_available:
                pictures &= recognized
            boxes |= await asyncio.to_thread(boxes_to_paint, document, ranges, pictures - boxes.keys())
            before = {page.page: page for page in document.recognized if page.page is not None}
            painted = {page: _painted(boxes.get(page, ()), before.get(page)) for page in sorted(pictures)}
            left = await self._left(file, source, request, redaction, document, painted) if painted else {}
            if not left:
                return file
            for number, more in left.items():
                boxes.setdefault(number, []).extend(more)
            recognized |= left.keys()
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
    recognized: Collection[int],
    is_forced: bool,
) -> Redaction:
    """The redaction with the boxes of recognized pages, and the ranges of all others."""
    if not recognized:
        return replace(redaction, ranges=tuple(ranges))
    painted = tuple(
        PaintedPage(number, tuple(boxes.get(number, ())), is_forced or bool(boxes.get(number)))
        for number in sorted(recognized)
    )
    pages = [page for page in document.pages or () if page.number not in recognized]
    left = tuple(Range(a, b, document.text[a:b]) for each in ranges for _, a, b in by_page(pages, each.start, each.end))
    starts = tuple(page.start for page in document.pages or ())
    return replace(redaction, ranges=left, painted=painted, page_starts=starts)


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
    may_be_left = _lie_in(read, near) if redacted.before is None else np.ones(len(read), np.bool_)
    found = [Range(start, end, "") for start, end in secrets.find(unify_lookalikes(page.text))]
    found += [Range(at, at + 1, "") for at in np.flatnonzero(is_left(read, may_be_left)).tolist()]
    left = unread[is_left(unread, _lie_in(unread, near))]
    return [*boxes_to_paint(page, found, [number]).get(number, ()), *map(tuple, left.tolist())]


def _unread(document: Document, page: int) -> Boxes:
    return _array(box for part in document.partly_read if part.page == page for box in part.boxes)


def _painted(boxes: Sequence[Box], before: RecognizedPage | None) -> RedactedPicture:
    """A page to read again; on one that was not recognized, bars of the size of its letters cover them."""
    if before is None:
        array = _array(boxes)
        boxes = list(map(tuple, _grown(array, -_INNER * _sides(array).min(axis=1)).tolist()))
    return RedactedPicture(tuple(boxes), before)


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
