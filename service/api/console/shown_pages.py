"""Shown pages: a page of a PDF or a picture file as a parser draws it, or of a file of words as SVG, where they stand.

A page of words that came with its picture is shown by that. The SVG is made here, of what was read and checked.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

import numpy as np

from service.api.parsers.frames import FileHeader
from service.api.worker import Worker
from service.core.errors import InvalidOptions, UnreadableDocument
from service.documents.document import Document, Page, PictureRequest, PlacedWords
from service.documents.limits import DocumentLimits
from service.documents.placed_pages import pages_in_file, points_of_unit, read_placed_pages

DRAWN = "application/pdf"
"""The media type by which a PDF or a picture file is sent; others are files of words."""
_LETTER_HEIGHT = 4.0
"""Most height of a word's letters, in widths of one: a word that stands upright is written small across its box."""
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page's picture; its width and height are in the unit of its boxes. `pages`: how many the file has."""

    content: bytes
    media_type: str
    width: float
    height: float
    pages: int


async def shown_page(
    worker: Worker, data: bytes, media_type: str, wanted: PictureRequest, *, client: str, deadline_seconds: float
) -> ShownPage:
    """A page of a file as it is shown.

    Raises:
        GleanerError: as `ParserPool.draw` and `parse`.
        InvalidOptions: there is no such page.
        UnreadableDocument: the file has no pages.
    """
    parsers = worker.parsers
    if media_type == DRAWN:
        drawn = await parsers.draw(data, wanted, client=client, deadline_seconds=deadline_seconds)
        return ShownPage(drawn.content, "image/png", drawn.width_points, drawn.height_points, drawn.pages)
    document = await worker.extractor.in_thread(lambda: _placed(data, parsers.document_limits))
    if document is None:
        header = FileHeader(media_type, None, parsers.document_limits)
        document = await parsers.parse(data, header, client=client, deadline_seconds=deadline_seconds)
    page, words = page_of_words(document, wanted.page)
    pages = len(document.pages or ())
    image = document.page_images[wanted.page - 1] if document.page_images else b""
    if image:
        only = PictureRequest(1, wanted.width)
        drawn = await parsers.draw(image, only, client=client, deadline_seconds=deadline_seconds)
        return ShownPage(drawn.content, "image/png", page.width, page.height, pages)
    content = await worker.extractor.in_thread(lambda: words_svg(document, page, words))
    return ShownPage(content.encode(), "image/svg+xml", page.width, page.height, pages)


def _placed(data: bytes, limits: DocumentLimits) -> Document | None:
    pages = pages_in_file(data)
    return None if pages is None else read_placed_pages(pages, limits)


def page_of_words(document: Document, number: int) -> tuple[Page, PlacedWords]:
    """A page by its number, from 1, and its words; raises as `shown_page`."""
    if document.words is None or document.pages is None:
        raise UnreadableDocument("The file has no pages that can be shown.")
    if not 1 <= number <= len(document.pages):
        raise InvalidOptions(f"There is no page {number}; the file has {len(document.pages)}.")
    page = document.pages[number - 1]
    first, end = np.searchsorted(document.words.ranges[:, 0], (page.start, page.end))
    return page, PlacedWords(document.words.ranges[first:end], document.words.boxes[first:end])


def words_svg(document: Document, page: Page, words: PlacedWords) -> str:
    """The SVG of a page's words, each as wide as its box and at its height."""
    scale = points_of_unit(page.width, page.height)  # Browsers draw no letters of less than a pixel.
    size = f"{page.width * scale:.6g} {page.height * scale:.6g}"
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" font-family="sans-serif" fill="#18212c">']
    for (start, end), (left, top, right, bottom) in zip(
        words.ranges.tolist(), (words.boxes * scale).tolist(), strict=True
    ):
        text = html.escape(_NO_XML.sub("\ufffd", document.text[start:end]))
        high = min(bottom - top, _LETTER_HEIGHT * (right - left) / (end - start))
        lines.append(
            f'<text x="{left:.2f}" y="{(top + bottom) / 2 + 0.3 * high:.2f}" font-size="{0.85 * high:.2f}" '
            f'textLength="{right - left:.2f}" lengthAdjust="spacingAndGlyphs">{text}</text>'
        )
    return "\n".join([*lines, "</svg>"])
