"""A bucket with a sharded model, on a real S3 server, and the commands that the store's benchmarks run and measure."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from loadtest.bench.random_models import make_shards
from loadtest.s3.server import S3Server, s3_server
from loadtest.service_process.service import clean_environment

BUCKET = "models"
REMOTE = f"s3://{BUCKET}/store?addressing=path"
NAME = "large"
POLL_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class CommandRun:
    """One finished command; `exit_code` is negative if it was killed."""

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


@contextmanager
def bucket_server(home: Path) -> Iterator[S3Server]:
    """A server with an empty bucket."""
    with s3_server(home / f"s3-{time.monotonic_ns()}", proxy_workers=2) as server:
        make_bucket(server)
        yield server


def upload(server: S3Server, folder: Path, name: str, store: Path) -> None:
    """Publish a model folder into the bucket, through a local store."""
    command = gleaner("publish", folder, name, "--store", store, "--remote", REMOTE)
    published = run(command, server.environment())
    assert published.exit_code == 0, published.output


def make_bucket(server: S3Server) -> None:
    """Create the bucket, which the store expects to exist."""
    code = f"import boto3; boto3.client('s3').create_bucket(Bucket={BUCKET!r})"
    made = run([sys.executable, "-c", code], server.environment())
    assert made.exit_code == 0, made.output


def gleaner(*arguments: object) -> list[str]:
    """The command line of a `gleaner models` command."""
    return [sys.executable, "-m", "service.cli", "models", *map(str, arguments)]


def run(
    command: Sequence[str], environment: Mapping[str, str], kill_when: Callable[[], bool] = lambda: False
) -> CommandRun:
    """Run a command and measure it; it is killed with SIGKILL as soon as `kill_when()` is true."""
    with tempfile.TemporaryFile("w+") as output:
        began = time.monotonic()
        process = subprocess.Popen(
            command,
            env={**clean_environment(), **environment},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        ended = threading.Event()
        killer = threading.Thread(target=_kill_when, args=(process.pid, kill_when, ended))
        killer.start()
        try:
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        finally:
            ended.set()
            killer.join()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        return CommandRun(process.returncode, seconds, usage.ru_utime + usage.ru_stime, output.read())


def _kill_when(pid: int, condition: Callable[[], bool], ended: threading.Event) -> None:
    while not ended.wait(POLL_SECONDS):
        if condition():
            os.killpg(pid, signal.SIGKILL)
            return


def folder_bytes(folder: Path) -> int:
    """The size of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
