"""What a reply says: the document's tokens and stages, or the typed reason why there are none. Pure.

Anything that answers POST /extract will do: what a reply does not say stays unknown.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from loadtest.client.connection import Reply

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


class _Answer(msgspec.Struct):
    documents: list[_Document] = []
    timing: dict[str, float] = {}
    model: _Model | None = None


_answers = msgspec.json.Decoder(_Answer)
_problems = msgspec.json.Decoder(_Problem)


@dataclass(frozen=True, slots=True)
class Answer:
    """`outcome`: ok, the problem's code, or what failed below HTTP. `typed`: a refusal came as a problem document.

    `stages_ms` in the order of `STAGES`; `retry_after_seconds` is unknown where no header came.
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
        answer = _answers.decode(reply.body)
    except msgspec.MsgspecError:
        return Answer("unreadable_answer", reply.status, typed=False)
    errors = [document.error.code for document in answer.documents if document.error is not None]
    return Answer(
        errors[0] if errors else "ok",
        reply.status,
        tokens=sum(document.tokens for document in answer.documents),
        stages_ms=tuple(answer.timing.get(f"{stage}_ms", UNKNOWN) for stage in STAGES),
        revision=answer.model.revision if answer.model else "",
    )


def _refusal(reply: Reply) -> Answer:
    try:
        code = _problems.decode(reply.body).code
    except msgspec.MsgspecError:
        code = ""
    wait = float(reply.retry_after) if reply.retry_after.replace(".", "", 1).isdigit() else UNKNOWN
    return Answer(code or f"http_{reply.status}", reply.status, typed=bool(code), retry_after_seconds=wait)
