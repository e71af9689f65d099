"""The fuzz target of request bodies: what reads JSON, forms and raw bodies into documents and options."""

from __future__ import annotations

import asyncio
import json
from random import Random
from typing import Any

from starlette.requests import Request

from service.api.http.request_body import BodyLimits, read_body
from service.core.errors import GleanerError
from service.documents.limits import DocumentLimits
from service.documents.placed_pages import read_placed_pages
from tests.support.fuzz.mutation import mutate

LIMITS = BodyLimits(request_bytes=8 << 20, documents=100)
FORM = (
    b'--frontier\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n'
    b"Content-Type: application/pdf\r\n\r\n"
    b'%PDF-1.7\r\n--frontier\r\nContent-Disposition: form-data; name="labels"\r\n\r\nDATE,MONEY\r\n--frontier--\r\n'
)
OPTIONS: dict[str, Any] = {
    "model": "documents@stable", "labels": ["DATE", "MONEY"], "min_score": 0.5, "aggregation": "simple",
    "offsets": "utf16", "deadline_ms": 900, "priority": "batch", "include_text": True,
}  # fmt: skip
PAGE = {"width": 595, "height": 842, "words": [{"text": "Invoice", "box": [50, 50.5, 90, 62]}]}
SAMPLES = (
    b"application/json\n\n" + json.dumps({"text": "Invoice INV-20931", **OPTIONS}).encode(),
    b"application/json\n\n" + json.dumps({"documents": [{"id": "a", "text": "b"}, {"text": "c"}], **OPTIONS}).encode(),
    b"application/json\nmin_score=0.5&labels=DATE\n" + json.dumps({"text": "Gr\u00fc\u00dfe \U0001f600"}).encode(),
    b"application/json\n\n" + json.dumps({"pages": [PAGE, {**PAGE, "image": "iVBORw0KGgo="}]}).encode(),
    b"multipart/form-data; boundary=frontier\npriority=batch\n" + FORM,
    b"multipart/form-data; boundary=frontier; charset=latin-1\n\n" + FORM,
    b"text/plain; charset=utf-8\nmodel=documents&offsets=byte\nInvoice",
)


class BodyTarget:
    """Bodies with a media type and a query: the first two lines of an input are these."""

    name = "body"

    def make(self, draw: Random) -> bytes:
        """A mutated sample."""
        return mutate(draw.choice(SAMPLES), SAMPLES, draw)

    def attack(self, data: bytes) -> str:
        """Read it: a body, or the code of a typed error."""
        media_type, _, rest = data.partition(b"\n")
        query, _, body = rest.partition(b"\n")
        try:
            found = asyncio.run(read_body(_request(media_type, query, body), LIMITS))
            for source in found.sources:
                if source.pages is not None:
                    read_placed_pages(source.pages, DocumentLimits())
        except GleanerError as error:
            return error.code
        return "body"


def _request(media_type: bytes, query: bytes, body: bytes) -> Request:
    pieces = [body[:100], body[100:]]

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    headers = [(b"content-type", media_type)]
    return Request(
        {"type": "http", "method": "POST", "path": "/extract", "query_string": query, "headers": headers}, receive
    )
