"""Pulls of a BERT-large of 16 shards that are killed at random moments, and a last one that runs to its end."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

from loadtest.bench.store.bucket import folder_bytes, published_model
from loadtest.bench.store.faults import pull, require_verified
from loadtest.s3.fault_proxy import FaultProxy, fault_proxy

KILLS = 20


def measure(home: Path) -> None:
    """Print the bytes that twenty kills cost; each comes after a random number of bytes since the one before."""
    with published_model(home) as (server, folder), fault_proxy(server.port) as proxy:
        size_bytes, store, chance, killed = folder_bytes(folder), home / "killed-store", random.Random(0), 0
        for _ in range(KILLS):
            kill_at_bytes = proxy.sent_bytes + chance.uniform(0.0, 1.5 * size_bytes / KILLS)
            ran = pull(store, server, proxy, kill_when=partial(_has_sent, proxy, kill_at_bytes))
            killed += ran.exit_code < 0
            require_verified(store, whole=False, size_bytes=size_bytes)
        before_bytes = proxy.sent_bytes
        last = pull(store, server, proxy)
        assert last.exit_code == 0, last.output
        require_verified(store, whole=True, size_bytes=size_bytes)
    again_bytes = proxy.sent_bytes - size_bytes
    print(f"\n## kill -9 at {KILLS} random moments of a pull of {size_bytes / 1e9:.2f} GB\n")
    print("| killed on the way | sent before | sent by the pull that ended | sent twice | for each kill |")
    print("|---|---|---|---|---|")
    figures = (before_bytes, proxy.sent_bytes - before_bytes, again_bytes, again_bytes / max(1, killed))
    print(f"| {killed} | " + " | ".join(f"{figure / 1e6:.1f} MB" for figure in figures) + " |", flush=True)


def _has_sent(proxy: FaultProxy, limit_bytes: float) -> bool:
    return proxy.sent_bytes > limit_bytes
