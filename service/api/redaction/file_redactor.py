"""File redactor: has a parser take ranges out of a PDF or a picture, and reads again what became of its pictures.

    the document as read → texts to delete, boxes to paint over → the file (one job) → its painted pages recognized
    (a job each) → is a secret read? → painted once more with it, and read again → refused

Each page that is a picture is read again as a stranger would, by its picture alone.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from service.api.extraction.ocr import PageRecognizer
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.parsers.pool import ParserPool
from service.api.redaction.schemas import RedactOptions
from service.core.errors import UnredactableDocument
from service.core.redaction import RedactedSpan, Repeats, alike
from service.core.types import Ocr
from service.documents.document import Box, Document
from service.documents.redaction.painting import boxes_to_paint, by_page
from service.documents.redaction.values import PaintedPage, Range, RedactedFile, Redaction

LEAST_WORD = 0.6
"""Compared with the mean probability of a word's characters: a word below it counts as not read."""
_WORD = re.compile(r"\w{2,}")
_ROUNDS = 2
"""Times that a file is painted: the second time with what was still read after the first."""

_INNER = 0.25
"""Of a box's shorter side: what lies so near its edge may be its neighbour's."""

Boxes = dict[int, list[Box]]


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
        recognized = {each.page for each in document.recognized}
        boxes = await asyncio.to_thread(boxes_to_paint, document, ranges, recognized)
        for _ in range(_ROUNDS):
            redaction = _with_pages(redaction, document, ranges, boxes, recognized, options.ocr is Ocr.FORCE)
            file = await self._made(source, request, redaction)
            pictures = {page.number for page in file.pages if page.method != "rewritten"}
            if options.ocr is Ocr.OFF or not self._ocr.is_available:
                pictures &= recognized
            boxes |= await asyncio.to_thread(boxes_to_paint, document, ranges, pictures - boxes.keys())
            left = await self._left(file, source, request, redaction, pictures, boxes) if pictures else {}
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
        pictures: Collection[int],
        boxes: Boxes,
    ) -> Boxes:
        """Page number → the boxes of what is still read on pages that are pictures.

        Raises:
            UnredactableDocument: one that was recognized before is not any more.
        """
        made = replace(source, data=file.data, media_type=None, name=None)
        again = await self._ocr.read_again(made, request, tuple(sorted(pictures)))
        unread = {number for number in pictures if number not in again or number in again[number].unread_pages}
        redaction.check_complete(unread & {page.number for page in redaction.painted})
        secrets = Repeats(map(alike, redaction.secrets if redaction.everywhere else ()))
        found = {number: _still_read(page, secrets, boxes.get(number, ())) for number, page in again.items()}
        return {number: each for number, each in found.items() if each}


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


def _still_read(page: Document, secrets: Repeats, boxes: Sequence[Box]) -> list[Box]:
    """The boxes of secrets that a painted page still says, and of words that are read where it was painted over."""
    assert page.layout is not None, "a recognized page has boxes"
    found = [Range(start, end, "") for start, end in secrets.find(alike(page.text))]
    covered = np.array(boxes, np.float32).reshape(-1, 4)
    inner = _INNER * np.minimum(covered[:, 2] - covered[:, 0], covered[:, 3] - covered[:, 1])[:, None]
    left, top, right, bottom = (covered + inner * (1, 1, -1, -1)).T
    middles = (page.layout.boxes[:, :2] + page.layout.boxes[:, 2:]) / 2
    for at, (x, y) in enumerate(middles.tolist()):
        if ((left <= x) & (x <= right) & (top <= y) & (y <= bottom)).any():
            found.append(Range(at, at + 1, ""))
    numbers = [each.number for each in page.pages or ()]
    return [box for each in boxes_to_paint(page, found, numbers).values() for box in each]
