"""Prepared answers are whole responses, one for each refusal."""

from __future__ import annotations

import json

from service.api.connection.refusals import PreparedProblem, PreparedProblems
from service.core.connections.limits import ConnectionLimits
from service.core.errors import QueueFull


def test_a_prepared_answer_is_a_whole_response() -> None:
    prepared = PreparedProblem(QueueFull("Come back.", retry_after_seconds=2.0))
    for close in (False, True):
        head, _, body = prepared.response([(b"date", b"now")], close=close).partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        assert lines[0] == b"HTTP/1.1 429 Too Many Requests"
        assert {b"date: now", b"retry-after: 2", b"x-content-type-options: nosniff"} <= set(lines)
        assert (b"connection: close" in lines) == close
        assert b"content-length: %d" % len(body) in lines
        assert json.loads(body)["code"] == "queue_full"


def test_every_refusal_of_overload_has_an_answer() -> None:
    problems = PreparedProblems(ConnectionLimits())
    assert {code: each.code for code, each in problems.overloaded.items()} == {
        "queue_full": "queue_full",
        "deadline_exceeded": "deadline_exceeded",
    }
