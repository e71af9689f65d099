"""Records as columns."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from loadtest.errors import BadInput
from loadtest.generator.records import Recorder, Reply, load, merge, read_answer, read_csv, save, write_csv
from tests.support.load_records import ANSWER, records, refusal, row


def test_an_answer_tells_tokens_stages_and_revision() -> None:
    found = read_answer(Reply(200, "", json.dumps(ANSWER).encode()))
    assert (found.outcome, found.tokens, found.revision) == ("ok", 40, "sha256:1")
    assert found.stages_ms == (1.0,) * 6


def test_a_document_that_failed_in_a_whole_answer_is_no_success() -> None:
    body = {"documents": [{"error": {"code": "unreadable_document"}}]}
    assert read_answer(Reply(200, "", json.dumps(body).encode())).outcome == "unreadable_document"


@pytest.mark.parametrize(
    ("reply", "outcome", "typed", "retry_after"),
    [
        (Reply(429, "3", b'{"code": "queue_full"}'), "queue_full", True, 3.0),
        (Reply(504, "", b'{"code": "deadline_exceeded"}'), "deadline_exceeded", True, float("nan")),
        (Reply(502, "", b"<html>"), "http_502", False, float("nan")),
        (Reply(503, "Wed, 21 Oct 2026 07:28:00 GMT", b"{}"), "http_503", False, float("nan")),
        (Reply(0, "", b"", "timeout"), "timeout", False, float("nan")),
    ],
)
def test_refusals_and_failures(reply: Reply, outcome: str, typed: bool, retry_after: float) -> None:
    found = read_answer(reply)
    assert (found.outcome, found.typed) == (outcome, typed)
    assert found.retry_after_seconds == retry_after or (
        math.isnan(retry_after) and math.isnan(found.retry_after_seconds)
    )


def test_rows_are_ok_refused_or_failed() -> None:
    too_long = row(4, 5, "too_long_for_deadline", status=422)
    bad = (
        row(2, 5, "http_500", status=500),
        row(3, 5, "timeout", status=0),
        row(5, 5, "unreadable_document", status=422),
    )
    found = records(row(0, 5), refusal(1), too_long, *bad)
    assert np.flatnonzero(found.ok).tolist() == [0]
    assert np.flatnonzero(found.refused).tolist() == [1, 4]
    assert np.flatnonzero(found.failed).tolist() == [2, 3, 5]


def test_latency_and_lag_count_from_the_intended_time() -> None:
    found = records(row(10.0, 250.0, lag_ms=40.0))
    assert np.allclose([found.latency_ms[0], found.lag_ms[0]], [250.0, 40.0])


def test_parts_are_merged_in_the_order_of_the_intended_times() -> None:
    merged = merge([records(row(1, 5), row(4, 5)), records(row(2, 5), row(3, 5))])
    assert merged.intended.tolist() == [1, 2, 3, 4]
    assert merged.between(2, 4).intended.tolist() == [2, 3]


def test_written_records_are_read_again(tmp_path: Path) -> None:
    found = records(row(0.25, 12.5), refusal(1.0), row(2.0, 40, "timeout", status=0, typed=False))
    write_csv(found, tmp_path / "r.csv.gz")
    save(found, tmp_path / "r.npz")
    for again in (read_csv(tmp_path / "r.csv.gz"), load(tmp_path / "r.npz")):
        assert np.allclose(again.latency_ms, found.latency_ms, rtol=1e-4)
        assert np.allclose(again.stages_ms, found.stages_ms, equal_nan=True)
        assert again.outcome.tolist() == ["ok", "queue_full", "timeout"]
        assert again.typed.tolist() == [True, True, False]
        assert again.status.tolist() == [200, 429, 0]


def test_a_file_in_another_format_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "r.csv.gz").write_bytes(b"no")
    with pytest.raises(BadInput):
        read_csv(tmp_path / "r.csv.gz")


def test_a_recorder_counts_from_the_intended_time_and_keeps_old_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loadtest.generator.records.ROWS_AS_TUPLES", 2)
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
