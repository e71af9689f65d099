"""Request body: reads documents and options of an /extract request, whichever of these media types it has:

    application/json       {"text": …}, {"pages": …} or {"documents": [{"id": …, "text": …}, …]}, options beside it;
                           up to 16 MiB
    multipart/form-data    one or more `file` parts, options as form fields; what a browser leaves empty is not there
    anything else          the body is one document, its Content-Type names the format, options in the query

Limits are enforced while the body is read.
"""

from __future__ import annotations

import asyncio
import codecs
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import unquote

from python_multipart.multipart import parse_options_header
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from service.api.extraction.request import DocumentInput
from service.api.json_body import check_json_bytes, read_json
from service.api.options import OPTION_CHARACTERS, ExtractOptions, Options, option_names, read_options
from service.core.errors import DocumentTooLarge, InvalidOptions, MalformedRequest, UnsupportedFormat
from service.documents.limits import body_too_large

PIECE_BYTES = 65_536
"""Bytes up to which chunks are put together as they come: a million of one byte would take fifty million."""
SHORT_BYTES = 1 << 20
"""Most bytes of a body whose pieces are joined on the event loop."""
CHARSETS = frozenset(
    "utf-8 utf8 us-ascii ascii iso-8859-1 latin-1 latin1 iso-8859-15 windows-1250 windows-1251 windows-1252 cp1252 "
    "shift_jis euc-jp gb18030 gb2312 gbk big5 euc-kr koi8-r".split()
)
PLAIN_ENCODINGS = frozenset(("", "7bit", "8bit", "binary"))
"""A file's Content-Transfer-Encoding in a form, with which its bytes stand as they are."""
_EXTENDED_NAME = re.compile(r"""[;\s]filename\*\s*=\s*"?utf-8'[^']{0,40}'([^;"\s]+)""", re.IGNORECASE)
NAME_CHARACTERS = 1_024
"""Longest name of a file."""


def check_charset(content_type: str) -> None:
    """Refuse a form whose names and fields cannot be decoded.

    Raises:
        MalformedRequest: its charset is none of those that clients use.
    """
    _, parameters = parse_options_header(content_type)
    charset = parameters.get(b"charset", b"utf-8").decode("latin-1").strip().lower()
    if charset not in CHARSETS:
        raise MalformedRequest(f"The form's charset {charset[:40]!r} is not supported; send it as UTF-8.")


def check_name(name: str) -> None:
    """Refuse a file's name that no answer can hold.

    Raises:
        MalformedRequest: it is no Unicode text, or far too long.
    """
    if len(name) > NAME_CHARACTERS:
        raise MalformedRequest(f"A file's name has {len(name):,} characters; the limit is {NAME_CHARACTERS:,}.")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise MalformedRequest("A file's name is no Unicode text.") from None


JSON = "application/json"
FORM = "multipart/form-data"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """Limits of one request: bytes of its body, and documents.

    Attributes:
        on_read: told how many bytes were read, each time.
        on_bad: called for JSON that is not what it should be.
    """

    request_bytes: int
    documents: int = 1_000
    on_read: Callable[[int], None] = lambda _count: None
    on_bad: Callable[[], None] = lambda: None

    def decode(self, data: bytes, read: Callable[[bytes], _T]) -> _T:
        """Decode a JSON body by `decode`, without the byte order mark that some programs write before it.

        Raises:
            DocumentTooLarge: it is over `JSON_BYTES`.
            GleanerError: what `read` raises.
        """
        check_json_bytes(len(data))
        try:
            return read(data.removeprefix(codecs.BOM_UTF8))
        except (MalformedRequest, InvalidOptions, DocumentTooLarge):
            self.on_bad()
            raise


@dataclass(frozen=True, slots=True)
class Body:
    """The documents and options of a request. A batch is answered with 200; each document has its own error."""

    sources: tuple[DocumentInput, ...]
    options: Options
    batch: bool


async def read_body(request: Request, limits: BodyLimits, kind: type[Options] = ExtractOptions) -> Body:
    """Read and parse the body; `kind`: the options of the route.

    Raises:
        MalformedRequest: not what its media type says.
        InvalidOptions: an unknown option or a bad value.
        DocumentTooLarge: over one of the limits.
    """
    query, media_type = _join_repeated(request.query_params.multi_items()), media_type_of(request)
    if media_type == FORM:
        return _within(await _from_form(request, query, limits, kind), limits)
    body = await read_all(request, limits, is_json=media_type == JSON)
    return parse_body(body, request.headers.get("content-type"), query, limits, kind)


def media_type_of(request: Request) -> str:
    """The media type that a request's body is said to have, without its parameters."""
    return _plain(request.headers.get("content-type"))


def parse_body(
    body: bytes,
    content_type: str | None,
    options: Mapping[str, Any],
    limits: BodyLimits,
    kind: type[Options] = ExtractOptions,
) -> Body:
    """A body that is no form, with these options beside its own; raises as `read_body` does."""
    if _plain(content_type) == JSON:
        return _within(_from_json(body, options, limits, kind), limits)
    source = DocumentInput("0", data=body, media_type=content_type)
    return Body((source,), read_options(dict(options), kind), batch=False)


def _plain(content_type: str | None) -> str:
    return (content_type or "").split(";")[0].strip().lower()


def _within(body: Body, limits: BodyLimits) -> Body:
    if len(body.sources) > limits.documents:
        raise DocumentTooLarge(f"{len(body.sources)} documents came; one request may have {limits.documents}.")
    return body


