"""Waterfall of one request: every moment from its first byte to its answer belongs to one span. Pure.

    receive · parse · tokenize · queue and batches in turn · decode · answer         with `other` between them

A document's spans follow each other without a gap, so they add up to the time from its request's begin to its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from service.api.extraction.trace import DocumentTrace, RequestTrace
from service.core.debug_snapshot import BatchRun

LEAST_SECONDS = 20e-6
"""Seconds of the shortest gap with a span of its own; a shorter one goes to the span before it."""
MOST_BATCHES = 200
"""Most batches of one document that are named; later ones are one span."""


@dataclass(frozen=True, slots=True)
class StageSpan:
    """A part of a request's time; `batch`: the one that ran in it."""

    name: str
    begun: float
    ended: float
    batch: BatchRun | None = None


def waterfall(trace: RequestTrace, batches: Mapping[int, BatchRun]) -> dict[str, Any]:
    """A request's way as JSON takes it; times are milliseconds since its begin.

    Args:
        batches: those that the engine remembers, by number.
    """
    return {
        **summary(trace),
        "documents": [_document(each, trace, batches) for each in trace.documents],
        "answer_ms": _ms(trace.ended_seconds - _last_end(trace)),
    }


def summary(trace: RequestTrace) -> dict[str, Any]:
    """A request in one line."""
    bad = [each.code for each in trace.documents if each.code != "ok"]
    return {
        "id": trace.id,
        "unix_seconds": round(trace.unix_seconds, 3),
        "client": trace.client,
        "model": trace.model,
        "status": trace.status,
        "code": bad[0] if bad else trace.code or "ok",
        "failed": len(bad),
        "count": trace.count,
        "tokens": sum(each.tokens for each in trace.documents),
        "entities": sum(each.entities for each in trace.documents),
        "total_ms": _ms(trace.ended_seconds - trace.begun_seconds),
    }


def spans(document: DocumentTrace, trace: RequestTrace, batches: Mapping[int, BatchRun]) -> list[StageSpan]:
    """A document's spans in their order, without gaps, from its request's begin to its own end."""
    found: list[StageSpan] = []
    at = trace.begun_seconds
    for span in _known(document, trace, batches):
        begun = max(span.begun, at)
        if begun - at > LEAST_SECONDS:
            found.append(StageSpan("other", at, begun))
        elif found:
            found[-1] = StageSpan(found[-1].name, found[-1].begun, begun, found[-1].batch)
        else:
            begun = at
        at = max(span.ended, begun)
        found.append(StageSpan(span.name, begun, at, span.batch))
    if document.ended_seconds > at:
        found.append(StageSpan("other", at, document.ended_seconds))
    return [span for span in found if span.ended > span.begun]


def _known(document: DocumentTrace, trace: RequestTrace, batches: Mapping[int, BatchRun]) -> Iterator[StageSpan]:
    begun, seconds = document.timer.begun_seconds, document.timer.seconds
    if trace.received_seconds is not None:
        yield StageSpan("receive", trace.begun_seconds, trace.received_seconds)
    for stage in ("parse", "tokenize"):
        if stage in begun and stage in seconds:
            yield StageSpan(stage, begun[stage], begun[stage] + seconds[stage])
    if "queue" in begun:
        yield from _in_engine(document, batches)
    if "decode" in begun and "decode" in seconds:
        yield StageSpan("decode", begun["decode"], begun["decode"] + seconds["decode"])


def _in_engine(document: DocumentTrace, batches: Mapping[int, BatchRun]) -> Iterator[StageSpan]:
    """The document's batches, and between them its waiting; without a memory of them, only how long both took."""
    timer = document.timer
    at, end = timer.begun_seconds["queue"], timer.begun_seconds.get("decode", document.ended_seconds)
    ran = sorted((batches[each] for each in timer.batches if each in batches), key=lambda each: each.begun_seconds)
    for batch in ran[:MOST_BATCHES]:
        if min(batch.ended_seconds, end) <= at:
            continue
        if batch.begun_seconds > at:
            yield StageSpan("queue", at, batch.begun_seconds)
        yield StageSpan("batch", max(batch.begun_seconds, at), min(batch.ended_seconds, end), batch)
        at = min(batch.ended_seconds, end)
    forgotten = timer.seconds.get("compute", 0.0) if not ran else 0.0
    compute_begun = max(end - forgotten, at)
    yield StageSpan("queue" if not ran else "deliver", at, compute_begun)
    yield StageSpan("compute", compute_begun, end)


def _document(document: DocumentTrace, trace: RequestTrace, batches: Mapping[int, BatchRun]) -> dict[str, Any]:
    begun = trace.begun_seconds
    own = {number for number in document.timer.batches if number in batches}
    return {
        "format": document.format,
        "size": document.size,
        "pages": document.pages,
        "tokens": document.tokens,
        "windows": document.windows,
        "entities": document.entities,
        "code": document.code,
        "batches": len(document.timer.batches),
        "remembered": len(own) == len(document.timer.batches),
        "total_ms": _ms(document.ended_seconds - begun),
        "spans": [
            {
                "name": span.name,
                "start_ms": _ms(span.begun - begun),
                "ms": _ms(span.ended - span.begun),
                "batch": None if span.batch is None else _mates(span.batch),
            }
            for span in spans(document, trace, batches)
        ],
    }


def _mates(batch: BatchRun) -> dict[str, Any]:
    """A batch as one of its documents sees it: how full it was, and how long the sequences in it were."""
    lengths = sorted((tokens for each in batch.documents.values() for tokens in each), reverse=True)
    return {
        "number": batch.number,
        "tokens": batch.tokens,
        "full_tokens": batch.full_tokens,
        "documents": len(batch.documents),
        "sequences": len(lengths),
        "lengths": lengths[:64],
    }


def _last_end(trace: RequestTrace) -> float:
    return max((each.ended_seconds for each in trace.documents), default=trace.begun_seconds)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)
