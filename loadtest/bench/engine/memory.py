"""The memory cost model against measured peaks of random batches, and the engine's overhead by profile."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from loadtest.bench.fixtures import published
from loadtest.service_process.service import clean_environment

BATCHES = 2_000
LEAN = {"PYTORCH_ALLOC_CONF": "expandable_segments:True", "LRU_CACHE_CAPACITY": "16"}
"""The environment in which the service starts its engines."""


def measure(home: Path) -> None:
    """Print how often the cost model was below a peak, and how far above it was."""
    print("\n## The memory function on random batches\n")
    print("| model | batches | below a measured peak | above it: median | at most | at most, MB |")
    print("|---|---|---|---|---|---|")
    published(home, "six-layer")
    for model in ("documents", "six-layer"):
        found = run(home, "service.engine.tools.engine_benchmark", model, str(BATCHES))
        shares = (f"{found[name]:.0%}" if found[name] is not None else "–" for name in ("over_median", "over_most"))
        most = found["over_most_bytes"] / 1e6
        counts = f"{found['batches_checked']:,} | {found['batches_below']}"
        print(f"| {model} | {counts} | {' | '.join(shares)} | {most:.0f} |", flush=True)


def measure_overhead(home: Path) -> None:
    """Print the microseconds of Python per sequence and per batch."""
    found = run(home, "service.engine.tools.loop_profile", "300")
    print("\n## The engine's own Python, microseconds\n")
    print("| per sequence | per batch of | | largest items, per sequence |\n|---|---|---|---|")
    largest = "; ".join(f"`{each['name']}` {each['microseconds_per_sequence']:.1f}" for each in found["largest"])
    batch = f"{found['sequences_per_batch']} sequences | {found['microseconds_per_batch']:,.0f}"
    print(f"| {found['microseconds_per_sequence']:.1f} | {batch} | {largest} |", flush=True)


def run(home: Path, module: str, *arguments: str) -> dict[str, Any]:
    """The JSON that a tool of the engine prints."""
    environment = {**clean_environment(), **LEAN, "GLEANER_MODEL_STORE": str(home / "store")}
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
