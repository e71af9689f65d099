"""The oracle: knows the right answer to every question of a chaos run, and judges each reply. Pure.

It learns the answers from the service before the first fault. The same weights give the same entities whatever else is
in a batch; scores may differ by rounding.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Any

import msgspec

from loadtest.records.answer import Reply

SCORE_TOLERANCE = 1e-3
PASSING = frozenset({"queue_full", "rate_limited", "deadline_exceeded", "not_ready", "draining", "engine_restarting"})
"""Codes of refusals that say when to come back. Any request may get one while something is broken."""
Json = Any


class Verdict(StrEnum):
    """What a reply is worth."""

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
    """What must be equal between two answers; None for a response that is neither an answer nor a problem document."""
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
    """Equal, apart from rounding."""
    if isinstance(known, float) and isinstance(answer, (int, float)):
        return math.isclose(known, answer, abs_tol=SCORE_TOLERANCE)
    if isinstance(known, dict) and isinstance(answer, dict):
        return known.keys() == answer.keys() and all(_alike(known[name], answer[name]) for name in known)
    if isinstance(known, list) and isinstance(answer, list):
        return len(known) == len(answer) and all(map(_alike, known, answer))
    return bool(known == answer)
