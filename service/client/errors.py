"""Errors of the client, by whose fault they are; `code` is the service's, as in service/API.md.

GleanerError
├── RequestError        4xx: sending the same again gives the same answer
├── Overloaded          429, 502, 503, 504: the same request may succeed later
└── ServiceError        the service's own fault
    └── Unreachable     nothing answers, or something else than the service
"""

from __future__ import annotations

import json
import re

TRY_LATER = frozenset((429, 502, 503, 504))
"""Statuses of a refusal for overload, by the service or by a proxy before it."""
_STEERING = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class GleanerError(Exception):
    """A request or a document that failed.

    Attributes:
        detail: one sentence, as it came; what is printed has escapes for what a terminal would obey.
        code: stable, such as `unreadable_document`.
        status: of HTTP; None: there was no answer.
        retry_after_seconds: after how long the same request may succeed, where the service says so.
        request_id: the answer's `X-Request-Id`, by which the service's log names it.
    """

    def __init__(
        self,
        detail: str,
        *,
        code: str = "internal_error",
        status: int | None = None,
        retry_after_seconds: float | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(_STEERING.sub(lambda found: json.dumps(found[0])[1:-1], detail))
        self.detail = detail
        self.code = code
        self.status = status
        self.retry_after_seconds = retry_after_seconds
        self.request_id = request_id


class RequestError(GleanerError):
    """The request or the document is wrong."""


class Overloaded(GleanerError):
    """Nobody's fault: too much work, or the service is starting or ending."""


class ServiceError(GleanerError):
    """The service's own fault."""


class Unreachable(ServiceError):
    """Nothing answers at this address, or something that is no Gleaner service."""


def kind_of(status: int) -> type[GleanerError]:
    """The class of an error by its HTTP status."""
    if status in TRY_LATER:
        return Overloaded
    return RequestError if 400 <= status < 500 else ServiceError
