"""The peers' servers as processes: started, awaited, and ended together with all processes that they started.

They run in a virtual environment of their own (`.venv/peers`), so that their dependencies never change the service's.
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
import psutil

from loadtest.bench.peers.setups import Setup
from loadtest.service_process.ports import KeptPort
from loadtest.service_process.service import START_SECONDS, clean_environment
from loadtest.telemetry.process_usage import process_tree

SERVERS = {"LitServe": "litserve_server", "mosec": "mosec_server", "Ray Serve": "ray_server"}
"""The name in the tables, and the module in `servers/`."""
ROOT = Path(__file__).parents[3]
PYTHON = Path(sys.prefix) / "peers" / "bin" / "python"
WAIT_SECONDS = 0.01
"""How long a server waits for a batch to fill: the default of Ray Serve and of mosec; LitServe has none."""
STOP_SECONDS = 20.0
ENVIRONMENT = {"GOMP_SPINCOUNT": "5000", "RAY_USAGE_STATS_ENABLED": "0"}
"""OpenMP threads spin as briefly as in the service: by default they starve the server's other processes."""
PROBE = {"text": "bakedi ladore nisoti."}


@contextmanager
def peer_server(name: str, folder: Path, setup: Setup, log: Path) -> Iterator[str]:
    """Run a peer's server that answers POST /extract; yields its URL."""
    if not PYTHON.exists():
        raise SystemExit(f"the peers are not installed in {PYTHON.parents[1]}; `make bench-peers` does it")
    port = KeptPort()
    numbers = {"port": port.number, "workers": setup.workers, "threads": setup.threads, "batch-size": setup.batch_size}
    options = [part for option, number in numbers.items() for part in (f"--{option}", str(number))]
    module = f"loadtest.bench.peers.servers.{SERVERS[name]}"
    command = [str(PYTHON), "-m", module, str(folder), *options, "--wait-seconds", str(WAIT_SECONDS)]
    with running(command, f"http://127.0.0.1:{port.number}", log) as url:
        yield url


@contextmanager
def running(command: list[str], url: str, log: Path) -> Iterator[str]:
    """Run a server by its command; yields its URL once it answers. All its processes are gone at the end."""
    environment = {**ENVIRONMENT, **clean_environment(), "PYTHONPATH": str(ROOT)}
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
    """SIGTERM, then SIGKILL to every process of its tree and of its process group that is left."""
    tree = process_tree(process.pid)
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(STOP_SECONDS)
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    for each in tree:
        with contextlib.suppress(OSError, psutil.Error):
            if os.getsid(each.pid) == process.pid:
                each.kill()
    process.wait()
