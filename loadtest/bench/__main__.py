"""`python -m loadtest.bench`: prints the tables of BENCHMARKS.md. It takes some minutes on an idle machine."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from loadtest.bench import bulk, host, labels, page_models, startup, throughput
from loadtest.cli import end_on_sigterm

PARTS = {
    "throughput": throughput.measure,
    "host": host.measure,
    "start": startup.measure,
    "cold": startup.measure_cold,
    "labels": labels.measure,
    "pages": page_models.measure,
    "bulk": bulk.measure,
}


def main() -> None:
    """Run the chosen parts, in order."""
    parser = argparse.ArgumentParser(prog="python -m loadtest.bench", description=__doc__)
    parser.add_argument("--only", choices=PARTS, action="append", help="run this part only (may be repeated)")
    chosen = parser.parse_args()
    end_on_sigterm()
    with tempfile.TemporaryDirectory(prefix="gleaner-bench-") as home:
        for name, measure in PARTS.items():
            if not chosen.only or name in chosen.only:
                measure(Path(home))


if __name__ == "__main__":
    main()
