"""Errors as problem documents (RFC 9457). The only place that maps error codes to HTTP statuses."""

from __future__ import annotations

import math
from typing import TypedDict

import msgspec
from starlette.responses import Response

from service.core.errors import GleanerError, Overloaded

STATUS = {
    "malformed_request": 400,
    "unauthenticated": 401,
    "forbidden": 401,
    "foreign_host": 403,
    "unknown_model": 404,
    "unknown_route": 404,
    "wrong_method": 405,
    "too_slow": 408,
    "document_too_large": 413,
    "target_too_long": 414,
    "unsupported_format": 415,
    "invalid_options": 422,
    "unreadable_document": 422,
    "unredactable_document": 422,
    "too_long_for_deadline": 422,
    "queue_full": 429,
    "rate_limited": 429,
    "headers_too_large": 431,
    "internal_error": 500,
    "model_error": 500,
    "poison_document": 500,
    "too_much_at_once": 503,
    "not_ready": 503,
    "draining": 503,
    "engine_restarting": 503,
    "deadline_exceeded": 504,
    "insufficient_memory": 507,
}
MOST_DETAIL_CHARACTERS = 300
"""Longest sentence of a problem: what a client sent comes back in part at most."""
MEDIA_TYPE = "application/problem+json"


class Problem(TypedDict):
    """A problem document (RFC 9457); `code` is the service's own error code, `detail` a sentence for people."""

    type: str
    title: str
    status: int
    detail: str
    code: str


def problem(error: GleanerError) -> Problem:
    """The problem document of an error."""
    return Problem(
        type=f"urn:gleaner:error:{error.code}",
        title=error.title,
        status=STATUS[error.code],
        detail=_shortened(error.detail),
        code=error.code,
    )


def _shortened(detail: str) -> str:
    return detail if len(detail) <= MOST_DETAIL_CHARACTERS else detail[: MOST_DETAIL_CHARACTERS - 1] + "…"


def response(error: GleanerError) -> Response:
    """The HTTP response of an error, with `Retry-After` where the same request may succeed later.

    The error is over, and loses its traceback: the frames in it hold the request's documents, and some hold the error.
    """
    body = problem(error.with_traceback(None))
    return Response(msgspec.json.encode(body), body["status"], headers(error), MEDIA_TYPE)


def headers(error: GleanerError) -> dict[str, str]:
    """The headers of an error's response, whatever form its body has."""
    found = {}
    if isinstance(error, Overloaded):
        found["Retry-After"] = str(retry_after_seconds(error))
    if STATUS[error.code] == 401:
        found["WWW-Authenticate"] = "Bearer"
    return found


def retry_after_seconds(error: Overloaded) -> int:
    """After how many whole seconds the same request may succeed."""
    return max(1, math.ceil(error.retry_after_seconds or 1.0))
