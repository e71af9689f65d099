"""Bulk jobs on one machine: interactive work beside them, a plan of many keys, their rate beside the engine's own.

`python -m loadtest.bench.bulk TEXTS PDFS` takes other numbers of files than `make bench ONLY=bulk`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import httpx
import psutil

from loadtest.bench.fixtures import run_tool, service
from loadtest.scenario.document_files import make_pdf
from loadtest.scenario.workload import paragraph
from loadtest.service_process import KeptPort, clean_environment, process_tree

TEXTS, PDFS, WORDS, SEED = 20_000, 500, 60, 7
KEYS = 100_000
ENGINE_TEXTS = 2_000
"""Texts by which the engine's own rate is taken."""
POLL_SECONDS = 0.25
ENGINE, COMMAND, PARSERS = "engine", "command", "parsers"

TEXTS_A_SECOND, PHASE_SECONDS, WARM_SECONDS = 5, 40, 5
"""Interactive texts a second, seconds in which they are measured, and seconds of the same load before."""
OBJECTS = 4_000
"""Texts in S3: more than a fleet's process answers in a phase."""
NICENESS = 10
"""Niceness of the server that stands for AWS, whose work is none of the service's."""
START_SECONDS = 60.0
DOCUMENTS = 'gleaner_documents_total{outcome="ok"}'
STAGES = ("parse", "tokenize", "queue", "compute", "decode")
CLOUD = """
import sys
from pathlib import Path
import boto3
s3, sqs = boto3.client("s3"), boto3.client("sqs")
for bucket in ("texts", "answers"):
    s3.create_bucket(Bucket=bucket)
for path in sorted(Path(sys.argv[1]).glob("*.txt"))[: int(sys.argv[2])]:
    s3.put_object(Bucket="texts", Key=path.name, Body=path.read_bytes())
print(sqs.create_queue(QueueName="bulk", Attributes={"VisibilityTimeout": "60"})["QueueUrl"])
print(sqs.create_queue(QueueName="planned")["QueueUrl"])
"""
PLAN = """
import resource, sys, time
from service.bulk import dispatch, job
from service.bulk.fleet_job import FleetJob
from service.bulk.job import FleetTerms, JobRecord
from service.bulk.s3 import S3Storage, place_of
from service.core.bulk import BulkJob, Item
class Keys:
    names = ("keys",)
    def items(self):
        return (Item(f"2026/contracts/file-{n:08}.pdf", f"{n:032}", 20_000) for n in range(int(sys.argv[1])))
output = "s3://answers/planned"
job.begin(S3Storage(place_of(output)), JobRecord(BulkJob("m", {}), None, Keys.names, FleetTerms(sys.argv[2])))
begun = time.monotonic()
sent = dispatch.start(FleetJob(output), Keys())
print(sent.files, sent.sent, time.monotonic() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def measure(home: Path, texts: int = TEXTS, pdfs: int = PDFS) -> None:
    print("\n## Bulk jobs\n", flush=True)
    folder = _files(home / "files", texts, pdfs)
    with _cloud(folder) as (variables, queue, planned):
        _measure_beside(home, folder, variables, queue)
        _plan(variables, planned)
    _measure_rate(home, folder, texts, pdfs)


def _files(folder: Path, texts: int, pdfs: int) -> Path:
    folder.mkdir()
    draw = Random(SEED)
    for number in range(texts):
        (folder / f"{number:06}.txt").write_text(paragraph(WORDS, draw))
    for number in range(pdfs):
        (folder / f"{number:06}.pdf").write_bytes(make_pdf(paragraph(WORDS, draw)))
    return folder


# Interactive work beside a bulk job


def _measure_beside(home: Path, folder: Path, variables: Mapping[str, str], queue: str) -> None:
    """Print how long small interactive texts take alone and beside two kinds of bulk work."""
    print(f"{TEXTS_A_SECOND} interactive texts of {WORDS} words a second, for {PHASE_SECONDS} s each; ms\n")
    print(f"| beside | p50 | p99 | medians: {' | '.join(STAGES)} | bulk files/s |")
    print(f"|{'---|' * (4 + len(STAGES))}", flush=True)
    with service(home, variables, BULK_QUEUE=queue) as running:
        start = ("bulk", "start", "s3://texts/", "s3://answers/beside", "--queue", queue, "--url", running.url)
        loads: dict[str, AbstractContextManager[object]] = {
            "nothing": nullcontext(),
            "`gleaner bulk --url`": _command("bulk", folder, home / "beside", "--url", running.url),
            "the fleet's bulk process": _command(*start, variables=variables),
        }
        for name, load in loads.items():
            with load:
                print(f"| {name} | {_measured(running.url, has_load=name != 'nothing')} |", flush=True)


@contextmanager
def _command(*arguments: str | Path, variables: Mapping[str, str] | None = None) -> Iterator[None]:
    """Run a command of `gleaner` until the context ends."""
    command = [sys.executable, "-m", "service.cli", *map(str, arguments)]
    environment, nothing = {**clean_environment(), **(variables or {})}, subprocess.DEVNULL
    with subprocess.Popen(command, env=environment, stdout=nothing, stderr=nothing) as process:
        try:
            yield
        finally:
            process.send_signal(signal.SIGINT)


def _measured(url: str, *, has_load: bool) -> str:
    """Cells of a phase, which begins once the service answers bulk files, if there are any."""
    end, begun = time.monotonic() + START_SECONDS, _answered(url)
    while has_load and _answered(url) < begun + 100:
        assert time.monotonic() < end, "no bulk work is done"
        time.sleep(POLL_SECONDS)
    asyncio.run(_ask(url, WARM_SECONDS))
    before, begun_seconds = _answered(url), time.monotonic()
    answers = asyncio.run(_ask(url, PHASE_SECONDS))
    bulk = (_answered(url) - before - len(answers)) / (time.monotonic() - begun_seconds)
    milliseconds = sorted(each for each, _ in answers)
    stages = [statistics.median(timing[f"{stage}_ms"] for _, timing in answers) for stage in STAGES]
    p50, p99 = milliseconds[len(answers) // 2], milliseconds[int(0.99 * (len(answers) - 1))]
    return " | ".join(f"{each:.1f}" for each in (p50, p99, *stages, bulk))


async def _ask(url: str, seconds: int) -> list[tuple[float, dict[str, float]]]:
    """Ask for texts at an even pace, however long answers take; milliseconds and `timing` of each."""
    draw, begun = Random(SEED + 1), time.monotonic()
    async with httpx.AsyncClient(base_url=url, timeout=60.0) as client:

        async def ask(text: str) -> tuple[float, dict[str, float]]:
            sent = time.monotonic()
            answer = (await client.post("/extract", json={"text": text})).raise_for_status()
            return (time.monotonic() - sent) * 1000, answer.json()["timing"]

        tasks = []
        for number in range(seconds * TEXTS_A_SECOND):
            await asyncio.sleep(begun + number / TEXTS_A_SECOND - time.monotonic())
            tasks.append(asyncio.create_task(ask(paragraph(WORDS, draw))))
        return await asyncio.gather(*tasks)


def _answered(url: str) -> float:
    """Documents that the service has answered."""
    lines = httpx.get(f"{url}/metrics", timeout=30.0).text.splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(DOCUMENTS))


@contextmanager
def _cloud(folder: Path) -> Iterator[tuple[dict[str, str], str, str]]:
    """A server of S3 and SQS, with texts in it: AWS's variables for it, and the URLs of two queues."""
    port = KeptPort()
    address = f"http://127.0.0.1:{port.number}"
    variables = {
        "AWS_ENDPOINT_URL": address,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    command = ["nice", "-n", str(NICENESS), sys.executable, "-m", "moto.server", "-p", str(port.number)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            while not _is_there(address):
                assert server.poll() is None, "moto does not start"
                time.sleep(POLL_SECONDS)
            queue, planned = _script(CLOUD, folder, OBJECTS, variables=variables)
            yield variables, queue, planned
        finally:
            server.kill()


def _is_there(address: str) -> bool:
    with suppress(httpx.TransportError):
        httpx.get(address)
        return True
    return False


def _script(code: str, *arguments: object, variables: Mapping[str, str]) -> list[str]:
    """The words that a script prints."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    environment = {**os.environ, **variables}
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout.split()


def _plan(variables: Mapping[str, str], queue: str) -> None:
    files, sent, seconds, mebibytes = _script(PLAN, KEYS, queue, variables=variables)
    print(
        f"\n{int(files):,} keys planned into S3 and sent to SQS in {int(sent):,} messages, without listing them, "
        f"servers on this machine: {float(seconds):.1f} s, {mebibytes} MiB at most",
        flush=True,
    )


# A bulk job's rate


@dataclass(slots=True)
class _Usage:
    """Time and memory of a command.

    Attributes:
        first_seconds: until its first output was there.
        processor_seconds: by kind and process; `before_first`: by kind, until its first output.
        mebibytes: resident memory of its command and engine at each look.
    """

    wall_seconds: float = 0.0
    first_seconds: float = 0.0
    before_first: dict[str, float] = field(default_factory=dict)
    processor_seconds: dict[tuple[str, int], float] = field(default_factory=dict)
    mebibytes: list[Counter[str]] = field(default_factory=list)

    def seconds(self) -> dict[str, float]:
        """Processor seconds so far, by kind."""
        kinds = (ENGINE, COMMAND, PARSERS)
        return {kind: sum(s for (each, _), s in self.processor_seconds.items() if each == kind) for kind in kinds}

    def memory(self, kind: str, share: float) -> int:
        """MiB at a share of the time."""
        return self.mebibytes[int((len(self.mebibytes) - 1) * share)][kind]


def _measure_rate(home: Path, folder: Path, texts: int, pdfs: int) -> None:
    """Print a job's files a second beside those of the engine alone, which computes and does nothing else."""
    own = home / "engine"
    own.mkdir()
    for path in sorted(folder.glob("*.txt"))[:ENGINE_TEXTS]:
        (own / path.name).symlink_to(path)
    module = "service.engine.tools.engine_benchmark"
    engine: float = run_tool(home, module, "documents", "0", str(own))["texts_per_second"]
    parts = home / "job" / "parts"
    usage = _run(["bulk", folder, home / "job"], lambda: any(parts.glob("*")))
    rate = (texts + pdfs) / (usage.wall_seconds - usage.first_seconds)
    spent = {k: 1000 * (s - usage.before_first[k]) / (texts + pdfs) for k, s in usage.seconds().items()}
    each = ", ".join(f"{kind} {milliseconds:.2f}" for kind, milliseconds in spent.items())
    memory = ", ".join(f"{kind} {usage.memory(kind, 0.25)}, {usage.memory(kind, 0.95)}" for kind in (COMMAND, ENGINE))
    rows = {
        f"the engine alone, {ENGINE_TEXTS:,} of the texts tokenized before, files/s": f"{engine:.1f}",
        "`gleaner bulk`, from its first part on, files/s": f"{rate:.1f}, {rate / engine:.0%} of the engine's",
        "processor ms a file": f"{each}; {spent[ENGINE] / sum(spent.values()):.0%} are the engine's",
        "first part, s": f"{usage.first_seconds:.1f}",
        "MiB at a quarter and at the end": memory,
    }
    print(f"\n| {texts:,} texts of {WORDS} words, {pdfs:,} PDFs | |\n|---|---|")
    print("\n".join(f"| {name} | {cell} |" for name, cell in rows.items()), flush=True)


def _run(arguments: list[str | Path], has_output: Callable[[], bool]) -> _Usage:
    usage, begun = _Usage(), time.monotonic()
    command = [sys.executable, "-m", "service.cli", *map(str, arguments)]
    with subprocess.Popen(command, env=clean_environment(), stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            time.sleep(POLL_SECONDS)
            memory = Counter[str]()
            for kind, identity, seconds, mebibytes in _processes(process.pid):
                memory[kind] += mebibytes
                usage.processor_seconds[kind, identity] = seconds
            if memory:
                usage.mebibytes.append(memory)
            if not usage.first_seconds and has_output():
                usage.first_seconds, usage.before_first = time.monotonic() - begun, usage.seconds()
    assert process.returncode == 0, f"{command} ended with {process.returncode}"
    usage.wall_seconds = time.monotonic() - begun
    return usage


def _processes(root: int) -> Iterator[tuple[str, int, float, int]]:
    """Kind, id, processor seconds and MiB of a command's processes."""
    for process in process_tree(root):
        with suppress(psutil.Error):
            words = process.cmdline()  # Nothing, of one that has ended.
            kind = ENGINE if "service.engine" in words else COMMAND if process.pid == root else PARSERS
            times = process.cpu_times()
            if words:
                yield kind, process.pid, times.user + times.system, process.memory_info().rss >> 20


if __name__ == "__main__":
    with TemporaryDirectory(prefix="gleaner-bulk-bench-") as folder:
        measure(Path(folder), *map(int, sys.argv[1:]))
