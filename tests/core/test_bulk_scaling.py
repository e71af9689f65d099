"""Bulk work as a fleet is scaled by it: its pace, its part of the work ratios, and the tasks that a deadline needs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.bulk_scaling import (
    FIRST_GUESS_SECONDS,
    LEAD_SECONDS,
    SHORTEST_SECONDS,
    AnsweredWork,
    BulkMeter,
    tasks_wanted,
)
from service.core.worker_load import HORIZON_SECONDS, Stage


def test_before_the_first_answer_a_file_takes_what_is_guessed() -> None:
    meter = BulkMeter()
    assert meter.seconds_per_file(5.0) == FIRST_GUESS_SECONDS
    meter.worked(10.0, 10.0)
    assert meter.seconds_per_file(10.0) == FIRST_GUESS_SECONDS


def test_a_file_takes_the_time_with_chunks_over_the_files_answered() -> None:
    meter = BulkMeter()
    for now in range(10, 1_000, 10):
        meter.worked(10.0, now)
        meter.answered(AnsweredWork(files=20), now)
    assert meter.seconds_per_file(1_000.0) == pytest.approx(0.5)


def test_a_new_pace_counts_most_after_some_minutes() -> None:
    meter = BulkMeter()
    for now in range(10, 2_000, 10):
        meter.worked(10.0, now)
        meter.answered(AnsweredWork(files=20 if now < 1_000 else 200), now)
    assert meter.seconds_per_file(2_000.0) == pytest.approx(0.05, rel=0.5)


def test_bulks_part_of_each_stage_is_what_its_answers_took() -> None:
    meter = BulkMeter()
    second = AnsweredWork(files=4, tokens=2_000, text_seconds=0.5, parse_seconds=3.0)
    for now in range(200):
        meter.answered(second, float(now))
    ratios = meter.work_ratios(199.5, tokens_per_second=8_000.0, workers=2, parsers=4)
    assert ratios == pytest.approx({Stage.COMPUTE: 0.25, Stage.TOKENIZE: 0.25, Stage.PARSE: 0.75}, rel=0.01)
    later = meter.work_ratios(199.5 + 10 * HORIZON_SECONDS, tokens_per_second=8_000.0, workers=2, parsers=4)
    assert max(later.values()) < 0.001


def test_a_device_of_unknown_speed_has_no_part() -> None:
    meter = BulkMeter()
    meter.answered(AnsweredWork(files=1, tokens=500), 0.0)
    assert meter.work_ratios(0.0, tokens_per_second=0.0, workers=1, parsers=1)[Stage.COMPUTE] == 0.0


HOUR = 3600.0


@pytest.mark.parametrize(
    ("backlog", "until", "most", "wanted"),
    [
        (0.0, HOUR, 8, 0),
        (0.0, None, 8, 0),
        (5 * HOUR, None, 8, 1),
        (5 * HOUR, HOUR, 0, 1),
        (5 * HOUR, LEAD_SECONDS + HOUR, 8, 5),
        (5 * HOUR, LEAD_SECONDS + 2 * HOUR, 8, 3),
        (50 * HOUR, LEAD_SECONDS + HOUR, 8, 8),
        (1.0, 10 * HOUR, 8, 1),
        (3 * SHORTEST_SECONDS, -HOUR, 8, 3),
        (3 * SHORTEST_SECONDS, LEAD_SECONDS, 8, 3),
    ],
)
def test_the_deadline_says_how_many_tasks_there_should_be(
    backlog: float, until: float | None, most: int, wanted: int
) -> None:
    assert tasks_wanted(backlog, until, most) == wanted


@given(backlog=st.floats(1.0, 1e7), until=st.floats(0.0, 1e6), sooner=st.floats(0.0, 1e6), most=st.integers(1, 100))
def test_a_nearer_deadline_never_wants_fewer_tasks(backlog: float, until: float, sooner: float, most: int) -> None:
    assert tasks_wanted(backlog, until, most) <= tasks_wanted(backlog, until - sooner, most) <= most
