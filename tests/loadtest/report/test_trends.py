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


def sentences(slow_until: float, scenario: Scenario = SPIKE) -> list[str]:
    """Ten requests a second, which are slow between the 10th second and this one."""
    rows = (row(n / 10, 900 if 10 <= n / 10 < slow_until else 50) for n in range(350))
    return trends(scenario, records(*rows), [])


def test_a_recovery_has_its_length() -> None:
    assert sentences(18.4) == ["After 'spike' it took 4 s until the service level of 500 ms held again."]


def test_a_peak_without_a_queue_is_over_at_once() -> None:
    assert sentences(15.0) == ["After 'spike' the service level of 500 ms held again at once."]


def test_a_phase_without_recovery_is_named() -> None:
    assert sentences(35.0) == ["After 'spike' the service level of 500 ms was still MISSED 20 s later."]


def test_phases_without_a_peak_have_nothing_to_recover_from() -> None:
    assert sentences(35.0, LEVEL) == []


def sample(at: float, mebibytes: float, files: float) -> MetricsSample:
    return MetricsSample(at, {"memory_bytes": mebibytes * 2**20, "open_files": files})


def test_growth_is_measured_from_the_second_quarter_on() -> None:
    """What a start still allocates in the first quarter is no growth."""
    samples = [sample(at, 500.0 if at < 80 else 1000.0 + (100.0 if at > 230 else 0.0), 90.0) for at in range(320)]
    (sentence,) = trends(LEVEL, records(row(0.0, 1)), samples)
    assert sentence == "From the second quarter to the last: memory 1,000 → 1,100 MiB (+10.0%), open files 90 → 90."


def test_a_short_run_has_no_growth() -> None:
    assert trends(LEVEL, records(row(0.0, 1)), [sample(at, 500.0 + at, 90.0) for at in range(100)]) == []


def test_short_and_long_documents_have_latencies_of_their_own() -> None:
    rows = (row(n / 10, 2_000 if n % 2 else 100, tokens=5_000 if n % 2 else 150) for n in range(200))
    (sentence,) = trends(LEVEL, records(*rows), [])
    assert (
        sentence == "Documents of up to 1,000 tokens: p50 100 ms, p99 100 ms; longer ones: p50 2,000 ms, p99 2,000 ms."
    )
