"""A made-up result with everything in it: several rates, refusals, a GPU, an event."""

from __future__ import annotations

import math

import numpy as np
from msgspec.structs import replace

from loadtest.generator.records import merge
from loadtest.generator.run import assess_generator
from loadtest.generator.sampler import MetricsSample
from loadtest.report.findings import findings
from loadtest.results.summary import Result, summarise
from loadtest.scenario.scenario import Phase, Scenario
from loadtest.scenario.workload import Mix
from tests.support.load_records import records, refusal, row

RATES = (10.0, 20.0, 30.0, 60.0)
SECONDS = 10.0
PEAK = 35.0


def made_result(*, gpu: bool = True, metrics: bool = True) -> Result:
    """Four phases; the last one asks for nearly twice what the service can do."""
    phases = tuple(Phase(f"{rate:g}/s", seconds=SECONDS, rate=rate) for rate in RATES)
    scenario = Scenario("Made up", phases, "absolute", slo_ms=500, mix=Mix(deadline_ms=2_000))
    draw = np.random.default_rng(1)
    rows = []
    for number, rate in enumerate(RATES):
        for each in range(round(rate * SECONDS)):
            due = number * SECONDS + each / rate
            median = 40 / (1 - min(rate / 40, 0.92))
            overload = rate > PEAK and draw.random() > PEAK / rate
            latency = median * math.exp(draw.normal(0, 0.3))
            rows.append(
                refusal(due, code=("queue_full", "deadline_exceeded")[each % 2]) if overload else row(due, latency)
            )
    found = merge([records(*rows)])
    trust = assess_generator(found, processes=1, cpu_share=0.1, most_connections=9, exhausted=0, resent=0)
    summary = summarise(
        scenario,
        found,
        trust,
        at="2026-01-01 12:00:00",
        url="http://127.0.0.1:1",
        machine="2 cores, x86_64",
        capacity_rps=PEAK,
        events=[(25.0, "publish begins"), (27.0, "publish done")],
    )
    samples = tuple(_sample(float(at), gpu) for at in range(40)) if metrics else ()
    return Result(replace(summary, findings=findings(summary)), found, samples)


def _sample(at: float, gpu: bool) -> MetricsSample:
    values = {
        "queue_documents": at,
        "backlog_seconds": at / 10,
        "oldest_age_seconds": at / 20,
        "busy_seconds": at * 0.9,
        "cpu_seconds": at * 1.7,
        "memory_bytes": 4e8 + at * 1e5,
        "open_files": 90 + at % 7,
    }
    if gpu:
        values.update(gpu_utilization=0.8, gpu_memory_bytes=9e9)
    return MetricsSample(at, values)
