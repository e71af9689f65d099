from __future__ import annotations

from loadtest.report.trends import trends
from loadtest.scenario.scenario import Phase, Scenario
from loadtest.telemetry.sampler import MetricsSample
from tests.support.load_records import records, row

SPIKE = Scenario(
    "Made up",
    (Phase("before", seconds=10, rate=10), Phase("spike", seconds=5, rate=50), Phase("after", seconds=20, rate=10)),
    "absolute",
    slo_ms=500,
)
LEVEL = Scenario("Made up", (Phase("a", seconds=10, rate=10), Phase("b", seconds=25, rate=10)), "absolute")


def told(slow_until: float, scenario: Scenario = SPIKE) -> list[str]:
    """Ten requests a second, which are slow between the 10th second and this one."""
    rows = (row(n / 10, 900 if 10 <= n / 10 < slow_until else 50) for n in range(350))
    return trends(scenario, records(*rows), [])


def test_how_long_a_peak_was_felt_is_said() -> None:
    assert told(18.4) == ["After 'spike' it took 4 s until the service level of 500 ms held again."]


def test_a_peak_that_is_over_with_its_end_is_over_at_once() -> None:
    assert told(15.0) == ["After 'spike' the service level of 500 ms held again at once."]


def test_a_peak_that_is_felt_to_the_end_is_not_over() -> None:
    assert told(35.0) == ["After 'spike' the service level of 500 ms was still MISSED 20 s later."]


def test_phases_without_a_peak_have_nothing_to_recover_from() -> None:
    assert told(35.0, LEVEL) == []


def look(at: float, mebibytes: float, files: float) -> MetricsSample:
    return MetricsSample(at, {"memory_bytes": mebibytes * 2**20, "open_files": files})


def test_growth_is_told_from_the_second_quarter_on() -> None:
    """What a start still allocates in the first quarter is no growth."""
    looks = [look(at, 500.0 if at < 80 else 1000.0 + (100.0 if at > 230 else 0.0), 90.0) for at in range(320)]
    (sentence,) = trends(LEVEL, records(row(0.0, 1)), looks)
    assert sentence == "From the second quarter to the last: memory 1,000 → 1,100 MiB (+10.0%), open files 90 → 90."


def test_a_short_run_says_nothing_of_growth() -> None:
    assert trends(LEVEL, records(row(0.0, 1)), [look(at, 500.0 + at, 90.0) for at in range(100)]) == []


def test_short_documents_are_told_apart_from_long_ones() -> None:
    rows = (row(n / 10, 2_000 if n % 2 else 100, tokens=5_000 if n % 2 else 150) for n in range(200))
    (sentence,) = trends(LEVEL, records(*rows), [])
    assert (
        sentence == "Documents of up to 1,000 tokens: p50 100 ms, p99 100 ms; longer ones: p50 2,000 ms, p99 2,000 ms."
    )
