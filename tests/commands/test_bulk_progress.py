"""Progress of `gleaner bulk` in words."""

from __future__ import annotations

from collections import Counter

import pytest

from service.bulk.run import RunCounts
from service.commands.bulk_progress import duration, in_words


@pytest.mark.parametrize(
    ("counts", "seconds", "words"),
    [
        (RunCounts(), 1.0, "0 of 0 or more files, $0.01"),
        (RunCounts(files=2_000, done=50), 10.0, "50 of 2,000 or more files, 5.0 files/s, $0.10"),
        (
            RunCounts(files=2_000, done=1_000, begun_with=500, is_planned=True, errors=Counter(a=1, b=2), later=7),
            100.0,
            "1,000 of 2,000 files, 5.0 files/s, 3 min left, $1.00 of $3.00, 3 errors (b 2, a 1), 7 for later",
        ),
    ],
)
def test_files_rate_time_left_cost_and_errors(counts: RunCounts, seconds: float, words: str) -> None:
    assert in_words(counts, seconds, 36.0) == words
    assert "$" not in in_words(counts, seconds, None)


def test_durations_are_in_the_unit_that_reads_best() -> None:
    assert [duration(seconds) for seconds in (0.4, 99, 600, 12_240)] == ["0 s", "99 s", "10 min", "3.4 h"]
