from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from loadtest.errors import BadInput
from loadtest.records.answer import Reply
from loadtest.records.files import load, read_csv, save, write_csv
from loadtest.records.recorder import Recorder
from loadtest.records.records import from_rows
from tests.support.load_records import records, refusal, row


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    found = records(row(0.25, 12.5), refusal(1.0), row(2.0, 40, "timeout", status=0, typed=False))
    write_csv(found, tmp_path / "r.csv.gz")
    save(found, tmp_path / "r.npz")
    for again in (read_csv(tmp_path / "r.csv.gz"), load(tmp_path / "r.npz")):
        assert np.allclose(again.latency_ms, found.latency_ms, rtol=1e-4)
        assert np.allclose(again.stages_ms, found.stages_ms, equal_nan=True)
        assert again.outcome.tolist() == ["ok", "queue_full", "timeout"]
        assert again.typed.tolist() == [True, True, False]
        assert again.status.tolist() == [200, 429, 0]


def test_no_rows_are_no_requests() -> None:
    assert len(from_rows([])) == 0


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.csv.gz").write_bytes(b"no")
    with pytest.raises(BadInput):
        read_csv(tmp_path / "r.csv.gz")


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
