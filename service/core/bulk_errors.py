"""Failures in a bulk job: an error's code decides between a row with the error, another try, and the job's end."""

from __future__ import annotations

from enum import StrEnum

MOST_TRIES = 3
"""Tries of an input whose failure may be its own or the service's (`FailureOutcome.AGAIN`)."""
FIRST_SECONDS, LONGEST_SECONDS = 1.0, 30.0
"""Seconds before the second try, doubled for each further one, and their limit; a Retry-After takes precedence."""
CHANCE = 0.25
"""Largest share that chance adds to a wait, so that inputs refused together do not come back together."""


class FailureOutcome(StrEnum):
    """Blame for a failure, and what follows from it.

    `ROW`: the input is at fault; its row says so, and it is not tried again.
    `AGAIN`: the input may be at fault; after `MOST_TRIES` its row says so.
    `LATER`: nobody or the service is at fault; the input is sent again until it is answered.
    `JOB`: the job's question is at fault; none of its inputs can be answered.
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
    """Look up the outcome of an error's code; `ROW` for codes not listed."""
    return _BY_CODE.get(code, FailureOutcome.ROW)


def wait_seconds(tries: int, retry_after_seconds: float | None, chance: float) -> float:
    """Seconds to wait after this number of tries; `chance`: a random number from 0 to 1."""
    wait = min(LONGEST_SECONDS, FIRST_SECONDS * 2.0 ** min(tries - 1, 10))
    if retry_after_seconds is not None:
        wait = retry_after_seconds
    return wait * (1 + CHANCE * chance)
