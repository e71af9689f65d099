"""How busy a front is, from what is asked of it; time is a number here."""

from __future__ import annotations

import pytest

from infra.scaling.policy import policy_for
from service.core.worker_load import (
    HORIZON_SECONDS,
    IDLE,
    AskedWork,
    ParseCost,
    Stage,
    TextMeter,
    WorkerLoad,
    mean_of,
    worker_load,
)
from service.signals.catalog import STAGES

TARGETS = policy_for().targets


def asked(per_second: float, cost: float, *, places: float, until: float) -> AskedWork:
    """So much work of one cost, asked for evenly from 0 on."""
    work = AskedWork(places)
    for number in range(int(per_second * until)):
        work.ask(cost, number / per_second)
    return work


@pytest.mark.parametrize(
    ("per_second", "cost", "places", "ratio"),
    [(10, 0.015, 1, 0.15), (66, 0.015, 1, 1.0), (200, 0.015, 1, 3.0), (200, 0.015, 4, 0.75), (1, 0.5, 2, 0.25)],
)
def test_in_the_long_run_the_ratio_is_asked_for_seconds_over_places(
    per_second: float, cost: float, places: float, ratio: float
) -> None:
    assert asked(per_second, cost, places=places, until=100.0).ratio(100.0) == pytest.approx(ratio, rel=0.06)


def test_three_times_the_parsers_capacity_shows_within_five_seconds() -> None:
    assert asked(200, 0.015, places=1, until=5.0).ratio(5.0) > TARGETS.scale_out_work_ratio


def test_without_arrivals_the_ratio_falls_to_nothing() -> None:
    work = asked(200, 0.015, places=1, until=30.0)
    assert work.ratio(30.0 + HORIZON_SECONDS) == pytest.approx(work.ratio(30.0) * 0.368, rel=0.01)
    assert work.ratio(120.0) < 0.001


def test_a_measurement_replaces_the_expectation_as_if_it_had_been_known() -> None:
    corrected, known = AskedWork(), AskedWork()
    corrected.ask(5.0, 0.0)
    corrected.correct(5.0, 0.5, asked=0.0, now=8.0)
    known.ask(0.5, 0.0)
    assert corrected.ratio(8.0) == pytest.approx(known.ratio(8.0))


def test_work_that_never_ends_shows_as_busy_places() -> None:
    work = AskedWork(2)
    work.ask(0.01, 0.0)
    for tenth in range(600):
        work.did(tenth / 10 * 2, tenth / 10)
    assert work.ratio(59.9) == pytest.approx(1.0, rel=0.02)
    work.correct(0.01, 60.0, asked=0.0, now=60.0)
    assert work.ratio(60.0) < 1.05, "one long file is no reason for a larger fleet than its parser"


def test_what_was_done_before_it_is_first_looked_at_is_no_load() -> None:
    work = AskedWork()
    work.did(5_000.0, 0.0)
    assert work.ratio(0.0) == 0.0


def test_texts_and_whatever_else_the_loop_does_are_one_stage() -> None:
    texts, other = TextMeter(), TextMeter()
    for number in range(3_000):
        expected = texts.came("text", 1_000, number / 100)
        texts.done("text", 1_000, 0.005)
        texts.work.correct(expected, 0.005, number / 100, number / 100)
        other.work.did(number / 100 * 0.9, number / 100)
    loads = [worker_load(each.work, AskedWork(), 0.0, 30.0) for each in (texts, other)]
    assert [each.tokenize_ratio for each in loads] == pytest.approx([0.5, 0.9], rel=0.1)
    assert [each.parse_ratio for each in loads] == [0.0, 0.0]


@pytest.mark.parametrize(("wait", "ratio"), [(0.0, 0.6), (1.5, 0.75), (5.0, 1.1), (300.0, 1.1)])
def test_what_waits_for_a_parser_counts_beside_what_comes_up_to_a_limit(wait: float, ratio: float) -> None:
    parse = AskedWork()
    for number in range(4_000):
        parse.ask(0.006, number / 100)
    load = worker_load(AskedWork(), parse, wait, 40.0)
    assert load.parse_ratio == pytest.approx(ratio, abs=0.02)
    assert (load.wait_seconds, load.tokenize_ratio) == (wait, 0.0)


def test_a_hundred_callers_at_one_parser_show_within_fifteen_seconds() -> None:
    """They bring no more than is read, 66 files a second of 15 ms, and 99 of them wait at any time."""
    parse = AskedWork()
    for number in range(15 * 66):
        parse.ask(0.015, number / 66)
        parse.did(number / 66, number / 66)
    assert worker_load(AskedWork(), parse, 99 * 0.015, 15.0).parse_ratio > TARGETS.scale_out_work_ratio


def test_documents_count_before_they_are_read_by_what_was_learnt() -> None:
    meter = TextMeter()
    for _ in range(500):
        meter.done("pdf", 2_000, 0.05)
    assert meter.came("pdf", 2_000, 0.0) == pytest.approx(0.05, rel=0.01)


@pytest.mark.parametrize(
    ("loads", "mean"),
    [
        ([], IDLE),
        ([WorkerLoad(0.5, 3.0, 1.0)], WorkerLoad(0.5, 3.0, 1.0)),
        ([WorkerLoad(1.0, 2.0, 4.0), IDLE], WorkerLoad(0.5, 1.0, 2.0)),
        ([WorkerLoad(held_tokens=100.0), WorkerLoad(held_tokens=50.0)], WorkerLoad(held_tokens=150.0)),
    ],
)
def test_workers_have_equal_parts_of_a_service(loads: list[WorkerLoad], mean: WorkerLoad) -> None:
    assert mean_of(loads) == mean


def test_every_stage_has_a_signal() -> None:
    assert {stage.value for stage in Stage} == set(STAGES)
    assert set(IDLE.ratios) | {Stage.COMPUTE} == set(Stage)


def test_formats_are_learnt_apart() -> None:
    cost = ParseCost()
    for _ in range(300):
        cost.observe("pdf", 10_000, 0.1)
    assert cost.expected_seconds("pdf", 10_000) == pytest.approx(0.1, rel=0.05)
    assert cost.expected_seconds("zip", 10_000) == ParseCost().expected_seconds("zip", 10_000)


def test_a_few_hostile_files_do_not_make_honest_ones_look_expensive() -> None:
    cost = ParseCost()
    for _ in range(300):
        cost.observe("zip", 100_000, 0.05)
    for _ in range(5):
        cost.observe("zip", 100, 60.0)
    assert cost.expected_seconds("zip", 100_000) < 0.1


def test_slow_small_files_do_not_make_large_ones_look_hopeless() -> None:
    cost = ParseCost()
    for _ in range(1000):
        cost.observe("text", 500, 0.02)
    assert cost.expected_seconds("text", 10 * 2**20) < 5.0
