"""The result of a run: the summary, which is stored in summary.json, every request, and every metrics sample."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from loadtest.records.records import Records
from loadtest.results.generator_health import GeneratorHealth
from loadtest.results.summary import Figures, by_phase, only_reported, overall
from loadtest.scenario.scenario import Scenario
from loadtest.telemetry.sampler import MetricsSample


class Summary(msgspec.Struct, frozen=True):
    """summary.json. `capacity_rps`: requests per second at full load, measured before where rates are shares of it."""

    title: str
    at: str
    url: str
    machine: str
    capacity_rps: float | None
    whole: Figures
    phases: list[Figures]
    generator: GeneratorHealth
    revisions: dict[str, int]
    events: list[tuple[float, str]]
    findings: list[str]
    scenario: Scenario


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The data of a report."""

    summary: Summary
    records: Records
    samples: tuple[MetricsSample, ...]

    @property
    def scenario(self) -> Scenario:
        return self.summary.scenario


def summarise(
    scenario: Scenario,
    records: Records,
    generator: GeneratorHealth,
    *,
    at: str,
    url: str,
    machine: str,
    capacity_rps: float | None,
    events: list[tuple[float, str]],
) -> Summary:
    """The summary of a run, without findings."""
    counted = only_reported(records, scenario)
    good = counted.revision[counted.ok].tolist()
    return Summary(
        title=scenario.title,
        at=at,
        url=url,
        machine=machine,
        capacity_rps=capacity_rps,
        whole=overall(records, scenario),
        phases=by_phase(records, scenario),
        generator=generator,
        revisions={revision: good.count(revision) for revision in dict.fromkeys(good) if revision},
        events=events,
        findings=[],
        scenario=scenario,
    )
