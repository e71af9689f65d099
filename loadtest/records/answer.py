"""Replies of POST /extract read into answers: tokens, stages and revision, or the code of a refusal or failure. Pure.

Any service that answers POST /extract will do: a value that its answer lacks is unknown (NaN, or empty).
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

UNKNOWN = float("nan")
STAGES = ("parse", "tokenize", "queue", "compute", "decode", "total")


class _Problem(msgspec.Struct):
    code: str = ""


class _Document(msgspec.Struct):
    tokens: int = 0
    characters: int = 0
    error: _Problem | None = None


class _Model(msgspec.Struct):
    revision: str = ""


class _Body(msgspec.Struct):
    documents: list[_Document] = []
    timing: dict[str, float] = {}
    model: _Model | None = None


_bodies = msgspec.json.Decoder(_Body)
_problems = msgspec.json.Decoder(_Problem)


@dataclass(frozen=True, slots=True)
class Reply:
    """The response to one request. Status 0: there was no whole response; `failure` is then the failure's code."""

    status: int
    retry_after: str
    body: bytes
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """`outcome`: ok, the problem's code, or the code of a failure below HTTP. `typed`: a problem document has a code.

    `stages_ms` is in the order of `STAGES`; `retry_after_seconds` is NaN without the header.
    """

    outcome: str
    status: int
    typed: bool = True
    tokens: int = 0
    stages_ms: tuple[float, ...] = (UNKNOWN,) * len(STAGES)
    retry_after_seconds: float = UNKNOWN
    revision: str = ""


def read_answer(reply: Reply) -> Answer:
    """The answer in a reply."""
    if reply.status == 0:
        return Answer(reply.failure.partition(" ")[0], 0, typed=False)
    if reply.status != 200:
        return _refusal(reply)
    try:
        body = _bodies.decode(reply.body)
    except msgspec.MsgspecError:
        return Answer("unreadable_answer", reply.status, typed=False)
    errors = [document.error.code for document in body.documents if document.error is not None]
    return Answer(
        errors[0] if errors else "ok",
        reply.status,
        tokens=sum(document.tokens for document in body.documents),
        stages_ms=tuple(body.timing.get(f"{stage}_ms", UNKNOWN) for stage in STAGES),
        revision=body.model.revision if body.model else "",
    )


def _refusal(reply: Reply) -> Answer:
    try:
        code = _problems.decode(reply.body).code
    except msgspec.MsgspecError:
        code = ""
    wait = float(reply.retry_after) if reply.retry_after.replace(".", "", 1).isdigit() else UNKNOWN
    return Answer(code or f"http_{reply.status}", reply.status, typed=bool(code), retry_after_seconds=wait)
