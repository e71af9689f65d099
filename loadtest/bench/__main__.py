"""`python -m loadtest.bench`: prints the tables of BENCHMARKS.md. It takes some minutes on an idle machine."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from loadtest.bench.attacks import command as attacks
from loadtest.bench.attacks import contrast
from loadtest.bench.engine import folder, hostile, memory, revision_switch, startup, throughput
from loadtest.bench.generator import capacity
from loadtest.bench.host import console_cost, door_cost, host_cost, latency_overhead, one_page
from loadtest.bench.store import cold_start, faults, kills, pull_speed
from loadtest.service_process.sigterm import end_on_sigterm

PARTS = {
    "throughput": throughput.measure,
    "overhead": latency_overhead.measure,
    "one-page": one_page.measure,
    "host": host_cost.measure,
    "console": console_cost.measure,
    "doors": door_cost.measure,
    "start": startup.measure,
    "memory": memory.measure,
    "engine-overhead": memory.measure_overhead,
    "cold": cold_start.measure,
    "swaps": revision_switch.measure,
    "store": pull_speed.measure,
    "faults": faults.measure,
    "kills": kills.measure,
    "generator": capacity.measure,
}

ON_REQUEST = ("hostile", "attacks", "contrasts")
"""Parts that run only when named by --only."""


def main() -> None:
    """Run the chosen parts, in order."""
    parser = argparse.ArgumentParser(prog="python -m loadtest.bench", description=__doc__)
    parser.add_argument(
        "--only", choices=(*PARTS, *ON_REQUEST), action="append", help="run this part only (may be repeated)"
    )
    parser.add_argument("--documents", type=Path, help="also post every file of this folder")
    parser.add_argument("--minutes", type=float, default=10.0, help="of hostile load (default: 10)")
    parser.add_argument("--attack", action="append", help="part of an attack's name, or a finding (may be repeated)")
    parser.add_argument("--seconds", type=float, help="of each attack, if not its own")
    chosen = parser.parse_args()
    end_on_sigterm()
    with tempfile.TemporaryDirectory(prefix="gleaner-bench-") as home:
        for name, measure in PARTS.items():
            if not chosen.only or name in chosen.only:
                measure(Path(home))
        if "hostile" in (chosen.only or ()):
            hostile.measure(Path(home), chosen.minutes)
        if "attacks" in (chosen.only or ()):
            attacks.measure(Path(home), chosen.attack, chosen.seconds)
        if "contrasts" in (chosen.only or ()):
            contrast.measure(Path(home))
        if chosen.documents:
            folder.measure(Path(home), chosen.documents)


if __name__ == "__main__":
    main()
