"""Speed and CPU seconds of a pull, against boto3's transfer manager and `aws s3 sync`.

The same server and objects for all, in alternation, with another contender first in each round; each is a process of
its own, measured from its start to its end. Ours also verifies every byte, syncs it to the disk and builds the model's
folder; the others only write files.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from loadtest.bench.store.bucket import BUCKET, NAME, REMOTE, CommandRun, folder_bytes, gleaner, published_model, run

ROUNDS = 6
AWSCLI = "awscli==1.46.3"
Fetch = Callable[[Path], list[str]]


def measure(home: Path) -> None:
    """Print one line for each contender."""
    aws = _install_aws(home / "aws")
    contenders: dict[str, Fetch] = {
        "gleaner models pull": lambda to: gleaner("pull", NAME, "--store", to, "--remote", REMOTE),
        "boto3's transfer manager": lambda to: [
            *(sys.executable, "-m", "loadtest.bench.store.boto3_peer"),
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
