"""What is of the second tier is there, and what was not run is listed with what it needs."""

from __future__ import annotations

import pytest

from tests.conftest import HERE, SECOND_TIER
from tests.support.hardware import check, not_run


def skipped(test: str, why: str) -> pytest.TestReport:
    where = (test.partition("::")[0], 1, f"Skipped: {why}")
    return pytest.TestReport(test, (test, 1, test), {}, "skipped", where, "setup")


def test_lost_tests_are_counted_by_what_they_need_and_where_they_are() -> None:
    lines = not_run(
        [
            skipped("tests/b.py::one", "needs a compiler"),
            skipped("tests/a.py::one", "needs a GPU"),
            skipped("tests/b.py::two", "needs a GPU"),
            skipped("tests/c.py::one", "another system"),
        ]
    )
    assert list(lines) == [
        "2 tests need a GPU:",
        "       1 in tests/a.py",
        "       1 in tests/b.py",
        "1 tests need a compiler:",
        "       1 in tests/b.py",
    ]


def test_every_place_of_the_second_tier_exists() -> None:
    for place in SECOND_TIER:
        assert (HERE / place).exists(), place


def test_no_test_begins_after_the_time_that_there_is(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TESTS_UNTIL", "1")
    with pytest.raises(pytest.skip.Exception, match="needs a faster machine"):
        check(request.node)
    monkeypatch.setenv("TESTS_UNTIL", "")
    check(request.node)
