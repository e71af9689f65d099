"""The oracle calls right what is right, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loadtest.chaos.oracle import Oracle, Verdict
from loadtest.records.answer import Reply

ENTITY = {"label": "DATE", "text": "today", "start": 3, "end": 8, "score": 0.91, "boxes": [[1.0, 2.0, 3.0, 4.0]]}


def ok(*documents: dict[str, Any]) -> Reply:
    return Reply(200, "", json.dumps({"documents": documents, "timing": {"total_ms": 3.0}}).encode())


def document(name: str = "a", entities: Any = (ENTITY,), error: str | None = None) -> dict[str, Any]:
    return {"id": name, "entities": list(entities), "error": error and {"code": error, "detail": "later"}}


def problem(status: int, code: str, retry_after: str = "") -> Reply:
    return Reply(status, retry_after, json.dumps({"status": status, "code": code}).encode())


@pytest.fixture
def oracle() -> Oracle:
    oracle = Oracle()
    oracle.learn("batch", ok(document("a"), document("b", ())))
    oracle.learn("bad file", problem(422, "unreadable_document"))
    return oracle


@pytest.mark.parametrize(
    ("question", "reply", "verdict"),
    [
        ("batch", ok(document("a"), document("b", ())), Verdict.RIGHT),
        ("batch", ok(document("a", [{**ENTITY, "score": 0.9101}]), document("b", ())), Verdict.RIGHT),
        ("batch", ok(document("a", [{**ENTITY, "score": 0.95}]), document("b", ())), Verdict.WRONG),
        ("batch", ok(document("a", [{**ENTITY, "start": 4}]), document("b", ())), Verdict.WRONG),
        ("batch", ok(document("b", ()), document("a")), Verdict.WRONG),
        ("batch", ok(document("a")), Verdict.WRONG),
        ("batch", ok(document("a", (), "deadline_exceeded"), document("b", ())), Verdict.REFUSED),
        ("batch", ok(document("c", (), "deadline_exceeded"), document("b", ())), Verdict.WRONG),
        ("batch", ok(document("a", (), "internal_error"), document("b", ())), Verdict.WRONG),
        ("batch", ok(document("a", (), "queue_full"), document("b", [ENTITY])), Verdict.WRONG),
        ("batch", problem(429, "queue_full", "2"), Verdict.REFUSED),
        ("batch", problem(429, "queue_full"), Verdict.UNTYPED),
        ("batch", problem(500, "internal_error"), Verdict.WRONG),
        ("batch", Reply(500, "", b"Internal Server Error"), Verdict.UNTYPED),
        ("batch", Reply(503, "1", json.dumps({"status": 500, "code": "draining"}).encode()), Verdict.UNTYPED),
        ("batch", Reply(200, "", b'{"documents": [{"id"'), Verdict.UNTYPED),
        ("batch", Reply(0, "", b"", "connection_lost"), Verdict.LOST),
        ("bad file", problem(422, "unreadable_document"), Verdict.RIGHT),
        ("bad file", problem(422, "invalid_options"), Verdict.WRONG),
        ("bad file", ok(document("a")), Verdict.WRONG),
    ],
)
def test_a_reply_is_judged(oracle: Oracle, question: str, reply: Reply, verdict: Verdict) -> None:
    assert oracle.judge(question, reply) is verdict


@pytest.mark.parametrize("reply", [Reply(0, "", b"", "timeout"), Reply(500, "", b"no")])
def test_only_answers_are_learned(reply: Reply) -> None:
    with pytest.raises(ValueError, match="no answer to 'a'"):
        Oracle().learn("a", reply)


def test_a_refusal_that_passes_is_no_answer_to_learn_and_the_question_is_asked_again(oracle: Oracle) -> None:
    late = problem(504, "deadline_exceeded", "1")
    assert not oracle.learn("late", late)
    assert oracle.learn("late", ok(document("a")))
    assert oracle.judge("late", ok(document("a"))) is Verdict.RIGHT
