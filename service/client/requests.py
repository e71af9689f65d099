"""HTTP requests of the client: texts or files with options, headers, time limits, and when a failed one is tried again.

The rules for retries:
- A refusal for overload is tried again when it says so (`Retry-After`), with some of it added by chance, so that those
  who were refused together do not come back together; a broken connection after a short time that doubles.
- Never what another try would get too: errors of the request, and of the document.
- The budget is seconds, counted from the first try: what would begin after its end is not begun. `deadline_ms` ends
  it too, and the waiting for an answer `LATE_SECONDS` later.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypedDict

import httpx

from .errors import GleanerError, Overloaded, Unreachable

LINES = "application/x-ndjson"
LONGEST_PATH = 1_024
_FILE_NAME = re.compile(
    r"\S+\.(?:pdf|docx?|html?|txt|md|xml|png|jpe?g|tiff?|webp|bmp|gif|odt|rtf|xlsx?|pptx?|csv|eml|hocr|json)",
    re.IGNORECASE,
)
"""Pattern of a single word with the ending of a document file."""
_LOOPBACK = re.compile(r"(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?(?:/.*)?", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")
"""Halves of characters, as `surrogateescape` makes them: no Unicode. U+FFFD in place of each keeps all offsets."""


@dataclass(frozen=True, slots=True)
class TextSource:
    """A text, with the id that its result has; without one it is the document's place in the request."""

    text: str
    id: str | None = None


Box = tuple[float, float, float, float]
"""Left, top, right, bottom, from the page's top left, in the unit of its width and height."""


@dataclass(frozen=True, slots=True)
class BoxedWord:
    """A word with its box, from an OCR of the caller's own."""

    text: str
    box: Box


@dataclass(frozen=True, slots=True)
class PageOfWords:
    """A page in any unit, its words in reading order; `image`: its picture file, for models that see pictures.

    Numbers may be numpy's.
    """

    width: float
    height: float
    words: Sequence[BoxedWord]
    image: bytes | None = None

    def json(self) -> dict[str, Any]:
        """The page as the service takes it."""
        words = [{"text": each.text, "box": list(map(float, each.box))} for each in self.words]
        page: dict[str, Any] = {"width": float(self.width), "height": float(self.height), "words": words}
        return page if self.image is None else {**page, "image": b64encode(self.image).decode()}


@dataclass(frozen=True, slots=True)
class PagesSource:
    """Pages of words in place of a text, with the id that its result has.

    Pages may also be the JSON that API.md shows, with `image` in base64 or as bytes.
    """

    pages: Sequence[PageOfWords | Mapping[str, Any]]
    id: str | None = None


@dataclass(frozen=True, slots=True)
class FileSource:
    """A file's bytes, with the name that its result has as id; `media_type` where the name's ending does not say it."""

    data: bytes
    name: str
    media_type: str | None = None

    @classmethod
    def read(cls, path: Path) -> FileSource:
        """A file of this machine."""
        return cls(path.read_bytes(), path.name)


Source = str | TextSource | PagesSource | bytes | Path | FileSource
"""One document: a text, pages of words, or a file by its bytes or its path."""


class _Options(TypedDict, total=False):
    """The options of both routes, as service/API.md describes them."""

    model: str | None
    labels: Sequence[str] | Mapping[str, str | Mapping[str, Any] | None] | None
    overlaps: Literal["flat", "nested", "per_label", "flat_multi_label", "nested_multi_label"] | None
    min_score: float | str | None
    aggregation: Literal["constrained", "simple", "first", "average", "max"] | None
    offsets: Literal["codepoint", "utf16", "byte"] | None
    deadline_ms: int | None
    priority: Literal["interactive", "batch"] | None
    include_text: bool | None
    ocr: Literal["auto", "off", "force"] | None


class ExtractOptions(_Options, total=False):
    """The options of /extract."""

    schema: Mapping[str, Sequence[str | Mapping[str, Any]]] | None
    fields: bool | None


