from __future__ import annotations

from loadtest.results.generator_health import assess_generator
from loadtest.results.result import summarise
from loadtest.scenario.scenario import Phase, Scenario
from tests.support.load_records import records, row


def test_answers_to_a_warm_up_count_for_no_revision() -> None:
    scenario = Scenario(
        "t", (Phase("warm", seconds=2, rate=1, warm_up=True), Phase("a", seconds=3, rate=1)), "absolute"
    )
    seen = ((0.5, "sha256:1"), (2.5, "sha256:1"), (3.5, "sha256:2"), (4.5, "sha256:2"))
    found = records(*(row(due, 10, revision=revision) for due, revision in seen))
    trust = assess_generator(found, processes=1, cpu_share=0.1, most_connections=1, exhausted=0, resent=0)
    summary = summarise(scenario, found, trust, at="", url="", machine="", capacity_rps=None, events=[])
    assert summary.revisions == {"sha256:1": 1, "sha256:2": 2}
