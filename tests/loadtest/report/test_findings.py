"""Findings of a report, and the trends within phases."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from loadtest.generator.sampler import MetricsSample
from loadtest.report.findings import findings, trends
from loadtest.scenario.scenario import Phase, Scenario
from tests.support.load_records import NAN, records, refusal, row
from tests.support.load_result import made_result

SUMMARY = made_result().summary


def test_the_knee_is_the_highest_rate_that_held_and_the_next_one() -> None:
    wanted = (
        r"A p99 of 500 ms holds up to 30\.0 documents a second and no longer at 60\.0, "
        r"where 4\d% were not answered \(\d+ refused\);"
    )
    assert re.match(wanted, findings(SUMMARY)[0])


def test_flaws_of_refusals_are_counted() -> None:
    whole = replace(SUMMARY.whole, untyped_refusals=2, refusals_without_retry_after=3)
    sentences = " ".join(findings(replace(SUMMARY, whole=whole)))
    assert "2 without a typed reason and 3 without Retry-After" in sentences


def test_failures_late_answers_and_revisions_are_findings() -> None:
    whole = replace(SUMMARY.whole, failed=4, error_rate=0.01, late_accepted=5)
    sentences = " ".join(findings(replace(SUMMARY, whole=whole, revisions={"sha256:a": 3, "sha256:b": 7})))
    assert "4 requests FAILED" in sentences
    assert f"5 of {whole.ok} answers came after the deadline of 2000 ms, up to" in sentences
    assert "2 revisions of models answered: 3 by" in sentences


def test_a_collapse_of_goodput_is_a_finding() -> None:
    last = SUMMARY.phases[-1]
    fallen = replace(SUMMARY, phases=[*SUMMARY.phases[:-1], replace(last, goodput_rps=1.0, throughput_rps=2.0)])
    assert any("goodput falls to" in sentence for sentence in findings(fallen))


def test_late_answers_within_their_deadline_are_no_collapse() -> None:
    last = SUMMARY.phases[-1]
    late = replace(SUMMARY, phases=[*SUMMARY.phases[:-1], replace(last, goodput_rps=1.0, throughput_rps=35.0)])
    sentences = " ".join(findings(late))
    assert "35.0 a second are answered, but only 1.0 of them within 500 ms" in sentences
    assert "deadline of 2000 ms" in sentences
    assert "falls to" not in sentences


def test_a_generator_that_was_the_bottleneck_is_not_to_be_trusted() -> None:
    from dataclasses import replace as with_fields

    bad = replace(SUMMARY, generator=with_fields(SUMMARY.generator, problems=("it was late",)))
    assert findings(bad)[-1].startswith("DO NOT TRUST")


def test_a_run_without_answers_is_a_finding() -> None:
    assert records(refusal(1.0), row(1.0, 5, "timeout", status=0, retry_after=NAN)).ok.sum() == 0
    empty = replace(SUMMARY, whole=replace(SUMMARY.whole, latency_ms={}, stages_ms={}))
    assert any(sentence.startswith("Not one of") for sentence in findings(empty))


SPIKE = Scenario(
    "Made up",
    (Phase("before", seconds=10, rate=10), Phase("spike", seconds=5, rate=50), Phase("after", seconds=20, rate=10)),
    "absolute",
    slo_ms=500,
)
LEVEL = Scenario("Made up", (Phase("a", seconds=10, rate=10), Phase("b", seconds=25, rate=10)), "absolute")


def sentences(slow_until: float, scenario: Scenario = SPIKE) -> list[str]:
    """Ten requests a second, which are slow between the 10th second and this one."""
    rows = (row(n / 10, 900 if 10 <= n / 10 < slow_until else 50) for n in range(350))
    return trends(scenario, records(*rows), [])


@pytest.mark.parametrize(
    ("slow_until", "words"),
    [(18.4, "it took 4 s"), (15.0, "held again at once"), (35.0, "MISSED 20 s later")],
)
def test_a_recovery_after_a_peak_has_its_length(slow_until: float, words: str) -> None:
    (sentence,) = sentences(slow_until)
    assert words in sentence
    assert sentences(slow_until, LEVEL) == [], "without a peak there is nothing to recover from"


def sample(at: float, mebibytes: float, files: float) -> MetricsSample:
    return MetricsSample(at, {"memory_bytes": mebibytes * 2**20, "open_files": files})


def test_growth_is_measured_from_the_second_quarter_on() -> None:
    """What a start still allocates in the first quarter is no growth."""
    samples = [sample(at, 500.0 if at < 80 else 1000.0 + (100.0 if at > 230 else 0.0), 90.0) for at in range(320)]
    (sentence,) = trends(LEVEL, records(row(0.0, 1)), samples)
    assert sentence == "From the second quarter to the last: memory 1,000 → 1,100 MiB (+10.0%), open files 90 → 90."


@pytest.mark.parametrize(
    ("ok", "refused", "p99", "words"),
    [
        (60, 40, 200.0, "even at 10.0 documents a second 40% were not answered (40 refused)"),
        (100, 0, 900.0, "even at 10.0 documents a second it was 900 ms"),
    ],
)
def test_where_no_phase_holds_the_reason_of_the_mildest_is_said(ok: int, refused: int, p99: float, words: str) -> None:
    phases = [
        replace(each, requests=100, ok=ok, refused=refused, failed=0, latency_ms={**each.latency_ms, "p99": p99})
        for each in SUMMARY.phases
    ]
    assert words in findings(replace(SUMMARY, phases=phases))[0]
