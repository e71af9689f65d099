"""`python -m loadtest.simulator.evidence`: simulates the grid, writes evidence.json, and the table of BENCHMARKS.md.

It takes some ten minutes on two cores. Afterwards put what it names into `infra/scaling/profiles.py`; a test compares.
"""

from __future__ import annotations

import re
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from itertools import product
from pathlib import Path

import msgspec
from rich.console import Console
from rich.progress import track

from loadtest.simulator.evidence.choice import Cell, Evidence, bursty, cell, steady, table
from loadtest.simulator.evidence.grid import CANDIDATES, DEMANDS, SEEDS, Candidate, Run, outcome

FILE = Path(__file__).with_name("evidence.json")
BENCHMARKS = Path(__file__).parents[3] / "BENCHMARKS.md"
COMMAND = "python -m loadtest.simulator.evidence"
PROCESSES = 2


def main() -> int:
    """Simulate, write, and say what was chosen."""
    grid = list(product(CANDIDATES, DEMANDS))
    with ProcessPoolExecutor(PROCESSES) as pool:
        cells = tuple(track(pool.map(_cell, grid), "simulating", len(grid), console=Console(stderr=True)))
    evidence = Evidence(
        COMMAND,
        SEEDS,
        bursty(cells),
        steady(cells),
        {each.name: asdict(each.tuning) for each in CANDIDATES},
        cells,
    )
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(evidence), indent=1) + b"\n")
    text = BENCHMARKS.read_text()
    head = re.escape(table(evidence).split("\n", 1)[0])
    BENCHMARKS.write_text(re.sub(head + r"\n(\|.*\n)*", lambda _: table(evidence) + "\n", text))
    print(table(evidence), f"\nbursty: {evidence.bursty}\nsteady: {evidence.steady}", sep="\n")
    return 0


def read_evidence() -> Evidence:
    """The grid as it was written."""
    return msgspec.json.decode(FILE.read_bytes(), type=Evidence)


def _cell(pair: tuple[Candidate, Run]) -> Cell:
    candidate, run = pair
    return cell(candidate.name, run.sudden, [outcome(candidate, run, seed) for seed in run.seeds])


if __name__ == "__main__":
    sys.exit(main())
