"""Answers as values: what /extract and /redact return, with errors as exceptions.

Members that a newer service adds are ignored.
"""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime
from typing import TypeVar

import httpx
import msgspec

from .entities import DocumentFields, FoundEntity, FoundRecord, Paper
from .errors import GleanerError, Overloaded, Unreachable, kind_of

_T = TypeVar("_T")
LONGEST_DETAIL = 1_000


class RemoteProblem(msgspec.Struct, frozen=True):
    """Problem of a failed document of a batch (RFC 9457); `code` is stable."""

    code: str
    detail: str
    status: int = 500
    title: str = ""

    def error(self, retry_after_seconds: float | None = None, request_id: str | None = None) -> GleanerError:
        """The same as an exception."""
        return kind_of(self.status)(
            self.detail[:LONGEST_DETAIL],
            code=self.code,
            status=self.status,
            retry_after_seconds=retry_after_seconds,
            request_id=request_id,
        )


class AnsweringModel(msgspec.Struct, frozen=True):
    """The model that an answer is from."""

    name: str
    revision: str


class UnreadPart(msgspec.Struct, frozen=True):
    """Part of a page or file that was not read: why (`image`, `outlines`, `unmapped`, `hidden`, `struck`), and boxes.

    `page` is None in a format without pages; `characters` counts those of `hidden` text, which no
    person sees, and of `struck` text, which a line goes through.
    """

    page: int | None
    reason: str
    boxes: list[tuple[float, float, float, float]] = []
    characters: int = 0


class RecognizedPage(msgspec.Struct, frozen=True):
    """A page whose picture was read (OCR): the mean confidence, and degrees by which its text was turned.

    `page` is None of a picture in a format without pages.
    """

    page: int | None
    confidence: float
    turned: int = 0
    skew: float = 0.0


class UnreadAttachment(msgspec.Struct, frozen=True):
    """An electronic invoice attached to the file that is damaged, and why it was not read."""

    file: str
    detail: str


class FileCharset(msgspec.Struct, frozen=True):
    """The character encoding that a text or HTML file was read in; `source`: `declared`, `detected` or `guessed`."""

    name: str
    source: str
    confidence: float


class ExtractedDocument(msgspec.Struct, frozen=True):
    """One document's entities, or its error; `fields` of its first bill or résumé, `papers`; `records` if asked for."""

    id: str
    entities: list[FoundEntity]
    characters: int = 0
    tokens: int = 0
    windows: int = 0
    pages: int | None = None
    unread_pages: list[int] = []
    partly_read: list[UnreadPart] = []
    ocr_pages: list[RecognizedPage] = []
    unread_attachments: list[UnreadAttachment] = []
    charset: FileCharset | None = None
    page_sizes: list[tuple[float, float]] | None = None
    error: RemoteProblem | None = None
    text: str | None = None
    fields: DocumentFields | None = None
    papers: list[Paper] = []
    records: dict[str, list[FoundRecord]] | None = None

    def ok(self) -> ExtractedDocument:
        """The same, unless it failed.

        Raises:
            GleanerError: it did.
        """
        if self.error is not None:
            raise self.error.error()
        return self


class Extraction(msgspec.Struct, frozen=True):
    """The answer to one request; `timing`: milliseconds by stage."""

    model: AnsweringModel
    documents: list[ExtractedDocument]
    timing: dict[str, float]


class StreamedDocument(msgspec.Struct, frozen=True):
    """One line of a stream: a document as soon as it is finished."""

    model: AnsweringModel
    document: ExtractedDocument
    timing: dict[str, float]


class RedactedPart(msgspec.Struct, frozen=True):
    """One range that went; `new_start`, `new_end` and `replacement` are of the text that came back."""

    label: str
    start: int
    end: int
    new_start: int | None = None
    new_end: int | None = None
    replacement: str | None = None
    score: float | None = None
    page: int | None = None
    boxes: list[tuple[float, float, float, float]] = []
    text: str | None = None
    words: tuple[int, int] | None = None


class RedactedBytes(msgspec.Struct, frozen=True):
    """A redacted file."""

    media_type: str
    data: bytes


class RedactedPageImage(msgspec.Struct, frozen=True):
    """A page that is a picture now, and why."""

    page: int
    reason: str


class RedactedDocument(msgspec.Struct, frozen=True):
    """One document without what was found in it: `text`, or of a PDF or picture `file`; or its error."""

    id: str
    entities: list[RedactedPart]
    text: str | None = None
    file: RedactedBytes | None = None
    pages: int | None = None
    rasterized_pages: list[RedactedPageImage] = []
    unread_pages: list[int] = []
    removed: list[str] = []
    page_sizes: list[tuple[float, float]] | None = None
    error: RemoteProblem | None = None
    original_text: str | None = None

    def ok(self) -> RedactedDocument:
        """The same, unless it failed.

        Raises:
            GleanerError: it did.
        """
        if self.error is not None:
            raise self.error.error()
        return self


class RedactionAnswer(msgspec.Struct, frozen=True):
    """The answer to one request; `timing`: milliseconds by stage."""

    model: AnsweringModel
    documents: list[RedactedDocument]
    timing: dict[str, float]


def decoded(response: httpx.Response, kind: type[_T]) -> _T:
    """Decode a response.

    Raises:
        GleanerError: the error that the service answered with; Unreachable if something else answered.
    """
    if response.is_error:
        raise _problem(response)
    return decoded_bytes(response.content, kind, response)


def decoded_bytes(data: bytes, kind: type[_T], response: httpx.Response) -> _T:
    """One JSON value of a response; raises as `decoded`."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeError):
        raise _another(response) from None


class Lines:
    """The whole lines of a body that comes in pieces; JSON may hold what Python and httpx take for ends of lines."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []

    def add(self, piece: bytes) -> list[bytes]:
        """The lines that this piece completes."""
        first, *more = piece.split(b"\n")
        self._begun.append(first)
        if not more:
            return []
        whole, self._begun = [b"".join(self._begun), *more[:-1]], [more[-1]]
        return whole


def _problem(response: httpx.Response) -> GleanerError:
    wait_seconds = _retry_after_seconds(response.headers.get("retry-after", ""))
    try:
        problem = msgspec.json.decode(response.content, type=RemoteProblem)
    except (msgspec.MsgspecError, UnicodeError):
        error = _another(response)
        error.retry_after_seconds = wait_seconds
        return error
    return problem.error(wait_seconds, response.headers.get("x-request-id"))


def _retry_after_seconds(written: str) -> float | None:
    """The header's seconds, or those until its date (RFC 9110, section 10.2.3)."""
    if written.isdecimal():
        return float(written[:8])
    try:
        return max(0.0, parsedate_to_datetime(written).timestamp() - time.time())
    except ValueError:
        return None


def _another(response: httpx.Response) -> GleanerError:
    """The error of an answer that no Gleaner service wrote: a proxy's refusal, or a wrong address."""
    kind = Overloaded if kind_of(response.status_code) is Overloaded else Unreachable
    said = f"What answers at {response.request.url} is another service (status {response.status_code})."
    return kind(said, code="unexpected_answer", status=response.status_code)
