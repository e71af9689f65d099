"""Pulls of a BERT-large of 16 shards through a fault proxy."""

from __future__ import annotations

import hashlib
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

from loadtest.bench.store.bucket import NAME, REMOTE, CommandRun, folder_bytes, gleaner, published_model, run
from loadtest.s3.fault_proxy import FaultProxy, fault_proxy
from loadtest.s3.faults import ErrorResponse, Fault, Flip, ProxiedRequest, Reset, Stall, Truncate
from loadtest.s3.server import S3Server

MEGABYTE = 2**20
NOW_AND_THEN: dict[str, Fault] = {
    "truncated after 5 MB": Truncate(5 * MEGABYTE),
    "reset after 5 MB": Reset(5 * MEGABYTE),
    "silent after 5 MB": Stall(5 * MEGABYTE, 60.0),
    "500": ErrorResponse(500),
    "503": ErrorResponse(503),
    "416": ErrorResponse(416),
}
ALWAYS: dict[str, Fault] = {"403": ErrorResponse(403), "a flipped byte in every answer": Flip(1)}


def measure(home: Path) -> None:
    """Print a row for each fault: outcome, time, and bytes sent."""
    with published_model(home) as (server, folder), fault_proxy(server.port) as proxy:
        size_bytes = folder_bytes(folder)
        print(f"\n## {size_bytes / 1e9:.2f} GB in 16 shards through a proxy that breaks things\n")
        print("| fault | how often | outcome | seconds | bytes sent ÷ size |\n|---|---|---|---|---|")
        for name, fault in NOW_AND_THEN.items():
            _try(home, server, proxy, (name, "1 of 9 requests", on_blobs(9, fault)), size_bytes)
        _try(home, server, proxy, ("a flipped byte", "once", on_blobs(50, Flip(MEGABYTE), times=1)), size_bytes)
        for name, fault in ALWAYS.items():
            _try(home, server, proxy, (name, "always", on_blobs(1, fault)), size_bytes)


def on_blobs(every: int, fault: Fault, times: int = 10**9) -> Callable[[ProxiedRequest], Fault | None]:
    """Give this fault to every `every`-th request for a blob's bytes, at most `times` times."""
    lock, seen = threading.Lock(), [0]

    def choose(request: ProxiedRequest) -> Fault | None:
        if request.method != "GET" or "/blobs/" not in request.path:
            return None
        with lock:
            seen[0] += 1
            return fault if seen[0] % every == 0 and seen[0] <= every * times else None

    return choose


def _try(
    home: Path,
    server: S3Server,
    proxy: FaultProxy,
    case: tuple[str, str, Callable[[ProxiedRequest], Fault | None]],
    size_bytes: int,
) -> None:
    name, how_often, proxy.choose = case
    proxy.reset_counts()
    store = home / "fault-store"
    ran = pull(store, server, proxy)
    outcome = "whole" if ran.exit_code == 0 else ran.output.strip().splitlines()[-1].replace("|", "\\|")
    require_verified(store, whole=ran.exit_code == 0, size_bytes=size_bytes)
    print(f"| {name} | {how_often} | {outcome} | {ran.seconds:.1f} | {proxy.sent_bytes / size_bytes:.3f} |", flush=True)
    shutil.rmtree(store)


def pull(store: Path, server: S3Server, proxy: FaultProxy, kill_when: Callable[[], bool] = lambda: False) -> CommandRun:
    """Pull the model through the proxy into this store."""
    command = gleaner("pull", NAME, "--store", store, "--remote", REMOTE)
    return run(command, server.environment(proxy.endpoint), kill_when=kill_when)


def require_verified(store: Path, *, whole: bool, size_bytes: int) -> None:
    """Assert that every blob has the digest of its name and, after a successful pull, that none is missing."""
    blobs = [*(store / "blobs" / "sha256").glob("*")]
    for path in blobs:
        with path.open("rb") as file:
            assert hashlib.file_digest(file, "sha256").hexdigest() == path.name, f"the digest of {path} is another"
    if whole:
        assert sum(path.stat().st_size for path in blobs) >= size_bytes
