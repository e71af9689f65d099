"""`python -m loadtest.bench --only attacks`: each attack on a service of its own, and one row for it."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from loadtest.bench.attacks.attack import Attack
from loadtest.bench.attacks.catalog import chosen_attacks
from loadtest.bench.attacks.figures import AttackFigures, Observation, table_head
from loadtest.bench.attacks.target import NEIGHBOUR, Target, attacked, key_of
from loadtest.bench.fixtures import PipelineProcess
from loadtest.errors import LoadtestError
from loadtest.service_process.ports import KeptPort

RATE = 8.0
"""Requests a second of the other client: some hundredths of what the service can do."""
LEAD_SECONDS = 1.0
"""Between the first question of others and the attack."""
OBSERVER = "loadtest.bench.attacks.observer"


def measure(home: Path, names: list[str] | None = None, seconds: float | None = None) -> None:
    """Print a row for each attack; `names` are parts of names, or findings; `seconds` of each if not its own."""
    print(f"\n## Attacks, beside another client with {RATE:g} short requests a second\n\n{table_head()}", flush=True)
    for number, attack in enumerate(chosen_attacks(names)):
        try:
            print(attack_once(home / f"attack-{number}", attack, seconds or attack.seconds).row(), flush=True)
        except (OSError, LoadtestError) as error:
            print(f"| {attack.name} | {attack.finding} | not measured: {error} |", flush=True)


def attack_once(home: Path, attack: Attack, seconds: float) -> AttackFigures:
    """Start a service, attack it for so long, and tell what others noticed.

    Raises:
        OSError, LoadtestError: the attack cannot be mounted here, or the service did not start.
    """
    inside = KeptPort() if attack.probed_inside else None
    settings = {**attack.settings, **({"INTERNAL_PORT": inside.number} if inside else {})}
    with attacked(home, settings, attack.disk_variables) as target:
        probed = f"http://127.0.0.1:{inside.number}" if inside else target.url
        with closing(observer_of(target, probed)) as observer:
            observe(observer, 2.0, attack.neighbour_sends)
            seen = asyncio.run(_attack(target, attack, observer, seconds))
        return AttackFigures(attack.name, attack.finding, seen, target.answers, target.has_ended)


def observer_of(target: Target, probed: str) -> PipelineProcess:
    """A process that looks at a target through another client's eyes; `probed`: where it asks for `/livez`."""
    return PipelineProcess(OBSERVER, target.url, str(target.service.process.pid), key_of(NEIGHBOUR), probed)


def observe(observer: PipelineProcess, seconds: float, sends: str, rate: float = RATE) -> Observation:
    """What it sees in a stretch of time; returns when the last request is answered."""
    answer: dict[str, Any] = observer.ask(seconds=seconds, rate=rate, sends=sends)
    return msgspec.convert(answer, Observation)


async def _attack(target: Target, attack: Attack, observer: PipelineProcess, seconds: float) -> Observation:
    observing = asyncio.create_task(
        asyncio.to_thread(observe, observer, LEAD_SECONDS + seconds, attack.neighbour_sends)
    )
    await asyncio.sleep(LEAD_SECONDS)
    try:
        await attack.strike(target, time.monotonic() + seconds)
    finally:
        seen = await observing
    return seen
