"""Store benchmark: speed and CPU seconds of a pull, against boto3's transfer manager and `aws s3 sync`.

The same server and objects for all, in alternation, with another contender first in each round; each is a process of
its own, measured from its start to its end. Ours also verifies every byte, syncs it to the disk and builds the model's
folder; the others only write files.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import boto3
from s3transfer.manager import TransferManager

from loadtest.bench.random_models import make_shards
from loadtest.s3.server import BUCKET, REMOTE, S3Server, bucket_server
from loadtest.service_process import clean_environment

ROUNDS = 6
AWSCLI = "awscli==1.46.3"
Fetch = Callable[[Path], list[str]]


def measure(home: Path) -> None:
    """Print one line for each contender."""
    aws = _install_aws(home / "aws")
    contenders: dict[str, Fetch] = {
        "gleaner models pull": lambda to: gleaner("pull", NAME, "--store", to, "--remote", REMOTE),
        "boto3's transfer manager": lambda to: [
            *(sys.executable, "-m", "loadtest.bench.store"),
            *(BUCKET, "store/blobs/", str(to)),
        ],
        "aws s3 sync": lambda to: [str(aws), "s3", "sync", "--quiet", f"s3://{BUCKET}/store/blobs/", str(to)],
    }
    with published_model(home) as (server, folder):
        size_bytes = folder_bytes(folder)
        runs: dict[str, list[CommandRun]] = {name: [] for name in contenders}
        for turn in range(ROUNDS):
            for name, fetch in _from(turn, list(contenders.items())):
                target = home / "fetched"
                ran = run(fetch(target), server.environment())
                assert ran.exit_code == 0, f"{name}: {ran.output}"
                assert folder_bytes(target) >= size_bytes, f"{name} fetched too little"
                shutil.rmtree(target)
                runs[name].append(ran)
        _print(runs, size_bytes)


def _from(first: int, contenders: list[tuple[str, Fetch]]) -> list[tuple[str, Fetch]]:
    """The contenders rotated, so that this one is first."""
    first %= len(contenders)
    return contenders[first:] + contenders[:first]


def _print(runs: dict[str, list[CommandRun]], size_bytes: int) -> None:
    print(f"\n## Pulling {size_bytes / 1e9:.2f} GB in 16 shards from S3 on loopback (median of {ROUNDS} rounds)\n")
    print("| what | MB/s | in each round | CPU seconds per GB |\n|---|---|---|---|")
    for name, own in runs.items():
        rates = [size_bytes / 1e6 / ran.seconds for ran in own]
        cpu = statistics.median(ran.cpu_seconds for ran in own) / (size_bytes / 1e9)
        each = ", ".join(f"{rate:.0f}" for rate in rates)
        print(f"| {name} | {statistics.median(rates):.0f} | {each} | {cpu:.2f} |", flush=True)


def _install_aws(folder: Path) -> Path:
    """Install AWS's command line into a virtual environment of its own, for this run only."""
    program = folder / "bin" / "aws"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        subprocess.run([*pip, AWSCLI], check=True)
    return program


NAME = "large"


@dataclass(frozen=True, slots=True)
class CommandRun:
    """One finished command."""

    exit_code: int
    seconds: float
    cpu_seconds: float
    output: str


@contextmanager
def published_model(home: Path) -> Iterator[tuple[S3Server, Path]]:
    """A server with the model in its bucket under the name `large`, and the model's folder."""
    folder = home / "shards"
    if not folder.exists():
        make_shards(folder)
    with bucket_server(home) as server:
        upload(server, folder, NAME, home / "publisher")
        yield server, folder


def upload(server: S3Server, folder: Path, name: str, store: Path) -> None:
    """Publish a model folder into the bucket, through a local store."""
    command = gleaner("publish", folder, name, "--store", store, "--remote", REMOTE)
    published = run(command, server.environment())
    assert published.exit_code == 0, published.output


def gleaner(*arguments: object) -> list[str]:
    """The command line of a `gleaner models` command."""
    return [sys.executable, "-m", "service.cli", "models", *map(str, arguments)]


def run(command: Sequence[str], environment: Mapping[str, str]) -> CommandRun:
    """Run a command and measure it."""
    with tempfile.TemporaryFile("w+") as output:
        began = time.monotonic()
        everything = {**clean_environment(), **environment}
        process = subprocess.Popen(command, env=everything, stdout=output, stderr=subprocess.STDOUT)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            raise
        seconds = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        return CommandRun(process.returncode, seconds, usage.ru_utime + usage.ru_stime, output.read())


def folder_bytes(folder: Path) -> int:
    """The size of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def boto3_download(bucket: str, prefix: str, folder: Path) -> None:
    """Download every object below the prefix into a folder, all by one transfer manager with its defaults."""
    client = boto3.client("s3")
    found = client.list_objects_v2(Bucket=bucket, Prefix=prefix)["Contents"]
    with TransferManager(client) as manager:
        futures = [manager.download(bucket, item["Key"], str(folder / Path(item["Key"]).name)) for item in found]
        for future in futures:
            future.result()


if __name__ == "__main__":
    Path(sys.argv[3]).mkdir(parents=True)
    boto3_download(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
