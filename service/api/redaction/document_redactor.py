"""Redactor: extracts a document's entities and removes them from its text, or from its file in a parser process.

The rule: what cannot be redacted in full is refused, with the reason; nothing comes back half done.
"""

from __future__ import annotations

import hmac
import time
from dataclasses import replace
from functools import partial

import msgspec

from service.api.extraction.extractor import Extractor
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.extraction.trace import StageTimer
from service.api.redaction.file_redactor import FileRedactor
from service.api.redaction.schemas import (
    RasterizedPage,
    RedactedContent,
    RedactedEntity,
    RedactedResult,
    RedactOptions,
    RedactOutput,
)
from service.api.schemas import DocumentResult
from service.core.admission.policy import refuse_if_late
from service.core.decoding.offsets import OffsetMap
from service.core.errors import InvalidOptions, UnsupportedFormat
from service.core.redaction import RedactedSpan, RedactionMode, ReplacedSpan, replaced_text, replacer, spans_to_redact
from service.documents.document import Document
from service.documents.format_detection import Format, detect_format, media_type_of_picture
from service.documents.placed_pages import pages_in_file
from service.documents.redaction.values import RedactedFile
from service.documents.words import shown_boxes, words_of
from service.text.values.context import DocumentContext
from service.text.values.reading import read_value

PDF = "application/pdf"
_REDACTED_AS_TEXTS = (Format.DOCX, Format.HTML, Format.INVOICE, Format.HOCR, Format.ALTO, Format.TEXTRACT)
_REDACTED_AS_FILES = (Format.PDF, Format.PICTURE)


class Redactor:
    """Redacts documents, one call for each. `key`: of the hashes; empty: there are none."""

    def __init__(self, extractor: Extractor, files: FileRedactor, key: str) -> None:
        self._extractor = extractor
        self._files = files
        self._key = key.encode()

    async def redact(
        self, source: DocumentInput, request: ExtractRequest, options: RedactOptions, timer: StageTimer
    ) -> RedactedResult:
        """One document without the entities that the options choose.

        Args:
            request: of its extraction, with `options.for_extraction()`.
            timer: gets the seconds of the stages.

        Raises:
            GleanerError: the document is bad, cannot be redacted, was refused, or failed.
        """
        self.check(options)
        kind = _format_of(source, options)
        is_file = kind in _REDACTED_AS_FILES and options.output is RedactOutput.DOCUMENT
        request = replace(request, keeps_found=True, reads_all_pictures=is_file)
        found, document = await self._extractor.extract_with_document(source, request, timer)
        refuse_if_late(request.deadline_seconds, time.monotonic())
        assert isinstance(found.text, str), "it was asked for"
        with timer.measure("redact"):
            replaced = partial(self._replaced, document, found, options, request)
            new_text, spans = await self._extractor.in_thread(replaced)
            if not is_file:
                return _with_text(source, found, document, new_text, spans, options)
            file = await self._files.redact(source, request, options, document, [each.span for each in spans])
            answer = partial(_with_file, source, found, document, file, spans, options)
            return await self._extractor.in_thread(answer)

    def check(self, options: RedactOptions) -> None:
        """Refuse what this service cannot do.

        Raises:
            InvalidOptions: hashes, without a key; an empty list of labels, by which nothing would go.
        """
        if options.labels is not None and not options.labels:
            raise InvalidOptions(
                "labels: the list is empty, so that nothing would go; leave it out to redact all labels."
            )
        if options.mode is RedactionMode.HASH and not self._key:
            raise InvalidOptions("mode: `hash` needs a key, and this service has none (GLEANER_REDACT_KEY).")

    def _replaced(
        self, document: Document, found: DocumentResult, options: RedactOptions, request: ExtractRequest
    ) -> tuple[str, list[ReplacedSpan]]:
        def watch() -> None:
            refuse_if_late(request.deadline_seconds, time.monotonic())

        watch()
        text, recognized = document.text, bool(document.recognized)
        chosen = [RedactedSpan(each.label, each.start, each.end, each.score) for each in found.entities]
        spans = spans_to_redact(text, chosen, repeats=options.repeats, recognized=recognized, watch=watch)
        of_client = hmac.digest(self._key, request.client.encode(), "sha256") if self._key else b""
        context, read_by = DocumentContext(text), request.task.reading_labels

        def value_of(label: str, part: str) -> str:
            return read_value(read_by.get(label, label), part, context).text

        return replaced_text(text, spans, replacer(options.mode, of_client, value_of))


