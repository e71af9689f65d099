"""The assessment of an autoscaling test: its figures, and a problem for each requirement that does not hold."""

from __future__ import annotations

from typing import Any

import pytest

from infra.scaling.autoscaler import Decision
from loadtest.scaling.timeline import assess
from loadtest.scenario.scenario import Phase
from tests.support.load_records import records, refusal, row

PHASES = (Phase("before", seconds=60, rate=2), Phase("high", seconds=100, rate=10), Phase("after", seconds=100, rate=2))
SETTLE_SECONDS = 40.0
OUT = Decision(85.0, "work-ratio-high", 2.0, 2, 7)
IN = Decision(220.0, "idle", 0.2, 7, 6)
FINE = row(70.0, 200)


def test_a_good_run_has_no_problems() -> None:
    assessment = assess(PHASES, [OUT, IN], records(FINE), [0, 0], settle_seconds=SETTLE_SECONDS)
    assert assessment.problems == []
    assert (assessment.decision_seconds, assessment.scaled_out_by, assessment.scaled_in_by) == (25.0, 5, 1)
    assert assessment.seen_steady_seconds == 35.0
    assert "25 s after the step" in assessment.lines()[0]


@pytest.mark.parametrize(
    ("instead", "problem"),
    [
        ({"decisions": [IN]}, "nothing was decided"),
        ({"decisions": [Decision(101.0, "work-ratio-high", 2.0, 2, 7), IN]}, "the decision came late"),
        ({"decisions": [OUT, Decision(140.0, "backlog-high", 9.0, 7, 9), IN]}, "the fleet did not become steady"),
        ({"decisions": [OUT, Decision(140.0, "idle", 0.3, 7, 6), IN]}, "the fleet did not become steady"),
        ({"decisions": [OUT, IN, Decision(250.0, "backlog-high", 9.0, 6, 9)]}, "tasks were added after the load"),
        ({"decisions": [OUT]}, "nothing was scaled in"),
        ({"rows": [FINE, row(230.0, 1_000, "http_502", status=502)]}, "requests were lost"),
        ({"rows": [FINE, row(230.0, 1_000, "connection_lost", status=0)]}, "requests were lost"),
        ({"codes": [0, 1]}, "a task did not end well"),
    ],
)
def test_a_requirement_that_does_not_hold_is_a_problem(instead: dict[str, Any], problem: str) -> None:
    given: dict[str, Any] = {"decisions": [OUT, IN], "rows": [FINE], "codes": [0], **instead}
    found = records(*given["rows"])
    assessment = assess(PHASES, given["decisions"], found, given["codes"], settle_seconds=SETTLE_SECONDS)
    assert [each for each in assessment.problems if each.startswith(problem)]


def test_a_high_load_that_ends_too_early_is_a_problem() -> None:
    assessment = assess(PHASES, [OUT, IN], records(FINE), [0], settle_seconds=90.0)
    assert assessment.problems == ["the high load was too short to see whether the fleet becomes steady"]


def test_refusals_are_not_lost_and_losses_are_counted_by_their_due_time() -> None:
    lost = (row(due, 50, "http_502", status=502, lag_ms=20.0) for due in (100.0, 170.0))
    found = records(FINE, refusal(80.0), *lost)
    assessment = assess(PHASES, [OUT, IN], found, [0], settle_seconds=SETTLE_SECONDS)
    assert (assessment.requests, assessment.refused, assessment.lost, assessment.lost_scaling_in) == (4, 1, 2, 1)
    assert assessment.latest_sent_seconds == pytest.approx(0.02)
