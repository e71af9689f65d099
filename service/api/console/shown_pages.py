"""Shown pages: a parser's drawing of a page of a PDF or picture file, or an SVG of a page of words in their places.

If a page of words came with its picture, that is shown. The SVG is made here, from words that were checked.
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
"""Media type of a PDF or a picture file; with any other type a file of words is sent."""
_LETTER_HEIGHT = 4.0
"""Most height of a letter over its width: the letters of a word in a tall, narrow box become small."""
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page's picture; width and height are in the unit of its boxes. `pages`: number of pages of the file."""

    content: bytes
    media_type: str
    width: float
    height: float
    pages: int


async def shown_page(
    worker: Worker, data: bytes, media_type: str, wanted: PictureRequest, *, client: str, deadline_seconds: float
) -> ShownPage:
    """Make the picture of a page of a file.

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
    """Find a page by its number, from 1, and its words; raises as `shown_page`."""
    if document.words is None or document.pages is None:
        raise UnreadableDocument("The file has no pages that can be shown.")
    if not 1 <= number <= len(document.pages):
        raise InvalidOptions(f"There is no page {number}; the file has {len(document.pages)}.")
    page = document.pages[number - 1]
    first, end = np.searchsorted(document.words.ranges[:, 0], (page.start, page.end))
    return page, PlacedWords(document.words.ranges[first:end], document.words.boxes[first:end])


def words_svg(document: Document, page: Page, words: PlacedWords) -> str:
    """Write a page's words as SVG, each in its box."""
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
