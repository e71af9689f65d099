"""`python -m loadtest.scaling`: rehearses a five-fold step under the real policy; about a quarter of an hour."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from infra.scaling.capacity import Capacity
from infra.scaling.policy import policy_for
from infra.scaling.policy_values import Limits
from loadtest.scaling.load import Phase
from loadtest.scaling.plot import plot
from loadtest.scaling.rehearsal import RehearsalPlan, rehearse
from loadtest.scaling.timeline import Timeline
from loadtest.service_process.sigterm import end_on_sigterm
from service.signals.catalog import PERIOD_SECONDS

TOKENS_PER_DOCUMENT = 98
"""Of `load.TEXT`, as the built-in model cuts it."""
DOCUMENTS_PER_SECOND = 2.0
"""What one task is bounded to."""
SLO_MS = 2000.0
BASE_PER_SECOND = 2.0
STEP = 5


def plan_for(high_seconds: float, low_seconds: float) -> RehearsalPlan:
    """The real policy over tasks of a small, known capacity."""
    speed = DOCUMENTS_PER_SECOND * TOKENS_PER_DOCUMENT
    capacity = Capacity(documents_per_second=DOCUMENTS_PER_SECOND, tokens_per_second=speed, slo_ms=SLO_MS)
    return RehearsalPlan(
        policy=policy_for(capacity, limits=Limits(minimum_tasks=2, maximum_tasks=10)),
        phases=(
            Phase("before", 60.0, BASE_PER_SECOND),
            Phase(f"{STEP} times", high_seconds, BASE_PER_SECOND * STEP),
            Phase("after", low_seconds, BASE_PER_SECOND),
        ),
        period_seconds=PERIOD_SECONDS,
        tokens_per_second=speed,
    )


def main() -> int:
    """Rehearse, print the timeline, write the plot; 1 if something was not as it has to be."""
    parser = argparse.ArgumentParser(prog="python -m loadtest.scaling", description=__doc__)
    parser.add_argument("--high-seconds", type=float, default=240.0, help="how long the load stays high")
    parser.add_argument("--low-seconds", type=float, default=540.0, help="how long it stays low again")
    parser.add_argument("--plot", type=Path, help="where the SVG goes")
    chosen = parser.parse_args()
    end_on_sigterm()
    plan, timeline = plan_for(chosen.high_seconds, chosen.low_seconds), Timeline()
    verdict = asyncio.run(rehearse(plan, timeline))
    print("\n" + "\n".join(verdict.lines()))
    if chosen.plot:
        target = plan.policy.targets.work_ratio
        chosen.plot.write_text(plot(timeline.rows, timeline.events, plan.phases, DOCUMENTS_PER_SECOND, target))
    for problem in verdict.problems:
        print(f"rehearsal: {problem}", file=sys.stderr)
    return 1 if verdict.problems else 0


if __name__ == "__main__":
    sys.exit(main())
