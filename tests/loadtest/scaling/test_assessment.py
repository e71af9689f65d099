"""What a rehearsal must have shown, and what it is told when it has not."""

from __future__ import annotations

from typing import Any

import pytest

from infra.scaling.autoscaler import Decision
from loadtest.scaling.assessment import Assessment, assess
from loadtest.scaling.load import Answer, Phase, due_times, status_of

PHASES = (Phase("before", 60, 2), Phase("high", 100, 10), Phase("after", 100, 2))
SETTLE_SECONDS = 40.0
OUT = Decision(85.0, "work-ratio-high", 2.0, 2, 7)
IN = Decision(220.0, "idle", 0.2, 7, 6)
FINE = Answer(70.0, 0.0, 0.2, 200)


def test_a_good_rehearsal_has_no_problems() -> None:
    verdict = assess(PHASES, [OUT, IN], [FINE], [0, 0], settle_seconds=SETTLE_SECONDS)
    assert verdict.problems == []
    assert (verdict.decision_seconds, verdict.scaled_out_by, verdict.scaled_in_by) == (25.0, 5, 1)
    assert verdict.seen_steady_seconds == 35.0
    assert "25 s after the step" in verdict.lines()[0]


@pytest.mark.parametrize(
    ("instead", "problem"),
    [
        ({"decisions": [IN]}, "nothing was decided"),
        ({"decisions": [Decision(101.0, "work-ratio-high", 2.0, 2, 7), IN]}, "the decision came late"),
        ({"decisions": [OUT, Decision(140.0, "backlog-high", 9.0, 7, 9), IN]}, "the fleet did not become steady"),
        ({"decisions": [OUT, Decision(140.0, "idle", 0.3, 7, 6), IN]}, "the fleet did not become steady"),
        ({"decisions": [OUT, IN, Decision(250.0, "backlog-high", 9.0, 6, 9)]}, "tasks were added after the load"),
        ({"decisions": [OUT]}, "nothing was scaled in"),
        ({"answers": [FINE, Answer(230.0, 0.0, 1.0, 502)]}, "requests were lost"),
        ({"answers": [FINE, Answer(230.0, 0.0, 1.0, 0)]}, "requests were lost"),
        ({"codes": [0, 1]}, "a task did not end well"),
    ],
)
def test_what_was_not_as_it_must_be_is_named(instead: dict[str, Any], problem: str) -> None:
    given: dict[str, Any] = {"decisions": [OUT, IN], "answers": [FINE], "codes": [0], **instead}
    decisions, answers, codes = given["decisions"], given["answers"], given["codes"]
    verdict: Assessment = assess(PHASES, decisions, answers, codes, settle_seconds=SETTLE_SECONDS)
    assert any(each.startswith(problem) for each in verdict.problems)


def test_a_decision_may_be_corrected_until_what_was_added_has_come() -> None:
    """At the first one only a part of the step has been seen."""
    second = Decision(120.0, "work-ratio-high", 2.4, 7, 8)
    assert assess(PHASES, [OUT, second, IN], [FINE], [0], settle_seconds=SETTLE_SECONDS).problems == []


def test_a_high_load_that_ends_before_the_fleet_can_settle_shows_nothing() -> None:
    verdict = assess(PHASES, [OUT, IN], [FINE], [0], settle_seconds=90.0)
    assert verdict.problems == ["the high load was too short to see whether the fleet becomes steady"]


def test_requests_are_due_evenly_within_each_phase() -> None:
    due = list(due_times((Phase("a", 1.0, 2), Phase("b", 2.0, 4))))
    assert due == [0.0, 0.5, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75]


@pytest.mark.parametrize(
    ("answer", "status"), [(b"HTTP/1.1 200 OK\r\n", 200), (b"HTTP/1.1 429 Too Many", 429), (b"", 0)]
)
def test_an_answers_status_is_read_or_there_is_none(answer: bytes, status: int) -> None:
    assert status_of(answer) == status