def _format_of(source: DocumentInput, options: RedactOptions) -> Format:
    """The format of a document.

    Raises:
        UnsupportedFormat: it is none, or one that cannot be redacted as a file.
    """
    if source.text is not None or source.pages is not None or pages_in_file(source.data) is not None:
        return Format.TEXT
    found = detect_format(source.data, media_type=source.media_type, name=source.name) if source.data else Format.TEXT
    if found in _REDACTED_AS_TEXTS and options.output is RedactOutput.DOCUMENT:
        raise UnsupportedFormat(
            f"Only the redacted text of {found} files is returned, since words may also stand in parts that are not "
            "read, such as comments, scripts and metadata: send `output=text`."
        )
    return found


def _with_text(
    source: DocumentInput,
    found: DocumentResult,
    document: Document,
    text: str,
    spans: list[ReplacedSpan],
    options: RedactOptions,
) -> RedactedResult:
    old, new = OffsetMap(str(found.text), options.offsets), OffsetMap(text, options.offsets)
    entities = [
        msgspec.structs.replace(
            _entity(each, found, document, old, options, is_placed=document.words is not None),
            new_start=new[each.new_start],
            new_end=new[each.new_end],
            replacement=each.replacement,
        )
        for each in spans
    ]
    return _result(source, found, document, options, entities, text=text)


def _with_file(
    source: DocumentInput,
    found: DocumentResult,
    document: Document,
    file: RedactedFile,
    spans: list[ReplacedSpan],
    options: RedactOptions,
) -> RedactedResult:
    old = OffsetMap(str(found.text), options.offsets)
    entities = [_entity(each, found, document, old, options, is_placed=True) for each in spans]
    return msgspec.structs.replace(
        _result(source, found, document, options, entities, text=None),
        file=RedactedContent(media_type_of_picture(source.data) or PDF, file.data),
        rasterized_pages=[
            RasterizedPage(page.number, page.reason) for page in file.pages if page.method == "rasterized"
        ],
        removed=list(file.removed),
    )


def _entity(
    made: ReplacedSpan,
    found: DocumentResult,
    document: Document,
    offsets: OffsetMap,
    options: RedactOptions,
    *,
    is_placed: bool,
) -> RedactedEntity:
    """Describe one redacted range; `is_placed`: with its page and boxes."""
    span = made.span
    return RedactedEntity(
        label=span.label,
        start=offsets[span.start],
        end=offsets[span.end],
        new_start=None,
        new_end=None,
        replacement=None,
        score=span.score,
        page=document.page_at(span.start) if is_placed else None,
        boxes=shown_boxes(document, span.start, span.end) if is_placed else [],
        words=words_of(document, span.start, span.end) or msgspec.UNSET,
        text=str(found.text)[span.start : span.end] if options.include_text else msgspec.UNSET,
    )


def _result(
    source: DocumentInput,
    found: DocumentResult,
    document: Document,
    options: RedactOptions,
    entities: list[RedactedEntity],
    *,
    text: str | None,
) -> RedactedResult:
    return RedactedResult(
        id=source.id,
        characters=found.characters,
        tokens=found.tokens,
        entities=entities,
        text=text,
        file=None,
        pages=found.pages,
        rasterized_pages=[],
        unread_pages=list(document.incomplete_pages),
        removed=[],
        error=None,
        page_sizes=found.page_sizes,
        original_text=found.text if options.include_text else msgspec.UNSET,
    )
