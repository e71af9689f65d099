"""Reads the body of an /extract request into documents and options, whichever of these media types it has:

    application/json       {"text": …} or {"documents": [{"id": …, "text": …}, …]}, options beside it
    multipart/form-data    one or more `file` parts, options as form fields
    anything else          the body is one document, its Content-Type names the format, options in the query

Limits are enforced while the body is read.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from service.api.extraction.request import DocumentInput
from service.api.http.form_charset import check_charset, check_name
from service.api.http.json_body import read_json
from service.api.schemas import OPTION_CHARACTERS, Options, read_options
from service.api.tracing.request_trace import body_received
from service.core.errors import DocumentTooLarge, MalformedRequest

JSON = "application/json"
FORM = "multipart/form-data"


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """Limits of one request: bytes of its body, and documents."""

    request_bytes: int
    documents: int


@dataclass(frozen=True, slots=True)
class Body:
    """The documents and options of a request. A batch is answered with 200; each document has its own error."""

    sources: tuple[DocumentInput, ...]
    options: Options
    batch: bool

    @property
    def bytes(self) -> int:
        """Bytes of its files and characters of its texts."""
        return sum(len(source.data) or len(source.text or "") for source in self.sources)


async def read_body(request: Request, limits: BodyLimits, kind: type[Options] = Options) -> Body:
    """Read and parse the body; `kind`: the options of the route.

    Raises:
        MalformedRequest: not what its media type says.
        InvalidOptions: an unknown option or a bad value.
        DocumentTooLarge: over one of the limits.
    """
    media_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if media_type == JSON:
        body = _from_json(await _read_all(request, limits), request, limits, kind)
    elif media_type == FORM:
        body = await _from_form(request, limits, kind)
    else:
        data = await _read_all(request, limits)
        sent = request.headers.get("content-type")
        body = Body((DocumentInput("0", data=data, media_type=sent),), _options(request, {}, kind), batch=False)
    if len(body.sources) > limits.documents:
        raise DocumentTooLarge(f"{len(body.sources)} documents came; one request may have {limits.documents}.")
    body_received(time.monotonic())
    return body


def _options(request: Request, values: dict[str, Any], kind: type[Options]) -> Options:
    return read_options({**_join_repeated(request.query_params.multi_items()), **values}, kind)


def _join_repeated(items: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Fields by name; the values of a repeated field (`labels`) are joined by commas."""
    found: dict[str, list[str]] = {}
    for name, value in items:
        found.setdefault(name, []).append(value)
    return {name: ",".join(values) for name, values in found.items()}


def _from_json(data: bytes, request: Request, limits: BodyLimits, kind: type[Options]) -> Body:
    found = read_json(data, limits.documents, kind)
    sources = (DocumentInput(id_ or str(number), text=text) for number, (id_, text) in enumerate(found.documents))
    return Body(tuple(sources), _options(request, found.options, kind), found.batch)


async def _from_form(request: Request, limits: BodyLimits, kind: type[Options]) -> Body:
    check_charset(request.headers["content-type"])
    parser = MultiPartParser(
        request.headers, _limited(request, limits), max_files=limits.documents, max_part_size=OPTION_CHARACTERS
    )
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
        files = [(name, value) for name, value in form.multi_items() if isinstance(value, UploadFile)]
        fields = _join_repeated((name, value) for name, value in form.multi_items() if isinstance(value, str))
        if not files:
            raise MalformedRequest("The form has no `file` part.")
        if strange := sorted({name for name, _ in files} - {"file"}):
            raise MalformedRequest(f"File parts must be named `file`, not {', '.join(strange)}.")
        sources = [await _document(number, upload) for number, (_, upload) in enumerate(files)]
    finally:
        await form.close()
    return Body(tuple(sources), _options(request, fields, kind), batch=len(sources) > 1)


async def _document(number: int, upload: UploadFile) -> DocumentInput:
    name = upload.filename or None
    check_name(name or "")
    return DocumentInput(name or str(number), data=await upload.read(), media_type=upload.content_type, name=name)


async def _read_all(request: Request, limits: BodyLimits) -> bytes:
    return b"".join([chunk async for chunk in _limited(request, limits)])


async def _limited(request: Request, limits: BodyLimits) -> AsyncGenerator[bytes, None]:
    total = 0
    async for chunk in request.stream():
        total += len(chunk)
        if total > limits.request_bytes:
            raise DocumentTooLarge(f"The body is over {limits.request_bytes} bytes.")
        yield chunk
