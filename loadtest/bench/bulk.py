"""Bulk jobs: a plan of many keys, and files answered by `gleaner bulk` beside `gleaner extract`, on one machine.

`python -m loadtest.bench.bulk TEXTS PDFS` takes other numbers of files than `make bench ONLY=bulk`.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import psutil

from loadtest.scenario.document_files import make_pdf
from loadtest.scenario.workload import paragraph
from loadtest.service_process import clean_environment, process_tree

TEXTS, PDFS, WORDS, SEED = 20_000, 500, 60, 7
KEYS = 100_000
POLL_SECONDS = 0.25
ENGINE, COMMAND, PARSERS = "engine", "command", "parsers"
PLAN = """
import resource, sys, time
from pathlib import Path
from service.bulk import job
from service.bulk.storage import FolderStorage
from service.core.bulk import BulkJob, Item
items = (Item(f"2026/contracts/file-{n:08}.pdf", f"{n}-{n + 10**18}", 20_000) for n in range(int(sys.argv[1])))
begun = time.process_time()
files = sum(len(each.chunk.items) for some in job.plan(FolderStorage(Path(sys.argv[2])), BulkJob("m", {}), items)
            for each in some)
print(files, time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@dataclass(slots=True)
class _Usage:
    """What a command took; `mebibytes`: resident memory of its command and engine at each look."""

    wall_seconds: float = 0.0
    first_seconds: float = 0.0
    processor_seconds: dict[tuple[str, int], float] = field(default_factory=dict)
    mebibytes: list[Counter[str]] = field(default_factory=list)

    def seconds_of(self, kind: str) -> float:
        return sum(seconds for (each, _), seconds in self.processor_seconds.items() if each == kind)

    def memory(self, kind: str, share: float) -> int:
        """At a share of the time."""
        return self.mebibytes[int((len(self.mebibytes) - 1) * share)][kind]


def measure(home: Path, texts: int = TEXTS, pdfs: int = PDFS) -> None:
    """Print the tables."""
    _plan(home / "plan")
    folder = _files(home / "files", texts, pdfs)
    count = texts + pdfs
    print(f"\n{texts:,} texts of {WORDS} words, {pdfs:,} PDFs; memory in MiB at a quarter and at the end\n")
    print(
        "| command | files/s | first output, s | processor seconds: engine | command | parsers | command MiB | engine |"
    )
    print("|---|---|---|---|---|---|---|---|")
    parts, lines = home / "job" / "parts", home / "answers.jsonl"
    job: list[str | Path] = ["bulk", folder, home / "job"]
    print(_row("bulk", _run(job, lambda: any(parts.glob("*"))), count), flush=True)
    extract: list[str | Path] = ["extract", folder, "--output", lines]
    print(_row("extract", _run(extract, lambda: lines.exists() and lines.stat().st_size > 0), count), flush=True)


def _plan(folder: Path) -> None:
    command = [sys.executable, "-c", PLAN, str(KEYS), str(folder)]
    files, seconds, mebibytes = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    print(f"{int(files):,} keys planned in {float(seconds):.1f} processor seconds, {mebibytes} MiB at most")


def _files(folder: Path, texts: int, pdfs: int) -> Path:
    folder.mkdir()
    draw = Random(SEED)
    for number in range(texts):
        (folder / f"{number:06}.txt").write_text(paragraph(WORDS, draw))
    for number in range(pdfs):
        (folder / f"{number:06}.pdf").write_bytes(make_pdf(paragraph(WORDS, draw)))
    return folder


def _run(arguments: list[str | Path], has_output: Callable[[], bool]) -> _Usage:
    usage, begun = _Usage(), time.monotonic()
    command = [sys.executable, "-m", "service.cli", *map(str, arguments)]
    with subprocess.Popen(command, env=clean_environment(), stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            time.sleep(POLL_SECONDS)
            now = time.monotonic() - begun
            if not usage.first_seconds and has_output():
                usage.first_seconds = now
            memory = Counter[str]()
            for kind, identity, seconds, mebibytes in _looked_at(process.pid):
                memory[kind] += mebibytes
                usage.processor_seconds[kind, identity] = seconds
            if memory:
                usage.mebibytes.append(memory)
    assert process.returncode == 0, f"{command} ended with {process.returncode}"
    usage.wall_seconds = time.monotonic() - begun
    return usage


def _looked_at(root: int) -> Iterator[tuple[str, int, float, int]]:
    """Kind, id, processor seconds and MiB of a command's processes."""
    for process in process_tree(root):
        with suppress(psutil.Error):
            words = process.cmdline()  # Nothing, of one that has ended.
            kind = ENGINE if "service.engine" in words else COMMAND if process.pid == root else PARSERS
            times = process.cpu_times()
            if words:
                yield kind, process.pid, times.user + times.system, process.memory_info().rss >> 20


def _row(name: str, usage: _Usage, files: int) -> str:
    seconds = " | ".join(f"{usage.seconds_of(kind):.1f}" for kind in (ENGINE, COMMAND, PARSERS))
    memory = " | ".join(f"{usage.memory(kind, 0.25)}, {usage.memory(kind, 0.95)}" for kind in (COMMAND, ENGINE))
    rate = files / usage.wall_seconds
    return f"| `gleaner {name}` | {rate:.1f} | {usage.first_seconds:.1f} | {seconds} | {memory} |"


if __name__ == "__main__":
    with TemporaryDirectory(prefix="gleaner-bulk-bench-") as folder:
        measure(Path(folder), *map(int, sys.argv[1:]))
