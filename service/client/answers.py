"""Answers as values: what /extract and /redact return, with errors as the exceptions that the service raised.

Members that a newer service adds are ignored.
"""

from __future__ import annotations

from typing import Any, TypeVar

import httpx
import msgspec

from service.core.errors import BY_CODE, GleanerError, InternalError

_T = TypeVar("_T")
LONGEST_DETAIL = 1_000


class RemoteProblem(msgspec.Struct, frozen=True):
    """Why a document of a batch failed (RFC 9457); `code` is stable."""

    code: str
    detail: str
    status: int = 500
    title: str = ""

    def error(self) -> GleanerError:
        """The exception that the service raised."""
        return BY_CODE.get(self.code, InternalError)(self.detail[:LONGEST_DETAIL])


class AnsweringModel(msgspec.Struct, frozen=True):
    """The model that an answer is from."""

    name: str
    revision: str


class FoundEntity(msgspec.Struct, frozen=True):
    """One entity; `text` is exactly the document's characters `[start:end]`.

    Attributes:
        boxes: of a PDF's words, in points from the top left of the page.
        kind: what `value` is, such as `money` or `date`.
        source: `model` or `rule`.
        valid: whether the check digits hold; None where there are none.
        ambiguous: other values that the text may mean.
        number, unit: of an amount or a quantity, as decimal and currency.
    """

    label: str
    text: str
    start: int
    end: int
    score: float
    value: str
    page: int | None = None
    boxes: list[tuple[float, float, float, float]] = []
    kind: str = "text"
    source: str = "model"
    valid: bool | None = None
    ambiguous: list[str] = []
    number: str | None = None
    unit: str | None = None


class UnreadPart(msgspec.Struct, frozen=True):
    """Part of a page that was not read: why (`image`, `outlines`, `unmapped`), and boxes around it in points."""

    page: int
    reason: str
    boxes: list[tuple[float, float, float, float]] = []


class FileCharset(msgspec.Struct, frozen=True):
    """The character encoding that a text or HTML file was read in; `source`: `declared`, `detected` or `guessed`."""

    name: str
    source: str
    confidence: float


class ExtractedDocument(msgspec.Struct, frozen=True):
    """One document's entities, or its error; `fields` as in the answer's JSON, if they were asked for."""

    id: str
    entities: list[FoundEntity]
    characters: int = 0
    tokens: int = 0
    windows: int = 0
    pages: int | None = None
    unread_pages: list[int] = []
    partly_read: list[UnreadPart] = []
    charset: FileCharset | None = None
    error: RemoteProblem | None = None
    text: str | None = None
    fields: dict[str, Any] | None = None

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


class RedactedBytes(msgspec.Struct, frozen=True):
    """A redacted file."""

    media_type: str
    data: bytes


class RedactedPageImage(msgspec.Struct, frozen=True):
    """A page that is a picture now, and why."""

    page: int
    reason: str


class RedactedDocument(msgspec.Struct, frozen=True):
    """One document without what was found in it: `text`, or of a PDF `file`; or its error."""

    id: str
    entities: list[RedactedPart]
    text: str | None = None
    file: RedactedBytes | None = None
    pages: int | None = None
    rasterized_pages: list[RedactedPageImage] = []
    unread_pages: list[int] = []
    removed: list[str] = []
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
    """What a response holds.

    Raises:
        GleanerError: the error that the service answered with; InternalError if something else answered.
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


def _problem(response: httpx.Response) -> GleanerError:
    try:
        problem = msgspec.json.decode(response.content, type=RemoteProblem)
    except (msgspec.MsgspecError, UnicodeError):
        return _another(response)
    wait: Any = response.headers.get("retry-after", "")
    error = problem.error()
    error.retry_after_seconds = float(wait) if wait.isdecimal() and len(wait) < 8 else None
    return error


def _another(response: httpx.Response) -> InternalError:
    return InternalError(f"What answers at {response.request.url} is another service (status {response.status_code}).")
