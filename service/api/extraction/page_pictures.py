"""Pictures of a document's pages, for a model that sees them: a caller's own, or the pages of its file.

Both are decoded and drawn in parsers alone, each page as a job of its own.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.parsers.pool import ParserPool
from service.core.admission.size import MemoryLease
from service.core.errors import DocumentTooLarge, UnreadableDocument
from service.core.types import MOST_PICTURE_BYTES, MOST_PICTURES
from service.documents.document import Document, Page, PictureRequest
from service.families.processor import PictureFormat

Pixels = npt.NDArray[np.uint8]


class PagePictures:
    """Draws pages in parsers, a few at the same time."""

    def __init__(self, parsers: ParserPool) -> None:
        self._parsers = parsers

    async def added(
        self,
        document: Document,
        source: DocumentInput,
        request: ExtractRequest,
        wanted: PictureFormat,
        lease: MemoryLease,
    ) -> Document:
        """Add pictures to those pages of a document that have text; a page without a picture gets None.

        Raises:
            GleanerError: as `ParserPool.draw`; of a caller's picture, with its page.
            DocumentTooLarge: more pictures than the engine takes.
            QueueFull, InsufficientMemory: no memory for them, as `MemoryLease.grow`.
        """
        pages = [page for page in document.pages or () if document.text[page.start : page.end].strip()]
        bytes_each = 3 * wanted.side**2
        most = min(MOST_PICTURES, MOST_PICTURE_BYTES // bytes_each)
        if len(pages) > most:
            raise DocumentTooLarge(
                f"{len(pages):,} pages have a text; a model that sees their pictures reads {most:,}."
            )
        lease.hold_pictures(len(pages) * bytes_each)
        turns = asyncio.Semaphore(self._parsers.size)
        with self._parsers.holding() as held:

            async def draw(page: Page) -> Pixels | None:
                name = held if len(pages) > 1 else None  # A parser that holds a file steps back behind others.
                async with turns:
                    return await self._drawn(page, document, source, request, wanted, name)

            tasks = [asyncio.create_task(draw(page)) for page in pages]
            try:
                drawn = await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        found = dict(zip((page.number for page in pages), drawn, strict=True))
        return replace(document, page_pixels=tuple(found.get(page.number) for page in document.pages or ()))

    async def _drawn(
        self,
        page: Page,
        document: Document,
        source: DocumentInput,
        request: ExtractRequest,
        wanted: PictureFormat,
        held: object | None,
    ) -> Pixels | None:
        """Draw one page: the caller's picture of it, or the page of a file; None where there is neither."""
        draw = partial(
            self._parsers.draw, client=request.sender or request.client, deadline_seconds=request.deadline_seconds
        )
        if document.words is None:
            drawn = await draw(source.data, PictureRequest(page.number, *wanted), held=held)
            return _planes(drawn.content, wanted)
        image = document.page_images[page.number - 1] if document.page_images else b""
        if not image:
            return None
        try:
            drawn = await draw(image, PictureRequest(1, *wanted))
        except (UnreadableDocument, DocumentTooLarge) as error:
            raise type(error)(f"page {page.number}, image: {error.detail}") from None
        return _planes(drawn.content, wanted)


def _planes(content: bytes, wanted: PictureFormat) -> Pixels:
    """Separate red, green and blue: uint8 `[3, side, side]`."""
    pixels = np.frombuffer(content, dtype=np.uint8).reshape(wanted.side, wanted.side, 3)
    return np.ascontiguousarray(pixels.transpose(2, 0, 1))
