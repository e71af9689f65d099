"""What a rehearsal must have shown, and what it is told when it has not."""

from __future__ import annotations

from typing import Any

import pytest

from infra.autoscaler import Decision
from loadtest.rehearsal.load import Answer, Phase, due_times, status_of
from loadtest.rehearsal.verdict import Verdict, judge

PHASES = (Phase("before", 60, 2), Phase("high", 100, 10), Phase("after", 100, 2))
OUT = Decision(85.0, "work-ratio-high", 2.0, 2, 7)
IN = Decision(220.0, "idle", 0.2, 7, 6)
FINE = Answer(70.0, 0.0, 0.2, 200)


def test_a_good_rehearsal_has_no_problems() -> None:
    verdict = judge(PHASES, [OUT, IN], [FINE], [0, 0])
    assert verdict.problems == []
    assert (verdict.decision_seconds, verdict.scaled_out_by, verdict.scaled_in_by) == (25.0, 5, 1)
    assert "25 s after the step" in verdict.lines()[0]


@pytest.mark.parametrize(
    ("instead", "problem"),
    [
        ({"decisions": [IN]}, "nothing was decided"),
        ({"decisions": [Decision(101.0, "work-ratio-high", 2.0, 2, 7), IN]}, "the decision came late"),
        ({"decisions": [OUT, Decision(140.0, "backlog-high", 9.0, 7, 9), IN]}, "the fleet did not become steady"),
        ({"decisions": [OUT]}, "nothing was scaled in"),
        ({"answers": [FINE, Answer(230.0, 0.0, 1.0, 502)]}, "requests were lost"),
        ({"answers": [FINE, Answer(230.0, 0.0, 1.0, 0)]}, "requests were lost"),
        ({"codes": [0, 1]}, "a task did not end well"),
    ],
)
def test_what_was_not_as_it_must_be_is_named(instead: dict[str, Any], problem: str) -> None:
    given: dict[str, Any] = {"decisions": [OUT, IN], "answers": [FINE], "codes": [0], **instead}
    verdict: Verdict = judge(PHASES, given["decisions"], given["answers"], given["codes"])
    assert problem in verdict.problems


def test_requests_are_due_evenly_within_each_phase() -> None:
    due = list(due_times((Phase("a", 1.0, 2), Phase("b", 2.0, 4))))
    assert due == [0.0, 0.5, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75]


@pytest.mark.parametrize(
    ("answer", "status"), [(b"HTTP/1.1 200 OK\r\n", 200), (b"HTTP/1.1 429 Too Many", 429), (b"", 0)]
)
def test_an_answers_status_is_read_or_there_is_none(answer: bytes, status: int) -> None:
    assert status_of(answer) == status
