"""Reads a file, and has recognized (OCR) what its text leaves out, each page or picture as a job of its own.

So the parser queue shares the parsers' time between clients page by page, a page that kills its parser or takes too
long stays unread alone, and its neighbours are read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.extraction.trace import PageProgress
from service.api.parsers.frames import FileHeader
from service.api.parsers.pool import ParserPool
from service.core.errors import DocumentTooLarge, InvalidOptions, UnreadableDocument
from service.core.types import Ocr
from service.documents.charset import read_plain
from service.documents.document import Document, PartlyRead, RedactedPicture, UnreadReason
from service.documents.limits import DocumentLimits
from service.documents.ocr.joining import of_page, with_pictures, with_recognized


class PageRecognizer:
    """Reads files, a few pages of one at the same time.

    Args:
        is_available: whether the parsers have the networks of OCR.
        most_pages: of one document that are recognized.
    """

    def __init__(self, parsers: ParserPool, limits: DocumentLimits, *, is_available: bool, most_pages: int) -> None:
        self._parsers = parsers
        self._limits = limits
        self.is_available = is_available
        self._most_pages = most_pages

    async def read(self, source: DocumentInput, request: ExtractRequest, progress: PageProgress) -> Document:
        """The document of a file, read by a parser unless it is a small plain text; counts its pages in `progress`.

        Raises:
            GleanerError: as `ParserPool.parse`.
            InvalidOptions: `ocr=force` without the networks.
            DocumentTooLarge: as `_wanted`.
            UnreadableDocument: nothing was read at all; it has the reason of the first page that failed, if one did.
        """
        wanted = request.options.ocr
        if wanted is Ocr.FORCE and not self.is_available:
            raise InvalidOptions("ocr: this service recognizes nothing; it was started without OCR.")
        name, media_type = source.name, source.media_type
        if (plain := read_plain(source.data, media_type=media_type, name=name, limits=self._limits)) is not None:
            return plain
        if wanted is Ocr.OFF or not self.is_available:
            return await self._parse(source, request, None, on_ran=progress.parsed)
        document = await self._parse(source, request, (), on_ran=progress.parsed)
        is_forced = wanted is Ocr.FORCE
        by_pictures = {} if is_forced else self._pages_by_pictures(document, every=request.reads_all_pictures)
        pages = self._wanted(document, by_pictures, is_forced=is_forced)
        failures: list[str] = []
        if pages or by_pictures:
            read = await self._recognize(source, request, pages, progress, failures=failures)
            read |= await self._recognize_pictures(source, request, by_pictures, progress)
            missed = by_pictures.keys() - read.keys() - set(document.incomplete_pages)
            named = tuple(PartlyRead(page, UnreadReason.IMAGE, ()) for page in sorted(missed))
            document = replace(document, partly_read=(*document.partly_read, *named))
            repeated = sum(len(read[number].text) for _, number in document.pictures if number in read)
            self._limits.check_characters(len(document.text) + repeated)
            join = with_pictures if document.pictures else with_recognized
            document = join(document, read)
            self._limits.check_characters(len(document.text))
        if not document.text.strip():
            nothing = "No text was recognized: the pages are empty, too coarse, or in another script."
            raise UnreadableDocument(failures[0] if failures else nothing)
        return document

    async def read_again(
        self, source: DocumentInput, request: ExtractRequest, pages: Mapping[int, RedactedPicture]
    ) -> dict[int, Document]:
        """Page number → a document of that page, by its picture, or by its pictures if these were recognized; one that
        cannot be read is left out."""
        return await self._recognize(source, request, pages, PageProgress(), pages) if self.is_available else {}

    def _pages_by_pictures(self, document: Document, *, every: bool) -> dict[int, int]:
        """Page number → the number of what its pictures show, of pages to recognize by their pictures alone.

        These are pages whose pictures look written on and of which nothing else was left unread; or `every` one.
        """
        unread, partly = set(document.unread_pages), set(document.incomplete_pages)
        return {
            page: number for page, number in document.page_pictures if page not in unread and (every or page in partly)
        }

    async def _recognize_pictures(
        self, source: DocumentInput, request: ExtractRequest, pages: Mapping[int, int], progress: PageProgress
    ) -> dict[int, Document]:
        """Page number → a document of that page's pictures; those that show the same are recognized once.

        Of many different ones the first are recognized.
        """
        first: dict[int, int] = {}
        for page, number in pages.items():
            first.setdefault(number, page)
        chosen = list(first.values())[: self._most_pages]
        read = await self._recognize(source, request, chosen, progress, pictures=True)
        return {page: of_page(read[first[number]], page) for page, number in pages.items() if first[number] in read}

    def _wanted(self, document: Document, by_pictures: Collection[int], *, is_forced: bool) -> tuple[int, ...]:
        """The pages to recognize: all, or those not read in full, but `by_pictures`; of many partly read ones, or
        pictures, the first.

        Raises:
            DocumentTooLarge: too many pages would have nothing of them read.
        """
        if document.pictures:
            return tuple(dict.fromkeys(number for _, number in document.pictures))[: self._most_pages]
        pages = document.unread_pages
        if is_forced and document.layout is not None and document.words is None:
            pages = tuple(page.number for page in document.pages or ())
        if len(pages) > self._most_pages:
            raise DocumentTooLarge(
                f"{len(pages):,} pages hold text in pictures; the limit is {self._most_pages:,} "
                "(GLEANER_MAX_OCR_PAGES). With `ocr=off` they stay unread."
            )
        partly = [page for page in document.incomplete_pages if page not in {*pages, *by_pictures}]
        return tuple(sorted((*pages, *partly[: self._most_pages - len(pages)])))

    async def _parse(
        self,
        source: DocumentInput,
        request: ExtractRequest,
        pages: tuple[int, ...] | None,
        held: object | None = None,
        again: RedactedPicture | None = None,
        on_ran: Callable[[float], None] = lambda _: None,
        *,
        pictures: bool = False,
    ) -> Document:
        header = FileHeader(
            source.media_type,
            source.name,
            self._limits,
            ocr_pages=pages,
            ocr_forced=request.options.ocr is Ocr.FORCE,
            ocr_again=again,
            ocr_pictures=pictures or (again is not None and any(each.box for each in again.before)),
        )
        return await self._parsers.parse(
            source.data,
            header,
            client=request.sender or request.client,
            deadline_seconds=request.deadline_seconds,
            held=held,
            on_ran=on_ran,
        )

    async def _recognize(
        self,
        source: DocumentInput,
        request: ExtractRequest,
        pages: Collection[int],
        progress: PageProgress,
        again: Mapping[int, RedactedPicture] | None = None,
        *,
        pictures: bool = False,
        failures: list[str] | None = None,
    ) -> dict[int, Document]:
        """Page number → a document of that page, or of its pictures; those that cannot be read go to `failures`."""
        found: dict[int, Document] = {}
        progress.count += len(pages)
        if pages and request.trace is not None:
            request.trace.is_untimed = True
        ran: list[float] = []
        turns = asyncio.Semaphore(self._parsers.size)

        async def recognize(page: int, held: object) -> None:
            async with turns:
                try:
                    painted = (again or {}).get(page)
                    document = await self._parse(source, request, (page,), held, painted, ran.append, pictures=pictures)
                except UnreadableDocument as error:  # This page alone is damaged, too costly, or kills its parser.
                    if failures is not None:
                        failures.append(error.detail)
                    return
                finally:
                    progress.done += 1
            if document.layout is not None and [each.number for each in document.pages or ()] == [page]:
                found[page] = document  # A parser that its file has taken over may answer anything.
                self._limits.check_characters(sum(len(each.text) for each in found.values()))

        with self._parsers.holding() as held:
            tasks = [asyncio.create_task(recognize(page, held)) for page in pages]
            try:
                await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                progress.parsed(max(max(ran, default=0.0), sum(ran) / self._parsers.size))
        return found