class RedactOptions(_Options, total=False):
    """The options of /redact, but `raw`."""

    mode: Literal["replace", "mask", "hash"] | None
    repeats: bool | None
    output: Literal["document", "text"] | None
    allow_unread: bool | None


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """One request, the same in every try; `deadline_seconds`: after which its answer is of no use."""

    path: str
    headers: dict[str, str]
    content: bytes = b""
    files: list[tuple[str, tuple[str, bytes, str]]] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    method: str = "POST"
    deadline_seconds: float | None = None

    def arguments(self) -> dict[str, Any]:
        """The arguments of httpx's request."""
        if self.files:
            return {"files": self.files, "data": self.fields, "headers": self.headers}
        return {"content": self.content or None, "headers": self.headers}


def request_of(
    path: str, sources: Sequence[Source], options: Mapping[str, Any], *, batch: bool, in_lines: bool = False
) -> PreparedRequest:
    """The request for documents, all files, or all texts and pages of words.

    Raises:
        ValueError: none came, some of each, a text that is the path of a file, or a number that is not finite.
        TypeError: something else came.
    """
    if isinstance(sources, str | bytes):
        raise TypeError("a list of documents is needed, not one")
    if not sources:
        raise ValueError("one request holds at least one text or file")
    chosen = {name: value for name, value in options.items() if value is not None}
    deadline_ms = chosen.get("deadline_ms")
    headers = {"Accept": LINES} if in_lines else {}
    bodies = [_read(source, number) for number, source in enumerate(sources)]
    texts = [each for each in bodies if not isinstance(each, FileSource)]
    files = [each for each in bodies if isinstance(each, FileSource)]
    if texts and files:
        raise ValueError("one request holds texts and pages, or files, not both")
    if files:
        parts = [
            ("file", (_SURROGATE.sub("\ufffd", each.name), each.data, each.media_type or "application/octet-stream"))
            for each in files
        ]
        request = PreparedRequest(path, headers, files=parts, fields=dict(map(_written, chosen, chosen.values())))
    else:
        content = _json_of(texts, chosen, batch=batch)
        request = PreparedRequest(path, {**headers, "Content-Type": "application/json"}, content=content)
    return replace(request, deadline_seconds=deadline_ms / 1_000) if isinstance(deadline_ms, int) else request


def _json_of(texts: Sequence[TextSource | PagesSource], options: Mapping[str, Any], *, batch: bool) -> bytes:
    documents = _content(texts[0])
    if batch or texts[0].id is not None:
        documents = {"documents": [_content(each) | ({} if each.id is None else {"id": each.id}) for each in texts]}
    try:
        written = json.dumps({**documents, **options}, ensure_ascii=False, allow_nan=False, default=_base64)
    except ValueError as error:
        raise ValueError(f"a number of the request, such as a side of a box, is not finite: {error}") from None
    return _SURROGATE.sub("\ufffd", written).encode()


def _base64(value: object) -> str:
    if not isinstance(value, bytes):
        raise TypeError(f"a request cannot hold {type(value).__name__}: {value!r:.100}")
    return b64encode(value).decode()


def _content(source: TextSource | PagesSource) -> dict[str, Any]:
    if isinstance(source, TextSource):
        return {"text": source.text}
    if isinstance(source.pages, PageOfWords | Mapping):
        raise TypeError("PagesSource holds a list of pages, not one: PagesSource([page])")
    return {"pages": [each.json() if isinstance(each, PageOfWords) else each for each in source.pages]}


def _read(source: Source, number: int) -> TextSource | PagesSource | FileSource:
    """A document as it is sent; bytes without a name have their place as one."""
    if isinstance(source, str):
        if _is_path(source):
            raise ValueError(
                f"{source!r} is a file: pass Path({source!r}), or TextSource({source!r}) for these characters"
            )
        _warn_of_name(source)
        return TextSource(source)
    if isinstance(source, Path):
        return FileSource.read(source)
    if not isinstance(source, bytes | FileSource | TextSource | PagesSource):
        raise TypeError(
            f"a document is a text, bytes, Path, FileSource, TextSource or PagesSource, not {type(source).__name__}"
        )
    return FileSource(source, str(number)) if isinstance(source, bytes) else source


