from __future__ import annotations

import time

from service.api.extraction.stage_timer import StageTimer
from service.api.tracing.request_trace import MOST_DOCUMENTS, RequestTrace, begin_trace, body_received, traced
from service.api.tracing.spans import StageSpan, spans_of


def timed(**stages: tuple[float, float]) -> StageTimer:
    timer = StageTimer()
    for stage, (begun, seconds) in stages.items():
        timer.record(stage, begun, seconds)
    return timer


def test_the_spans_are_the_stages_as_they_were_timed() -> None:
    trace = RequestTrace(10.0, received_seconds=11.0)
    trace.add(timed(parse=(11.0, 0.5), queue=(11.5, 0.25), compute=(11.75, 0.25), decode=(12.0, 0.5)))
    assert list(spans_of(trace, 13.0)) == [
        StageSpan("receive", 10.0, 11.0),
        StageSpan("parse", 11.0, 11.5, 0),
        StageSpan("queue", 11.5, 11.75, 0),
        StageSpan("batch", 11.75, 12.0, 0),
        StageSpan("decode", 12.0, 12.5, 0),
        StageSpan("answer", 12.5, 13.0),
    ]


def test_a_request_that_was_refused_at_the_door_has_none() -> None:
    assert list(spans_of(RequestTrace(10.0), 11.0)) == []


def test_documents_of_a_large_batch_are_counted_only() -> None:
    trace = RequestTrace(0.0)
    for _ in range(MOST_DOCUMENTS + 5):
        trace.add(StageTimer())
    assert (trace.documents, len(trace.timers)) == (MOST_DOCUMENTS + 5, MOST_DOCUMENTS)


def test_what_is_noted_is_found_by_the_task_that_answers() -> None:
    trace = begin_trace(1.0)
    body_received(2.0)
    timer = traced(StageTimer())
    assert (trace.received_seconds, trace.timers) == (2.0, [timer])


def test_a_timer_knows_when_each_stage_began() -> None:
    timer, before = StageTimer(), time.monotonic()
    with timer.measure("parse"):
        pass
    assert before <= timer.begun_seconds["parse"] <= time.monotonic()
