"""The oracle calls right what is right, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loadtest.chaos.oracle import SLACK_SECONDS, Exchange, FaultRecord, Ledger, Oracle, Verdict
from loadtest.generator.records import Reply

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


def test_a_passing_refusal_is_not_learned_and_asked_again(oracle: Oracle) -> None:
    late = problem(504, "deadline_exceeded", "1")
    assert not oracle.learn("late", late)
    assert oracle.learn("late", ok(document("a")))
    assert oracle.judge("late", ok(document("a"))) is Verdict.RIGHT


KILLED = FaultRecord("worker killed", 10.0, 10.1, loses=True)
STOPPED = FaultRecord("engine stopped", 20.0, 21.0, loses=False)


def ledger(*exchanges: Exchange) -> Ledger:
    return Ledger([Exchange("a", Verdict.RIGHT, 0.0, 0.1), *exchanges], [KILLED, STOPPED])


def test_a_good_run_has_no_findings() -> None:
    met = Exchange("a", Verdict.LOST, 9.0, 10.05)
    after = Exchange("a", Verdict.LOST, 10.1 + SLACK_SECONDS - 0.1, 13.2)
    refused = Exchange("a", Verdict.REFUSED, 20.0, 20.1)
    assert ledger(met, after, refused).findings() == []


def test_a_loss_that_no_fault_explains_is_a_finding() -> None:
    early, late, while_stopped = (Exchange("a", Verdict.LOST, begun, begun + 0.5) for begun in (9.0, 13.2, 20.2))
    assert ledger(early, late, while_stopped).unexplained() == [early, late, while_stopped]
    assert len(ledger(early, late, while_stopped).findings()) == 3


def test_wrong_and_untyped_answers_and_ill_health_are_findings() -> None:
    run = ledger(Exchange("a", Verdict.WRONG, 10.0, 10.1, "x"), Exchange("a", Verdict.UNTYPED, 10.0, 10.1))
    run.unhealthy.append("the service ended")
    assert len(run.findings()) == 3


def test_the_table_counts_what_each_fault_met() -> None:
    rows = ledger(Exchange("a", Verdict.LOST, 9.0, 10.05), Exchange("a", Verdict.REFUSED, 20.0, 22.5)).table()
    assert rows[2:] == [
        "| worker killed | 1 | 0 | 0 | 1 | 0 | 0 | 1.1 |",
        "| engine stopped | 1 | 0 | 1 | 0 | 0 | 0 | 2.5 |",
        "| whole run |  | 1 | 1 | 1 | 0 | 0 | 2.5 |",
    ]
