"""Which tests are of which tier, in which order files run, and what a machine cannot run.

`make test` runs the first tier: values, sockets, one shared service. `make test-all` runs the second tier too. Several
files run at once; those that take longest begin first, so that the many short ones fill what the long ones leave.
"""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support import hardware

HERE = Path(__file__).parent
SHARED_SERVICE, ADAPTERS = "system/shared/", "system/adapters/"
TOGETHER = (SHARED_SERVICE, ADAPTERS)
"""Folders whose files run in one process, since they ask one service."""
SECOND_TIER = {
    "system/": "services with settings of their own, deaths, a browser, other people's clients",
    "cuda_emulator/": "a CUDA build of torch and a C++ compiler",
    "s3/": "an S3 server",
    "documents/redaction/test_redacted_samples.py": "four readers of eighty PDFs",
    "bulk/test_fleet.py": "a queue whose leases end after seconds",
    "bulk/test_recipes.py": "an engine for each recipe",
    "commands/test_bulk_fleet.py": "the same",
    "documents/ocr/": "networks that read pages for seconds",
    "api/redaction/": "the same",
    "commands/test_extract.py": "a service for each folder of files",
    "commands/test_evaluate.py": "an engine for each evaluation",
    "commands/test_plan.py": "an engine for each plan",
    "infra/test_account.py": "hundreds of AWS commands, each a process",
    "infra/test_deploying.py": "a synthesis of all stacks for each deployment",
    "engine/device/test_nvml.py": "a C compiler",
    "infra/test_prometheus.py": "prometheus and alertmanager",
}
"""Folder or file → what its tests need or start; a single test is marked where it stands. Not `SHARED_SERVICE`."""
LONGEST_FIRST = (
    SHARED_SERVICE,
    "system/test_lives.py",
    "system/test_autoscaling.py",
    *SECOND_TIER,
    "commands/",
    "engine/",
)
"""Files and folders by how long a file takes; all others come after them."""

settings.register_profile("gleaner", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("once", settings.get_profile("gleaner"), max_examples=1, derandomize=True)
settings.load_profile("gleaner")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files without a test of the tier that is to run: to import all takes half a minute in each process."""
    tier = config.getoption("markexpr")
    if tier not in ("second_tier", "not second_tier") or not collection_path.match("test_*.py"):
        return None
    is_second = _is_second_tier(collection_path.relative_to(HERE).as_posix())
    if tier == "second_tier":
        return None if is_second or "@pytest.mark.second_tier" in collection_path.read_text() else True
    return True if is_second else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the second tier, and put the longest files first; otherwise the order stays as it was."""
    for item in items:
        if _is_second_tier(_place(item)):
            item.add_marker(pytest.mark.second_tier)
    items.sort(key=lambda item: _rank(_place(item)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Each file in one process, and all files that ask one service in the same one: it is started once."""
    from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

    class Scheduling(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            folders = (folder for folder in TOGETHER if folder in nodeid)
            return next(folders, None) or str(super()._split_scope(nodeid))

    return Scheduling(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine on an event loop of its own; by its fixture `runner`, if it has one."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    run: Any = pyfuncitem.funcargs.get("runner", asyncio.run)
    run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what this machine cannot run."""
    hardware.check(item)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List what was not run for want of a device or of a kernel's permission."""
    lines = list(hardware.not_run(terminalreporter.stats.get("skipped", [])))
    if lines:
        terminalreporter.section("not run on this machine")
        for line in lines:
            terminalreporter.line(line)


def _place(item: pytest.Item) -> str:
    """A test's id, with its path from this folder."""
    return f"{item.path.relative_to(HERE).as_posix()}::{item.name}"


def _is_second_tier(place: str) -> bool:
    return place.startswith(tuple(SECOND_TIER)) and not place.startswith(SHARED_SERVICE)


def _rank(place: str) -> int:
    ranks = (rank for rank, start in enumerate(LONGEST_FIRST) if place.startswith(start))
    return next(ranks, len(LONGEST_FIRST))