def _join_repeated(items: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Fields by name; the values of a repeated field (`labels`) are joined by commas."""
    found: dict[str, list[str]] = {}
    for name, value in items:
        found.setdefault(name, []).append(value)
    return {name: ",".join(values) for name, values in found.items()}


def _options(query: Mapping[str, Any], own: Mapping[str, Any], kind: type[Options]) -> Options:
    """Merge the options of query and body; the body's count, and overridden ones must be valid all the same."""
    if given_twice := {name: value for name, value in query.items() if name in own}:
        read_options(given_twice, kind)
    return read_options({**query, **own}, kind)


def _from_json(body: bytes, options: Mapping[str, Any], limits: BodyLimits, kind: type[Options]) -> Body:
    found = limits.decode(body, lambda data: read_json(data, limits.documents, option_names(kind)))
    sources = (
        DocumentInput(
            each.id or str(number),
            text=each.text if each.pages is None else None,
            pages=each.pages,
            refused=found.refused.get(number, ""),
        )
        for number, each in enumerate(found.documents)
    )
    return Body(tuple(sources), _options(options, found.options, kind), found.batch)


async def _from_form(request: Request, options: Mapping[str, Any], limits: BodyLimits, kind: type[Options]) -> Body:
    check_charset(request.headers["content-type"])
    chunks = _without_preamble(_limited(request, limits), request.headers["content-type"])
    parser = MultiPartParser(request.headers, chunks, max_files=limits.documents, max_part_size=OPTION_CHARACTERS)
    parser.spool_max_size = limits.request_bytes + 1  # Held in memory, as every body is, and counted there.
    try:
        form = await parser.parse()
    except MultiPartException as error:
        if error.message.startswith("Too many files"):
            raise DocumentTooLarge(
                f"The form has more than {limits.documents} files, the limit of one request."
            ) from error
        raise MalformedRequest(f"The form cannot be read: {error.message}") from error
    except (KeyError, UnicodeError) as error:
        raise MalformedRequest(f"The form cannot be read: {error}.") from error
    try:
        inputs = [(name, value) for name, value in form.multi_items() if isinstance(value, UploadFile)]
        files = [(name, value) for name, value in inputs if value.filename or value.size]
        fields = _join_repeated((name, value) for name, value in form.multi_items() if isinstance(value, str))
        if not files and "file" in fields:
            raise MalformedRequest("The form's `file` part has no file name: send it as a file, or a text as JSON.")
        if not files:
            raise MalformedRequest(
                "The form has no `file` part." if not inputs else "The form has no file: none was chosen."
            )
        if strange := sorted({name for name, _ in files} - {"file"}):
            raise MalformedRequest(f"File parts must be named `file`, not {', '.join(strange)}.")
        sources = [await _document(number, upload) for number, (_, upload) in enumerate(files)]
    finally:
        await form.close()
    known = option_names(kind)
    filled = {name: value for name, value in fields.items() if value or name not in known}
    return Body(tuple(sources), _options(options, filled, kind), batch=len(sources) > 1)


async def _without_preamble(chunks: AsyncGenerator[bytes, None], content_type: str) -> AsyncGenerator[bytes, None]:
    """The bytes of a form from its first boundary on: RFC 2046 lets a text for people stand before it."""
    _, parameters = parse_options_header(content_type)
    boundary = b"\r\n--" + parameters.get(b"boundary", b"")
    held = b"\r\n"  # The body's beginning is one of a line.
    async for chunk in chunks:
        held += chunk
        if (at := held.find(boundary)) >= 0:
            yield held[at + 2 :]
            break
        held = held[-len(boundary) :]
    else:
        yield held
    async for chunk in chunks:
        yield chunk


async def _document(number: int, upload: UploadFile) -> DocumentInput:
    encoding = upload.headers.get("content-transfer-encoding", "binary").strip().lower()
    if encoding not in PLAIN_ENCODINGS:
        raise MalformedRequest(
            f"A file's bytes are taken as they are, not with Content-Transfer-Encoding: {encoding[:40]}."
        )
    name = _name_of(upload)
    check_name(name or "")
    return DocumentInput(name or str(number), data=await upload.read(), media_type=upload.content_type, name=name)


def _name_of(upload: UploadFile) -> str | None:
    """A file's name; .NET sends one that is not ASCII as `=?utf-8?B?…?=` and as `filename*`."""
    if extended := _EXTENDED_NAME.search(upload.headers.get("content-disposition", "")):
        return unquote(extended[1])
    return upload.filename or None


async def read_all(request: Request, limits: BodyLimits, *, is_json: bool = False) -> bytes:
    """The body of a request; one that is JSON has a limit of its own.

    Raises:
        DocumentTooLarge: over the limit, by its declared length or once so much came.
        UnsupportedFormat: it is compressed.
    """
    pieces, short = list[bytes](), bytearray()
    async for chunk in _limited(request, limits, is_json=is_json):
        short += chunk
        if len(short) >= PIECE_BYTES:
            pieces.append(bytes(short))
            short.clear()
    pieces.append(bytes(short))
    if sum(map(len, pieces)) <= SHORT_BYTES:
        return b"".join(pieces)
    return await asyncio.to_thread(b"".join, pieces)  # Joining so many bytes does not hold the GIL.


async def _limited(request: Request, limits: BodyLimits, *, is_json: bool = False) -> AsyncGenerator[bytes, None]:
    encoding = request.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity"):
        raise UnsupportedFormat(f"Bodies are taken uncompressed, not with Content-Encoding: {encoding[:40]}.")
    declared = request.headers.get("content-length", "")
    if is_json and declared.isdecimal():
        check_json_bytes(int(declared))
    total = 0
    async for chunk in request.stream():
        total += len(chunk)
        limits.on_read(len(chunk))
        if total > limits.request_bytes:
            raise body_too_large(limits.request_bytes)
        if is_json:
            check_json_bytes(total)
        yield chunk
