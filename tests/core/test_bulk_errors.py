"""What becomes of an input that failed: only what is its own fault becomes its row."""

from __future__ import annotations

import pytest

from service.core.bulk_errors import LONGEST_SECONDS, FailureOutcome, outcome_of, wait_seconds
from service.core.errors import BY_CODE, Overloaded


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("unreadable_document", FailureOutcome.ROW),
        ("poison_document", FailureOutcome.ROW),
        ("object_changed", FailureOutcome.ROW),
        ("deadline_exceeded", FailureOutcome.AGAIN),
        ("internal_error", FailureOutcome.AGAIN),
        ("unknown_model", FailureOutcome.LATER),
        ("unreachable", FailureOutcome.LATER),
        ("forbidden", FailureOutcome.JOB),
    ],
)
def test_an_error_is_the_inputs_the_services_or_the_jobs(code: str, outcome: FailureOutcome) -> None:
    assert outcome_of(code) is outcome


def test_overload_is_no_inputs_own_fault() -> None:
    overload = [code for code, kind in BY_CODE.items() if issubclass(kind, Overloaded)]
    assert {code for code in overload if outcome_of(code) is not FailureOutcome.LATER} == {"deadline_exceeded"}


def test_a_wait_is_what_the_service_says_or_doubles() -> None:
    assert [wait_seconds(tries, None, 0.0) for tries in (1, 2, 3, 9)] == [1.0, 2.0, 4.0, LONGEST_SECONDS]
    assert wait_seconds(1, 0.5, 0.0) == 0.5
    assert wait_seconds(1, 8.0, 1.0) == 10.0
