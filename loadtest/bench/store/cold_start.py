"""Cold start: from process start to ready, with an empty, a half-full and a full local store, from an S3 server.

The lower bound, as long as a model is loaded as a whole, is max(fetch, import) + load.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import httpx

from loadtest.bench.fixtures import run_module, service
from loadtest.bench.store.bucket import REMOTE, bucket_server, upload
from loadtest.s3.server import S3Server

SHARDS = {"bert-base": 8, "bert-large": 16}
PARTS = ("fetch", "import", "load", "warm-up", "measure")


def measure(home: Path) -> None:
    """Print seconds by part."""
    print("\n## From start to ready by what the store has, seconds\n")
    print("| model | store | ready after | " + " | ".join(PARTS) + " | bound | over it |")
    print("|---|---|---|" + "---|" * (len(PARTS) + 2))
    with bucket_server(home) as server:
        for shape, shards in SHARDS.items():
            folder = home / f"{shape}-sharded"
            run_module("loadtest.bench.random_models", shape, str(folder), "--shards", str(shards))
            upload(server, folder, shape, home / "full")
            shutil.rmtree(folder)
            for state, fill in (("empty", _empty), ("half full", _half), ("full", _full)):
                print(_row(shape, state, fill(home), server, home), flush=True)
            shutil.rmtree(home / "full")


def _row(shape: str, state: str, store: Path, server: S3Server, home: Path) -> str:
    settings = {"MODELS": shape, "MODEL_STORE": store, "MODEL_REMOTE": REMOTE}
    with service(home, None, server.environment(), **settings) as running:
        ready = running.start_seconds
        parts: dict[str, float] = httpx.get(running.url + "/models", timeout=10.0).json()["start_seconds"]
    seconds = {part: parts.get(part, 0.0) for part in PARTS}
    bound = max(seconds["fetch"], seconds["import"]) + seconds["load"]
    cells = (f"{value:.2f}" for value in (ready, *seconds.values(), bound, ready - bound))
    return f"| {shape} | {state} | " + " | ".join(cells) + " |"


def _empty(home: Path) -> Path:
    store = home / "cold"
    shutil.rmtree(store, ignore_errors=True)
    return store


def _half(home: Path) -> Path:
    """A store with every second blob, as after an interrupted pull."""
    store = _empty(home)
    folder = store / "blobs" / "sha256"
    folder.mkdir(parents=True)
    blobs = sorted((home / "full" / "blobs" / "sha256").iterdir(), key=lambda path: path.stat().st_size)
    for blob in blobs[::2]:
        shutil.copy2(blob, folder / blob.name)
    return store


def _full(home: Path) -> Path:
    store = _empty(home)
    shutil.copytree(home / "full", store)
    return store
