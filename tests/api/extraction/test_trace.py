"""Traces: the seconds of stages, and the spans of a request that was answered."""

from __future__ import annotations

import time

import pytest

from service.api.extraction.trace import DocumentTrace, RequestTrace, StageTimer, TraceSpan, spans_of


def test_a_stage_that_raises_is_measured_too() -> None:
    timer = StageTimer()
    with pytest.raises(ValueError, match="bad"), timer.measure("parse"):
        raise ValueError("bad")
    assert timer.seconds["parse"] >= 0


def test_stages_add_up_and_are_shown_in_milliseconds() -> None:
    total = StageTimer({"parse": 0.25})
    total.add(StageTimer({"parse": 0.5, "compute": 1.0}))
    timing = total.timing(2.0)
    assert (timing.parse_ms, timing.compute_ms, timing.queue_ms, timing.total_ms) == (750.0, 1000.0, 0.0, 2000.0)


def timed(**stages: tuple[float, float]) -> StageTimer:
    timer = StageTimer()
    for stage, (begun, seconds) in stages.items():
        timer.record(stage, begun, seconds)
    return timer


def document(timer: StageTimer) -> DocumentTrace:
    return DocumentTrace("text", 5, None, 3, 1, 0, "ok", timer, 12.5)


def test_the_spans_are_the_stages_as_they_were_timed() -> None:
    trace = RequestTrace("r-1", 10.0, received_seconds=11.0, ended_seconds=13.0)
    timer = timed(parse=(11.0, 0.5), queue=(11.5, 0.25), compute=(11.75, 0.25), decode=(12.0, 0.5))
    trace.add(document(timer))
    assert list(spans_of(trace)) == [
        TraceSpan("receive", 10.0, 11.0),
        TraceSpan("parse", 11.0, 11.5, 0),
        TraceSpan("queue", 11.5, 11.75, 0),
        TraceSpan("batch", 11.75, 12.0, 0),
        TraceSpan("decode", 12.0, 12.5, 0),
        TraceSpan("answer", 12.5, 13.0),
    ]


def test_a_timer_knows_when_each_stage_began() -> None:
    timer, before = StageTimer(), time.monotonic()
    with timer.measure("parse"):
        pass
    assert before <= timer.begun_seconds["parse"] <= time.monotonic()
