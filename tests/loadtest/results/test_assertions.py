from __future__ import annotations

import pytest

from loadtest.errors import BadInput
from loadtest.results.assertions import evaluate_check, parse_check
from loadtest.results.summary import Figures, figures
from tests.support.load_records import records, refusal, row


def made(name: str, latency_ms: float) -> Figures:
    rows = [row(n / 10, latency_ms) for n in range(99)]
    return figures(name, records(*rows, refusal(9.95)), [(0.0, 10.0)], slo_ms=500, deadline_ms=0)


WHOLE, PHASES = made("all", 100), [made("quiet", 50), made("10 times", 700)]


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("p99_ms<500", True),
        ("p99_ms < 100", False),
        ("error_rate==0", True),
        ("refusal_rate<=0.01", True),
        ("refusal_rate<0.01", False),
        ("goodput_rps>9", True),
        ("p50_ms@quiet<60", True),
        ("p99_ms@10 times<500", False),
        ("max_ms>=1e9", False),
    ],
)
def test_conditions(text: str, holds: bool) -> None:
    finding = evaluate_check(parse_check(text), WHOLE, PHASES)
    assert finding.holds == holds
    assert str(finding).startswith("holds" if holds else "FAILS")


@pytest.mark.parametrize("text", ["p99<5", "p99_ms", "p99_ms=5", "speed>3", "p99_ms<x", "", "p99_ms<1e"])
def test_what_is_no_condition_is_refused_with_what_can_be_asked(text: str) -> None:
    with pytest.raises(BadInput):
        parse_check(text)


def test_a_latency_that_was_never_measured_does_not_hold() -> None:
    nothing = figures("all", records(refusal(1.0)), [(0.0, 10.0)], slo_ms=500, deadline_ms=0)
    assert not evaluate_check(parse_check("p99_ms<500"), nothing, []).holds
