"""Request head: checks that it is valid HTTP and reads body length, client and deadline from it. Pure.

Stricter than the parser where a proxy in front might understand a head differently: one Host, no transfer coding but
`chunked`, none at all in HTTP/1.0 (RFC 9112, sections 3.2 and 6.1).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from service.core.errors import MalformedRequest

Headers = Sequence[tuple[bytes, bytes]]

_QUERY_DEADLINE = re.compile(rb"[?&]deadline_ms=(\d{1,7})(?:&|$)")
_BODY_DEADLINE = re.compile(rb'deadline_ms"[\s:]*(\d{1,7})')
_KEY_HEADERS = (b"authorization", b"x-api-key")


class RequestHead(NamedTuple):
    """What the headers say. `length`: declared bytes of the body, None if it is chunked.

    `client`: a number that stands for the API key, which is not kept.
    """

    length: int | None
    expects_continue: bool
    client: int


def read_head(version: str, headers: Headers) -> RequestHead:
    """The head that these headers make.

    Raises:
        MalformedRequest: an HTTP/1.1 request has no Host or several, or the transfer coding is not `chunked` alone.
    """
    length: int | None = 0
    hosts, codings, expects_continue, client = 0, 0, False, 0
    for name, value in headers:
        if name == b"host":
            hosts += 1
        elif name == b"content-length":
            length = int(value)
        elif name == b"transfer-encoding":
            codings += 1
            length = None
            if codings > 1 or version == "1.0" or value.strip().lower() != b"chunked":
                raise MalformedRequest("The only transfer coding here is `chunked`, in HTTP/1.1.")
        elif name == b"expect":
            expects_continue = value.lower() == b"100-continue"
        elif name in _KEY_HEADERS:
            client = hash(value)
    if hosts > 1 or (not hosts and version != "1.0"):
        raise MalformedRequest("A request has exactly one Host header.")
    return RequestHead(length, expects_continue, client)


def named_deadline_ms(target: bytes, received: bytes) -> int | None:
    """The deadline that a request names in its query, or in what was received of its JSON or form; None if it does not.

    Only read, not parsed: within a JSON string the quotes would be escaped, so a text cannot look like the option.
    """
    found = _QUERY_DEADLINE.search(target)
    if found is None:
        at = received.find(b'deadline_ms"')
        found = _BODY_DEADLINE.match(received, at) if at >= 0 else None
    return int(found[1]) or None if found else None
