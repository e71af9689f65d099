"""Pools of parsers for tests, and their processes as /proc shows them: worker → (launcher) → zygote → parsers."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from service.api.parsers.pool import ParseLimits, ParserPool
from service.api.parsers.zygote import READER, ZygoteConfig
from service.api.parsers.zygote_client import IdleParserPool, ZygoteClient
from service.core.tenants import ANONYMOUS
from service.documents.limits import DocumentLimits
from service.documents.ocr.networks import BUILTIN_WEIGHTS
from service.sandbox.apply import SandboxMode, SandboxReport
from tests.support.processes import children_of, command_of

MODULE = "service.api.parsers.zygote"
BODY_MODULES = tuple(
    f"service.api.adapters.{name}_bodies" for name in ("comprehend", "huggingface", "oip", "presidio", "gliner")
)


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
    modules: tuple[str, ...] = BODY_MODULES
    ocr: bool = False
    deaths: int = 0
    refused: list[str] = field(default_factory=list)
    reports: list[SandboxReport] = field(default_factory=list)

    def died(self) -> None:
        self.deaths += 1


@asynccontextmanager
async def pool_of(setup: PoolSetup) -> AsyncIterator[ParserPool]:
    """A pool that has started; stopped when the context ends."""
    folder = str(BUILTIN_WEIGHTS) if setup.ocr else None
    config = ZygoteConfig(setup.mode, setup.memory_bytes, setup.seconds, setup.reader, setup.modules, folder)
    stock = IdleParserPool(setup.size, setup.files, ZygoteClient(config, setup.reports.append), anonymous=ANONYMOUS)
    limits = ParseLimits(setup.limits, setup.seconds, setup.queue_bytes, setup.wait_seconds)
    pool = ParserPool(setup.size, limits, stock, setup.died, setup.refused.append)
    await pool.start()
    try:
        yield pool
    finally:
        await pool.stop()


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
