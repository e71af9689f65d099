"""Host overhead at light load: what is added to the forward pass with one client and one document at a time.

Overhead is the client's wall time minus the batch's compute time. It contains HTTP, JSON, tokenizing, both trips
between the processes, scheduling and decoding.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import httpx

from loadtest.bench.fixtures import published, service, texts

REQUESTS = 300
WARM_REQUESTS = 30
STAGES = ("parse", "tokenize", "queue", "compute", "decode", "total")


def measure(home: Path) -> None:
    """Print overhead and stages in milliseconds for the built-in model and a random one."""
    print("\n## Host overhead at one client, milliseconds\n")
    print("| model | overhead p50 | p90 | p99 | " + " | ".join(f"{stage} p50" for stage in STAGES) + " |")
    print("|---|---|---|---|" + "---|" * len(STAGES))
    published(home, "six-layer")
    for model in ("documents", "six-layer"):
        with service(home, MODELS=model) as running:
            print(_row(model, running.url), flush=True)


def _row(model: str, url: str) -> str:
    overheads, timings = [], []
    with httpx.Client(base_url=url, timeout=60.0) as client:
        for number, text in enumerate(texts(WARM_REQUESTS + REQUESTS, seed=1)):
            began = time.perf_counter()
            answer = client.post("/extract", json={"text": text})
            milliseconds = (time.perf_counter() - began) * 1000
            timing = answer.raise_for_status().json()["timing"]
            if number >= WARM_REQUESTS:
                overheads.append(milliseconds - timing["compute_ms"])
                timings.append(timing)
    cuts = statistics.quantiles(overheads, n=100)
    stages = (statistics.median(timing[f"{stage}_ms"] for timing in timings) for stage in STAGES)
    return (
        f"| {model} | {cuts[49]:.2f} | {cuts[89]:.2f} | {cuts[98]:.2f} | "
        + " | ".join(f"{s:.2f}" for s in stages)
        + " |"
    )
