from __future__ import annotations

import json
import math

import pytest

from loadtest.records.answer import Reply, read_answer
from tests.support.load_records import ANSWER


def test_an_answer_tells_tokens_stages_and_revision() -> None:
    found = read_answer(Reply(200, "", json.dumps(ANSWER).encode()))
    assert (found.outcome, found.tokens, found.revision) == ("ok", 40, "sha256:1")
    assert found.stages_ms == (1.0,) * 6


def test_another_service_may_say_less() -> None:
    found = read_answer(Reply(200, "", b'{"entities": []}'))
    assert found.outcome == "ok"
    assert all(math.isnan(each) for each in found.stages_ms)


def test_a_document_that_failed_in_a_whole_answer_is_no_success() -> None:
    body = {"documents": [{"error": {"code": "unreadable_document"}}]}
    assert read_answer(Reply(200, "", json.dumps(body).encode())).outcome == "unreadable_document"


@pytest.mark.parametrize(
    ("reply", "outcome", "typed", "retry_after"),
    [
        (Reply(429, "3", b'{"code": "queue_full"}'), "queue_full", True, 3.0),
        (Reply(504, "", b'{"code": "deadline_exceeded"}'), "deadline_exceeded", True, float("nan")),
        (Reply(502, "", b"<html>"), "http_502", False, float("nan")),
        (Reply(503, "Wed, 21 Oct 2026 07:28:00 GMT", b"{}"), "http_503", False, float("nan")),
        (Reply(0, "", b"", "timeout"), "timeout", False, float("nan")),
    ],
)
def test_refusals_and_failures(reply: Reply, outcome: str, typed: bool, retry_after: float) -> None:
    found = read_answer(reply)
    assert (found.outcome, found.typed) == (outcome, typed)
    assert found.retry_after_seconds == retry_after or (
        math.isnan(retry_after) and math.isnan(found.retry_after_seconds)
    )
