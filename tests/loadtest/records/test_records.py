"""Records as columns."""

from __future__ import annotations

import numpy as np

from loadtest.records.records import from_rows, merge
from tests.support.load_records import records, refusal, row


def test_no_rows_are_no_requests() -> None:
    assert len(from_rows([])) == 0


def test_rows_are_ok_refused_or_failed() -> None:
    found = records(row(0, 5), refusal(1), row(2, 5, "http_500", status=500), row(3, 5, "timeout", status=0))
    assert found.ok.tolist() == [True, False, False, False]
    assert found.refused.tolist() == [False, True, False, False]
    assert found.failed.tolist() == [False, False, True, True]


def test_latency_and_lag_count_from_the_intended_time() -> None:
    found = records(row(10.0, 250.0, lag_ms=40.0))
    assert np.allclose([found.latency_ms[0], found.lag_ms[0]], [250.0, 40.0])


def test_parts_are_merged_in_the_order_of_the_intended_times() -> None:
    merged = merge([records(row(1, 5), row(4, 5)), records(row(2, 5), row(3, 5))])
    assert merged.intended.tolist() == [1, 2, 3, 4]
    assert merged.between(2, 4).intended.tolist() == [2, 3]
