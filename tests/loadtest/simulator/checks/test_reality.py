"""What is calibrated out of answers, and when simulator and service agree. The service itself: `checks.reality`."""

from __future__ import annotations

import math

import numpy as np
import pytest

from loadtest.errors import Unreachable
from loadtest.records.records import COLUMNS, Records, from_rows
from loadtest.simulator.checks.reality import Found, Pair, calibrated, measured, simulated

BASE_MS, TOKEN_MS, FRONT_MS, WAY_MS = 4.0, 0.1, 1.5, 2.0


def alone(count: int = 40) -> Records:
    """Documents one at a time, of 100 to 400 tokens."""
    rows, at = [], 0.0
    for number in range(count):
        tokens = 100 * (number % 4 + 1)
        compute = BASE_MS + TOKEN_MS * tokens
        seconds = (compute + FRONT_MS + WAY_MS) / 1000
        stages = {"tokenize_ms": 1.0, "decode_ms": 0.5, "compute_ms": compute, "total_ms": seconds * 1000}
        facts = {"job": number % 4, "status": 200, "tokens": tokens, "typed": True, "outcome": "ok", "revision": "r"}
        known = {"intended": at, "sent": at, "done": at + seconds, **stages, **facts}
        rows.append(tuple(known.get(name, math.nan) for name in COLUMNS))
        at += seconds + 0.001
    return from_rows(rows)


def test_the_task_is_known_from_documents_one_at_a_time() -> None:
    model = calibrated(alone())
    assert model.base_seconds == pytest.approx(BASE_MS / 1000)
    assert model.seconds_per_token == pytest.approx(TOKEN_MS / 1000)
    assert model.documents.text_seconds == pytest.approx(FRONT_MS / 1000)
    assert model.overhead_seconds == pytest.approx(WAY_MS / 1000)


def test_the_same_documents_take_as_long_in_the_simulator() -> None:
    records = alone()
    tokens = dict(zip(records.job.tolist(), records.tokens.tolist(), strict=True))
    real, again = measured(records), simulated(calibrated(records), records, tokens)
    assert Pair(0.5, real, again).agrees
    assert again.p50_ms == pytest.approx(real.p50_ms, rel=1e-6)
    assert again.refused == 0.0


def test_too_few_answers_are_not_enough() -> None:
    with pytest.raises(Unreachable, match="3 documents"):
        calibrated(alone(3))


@pytest.mark.parametrize(
    ("other", "agrees"),
    [
        (Found(104.0, 10.9, 91.0, 0.0), True),
        (Found(106.0, 10.0, 100.0, 0.0), False),
        (Found(100.0, 11.1, 100.0, 0.0), False),
        (Found(100.0, 10.0, 89.0, 0.0), False),
        (Found(100.0, math.nan, 100.0, 0.0), False),
    ],
)
def test_five_per_cent_of_throughput_and_ten_of_latency(other: Found, agrees: bool) -> None:
    assert Pair(0.5, Found(100.0, 10.0, 100.0, 0.0), other).agrees == agrees


def test_without_an_answer_nothing_is_measured() -> None:
    records = alone()
    nothing = measured(records.where(np.zeros(len(records), dtype=np.bool_)))
    assert nothing.per_second == 0.0
    assert math.isnan(nothing.p99_ms)
