"""The health of the generator of a run."""

from __future__ import annotations

from loadtest.generator.records import Records
from loadtest.generator.run import GeneratorHealth, assess_generator
from tests.support.load_records import records, row


def judged(found: Records, *, cpu: float = 0.3, exhausted: int = 0) -> GeneratorHealth:
    return assess_generator(found, processes=1, cpu_share=cpu, most_connections=5, exhausted=exhausted, resent=0)


def test_a_generator_that_kept_its_schedule_is_trusted() -> None:
    assert not judged(records(*(row(n, 100, lag_ms=1) for n in range(100)))).problems


def test_lag_counts_when_it_matters_beside_the_latency() -> None:
    assert judged(records(*(row(n, 100, lag_ms=30) for n in range(100)))).problems
    assert not judged(records(*(row(n, 1_000, lag_ms=30) for n in range(100)))).problems
    assert not judged(records(*(row(n, 20, lag_ms=15) for n in range(100)))).problems


def test_a_full_core_and_a_lack_of_connections_are_problems() -> None:
    fine = records(row(0, 10))
    assert "of a core" in judged(fine, cpu=0.95).problems[0]
    assert "connection" in judged(fine, exhausted=3).problems[0]