def _warn_of_name(text: str) -> None:
    """Warn of a text that is a file's name and nothing else: there is no such file here, and none is read."""
    if len(text) <= LONGEST_PATH and _FILE_NAME.fullmatch(text):
        warnings.warn(
            f"{text!r} is sent as a text of {len(text)} characters; for a file pass Path({text!r}), for this text "
            f"TextSource({text!r})",
            stacklevel=2,
        )


def _is_path(text: str) -> bool:
    """Whether a text is the path of a file of this machine, with a folder or an ending in it."""
    return len(text) <= LONGEST_PATH and not text.isalnum() and "\n" not in text and os.path.isfile(text)


def _written(name: str, value: Any) -> tuple[str, str]:
    """An option as the field of a form."""
    if isinstance(value, bool):
        return name, str(value).lower()
    if isinstance(value, Mapping):
        return name, json.dumps(value)
    if not isinstance(value, Sequence) or isinstance(value, str):
        return name, str(value)
    return name, json.dumps([*value]) if any("," in each for each in value) else ",".join(value)


CONNECTION_ERRORS = (httpx.HTTPError, httpx.InvalidURL)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds of one try: to connect, and without a byte of the answer; a document may take long."""

    connect: float = 10.0
    read: float = 3_600.0

    def of_httpx(self, most_seconds: float | None = None) -> httpx.Timeout:
        """The same for httpx, none longer than this."""
        most = float("inf") if most_seconds is None else most_seconds
        return httpx.Timeout(min(self.read, most), connect=min(self.connect, most))


def url_of(url: str) -> str:
    """A service's URL without the slash at its end; an address of this machine may come without `http://`.

    Raises:
        ValueError: another one has no scheme, which says whether the key and the documents are encrypted.
    """
    if _LOOPBACK.fullmatch(url):
        url = f"http://{url}"
    if not url.lower().startswith(("http://", "https://")):
        bare = url.rpartition("//")[2] or "127.0.0.1:8080"
        raise ValueError(f"{url!r} is no URL of a service: write 'http://{bare}' or 'https://{bare}'")
    return url.rstrip("/")


def headers_of(key: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def raised(error: Exception) -> GleanerError:
    """An error as a client raises it: the service's own, or that it does not answer."""
    if isinstance(error, GleanerError):
        return error
    return Unreachable(f"The service does not answer: {str(error) or type(error).__name__}.", code="unreachable")


FIRST_SECONDS, LONGEST_SECONDS = 0.2, 10.0
"""Seconds of the first and the longest wait after a failure that names none; it doubles with each try."""
CHANCE = 0.5
"""Most of a wait that is added to it by chance."""
LATE_SECONDS = 5.0
"""After a request's deadline: its answer may be on the way for so long."""


@dataclass(frozen=True, slots=True)
class RetryBudget:
    """Limits of a client's retries: seconds and number, fewer where nobody answers; none at all: `RetryBudget(0)`."""

    seconds: float = 60.0
    most_tries: int = 8
    most_tries_unanswered: int = 4

    def wait_seconds(self, tries: int, spent_seconds: float, error: GleanerError | None, chance: float) -> float | None:
        """How long to wait before the next try; None: give up.

        Args:
            tries: those so far, at least 1.
            spent_seconds: since the first one began.
            error: what the last one was answered with; None: the connection broke.
            chance: a random number from 0 to 1.
        """
        most = self.most_tries_unanswered if error is None else self.most_tries
        if tries >= most or not (error is None or isinstance(error, Overloaded)):
            return None
        said = None if error is None else error.retry_after_seconds
        wait = said if said is not None else min(LONGEST_SECONDS, FIRST_SECONDS * 2 ** (tries - 1))
        wait *= 1 + CHANCE * chance
        return wait if spent_seconds + wait < self.seconds else None
