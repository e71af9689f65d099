"""The load of a rehearsal: requests on schedule, whatever the answers do, and what became of each."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from loadtest.scaling.balancer import exchange
from loadtest.scaling.timeline import Timeline

TEXT = (
    "Invoice {number} from Acme GmbH, Hauptstrasse 5, 10115 Berlin. Bill to: Blue Castell Software Ltd. "
    "Order date 12 March 2026, due 11 April 2026. 3 office chairs at EUR 129.00, total EUR 387.00 plus 19 % VAT. "
    "Payable to IBAN DE89 3704 0044 0532 0130 00. Contact: Jane Doe, jane@acme.example, +49 30 1234567."
)


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of constant rate."""

    name: str
    seconds: float
    per_second: float


@dataclass(frozen=True, slots=True)
class Answer:
    """One request: when it was due, how late it was sent, how long from due to answered, and with what.

    Status 0 stands for no answer.
    """

    due: float
    late_seconds: float
    seconds: float
    status: int


def due_times(phases: tuple[Phase, ...]) -> Iterator[float]:
    """When each request is due, in seconds from the start: evenly spaced within a phase."""
    begin = 0.0
    for phase in phases:
        for i in count():
            at = i / phase.per_second
            if at >= phase.seconds:
                break
            yield begin + at
        begin += phase.seconds


async def send_all(port: int, phases: tuple[Phase, ...], timeline: Timeline) -> list[Answer]:
    """Send every request when it is due, and wait for the last answer."""
    answers: list[Answer] = []
    async with asyncio.TaskGroup() as group:
        for number, due in enumerate(due_times(phases)):
            await asyncio.sleep(max(timeline.begun + due - time.monotonic(), 0.0))
            group.create_task(_ask(port, number, due, timeline, answers))
    return answers


async def _ask(port: int, number: int, due: float, timeline: Timeline, answers: list[Answer]) -> None:
    late = timeline.now() - due
    status = status_of(await exchange(port, _request(number)))
    answer = Answer(due, late, timeline.now() - due, status)
    answers.append(answer)
    timeline.answered(answer.seconds, status)


def _request(number: int) -> bytes:
    body = json.dumps({"text": TEXT.format(number=number)}).encode()
    head = f"POST /extract HTTP/1.1\r\nHost: fleet\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


def status_of(answer: bytes) -> int:
    """The status in an answer; 0 if there is none."""
    parts = answer[:32].split(b" ", 2)
    return int(parts[1]) if len(parts) == 3 and parts[1].isdigit() else 0
