"""Oracle and ledger of a chaos run: judges each reply against the known answer, and keeps verdicts and faults. Pure.

The oracle learns the answers from the service before the first fault. The same weights give the same entities whatever
else is in a batch; scores may differ by rounding.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec

from loadtest.generator.records import Reply

SCORE_TOLERANCE = 1e-3
PASSING = frozenset({"queue_full", "rate_limited", "deadline_exceeded", "not_ready", "draining", "engine_restarting"})
"""Codes of refusals that say when to come back. Any request may get one while something is broken."""
Json = Any


class Verdict(StrEnum):
    """The oracle's judgement of a reply."""

    RIGHT = "right"
    REFUSED = "refused"
    """A typed refusal of the request, or of some of its documents, that says when to come back."""
    WRONG = "wrong"
    UNTYPED = "untyped"
    """A response without a problem document, or a refusal without Retry-After."""
    LOST = "lost"
    """No whole response."""


class Oracle:
    """The known answers by question."""

    def __init__(self) -> None:
        self._known: dict[str, Json] = {}

    def learn(self, question: str, reply: Reply) -> bool:
        """Take a reply for the right answer; False for a refusal that says when to come back.

        Raises:
            ValueError: it is neither: no problem document, or no response.
        """
        answer = _canonical(reply)
        if answer is None:
            raise ValueError(f"no answer to {question!r}: {reply.status} {reply.failure} {reply.body[:300]!r}")
        if _is_passing(answer):
            return False
        self._known[question] = answer
        return True

    def judge(self, question: str, reply: Reply) -> Verdict:
        """The verdict on a reply to a question that was learned."""
        if reply.status == 0:
            return Verdict.LOST
        answer = _canonical(reply)
        if answer is None:
            return Verdict.UNTYPED
        if _is_passing(answer):
            return Verdict.REFUSED if reply.retry_after.isdigit() else Verdict.UNTYPED
        return _compare(self._known[question], answer)


def _canonical(reply: Reply) -> Json | None:
    """Parts that two equal answers share; None for a response that is neither an answer nor a problem document."""
    try:
        body = msgspec.json.decode(reply.body)
        if reply.status == 200:
            return {"documents": [_document(each) for each in body["documents"]]}
        return {"status": reply.status, "code": body["code"]} if body["status"] == reply.status else None
    except (msgspec.DecodeError, KeyError, TypeError):
        return None


def _document(document: Json) -> Json:
    error = document["error"]
    return {**document, "error": error and error["code"]}


def _is_passing(answer: Json) -> bool:
    return answer.get("code") in PASSING


def _compare(known: Json, answer: Json) -> Verdict:
    if "documents" not in known or "documents" not in answer:
        return Verdict.RIGHT if known == answer else Verdict.WRONG
    if len(known["documents"]) != len(answer["documents"]):
        return Verdict.WRONG
    verdicts = {_compare_documents(*pair) for pair in zip(known["documents"], answer["documents"], strict=True)}
    return next(each for each in (Verdict.WRONG, Verdict.REFUSED, Verdict.RIGHT) if each in verdicts)


def _compare_documents(known: Json, answer: Json) -> Verdict:
    if answer["error"] in PASSING and answer["id"] == known["id"]:
        return Verdict.REFUSED
    return Verdict.RIGHT if _alike(known, answer) else Verdict.WRONG


def _alike(known: Json, answer: Json) -> bool:
    """True if two answers are equal, apart from rounding."""
    if isinstance(known, float) and isinstance(answer, (int, float)):
        return math.isclose(known, answer, abs_tol=SCORE_TOLERANCE)
    if isinstance(known, dict) and isinstance(answer, dict):
        return known.keys() == answer.keys() and all(_alike(known[name], answer[name]) for name in known)
    if isinstance(known, list) and isinstance(answer, list):
        return len(known) == len(answer) and all(map(_alike, known, answer))
    return bool(known == answer)


SLACK_SECONDS = 3.0
"""Seconds after a fault during which a connection may still be lost by it."""
BAD = (Verdict.WRONG, Verdict.UNTYPED)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its outcome; seconds from the start of the run."""

    question: str
    verdict: Verdict
    begun_seconds: float
    ended_seconds: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class FaultRecord:
    """A fault and its time. `loses`: connections to a killed process are lost with it."""

    fault: str
    begun_seconds: float
    ended_seconds: float
    loses: bool


@dataclass(slots=True)
class Ledger:
    """Everything that happened, in order."""

    exchanges: list[Exchange] = field(default_factory=list)
    faults: list[FaultRecord] = field(default_factory=list)
    unhealthy: list[str] = field(default_factory=list)
    """Sentences on what was wrong after the last fault."""

    def verdicts(self) -> Counter[Verdict]:
        return Counter(exchange.verdict for exchange in self.exchanges)

    @property
    def has_answers(self) -> bool:
        return any(each.verdict is Verdict.RIGHT for each in self.exchanges)

    def unexplained(self) -> list[Exchange]:
        """Lost exchanges during which no fault happened that loses connections."""
        return [each for each in self._of((Verdict.LOST,)) if not self._explained(each)]

    def findings(self) -> list[str]:
        """A sentence for each thing that must not happen; empty after a good run."""
        bad = [
            f"{each.question}: {each.verdict} at {each.ended_seconds:.1f} s: {each.detail}" for each in self._of(BAD)
        ]
        lost = [
            f"{each.question}: lost at {each.ended_seconds:.1f} s without a fault that explains it: {each.detail}"
            for each in self.unexplained()
        ]
        return [*bad, *lost, *self.unhealthy, *(["no request was answered"] if not self.has_answers else [])]

    def table(self) -> list[str]:
        """Rows in Markdown: for each fault how often it happened, and the verdicts on the requests that it met."""
        rows = [
            "| fault | times | right | refused | lost | wrong | untyped | slowest s |",
            "|---|---|---|---|---|---|---|---|",
        ]
        for name in dict.fromkeys(fault.fault for fault in self.faults):
            times = [fault for fault in self.faults if fault.fault == name]
            rows.append(_row(name, str(len(times)), [each for each in self.exchanges if _meets(each, times)]))
        return [*rows, _row("whole run", "", self.exchanges)]

    def _of(self, verdicts: Iterable[Verdict]) -> list[Exchange]:
        wanted = set(verdicts)
        return [each for each in self.exchanges if each.verdict in wanted]

    def _explained(self, exchange: Exchange) -> bool:
        return _meets(exchange, [fault for fault in self.faults if fault.loses])


def _meets(exchange: Exchange, faults: list[FaultRecord]) -> bool:
    return any(
        fault.begun_seconds <= exchange.ended_seconds and exchange.begun_seconds <= fault.ended_seconds + SLACK_SECONDS
        for fault in faults
    )


def _row(name: str, times: str, exchanges: list[Exchange]) -> str:
    found = Counter(exchange.verdict for exchange in exchanges)
    slowest = max((each.ended_seconds - each.begun_seconds for each in exchanges), default=0.0)
    shown = (Verdict.RIGHT, Verdict.REFUSED, Verdict.LOST, Verdict.WRONG, Verdict.UNTYPED)
    return f"| {name} | {times} | " + " | ".join(str(found[each]) for each in shown) + f" | {slowest:.1f} |"
