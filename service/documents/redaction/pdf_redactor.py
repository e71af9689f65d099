"""Takes ranges of a PDF's text out of the file: the characters go from the content, boxes are drawn where they were.

    the file as pdfium sees it, annotations flattened → pages rewritten → the rest cleaned → links made anew → read
    again, and compared

The rules:
- What comes out is read again: the text of a rewritten page must be what it was, less what went, each character in its
  place; and what went must be found in no page. A page of which that does not hold becomes a picture of itself, and
  the report says so.
- A page of which something was not read is never passed over in silence: its file is refused unless its sender
  allows it. A page whose picture was read (OCR) becomes a picture, painted over, if something goes from it; where only
  images on it were read, what goes is painted over in their pixels.
- A file of which something is left after all that is refused.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pikepdf
import pypdfium2

from service.core.errors import UnreadableDocument, UnredactableDocument, UnsupportedFormat
from service.core.redaction import Repeats
from service.core.written_words import letters_and_digits
from service.documents.document import Box, Document
from service.documents.format_detection import Format, detect_format
from service.documents.limits import DocumentLimits
from service.documents.pdf.glyphs import Indices
from service.documents.pdf.hidden_text import has_hidden_text
from service.documents.pdf.page_objects import painted_objects
from service.documents.pdf.reader import MOST_DRAWN, flattened, loaded_page, opened_pdf, read_with_indices
from service.documents.redaction.bare_images import clean_images
from service.documents.redaction.cleaning import clean, leaks_in_objects, own_resources
from service.documents.redaction.decoded_text import TextDecoder
from service.documents.redaction.geometry import Rectangle
from service.documents.redaction.hidden_pixels import HIDDEN_PIXELS, drop_hidden_pixels
from service.documents.redaction.hidden_streams import empty_hidden_streams
from service.documents.redaction.links import LINKS, Link, add_links, read_links
from service.documents.redaction.page_rewriting import (
    PageTargets,
    RewrittenPage,
    add_ranges,
    drop_hidden_words,
    forms_have_hidden_words,
    is_as_it_was,
    rewrite_page,
)
from service.documents.redaction.picture_redactor import redact_picture
from service.documents.redaction.rasterizing import paint_page, paint_scan
from service.documents.redaction.resource_walk import used_images
from service.documents.redaction.shown_text import (
    PageText,
    characters_unseen,
    read_page_string,
    read_page_text,
)
from service.documents.redaction.values import CannotRewrite, PaintedPage, Range, RedactedFile, RedactedPage, Redaction

_NOT_SAME = "what is left of its text would have moved or changed"
_LEFT_OVER = "some of the text would have stayed behind"
_RECOGNIZED = "its text was recognized in its picture (OCR)"


def redact_pdf(data: bytes, redaction: Redaction, *, limits: DocumentLimits) -> RedactedFile:
    """The file without some ranges of the text that `read_pdf` returns.

    Raises:
        UnreadableDocument, DocumentTooLarge: as `read_pdf`.
        UnredactableDocument: it cannot be made sure that nothing is left.
    """
    flat, recognized = flattened(data), {page.number: page for page in redaction.painted}
    document, indices = read_with_indices(flat, limits=limits, may_be_empty=bool(recognized))
    ranges = redaction.ranges_in(document.pages or ())
    if any(document.text[each.start : each.end] != each.text for each in ranges):
        raise UnredactableDocument("The PDF reads differently once its annotations are part of its pages.")
    redaction.check_complete(page for page in document.incomplete_pages if page not in recognized)
    leaks = Repeats(redaction.secrets)
    with opened_pdf(flat) as read:
        flat, emptied = _without_hidden_streams(flat, leaks)
        pictures = {number: each for number, each in recognized.items() if _becomes_picture(read, each)}
        in_pictures = {number: each.boxes for number, each in recognized.items() if each.in_pictures and each.boxes}
        plain, passages = _without_hidden_words(flat, read)
        with opened_pdf(plain) as before, pikepdf.open(io.BytesIO(plain)) as pdf:
            own_resources(pdf)
            targets = _Targets(read, before, passages, frozenset(pictures))
            targets.add_ranges(document, indices, ranges)
            everywhere = leaks if redaction.everywhere else Repeats(())
            targets.add_repeats(everywhere)
            targets.add_unseen()
            targets.add_painted(in_pictures)
            work = _Work(pdf, before, targets.pages())
            work.rewrite()
            for number, page in pictures.items():
                work.paint_scan(number, page.boxes)
            removed = sorted({*clean(pdf, leaks), *emptied})
            used = used_images(pdf, but=work.pictures.keys())
            clean_images(pdf, (*used.images.values(), *used.glyphs.values()))
            if drop_hidden_pixels(pdf, used):
                removed.append(HIDDEN_PIXELS)
            if not work.add_links(read_links(data), leaks):
                removed.append(LINKS)
            result = work.checked(_saved(pdf), everywhere)
    return RedactedFile(result, tuple(work.report()), tuple(removed))


def _becomes_picture(document: pypdfium2.PdfDocument, recognized: PaintedPage) -> bool:
    """True if a page loses its text layer: also where a hidden one may not have been believed."""
    if recognized.in_pictures:
        return False
    with loaded_page(document, recognized.number) as page:
        return recognized.must_be_painted or has_hidden_text(painted_objects(page)[0])


def _without_hidden_streams(flat: bytes, leaks: Repeats) -> tuple[bytes, list[str]]:
    with pikepdf.open(io.BytesIO(flat)) as pdf:
        emptied = empty_hidden_streams(pdf, leaks) if leaks else []
        return (_saved(pdf) if emptied else flat), emptied


Passages = dict[int, list[list[Rectangle]] | None]
"""Page number → the passages for which it had other words; None: those words could not be taken out."""


def _without_hidden_words(flat: bytes, document: pypdfium2.PdfDocument) -> tuple[bytes, Passages]:
    """The file whose pages say nothing in words that do not show, which pdfium would read in place of what does."""
    passages: Passages = {}
    with pikepdf.open(io.BytesIO(flat)) as pdf:
        own_resources(pdf)
        in_forms = forms_have_hidden_words(pdf)
        for number, page in enumerate(pdf.pages, 1):
            try:
                found = drop_hidden_words(pdf, page, document, in_forms=in_forms)
                if found is not None:
                    passages[number] = found
            except CannotRewrite:
                passages[number] = None
        return (_saved(pdf) if any(each is not None for each in passages.values()) else flat), passages


class _Targets:
    """The deletions of each page.

    Args:
        read: the file whose text was asked for.
        plain: the same, whose pages say nothing in words that do not show.
        pictures: the pages that become pictures, of which nothing need be deleted.
    """

    def __init__(
        self,
        read: pypdfium2.PdfDocument,
        plain: pypdfium2.PdfDocument,
        passages: Passages,
        pictures: frozenset[int],
    ) -> None:
        self._rewritten = [number for number in range(1, len(plain) + 1) if number not in pictures]
        self._read = read
        self._plain = plain
        self._passages = passages
        self._pages: dict[int, PageTargets] = {}

    def add_ranges(self, document: Document, indices: Indices, ranges: Iterable[Range]) -> None:
        """Let ranges of the document go.

        Raises:
            UnredactableDocument: where one stands there are other words, which cannot be told apart from it.
        """
        for page in document.pages or ():
            here = [(max(each.start, page.start), min(each.end, page.end)) for each in ranges]
            here = [(start, end) for start, end in here if start < end]
            if here:
                if self._passages.get(page.number, ()) is None:
                    raise UnredactableDocument(f"What page {page.number} of the PDF shows and says cannot be compared.")
                text = read_page_text(self._read, page.number)
                add_ranges(self._of(page.number, text), text, here, indices, document)

    def add_repeats(self, repeats: Repeats) -> None:
        """Let all go that the order of a page's content puts together to one of these texts."""
        for number in self._rewritten if repeats else ():
            found = list(repeats.find(read_page_string(self._plain, number)))
            if found:
                text = read_page_text(self._plain, number)
                for start, end in found:
                    self._of(number, text).add_words(text, start, end)

    def add_unseen(self) -> None:
        """Let all go that nobody sees: nobody read it."""
        drawn = 0
        for number in self._rewritten:
            unseen, was_drawn = characters_unseen(self._plain, number, may_draw=drawn < MOST_DRAWN)
            drawn += was_drawn
            if unseen:
                text = read_page_text(self._plain, number)
                self._of(number, text).add_unseen(text, unseen)

    def add_painted(self, boxes: Mapping[int, Sequence[Box]]) -> None:
        """Let what images show in these boxes, of each page as shown, go from their pixels."""
        for number, shown in boxes.items():
            self._of(number, read_page_text(self._plain, number)).add_painted(shown)

    def pages(self) -> dict[int, PageTargets]:
        """Page number → what goes from it."""
        for number, targets in self._pages.items():
            targets.add_passages(self._passages.get(number) or ())
        return self._pages

    def _of(self, number: int, text: PageText) -> PageTargets:
        if number not in self._pages:
            inked = [text.origin(index) for index in text.inked()]
            self._pages[number] = PageTargets(text.frame, inked=inked)
        return self._pages[number]


