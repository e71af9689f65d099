from __future__ import annotations

import re

from msgspec.structs import replace

from loadtest.report.findings import findings
from tests.support.load_records import NAN, records, refusal, row
from tests.support.load_result import made_result

SUMMARY = made_result().summary


def test_the_knee_is_the_highest_rate_that_held_and_the_next_one() -> None:
    wanted = (
        r"A p99 of 500 ms holds up to 30\.0 documents a second and no longer at 60\.0, where 4\d% were not answered;"
    )
    assert re.match(wanted, findings(SUMMARY)[0])


def test_a_phase_that_was_too_slow_has_its_latency() -> None:
    last = SUMMARY.phases[-1]
    slow = replace(last, ok=last.requests, refused=0, latency_ms={**last.latency_ms, "p99": 812.0})
    assert (
        "no longer at 60.0, where it was 812 ms;" in findings(replace(SUMMARY, phases=[*SUMMARY.phases[:-1], slow]))[0]
    )


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
    assert any("goodput FALLS to" in sentence for sentence in findings(fallen))


def test_late_answers_within_their_deadline_are_no_collapse() -> None:
    last = SUMMARY.phases[-1]
    late = replace(SUMMARY, phases=[*SUMMARY.phases[:-1], replace(last, goodput_rps=1.0, throughput_rps=35.0)])
    sentences = " ".join(findings(late))
    assert "35.0 a second are answered, but only 1.0 of them within 500 ms" in sentences
    assert "deadline of 2000 ms" in sentences
    assert "FALLS" not in sentences


def test_a_generator_that_was_the_bottleneck_is_not_to_be_trusted() -> None:
    from dataclasses import replace as with_fields

    bad = replace(SUMMARY, generator=with_fields(SUMMARY.generator, problems=("it was late",)))
    assert findings(bad)[-1].startswith("DO NOT TRUST")


def test_a_run_without_answers_is_a_finding() -> None:
    assert records(refusal(1.0), row(1.0, 5, "timeout", status=0, retry_after=NAN)).ok.sum() == 0
    empty = replace(SUMMARY, whole=replace(SUMMARY.whole, latency_ms={}, stages_ms={}))
    assert any(sentence.startswith("Not one of") for sentence in findings(empty))
