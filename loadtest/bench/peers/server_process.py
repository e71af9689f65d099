"""The peers' servers as processes: started in an environment of their own, waited for, and ended with all they started.

They are installed apart from the service (`.venv/peers`), so that what they need can never change what users get.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from loadtest.bench.fixtures import START_SECONDS, free_port, quiet
from loadtest.bench.peers.setups import Setup
from loadtest.telemetry.process_usage import descendants

SERVERS = {"LitServe": "litserve_server", "mosec": "mosec_server", "Ray Serve": "ray_server"}
"""A name for the table, and the module in `servers/`."""
ROOT = Path(__file__).parents[3]
PYTHON = Path(sys.prefix) / "peers" / "bin" / "python"
WAIT_SECONDS = 0.01
"""How long a server holds an incomplete batch open: the default of Ray Serve and of mosec; LitServe has none."""
STOP_SECONDS = 20.0
ENVIRONMENT = {"GOMP_SPINCOUNT": "5000", "RAY_USAGE_STATS_ENABLED": "0"}
"""Threads spin as briefly as our own: with OpenMP's default they starve the server's other processes (DECISIONS.md)."""
PROBE = {"text": "bakedi ladore nisoti."}


@contextmanager
def peer_server(name: str, folder: Path, setup: Setup, log: Path) -> Iterator[str]:
    """A peer's server that answers POST /extract; yields its URL."""
    if not PYTHON.exists():
        raise SystemExit(f"the peers are not installed in {PYTHON.parents[1]}; `make bench-peers` does it")
    port = free_port()
    numbers = {"port": port, "workers": setup.workers, "threads": setup.threads, "batch-size": setup.batch_size}
    options = [part for option, number in numbers.items() for part in (f"--{option}", str(number))]
    module = f"loadtest.bench.peers.servers.{SERVERS[name]}"
    command = [str(PYTHON), "-m", module, str(folder), *options, "--wait-seconds", str(WAIT_SECONDS)]
    with running(command, f"http://127.0.0.1:{port}", log) as url:
        yield url


@contextmanager
def running(command: list[str], url: str, log: Path) -> Iterator[str]:
    """A server that this command starts; yields its URL once it answers. Nothing of it is left at the end."""
    environment = {**ENVIRONMENT, **quiet(), "PYTHONPATH": str(ROOT)}
    with log.open("ab") as sink:
        process = subprocess.Popen(
            command, env=environment, stdout=sink, stderr=sink, start_new_session=True, cwd=log.parent
        )
    try:
        _wait_until_it_answers(url, process, log)
        yield url
    finally:
        _end(process)


def _wait_until_it_answers(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise SystemExit(f"a peer's server ended:\n{log.read_text()[-2000:]}")
        with contextlib.suppress(httpx.HTTPError):
            if httpx.post(url + "/extract", json=PROBE, timeout=60.0).status_code == 200:
                return
        time.sleep(0.1)
    raise SystemExit(f"a peer's server did not answer within {START_SECONDS:.0f} s:\n{log.read_text()[-2000:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM; then whatever is left of its tree and of its process group, at once."""
    tree = descendants(process.pid)
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(STOP_SECONDS)
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    for each in tree:
        with contextlib.suppress(OSError):
            if os.getsid(each) == process.pid:
                os.kill(each, signal.SIGKILL)
    process.wait()
