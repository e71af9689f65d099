"""A chaos run: callers ask without a pause, one fault follows another, and every reply is judged."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import httpx

from loadtest.chaos.faults import ChaosFault
from loadtest.chaos.oracle import Exchange, FaultRecord, Ledger, Oracle, Verdict
from loadtest.chaos.subject import Subject
from loadtest.generator.http_client import HttpClient
from loadtest.scenario.workload import Job
from loadtest.service_process import is_ready

CALLERS = 8
TIMEOUT_SECONDS = 120.0
"""Seconds that a request may take; the service's own deadline comes first."""
MOST_TRIES = 5
"""Attempts at the reference answer; a busy machine may miss a deadline."""
BETWEEN_FAULTS_SECONDS = (0.5, 4.0)
RECOVERY_SECONDS = 150.0
MOST_EXTRA_SECONDS = 240.0
"""Seconds after the end during which callers go on if none has had an answer: engines may start slowly."""
REST_SECONDS = 0.05
"""Pause of a caller after anything but a right answer."""
ENGINE_LIFE_SECONDS = 35.0
"""Seconds between two deaths of the engine: a third one within a minute ends the service, as it should."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The duration of a run, the faults that may occur in it, and the seed of both."""

    seconds: float
    faults: Sequence[ChaosFault]
    seed: int


async def run_chaos(subject: Subject, plan: Plan, say: Callable[[str], None] = lambda _line: None) -> Ledger:
    """Ask and break until the time is over, then see whether the service has recovered."""
    ledger, oracle = Ledger(), Oracle()
    async with HttpClient(
        subject.service.url, most=CALLERS + len(subject.questions), timeout_seconds=TIMEOUT_SECONDS
    ) as client:
        await _learn(client, oracle, subject.questions)
        begun = time.monotonic()
        end = begun + plan.seconds
        callers = [
            asyncio.create_task(
                _ask_until(end, client, oracle, ledger, Random(f"caller {plan.seed} {number}"), subject, begun)
            )
            for number in range(CALLERS)
        ]
        await _break_until(end, subject, plan, ledger, begun, say)
        await asyncio.gather(*callers)
        ledger.unhealthy += await _recovery(client, oracle, subject)
    return ledger


async def _learn(client: HttpClient, oracle: Oracle, questions: Sequence[Job]) -> None:
    for question in questions:
        tries = 1
        while not oracle.learn(question.kind, await client.post(question)):
            if tries == MOST_TRIES:
                raise TimeoutError(f"{question.kind!r} was refused {tries} times before anything was broken")
            tries += 1


async def _ask_until(
    end: float, client: HttpClient, oracle: Oracle, ledger: Ledger, draw: Random, subject: Subject, begun: float
) -> None:
    while (sent := time.monotonic()) < end or (sent < end + MOST_EXTRA_SECONDS and not ledger.has_answers):
        question = draw.choice(subject.questions)
        reply = await client.post(question)
        verdict = oracle.judge(question.kind, reply)
        shown = f"{reply.status} {reply.failure} {reply.body[:200]!r}" if verdict is not Verdict.RIGHT else ""
        ledger.exchanges.append(Exchange(question.kind, verdict, sent - begun, time.monotonic() - begun, shown))
        if verdict is not Verdict.RIGHT:
            await asyncio.sleep(REST_SECONDS)


async def _break_until(
    end: float, subject: Subject, plan: Plan, ledger: Ledger, begun: float, say: Callable[[str], None]
) -> None:
    draw = Random(f"faults {plan.seed}")
    engine_spared_until = 0.0
    while time.monotonic() < end:
        at = time.monotonic() - begun
        possible = [fault for fault in plan.faults if not fault.kills_engine or at >= engine_spared_until]
        if not possible:
            await asyncio.sleep(REST_SECONDS)
            continue
        fault = draw.choices(possible, [fault.weight for fault in possible])[0]
        engine_spared_until = at + ENGINE_LIFE_SECONDS if fault.kills_engine else engine_spared_until
        await fault.inject(subject, draw)
        ledger.faults.append(FaultRecord(fault.name, at, time.monotonic() - begun, fault.loses))
        counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(ledger.verdicts().items()))
        say(f"{at:7.1f} s  {fault.name:<28} {counts}")
        await asyncio.sleep(min(draw.uniform(*BETWEEN_FAULTS_SECONDS), max(0.0, end - time.monotonic())))


async def _recovery(client: HttpClient, oracle: Oracle, subject: Subject) -> list[str]:
    """Sentences on what is wrong after the last fault, once the service has had time to recover."""
    if subject.service.instance.process.poll() is not None:
        return [f"the service ended with exit code {subject.service.instance.process.returncode}"]
    end = time.monotonic() + RECOVERY_SECONDS
    async with httpx.AsyncClient(base_url=subject.service.url, timeout=TIMEOUT_SECONDS, verify=False) as probe:
        while not (ready := await asyncio.to_thread(is_ready, subject.service.url)) and time.monotonic() < end:
            await asyncio.sleep(0.1)
        if not ready:
            return [f"the service was not ready {RECOVERY_SECONDS:.0f} s after the last fault"]
        if not await _serves_newest(probe, subject, end):
            return [f"{subject.newest_revision} was published, and is not served {RECOVERY_SECONDS:.0f} s later"]
    wrong = []
    for question in subject.questions:
        verdict = oracle.judge(question.kind, await client.post(question))
        while verdict is Verdict.REFUSED and time.monotonic() < end:  # It says so, and when to ask again.
            await asyncio.sleep(REST_SECONDS)
            verdict = oracle.judge(question.kind, await client.post(question))
        if verdict is not Verdict.RIGHT:
            wrong.append(f"{question.kind}: {verdict} after the last fault")
    return wrong


async def _serves_newest(probe: httpx.AsyncClient, subject: Subject, end: float) -> bool:
    while time.monotonic() < end:
        models = (await probe.get("/models")).text
        if subject.newest_revision in models:
            return True
        await asyncio.sleep(0.5)
    return False
