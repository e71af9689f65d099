"""Encodes answers to JSON: long ones some thousand entities at a time, with a turn of the event loop in between.

An answer of a million entities takes a quarter of a second to encode, in which nobody else would be answered.
"""

from __future__ import annotations

import asyncio

import msgspec
from msgspec.structs import replace

from service.api.schemas import DocumentLine, DocumentResult, ExtractResult

ENTITIES_AT_ONCE = 4_000
"""About a millisecond."""
_NO_ENTITIES = b'"entities":[]'
"""Found in no string of an answer, whose quotes are escaped."""

_encode = msgspec.json.Encoder().encode


async def encode_result(result: ExtractResult) -> bytes:
    """The JSON of an answer to all documents of a request."""
    if sum(len(each.entities) for each in result.documents) <= ENTITIES_AT_ONCE:
        return _encode(result)
    head, _, tail = _encode(replace(result, documents=[])).partition(b'"documents":[]')
    documents = [
        await _encode_around(document, _encode(replace(document, entities=[]))) for document in result.documents
    ]
    return b"".join((head, b'"documents":[', b",".join(documents), b"]", tail))


async def encode_line(line: DocumentLine) -> bytes:
    """The JSON of one line of an NDJSON answer, without its line break."""
    if len(line.document.entities) <= ENTITIES_AT_ONCE:
        return _encode(line)
    return await _encode_around(line.document, _encode(replace(line, document=replace(line.document, entities=[]))))


async def _encode_around(document: DocumentResult, bare: bytes) -> bytes:
    """The entities of a document, within what was encoded of it without them."""
    head, _, tail = bare.partition(_NO_ENTITIES)
    parts = []
    for start in range(0, len(document.entities), ENTITIES_AT_ONCE):
        parts.append(_encode(document.entities[start : start + ENTITIES_AT_ONCE])[1:-1])
        await asyncio.sleep(0)
    return b"".join((head, _NO_ENTITIES[:-1], b",".join(parts), b"]", tail))