@dataclass(slots=True)
class _Work:
    """The pages of one file: rewritten, or pictures with the reason why."""

    pdf: pikepdf.Pdf
    before: pypdfium2.PdfDocument
    targets: dict[int, PageTargets]
    rewritten: dict[int, RewrittenPage] = field(default_factory=dict)
    pictures: dict[int, str] = field(default_factory=dict)

    def rewrite(self) -> None:
        """Rewrite the pages from which something goes."""
        for number, targets in self.targets.items():
            try:
                page = self.pdf.pages[number - 1]
                self.rewritten[number] = rewrite_page(self.pdf, page, targets, self.before)
            except CannotRewrite as reason:
                self.paint(number, str(reason))

    def paint(self, number: int, reason: str) -> None:
        """Make a page a picture."""
        targets = self.targets.get(number)
        paint_page(self.pdf, number, self.before, [*targets.bars, *targets.painted] if targets else [])
        self.rewritten.pop(number, None)
        self.pictures[number] = reason

    def paint_scan(self, number: int, boxes: Sequence[Box]) -> None:
        """Make a page that was recognized a picture."""
        paint_scan(self.pdf, number, self.before, boxes)
        self.pictures[number] = _RECOGNIZED

    def add_links(self, links: Sequence[Link | None], leaks: Repeats) -> bool:
        """Make anew the links of pages that are no pictures, where they may stay; returns whether all of them do."""
        kept = [link for link in links if link is not None and link.page not in self.pictures]
        went = {number: (*targets.boxes, *targets.bars) for number, targets in self.targets.items()}
        return add_links(self.pdf, kept, went, leaks) and len(kept) == len(links)

    def checked(self, result: bytes, leaks: Repeats) -> bytes:
        """The file of which nothing is left.

        Raises:
            UnredactableDocument: something is.
        """
        if wrong := self._wrong(result, leaks):
            for number, reason in wrong.items():
                self.paint(number, reason)
            result = _saved(self.pdf)
            if self._wrong(result, leaks):
                raise UnredactableDocument("Some of the text to be removed is left in the PDF, and cannot be removed.")
        if leaks and _in_raw(result, leaks):
            raise UnredactableDocument("Some of the text to be removed is left in a part of the PDF that is no page.")
        return result

    def _wrong(self, result: bytes, leaks: Repeats) -> dict[int, str]:
        """The pages on which something is left, or is not as it was; number → why.

        Raises:
            UnredactableDocument: a page holds what no reader places on it, so that a picture might show it.
        """
        found: dict[int, str] = {}
        decoder = TextDecoder()
        with opened_pdf(result) as after:
            for number in range(1, len(after) + 1):
                if number in self.pictures:
                    continue
                if number in self.rewritten and not self._is_as_it_was(number, read_page_text(after, number)):
                    found[number] = _NOT_SAME
                elif leaks and self._is_left_on(number, read_page_string(after, number), decoder, leaks):
                    found[number] = _LEFT_OVER
        return found

    def _is_left_on(self, number: int, read: str, decoder: TextDecoder, leaks: Repeats) -> bool:
        if leaks.are_in(read):
            return True
        try:
            text = decoder.page(self.pdf.pages[number - 1])
        except (pikepdf.PdfError, TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
            raise UnredactableDocument(f"The content of page {number} of the PDF cannot be read again.") from error
        run = letters_and_digits(read)
        if any(letters_and_digits(text.shown[start:end]) not in run for start, end in leaks.find(text.shown)):
            raise UnredactableDocument(f"Page {number} of the PDF holds text to be removed that has no place on it.")
        return any(map(leaks.are_in, text.words))

    def _is_as_it_was(self, number: int, text: PageText) -> bool:
        return is_as_it_was(read_page_text(self.before, number), self.rewritten[number], text)

    def report(self) -> list[RedactedPage]:
        """The outcome of each changed page."""
        pages = {
            number: RedactedPage(number, "painted" if self.targets[number].painted else "rewritten")
            for number in self.rewritten
        }
        pages |= {number: RedactedPage(number, "rasterized", reason) for number, reason in self.pictures.items()}
        return [pages[number] for number in sorted(pages)]


def _saved(pdf: pikepdf.Pdf) -> bytes:
    """The file, the same each time: pdfium draws the first identifier at random, and pikepdf would keep that one."""
    written = io.BytesIO()
    if "/ID" in pdf.trailer:
        del pdf.trailer["/ID"]
    try:
        pdf.save(written, object_stream_mode=pikepdf.ObjectStreamMode.generate, deterministic_id=True)
    except pikepdf.PdfError as error:
        raise UnreadableDocument("The PDF is damaged: it cannot be written again.") from error
    return written.getvalue()


def _in_raw(result: bytes, leaks: Repeats) -> bool:
    """True if one of the file's strings or streams holds what must be gone, as it stands there."""
    with pikepdf.open(io.BytesIO(result)) as pdf:
        return leaks_in_objects(pdf, leaks)


def redact_document(
    data: bytes, redaction: Redaction, *, media_type: str | None = None, name: str | None = None, limits: DocumentLimits
) -> RedactedFile:
    """The file without what is to go.

    Raises:
        DocumentTooLarge, UnreadableDocument: as `read_document`.
        UnsupportedFormat: it is neither a PDF nor a picture.
        UnredactableDocument: it cannot be made sure that nothing is left.
    """
    limits.check_bytes(len(data))
    kind = detect_format(data, media_type=media_type, name=name)
    if kind is Format.PICTURE:
        return redact_picture(data, redaction, limits=limits)
    if kind is not Format.PDF:
        raise UnsupportedFormat("Only PDFs and pictures are redacted as files; of others, the redacted text is there.")
    try:
        return redact_pdf(data, redaction, limits=limits.for_file_of(len(data)))
    except pikepdf.PdfError as error:
        raise UnreadableDocument("The PDF is damaged: it cannot be rewritten.") from error
