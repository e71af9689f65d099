"""`python -m loadtest.scaling`: rehearses a five-fold step under the real policy; it takes about 15 minutes."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from infra.scaling.capacity import Capacity
from infra.scaling.policy import policy_for
from infra.scaling.policy_values import Limits
from loadtest.scaling.plot import plot
from loadtest.scaling.rehearsal import TOKENS_PER_DOCUMENT, RehearsalPlan, rehearse
from loadtest.scaling.timeline import Timeline
from loadtest.scenario.scenario import Phase
from loadtest.service_process.sigterm import end_on_sigterm
from service.signals.catalog import PERIOD_SECONDS

DOCUMENTS_PER_SECOND = 2.0
"""The throughput to which a task is throttled."""
SLO_MS = 2000.0
BASE_PER_SECOND = 2.0
STEP = 5


def plan_for(high_seconds: float, low_seconds: float) -> RehearsalPlan:
    """The real policy, over tasks of a small, known capacity."""
    speed = DOCUMENTS_PER_SECOND * TOKENS_PER_DOCUMENT
    capacity = Capacity(documents_per_second=DOCUMENTS_PER_SECOND, tokens_per_second=speed, slo_ms=SLO_MS)
    return RehearsalPlan(
        policy=policy_for(capacity, limits=Limits(minimum_tasks=2, maximum_tasks=10)),
        phases=(
            Phase("before", seconds=60.0, rate=BASE_PER_SECOND),
            Phase(f"{STEP} times", seconds=high_seconds, rate=BASE_PER_SECOND * STEP),
            Phase("after", seconds=low_seconds, rate=BASE_PER_SECOND),
        ),
        period_seconds=PERIOD_SECONDS,
        tokens_per_second=speed,
    )


def main() -> int:
    """Rehearse, print the timeline, write the plot; 1 if a requirement does not hold."""
    parser = argparse.ArgumentParser(prog="python -m loadtest.scaling", description=__doc__)
    parser.add_argument("--high-seconds", type=float, default=240.0, help="how long the load stays high")
    parser.add_argument("--low-seconds", type=float, default=540.0, help="how long it stays low again")
    parser.add_argument("--plot", type=Path, help="the SVG file to write")
    chosen = parser.parse_args()
    end_on_sigterm()
    plan, timeline = plan_for(chosen.high_seconds, chosen.low_seconds), Timeline()
    assessment = asyncio.run(rehearse(plan, timeline))
    print("\n" + "\n".join(assessment.lines()))
    if chosen.plot:
        target = plan.policy.targets.work_ratio
        chosen.plot.write_text(plot(timeline.rows, timeline.events, plan.phases, DOCUMENTS_PER_SECOND, target))
    for problem in assessment.problems:
        print(f"rehearsal: {problem}", file=sys.stderr)
    return 1 if assessment.problems else 0


if __name__ == "__main__":
    sys.exit(main())
