"""Records of made-up requests, and small servers that answer /extract by a function of the test."""

from __future__ import annotations

import numpy as np

from loadtest.generator.records import STAGES, Records, from_rows
from tests.support.local_http import Call, Reply, json_reply

NAN = float("nan")
ANSWER = {
    "model": {"name": "m", "revision": "sha256:1"},
    "documents": [{"id": "0", "tokens": 40, "entities": [], "error": None}],
    "timing": {f"{stage}_ms": 1.0 for stage in STAGES},
}


def row(
    due: float, latency_ms: float, outcome: str = "ok", *, status: int = 200, retry_after: float = NAN,
    lag_ms: float = 0.0, typed: bool = True, tokens: int = 100, revision: str = "sha256:1",
    stages_ms: tuple[float, ...] = (1, 2, 3, 10, 4, 21),
) -> tuple[object, ...]:  # fmt: skip
    """The record of one request, due at this second and answered `latency_ms` later."""
    times = (due, due + lag_ms / 1000, due + latency_ms / 1000, retry_after)
    tokens = tokens if outcome == "ok" else 0
    return (*times, *stages_ms, 0, status, tokens, typed, outcome, revision if outcome == "ok" else "")


def refusal(due: float, *, code: str = "queue_full", status: int = 429, retry_after: float = 1.0) -> tuple[object, ...]:
    return row(due, 2.0, code, status=status, retry_after=retry_after, stages_ms=(NAN,) * len(STAGES))


def records(*rows: tuple[object, ...]) -> Records:
    return from_rows(rows)


def steady(
    rate: float, seconds: float, latency_ms: float, seed: int = 0, spread: float = 0.2, begin: float = 0.0
) -> Records:
    """Evenly spaced good answers whose latencies are log-normal around a median."""
    draw = np.random.default_rng(seed)
    latencies = latency_ms * np.exp(draw.normal(0, spread, round(rate * seconds)))
    return records(*(row(begin + number / rate, float(each)) for number, each in enumerate(latencies)))


def good(_: Call) -> Reply:
    return json_reply(ANSWER)
