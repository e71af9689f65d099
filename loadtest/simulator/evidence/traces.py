"""`python -m loadtest.simulator.evidence.traces FOLDER`: the policy on recorded demands, out of a folder of traces.

    --part review   the policy as it was reviewed, beside an independent simulator's figures
    --part goals    what the profiles reach, beside what was asked for
    --part grid     every candidate of the grid through ECS, and the choice by the rule (hours with many seeds)

Files that the folder lacks are named. Each part takes minutes on two cores with one seed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from statistics import fmean

from loadtest.errors import BadInput
from loadtest.simulator.evidence import goals, review
from loadtest.simulator.evidence.choice import Evidence, bursty, cell, steady, table
from loadtest.simulator.evidence.goals import CHAINS, FLAT_CHAIN, Chain, Goal, goals_of, step_goals
from loadtest.simulator.evidence.grid import CANDIDATES, Candidate
from loadtest.simulator.evidence.recorded import TRACES, Trace, demand_of
from loadtest.simulator.evidence.review import REVIEWED, Reviewed
from loadtest.simulator.outcome import Outcome

PROCESSES = 2
STEPS_FROM = (4, 15)
PARTS = ("review", "goals", "grid")


def main(arguments: list[str] | None = None) -> int:
    """Simulate the chosen parts and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--part", choices=PARTS, action="append", help="default: review and goals")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", action="append", choices=[each.name for each in TRACES], help="these traces")
    names = [each.name for each in CANDIDATES]
    parser.add_argument("--candidate", action="append", choices=names, help="of the grid: these (default: all)")
    chosen = parser.parse_args(arguments)
    traces = [each for each in TRACES if not chosen.only or each.name in chosen.only]
    seeds = range(1, chosen.seeds + 1)
    tried = [each for each in CANDIDATES if not chosen.candidate or each.name in chosen.candidate]
    parts: dict[str, Callable[..., Iterator[str]]] = {
        "review": _review,
        "goals": _goals,
        "grid": partial(_grid, candidates=tried),
    }
    try:
        with ProcessPoolExecutor(PROCESSES) as pool:
            for part in chosen.part or PARTS[:2]:
                for line in parts[part](pool, chosen.folder, traces, seeds):
                    print(line, flush=True)
    except BadInput as error:
        print(f"traces: {error}", file=sys.stderr)
        return 2
    return 0


def _review(pool: ProcessPoolExecutor, folder: Path, traces: list[Trace], seeds: range) -> Iterator[str]:
    yield f"{'':33} {'kept, %':^15} {'over the oracle':^13}"
    yield f"{'':33} {'then':>7} {'now':>7} {'then':>6} {'now':>6}"
    columns = [(trace, column) for trace in traces for column in REVIEWED[trace]]
    jobs = [(folder, trace, column, seed) for trace, column in columns for seed in seeds]
    found = list(pool.map(_reviewed, jobs))
    for number, (trace, column) in enumerate(columns):
        mine = found[number * len(seeds) : (number + 1) * len(seeds)]
        kept, cost = fmean(each.kept for each in mine) * 100, fmean(each.over_oracle for each in mine)
        yield review.line(Reviewed(trace.name, column, *REVIEWED[trace][column], kept, cost))


def _reviewed(job: tuple[Path, Trace, str, int]) -> Outcome:
    folder, trace, column, seed = job
    return review.simulate(column, demand_of(folder, trace, seed), seed)


def _goals(pool: ProcessPoolExecutor, folder: Path, traces: list[Trace], seeds: range) -> Iterator[str]:
    cells = list(product(traces, CHAINS))
    jobs = [(folder, trace, chain, seed) for trace, chain in cells for seed in seeds]
    found = list(pool.map(_chained, jobs))
    yield f"{'':10} {'':28} {'kept':>8} {'oracle':>7} {'brief':>6} {'p99 ms':>7} {'most':>5}"
    asked: list[Goal] = []
    for number, (trace, chain) in enumerate(cells):
        mine = found[number * len(seeds) : (number + 1) * len(seeds)]
        yield _outcome_line(trace, chain, mine)
        asked += goals_of(chain, mine[0])
    for chain, tasks in product(CHAINS, STEPS_FROM):
        if chain is not FLAT_CHAIN:
            asked += step_goals(chain, tasks, list(goals.steps(chain, tasks)))
    for goal in asked:
        low, high = goal.bounds
        should = f"≥ {low:g}" if low else f"≤ {high:g}"
        yield f"{'met ' if goal.is_met else 'MISSED'} {goal.what}: {goal.found:.4g} ({should})" + (
            "" if goal.is_met else f"; bounded by: {goal.bound}"
        )


def _chained(job: tuple[Path, Trace, Chain, int]) -> Outcome:
    folder, trace, chain, seed = job
    return goals.simulate(chain, demand_of(folder, trace, seed), seed)


def _outcome_line(trace: Trace, chain: Chain, found: list[Outcome]) -> str:
    kept, oracle, brief, p99 = (
        fmean(getattr(each, of) for each in found) for of in ("kept", "over_oracle", "short_lives", "p99_ms")
    )
    most = max(each.most_instances for each in found)
    return f"{trace.name:10} {chain.name:28} {kept:8.3%} {oracle:7.3f} {brief:6.1%} {p99:7,.0f} {most:5}"


def _grid(
    pool: ProcessPoolExecutor, folder: Path, traces: list[Trace], seeds: range, candidates: list[Candidate]
) -> Iterator[str]:
    pairs = list(product(candidates, traces))
    jobs = [(folder, trace, candidate, seed) for candidate, trace in pairs for seed in seeds]
    found = list(pool.map(_tried, jobs))
    cells = tuple(
        cell(candidate.name, trace.sudden, found[number * len(seeds) : (number + 1) * len(seeds)])
        for number, (candidate, trace) in enumerate(pairs)
    )
    evidence = Evidence("", tuple(seeds), bursty(cells), steady(cells), {}, cells)
    yield f"{table(evidence)}\nbursty: {evidence.bursty}\nsteady: {evidence.steady}"


def _tried(job: tuple[Path, Trace, Candidate, int]) -> Outcome:
    folder, trace, candidate, seed = job
    pool = goals.POOL if candidate.warm_pool > 2 else candidate.warm_pool
    return goals.simulate(Chain(candidate.name, candidate.tuning, None, pool), demand_of(folder, trace, seed), seed)


if __name__ == "__main__":
    sys.exit(main())
