"""What the host adds to the forward pass at light load: one client, one document at a time.

Overhead is the caller's own wall time less the time that the batch took on the device, so it holds HTTP, JSON,
tokenizing, both trips between the processes, scheduling and decoding.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import httpx

from loadtest.bench.fixtures import serve
from loadtest.bench.models import published
from loadtest.bench.texts import texts

REQUESTS = 300
WARM_REQUESTS = 30
STAGES = ("parse", "tokenize", "queue", "compute", "decode", "total")


def measure(folder: Path) -> None:
    """Print overhead and stages in milliseconds for the built-in model and a random one."""
    print("\n## Host overhead at one client, milliseconds\n")
    print("| model | overhead p50 | p90 | p99 | " + " | ".join(f"{stage} p50" for stage in STAGES) + " |")
    print("|---|---|---|---|" + "---|" * len(STAGES))
    published(folder, "six-layer")
    for model in ("documents", "six-layer"):
        with serve(folder / "bench.log", MODELS=model, MODEL_STORE=folder / "store") as url:
            print(_row(model, url), flush=True)


def _row(model: str, url: str) -> str:
    overheads, timings = [], []
    with httpx.Client(base_url=url, timeout=60.0) as client:
        for number, text in enumerate(texts(WARM_REQUESTS + REQUESTS, seed=1)):
            begun = time.perf_counter()
            answer = client.post("/extract", json={"text": text})
            milliseconds = (time.perf_counter() - begun) * 1000
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
