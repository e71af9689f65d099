"""Fingerprint of a request: equal for requests that ask for the same answer about the same documents.

Made of what was read from the body, not of its bytes: the boundary of a form is another one in every try.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import msgspec

from service.api.extraction.request import DocumentInput
from service.api.http.request_body import Body
from service.documents.left_out_text import characters_of

NOT_OF_THE_ANSWER = {"deadline_ms", "priority"}
"""Options that say how soon an answer is wanted, not which one."""
_CHARACTERS_AT_ONCE = 1 << 18
"""Encoding holds the GIL: for a quarter of a millisecond at a time."""


def fingerprint(body: Body, *, in_lines: bool, form: str = "") -> str:
    """The hexadecimal digest of documents and options, and of whether the answer is wanted in lines or another form."""
    options = body.options.model_dump(mode="json", exclude=NOT_OF_THE_ANSWER)
    digest = hashlib.sha256(msgspec.json.encode([form or in_lines, body.batch, options], order="deterministic"))
    for source in body.sources:
        length = len(source.data) if source.text is None else characters_of(source.text)
        about = [source.id, source.media_type, source.name, source.text is None, length]
        digest.update(msgspec.msgpack.encode([part if isinstance(part, int) else repr(part) for part in about]))
        for part in _content(source):
            digest.update(part)
    return digest.hexdigest()


def _content(source: DocumentInput) -> Iterator[bytes]:
    if source.text is None:
        yield source.data
        return
    for start in range(0, len(source.text), _CHARACTERS_AT_ONCE):
        yield source.text[start : start + _CHARACTERS_AT_ONCE].encode("utf-8", "surrogatepass")
