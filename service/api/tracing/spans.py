"""Which spans a finished request has: its documents' stages as they were timed, and what is before and after. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from service.api.extraction.trace import RequestTrace

NAMES = {"compute": "batch"}
"""Stage → span, where the span has another name: what the engine computes is a batch, of this document and others."""


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """One span below the request's. Times are of the monotonic clock; `document` is its place in the request."""

    name: str
    begun_seconds: float
    ended_seconds: float
    document: int | None = None


def spans_of(trace: RequestTrace) -> Iterator[TraceSpan]:
    """The spans of a request that has ended: receive, the stages of each document, answer."""
    last = received = trace.begun_seconds
    if trace.received_seconds is not None:
        last = received = trace.received_seconds
        yield TraceSpan("receive", trace.begun_seconds, received)
    for number, timer in enumerate(each.timer for each in trace.documents):
        for stage, begun in timer.begun_seconds.items():
            ended = begun + timer.seconds.get(stage, 0.0)
            last = max(last, ended)
            yield TraceSpan(NAMES.get(stage, stage), begun, ended, number)
    if trace.documents:
        yield TraceSpan("answer", min(last, trace.ended_seconds), trace.ended_seconds)
