"""The recorder of a generator process."""

from __future__ import annotations

import pytest

from loadtest.records.answer import Reply
from loadtest.records.recorder import Recorder


def test_a_recorder_counts_from_the_intended_time_and_keeps_old_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loadtest.records.recorder.ROWS_AS_TUPLES", 2)
    recorder = Recorder(100.0)
    for number in range(5):
        recorder.note(0, 101.0 + number, 101.25 + number, 101.5 + number, Reply(200, "", b"{}"))
    recorder.note(0, 110.0, 110.0, 110.1, Reply(503, "2", b'{"code": "draining"}'))
    assert (recorder.ok, recorder.refused, recorder.failed) == (5, 1, 0)
    latencies, lag = recorder.take_recent()
    assert latencies == pytest.approx([500.0] * 5)
    assert lag == pytest.approx(250.0)
    assert recorder.take_recent() == ([], 0.0)
    found = recorder.records()
    assert found.latency_ms[:5] == pytest.approx([500.0] * 5)
    assert found.lag_ms[:5] == pytest.approx([250.0] * 5)
    assert found.outcome.tolist()[-1] == "draining"
    assert found.retry_after[-1] == 2.0
