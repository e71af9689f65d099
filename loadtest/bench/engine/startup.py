"""Startup time: from the start of the process to ready, by part."""

from __future__ import annotations

import statistics
from pathlib import Path

import httpx

from loadtest.bench.fixtures import published, service

ROUNDS = 3
PARTS = ("fetch", "import", "load", "warm-up", "measure", "prove")


def measure(home: Path) -> None:
    """Print seconds for the built-in model and two random ones."""
    print("\n## From start to ready, seconds (median of 3 starts)\n")
    print("| model | ready after | " + " | ".join(PARTS) + " |")
    print("|---|---|" + "---|" * len(PARTS))
    for model in ("documents", "six-layer", "bert-base"):
        if model != "documents":
            published(home, model)
        starts = [_start(model, home) for _ in range(ROUNDS)]
        middle = {name: statistics.median(each[name] for each in starts) for name in ("ready", *PARTS)}
        print(f"| {model} | " + " | ".join(f"{seconds:.2f}" for seconds in middle.values()) + " |", flush=True)


def _start(model: str, home: Path) -> dict[str, float]:
    with service(home, MODELS=model) as running:
        ready = running.start_seconds
        parts: dict[str, float] = httpx.get(running.url + "/models", timeout=10.0).json()["start_seconds"]
    return {"ready": ready, **{part: parts.get(part, 0.0) for part in PARTS}}
