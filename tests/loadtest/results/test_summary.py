"""Figures of phases, rates and revisions, computed by hand."""

from __future__ import annotations

import pytest

from loadtest.generator.run import assess_generator
from loadtest.results.summary import by_phase, by_rate, overall, summarise
from loadtest.scenario.scenario import Phase, Scenario
from loadtest.scenario.workload import Mix
from tests.support.load_records import records, refusal, row

SCENARIO = Scenario(
    "t",
    (Phase("warm", seconds=1, rate=1, warm_up=True), Phase("a", seconds=10, rate=2), Phase("b", seconds=5, rate=4)),
    "absolute",
    slo_ms=500,
    mix=Mix(deadline_ms=800),
)


def test_figures_of_phases_by_hand() -> None:
    found = records(
        row(0.5, 10),  # of the warm-up
        row(1.0, 100),
        row(2.0, 600),  # later than the service level
        row(3.0, 900),  # later than its deadline
        refusal(4.0),
        refusal(5.0, retry_after=float("nan")),
        row(6.0, 50, "internal_error", status=500, typed=True),
        row(10.9, 300),  # answered in phase b
        row(12.0, 200, tokens=50),
    )
    a, b = by_phase(found, SCENARIO)
    assert (a.requests, a.ok, a.refused, a.failed, a.late_accepted) == (7, 4, 2, 1, 1)
    assert a.offered_rps == pytest.approx(0.7)
    assert a.throughput_rps == pytest.approx(0.3)
    assert a.goodput_rps == pytest.approx(0.1)
    assert [a.error_rate, a.refusal_rate] == pytest.approx([1 / 7, 2 / 7])
    assert (a.untyped_refusals, a.refusals_without_retry_after) == (0, 1)
    assert a.outcomes == {"ok": 4, "queue_full": 2, "internal_error": 1}
    assert a.latency_ms["max"] == pytest.approx(900)
    assert b.throughput_rps == pytest.approx(2 / 5)
    assert b.tokens_per_second == pytest.approx(150 / 5)
    assert a.stages_ms["compute"]["mean"] == 10
    whole = overall(found, SCENARIO)
    assert whole.requests == 8
    assert whole.throughput_rps == pytest.approx(5 / 15)


def rates_of(*phases: Phase) -> list[str]:
    scenario = Scenario("t", phases, "absolute")
    rows = (row(begin + n / p.rate, 10) for p, begin in zip(phases, scenario.starts, strict=False) for n in range(20))
    return [each.name for each in by_rate(by_phase(records(*rows), scenario), scenario)]


def phase(name: str, rate: float, *, warm_up: bool = False) -> Phase:
    return Phase(name, seconds=20 / rate, rate=rate, warm_up=warm_up)


def test_phases_of_different_rates_tell_what_holds_at_which() -> None:
    assert rates_of(phase("warm", 9, warm_up=True), phase("a", 2), phase("b", 4), phase("c", 8)) == ["a", "b", "c"]


def test_a_phase_that_inherits_a_queue_tells_nothing_of_its_rate() -> None:
    assert rates_of(phase("before", 2), phase("middle", 4), phase("spike", 8), phase("after", 3)) == [
        "before",
        "middle",
        "spike",
    ]
    assert rates_of(phase("before", 2), phase("spike", 8), phase("after", 3)) == []


def test_a_pause_before_it_makes_it_tell_again() -> None:
    peak, settling = phase("peak", 8), phase("settling", 2, warm_up=True)
    assert rates_of(phase("before", 4), peak, settling, phase("after", 2)) == ["after", "before", "peak"]


def test_answers_to_a_warm_up_count_for_no_revision() -> None:
    scenario = Scenario(
        "t", (Phase("warm", seconds=2, rate=1, warm_up=True), Phase("a", seconds=3, rate=1)), "absolute"
    )
    seen = ((0.5, "sha256:1"), (2.5, "sha256:1"), (3.5, "sha256:2"), (4.5, "sha256:2"))
    found = records(*(row(due, 10, revision=revision) for due, revision in seen))
    trust = assess_generator(found, processes=1, cpu_share=0.1, most_connections=1, exhausted=0, resent=0)
    summary = summarise(scenario, found, trust, at="", url="", machine="", capacity_rps=None, events=[])
    assert summary.revisions == {"sha256:1": 1, "sha256:2": 2}
