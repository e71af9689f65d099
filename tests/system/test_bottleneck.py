"""A front that is the bottleneck: PDFs that wait for one parser, while the device has next to nothing to do."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from infra.scaling.alarm_values import Condition
from infra.scaling.policy import Policy, policy_for
from service.signals.catalog import BACKLOG_SECONDS, WORK_RATIO
from tests.support.document_files import pdf
from tests.support.extraction import assert_problem
from tests.support.service import PLAIN, Service, serving

CLIENTS = 100
FILE = pdf(*[[(40, 40, "Jane Doe lives in Springfield.")]] * 24)
"""Much to parse for few tokens, and for the client, which has the same cores."""
MOST_SECONDS = 120.0
"""Until the ratio shows it; 20 s are enough on a machine that does nothing else."""
QUIET_SECONDS = 5.0
"""Watched after that."""
LIMIT_SECONDS = 0.5
METRICS = {"work": "gleaner_work_ratio", "backlog": "gleaner_backlog_seconds", "wait": "gleaner_parser_wait_seconds"}
METRICS |= {stage: f'gleaner_stage_work_ratio{{stage="{stage}"}}' for stage in ("compute", "tokenize", "parse")}


@dataclass(slots=True)
class Watched:
    """What the service published, second by second, and what became of the requests, by the service's own clock."""

    begun: float = field(default_factory=time.monotonic)
    published: list[tuple[float, dict[str, float]]] = field(default_factory=list)
    answered_seconds: list[float] = field(default_factory=list)
    refused: list[httpx.Response] = field(default_factory=list)

    def ask(self, service: Service) -> None:
        lines = service.get("/metrics", timeout=240.0).raise_for_status().text.splitlines()
        samples = [line.rpartition(" ") for line in lines]
        found = {name: value for name, start in METRICS.items() for key, _, value in samples if key == start}
        self.published.append((time.monotonic() - self.begun, {name: float(value) for name, value in found.items()}))

    def first_above(self, threshold: float) -> float | None:
        """When the work ratio was above this for the first time."""
        return next((at for at, values in self.published if values["work"] > threshold), None)

    def scale_in_held(self, policy: Policy, after: float) -> list[dict[str, float]]:
        """What was published when the fleet might have shrunk; its GPU, of which there is none, always agrees."""
        published = {WORK_RATIO: "work", BACKLOG_SECONDS: "backlog"}
        conditions = [each for each in policy.scale_in.alarm.conditions if each.signal in published]
        assert len(conditions) == 2

        def holds(each: Condition, values: dict[str, float]) -> bool:
            return each.comparison.holds(values[published[each.signal]], each.threshold)

        late = [values for at, values in self.published if at >= after]
        return [values for values in late if all(holds(each, values) for each in conditions)]

    def show(self) -> None:
        """Print the figures, which no test asserts on."""
        cuts = statistics.quantiles(self.answered_seconds, n=100)
        counts = f"{len(self.answered_seconds)} answered, {len(self.refused)} refused"
        print(f"\n{counts}; p50 {cuts[49]:.2f} s, p99 {cuts[98]:.2f} s")


async def post(client: httpx.AsyncClient, watched: Watched) -> None:
    answer = await client.post("/extract", files={"file": ("a.pdf", FILE)})
    if answer.status_code == 200:
        watched.answered_seconds.append(answer.json()["timing"]["total_ms"] / 1000)
    else:
        watched.refused.append(answer)
        await asyncio.sleep(0.5)


async def flood(service: Service, watched: Watched, over: Callable[[], bool], clients: int = CLIENTS) -> None:
    """As many clients, each with one file after another, until it is over; watched until then."""

    async def one(client: httpx.AsyncClient) -> None:
        while not over():
            await post(client, watched)

    async def watch() -> None:
        while not over():
            await asyncio.to_thread(watched.ask, service)
            await asyncio.sleep(0.5)

    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=service.url, timeout=300.0, limits=limits, verify=PLAIN) as client:
        await asyncio.gather(watch(), *(one(client) for _ in range(clients)))


def test_pdfs_that_wait_for_one_parser_are_work_for_a_larger_fleet(home: Path) -> None:
    policy = policy_for()
    threshold = policy.targets.scale_out_work_ratio
    with serving(home, MODELS="tiny", WORKERS=1, PARSERS=1) as service:
        watched = Watched()

        def seen() -> bool:
            now, first = time.monotonic() - watched.begun, watched.first_above(threshold)
            return now > (MOST_SECONDS if first is None else first + QUIET_SECONDS)

        asyncio.run(flood(service, watched, seen))
    first, (_, last) = watched.first_above(threshold), watched.published[-1]
    assert first is not None, watched.published
    assert max(("compute", "tokenize", "parse"), key=last.__getitem__) == "parse", last
    assert last["compute"] < policy.targets.scale_in_work_ratio, "the device alone would have the fleet shrink"
    assert watched.scale_in_held(policy, first) == []
    print(f"\nwork ratio above {threshold} after {first:.1f} s; at the end {last}")
    watched.show()


def test_what_would_wait_too_long_for_a_parser_is_refused_and_counted(home: Path) -> None:
    limit = int(LIMIT_SECONDS * 1000)
    with serving(home, MODELS="tiny", WORKERS=1, PARSERS=1, MAX_QUEUE_MS=limit) as service:
        learning, watched = Watched(), Watched()
        asyncio.run(flood(service, learning, lambda: len(learning.answered_seconds) >= 100, clients=4))
        threshold = policy_for().targets.scale_out_work_ratio

        def enough() -> bool:
            late = time.monotonic() - watched.begun > MOST_SECONDS
            few = min(len(watched.answered_seconds), len(watched.refused)) < 100
            return late or not (few or watched.first_above(threshold) is None)

        asyncio.run(flood(service, watched, enough))
        counted = service.metric('gleaner_refusals_total{code="queue_full"}')
    for answer in watched.refused:
        assert_problem(answer, 429, "queue_full")
        assert int(answer.headers["Retry-After"]) >= 1
    assert counted >= 0.8 * len(watched.refused)
    waits = [values["wait"] for _, values in watched.published]
    assert statistics.median(waits) < 3 * LIMIT_SECONDS, "where a machine stalls, some wait for longer"
    assert watched.first_above(threshold) is not None, "what is refused was asked for too"
    watched.show()
