"""What becomes of an input of a bulk job that failed, by its error's code: its row, another try, or the job's end."""

from __future__ import annotations

from enum import StrEnum

MOST_TRIES = 3
"""Of an input whose failure may be its own or the service's (`FailureOutcome.AGAIN`)."""
FIRST_SECONDS, LONGEST_SECONDS = 1.0, 30.0
"""Wait before the second try, doubled for each further one, and its limit, where the service does not say how long."""
CHANCE = 0.25
"""Share that chance adds to a wait, so that inputs which were refused together do not come back together."""


class FailureOutcome(StrEnum):
    """Whose fault a failure is.

    `ROW`: the input's; its row says so, and it is not tried again.
    `AGAIN`: perhaps the input's; after `MOST_TRIES` its row says so.
    `LATER`: nobody's, or the service's; the input is asked for again until it is answered.
    `JOB`: of what the job asks; no input of it can be answered.
    """

    ROW = "row"
    AGAIN = "again"
    LATER = "later"
    JOB = "job"


_OUTCOMES = {
    FailureOutcome.AGAIN: (
        "deadline_exceeded",
        "too_slow",
        "internal_error",
        "model_error",
        "insufficient_memory",
    ),
    FailureOutcome.LATER: (
        "queue_full",
        "rate_limited",
        "too_much_at_once",
        "not_ready",
        "draining",
        "engine_restarting",
        "unreachable",
        "unknown_model",
        "storage_error",
    ),
    FailureOutcome.JOB: (
        "unauthenticated",
        "forbidden",
        "foreign_host",
        "unknown_route",
        "wrong_method",
        "invalid_options",
        "target_too_long",
        "headers_too_large",
        "engines_died",
    ),
}
_BY_CODE = {code: outcome for outcome, codes in _OUTCOMES.items() for code in codes}


def outcome_of(code: str) -> FailureOutcome:
    """What becomes of an input that failed with this code; of any other than these, its row."""
    return _BY_CODE.get(code, FailureOutcome.ROW)


def wait_seconds(tries: int, retry_after_seconds: float | None, chance: float) -> float:
    """How long to wait after so many tries; `chance`: a random number from 0 to 1."""
    wait = min(LONGEST_SECONDS, FIRST_SECONDS * 2.0 ** min(tries - 1, 10))
    if retry_after_seconds is not None:
        wait = retry_after_seconds
    return wait * (1 + CHANCE * chance)
