"""Capacity of one generator process: how many requests per second it sends on schedule, against a null server."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from loadtest.runner.generator_pool import Endpoint, GeneratorPool
from loadtest.scenario.scenario import Phase, Scenario

RATES = (500, 1_000, 1_500, 2_000, 3_000)
SECONDS = 8.0


@contextmanager
def null_server(*stall: float) -> Iterator[str]:
    """The URL of a null server while the context is open; `stall`: seconds until it stalls, and for how long."""
    command = [sys.executable, "-m", "loadtest.bench.generator.null_server", *map(str, stall)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


def measure(folder: Path) -> None:
    """Print a row for each rate: Poisson arrivals, texts of about 110 words."""
    print("\n## The load generator: one process against a null server\n")
    print("| requests/s asked for | answered/s | lag p50, ms | p99, ms | latency p50, ms | p99, ms | share of a core |")
    print("|---|---|---|---|---|---|---|")
    with null_server() as url:
        for rate in RATES:
            print(_row(url, rate), flush=True)


def _row(url: str, rate: float) -> str:
    scenario = Scenario("null", (Phase("p", seconds=SECONDS, rate=rate),), rates="absolute")
    with GeneratorPool(Endpoint(url), scenario, processes=1) as pool:
        run = pool.follow(lambda _: None)
    records = run.records
    good = records.done[records.ok]
    lag, latency = (np.quantile(values, (0.5, 0.99)) for values in (records.lag_ms, records.latency_ms))
    answered = len(good) / max(float(good.max()), SECONDS)
    figures = f"{lag[0]:.2f} | {lag[1]:.2f} | {latency[0]:.2f} | {latency[1]:.2f} | {run.stats[0].cpu_share:.0%}"
    return f"| {rate:,} | {answered:,.0f} | {figures} |"
