"""The timer of a document's stages."""

from __future__ import annotations

import pytest

from service.api.extraction.trace import StageTimer


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
