"""Fingerprint of a request: equal for requests that ask for the same answer about the same documents.

Made of what was read from the body, not of its bytes: the boundary of a form is another one in every try.
"""

from __future__ import annotations

import hashlib

import msgspec

from service.api.http.request_body import Body

NOT_OF_THE_ANSWER = {"deadline_ms", "priority"}
"""Options that say how soon an answer is wanted, not which one."""


def fingerprint(body: Body, *, in_lines: bool, form: str = "") -> str:
    """The hexadecimal digest of documents and options, and of whether the answer is wanted in lines or another form."""
    options = body.options.model_dump(mode="json", exclude=NOT_OF_THE_ANSWER)
    digest = hashlib.sha256(msgspec.json.encode([form or in_lines, body.batch, options], order="deterministic"))
    for source in body.sources:
        content = source.data if source.text is None else source.text.encode("utf-8", "surrogatepass")
        about = [source.id, source.media_type, source.name, source.text is None, len(content)]
        digest.update(msgspec.msgpack.encode([part if isinstance(part, int) else repr(part) for part in about]))
        digest.update(content)
    return digest.hexdigest()
