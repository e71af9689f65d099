"""Pools of parsers for tests, and their processes as /proc shows them: worker → (launcher) → zygote → parsers."""

from __future__ import annotations

import asyncio
import math
import os
from asyncio import AbstractEventLoop
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from service.api.parsers.pool import ParseLimits, ParserPool
from service.api.parsers.zygote import READER, ZygoteConfig
from service.api.parsers.zygote_client import IdleParserPool, ZygoteClient
from service.core.tenants import ANONYMOUS
from service.documents.limits import DocumentLimits
from service.documents.ocr.networks import BUILTIN_WEIGHTS
from service.sandbox.apply import SandboxMode, SandboxReport
from tests.support.async_tests import Scene, as_test
from tests.support.processes import children_of, command_of

LIMIT_SECONDS = 240.0
MODULE = "service.api.parsers.zygote"


@dataclass
class PoolSetup:
    """What a pool is made of, and what it noted."""

    size: int = 1
    seconds: float = 30.0
    memory_bytes: int = 2**31
    queue_bytes: int = 2**30
    wait_seconds: float = math.inf
    files: int = 1
    limits: DocumentLimits = field(default_factory=DocumentLimits)
    mode: SandboxMode = SandboxMode.AUTO
    reader: str = READER
    ocr: bool = False
    deaths: int = 0
    refused: list[str] = field(default_factory=list)
    reports: list[SandboxReport] = field(default_factory=list)

    def died(self) -> None:
        self.deaths += 1


LATE_WEIGHTS = "detection.onnx"


def link_weights(folder: Path) -> None:
    """Fill a folder with links to OCR's weights, for `late_parsers`."""
    for each in BUILTIN_WEIGHTS.iterdir():
        (folder / each.name).symlink_to(each)


def hold_weights(folder: Path) -> Path:
    """Make one of the weights of `link_weights` a pipe, for which zygotes wait; returns it."""
    late = folder / LATE_WEIGHTS
    late.unlink()
    os.mkfifo(late)
    return late


def give_weights(pipe: Path) -> None:
    """Give the zygote that waits at the pipe its weights."""
    pipe.write_bytes((BUILTIN_WEIGHTS / LATE_WEIGHTS).read_bytes())


@contextmanager
def late_parsers(weights: Path) -> Iterator[None]:
    """Let zygotes that are started meanwhile wait for weights of `link_weights`: they are a pipe.

    At the end of the context one of them gets them.
    """
    late = hold_weights(weights)
    yield
    give_weights(late)
    late.unlink()
    late.symlink_to(BUILTIN_WEIGHTS / LATE_WEIGHTS)


@asynccontextmanager
async def pool_of(setup: PoolSetup) -> AsyncIterator[ParserPool]:
    """A pool that has started; stopped when the context ends."""
    folder = str(BUILTIN_WEIGHTS) if setup.ocr else None
    config = ZygoteConfig(setup.mode, setup.memory_bytes, setup.seconds, setup.reader, folder)
    idle = IdleParserPool(setup.size, setup.files, ZygoteClient(config, setup.reports.append), anonymous=ANONYMOUS)
    limits = ParseLimits(setup.limits, setup.seconds, setup.queue_bytes, setup.wait_seconds)
    pool = ParserPool(setup.size, limits, idle, setup.died, setup.refused.append)
    await pool.start()
    try:
        yield pool
    finally:
        await pool.stop()


def play(scene: Scene, setup: PoolSetup | None = None, loop: Callable[[], AbstractEventLoop] | None = None) -> int:
    """Run a scene with a fresh pool whose parsers wait; returns how many deaths it noted. No process is left."""
    setup = setup or PoolSetup()
    others = {*children_of(os.getpid())}

    async def whole() -> None:
        async with asyncio.timeout(LIMIT_SECONDS), pool_of(setup) as pool:
            await fresh(setup.size)
            await scene(pool)
        assert {*children_of(os.getpid())} <= others, "a process was left behind"

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(whole())
    return setup.deaths


def with_pool(*, deaths: Collection[int] | None = None, **setup: Any) -> Callable[[Scene], Callable[..., None]]:
    """Make a test of a scene with a pool of this set-up, which notes one of these numbers of deaths."""

    def decorate(scene: Scene) -> Callable[..., None]:
        def run(**arguments: Any) -> None:
            noted = play(lambda pool: scene(pool, **arguments), PoolSetup(**setup))
            assert deaths is None or noted in deaths

        return as_test(scene, run)

    return decorate


async def fresh(count: int = 1) -> list[int]:
    """As many parsers of this process as wait for files, once they are there."""
    while len(found := parsers_of(os.getpid())) < count:
        await asyncio.sleep(0.001)
    return found


def zygotes_of(worker: int) -> list[int]:
    """The zygotes of a worker; in a process namespace each is process 1 of it, below the one that launched it."""
    started = [process for process in children_of(worker) if MODULE in command_of(process)]
    return [next((each for each in children_of(process) if _is_first(each)), process) for process in started]


def parsers_of(worker: int) -> list[int]:
    """The parsers of a worker, the oldest first."""
    return [parser for zygote in zygotes_of(worker) for parser in children_of(zygote)]


def _is_first(process: int) -> bool:
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    numbers = next((line.split()[1:] for line in status.splitlines() if line.startswith("NSpid:")), [])
    return len(numbers) > 1 and numbers[-1] == "1"
