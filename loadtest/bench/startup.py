"""Startup time: seconds from process start to ready, by part, and by what the local store has.

The cold start fetches from an S3 server into an empty, a half-full and a full local store. Its lower bound, as long as
a model is loaded as a whole, is max(fetch, import) + load.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import httpx

from loadtest.bench.fixtures import published, run_module, service
from loadtest.s3.server import REMOTE, S3Server, bucket_server
from loadtest.service_process import clean_environment

ROUNDS = 3
PARTS = ("fetch", "import", "load", "warm-up", "measure", "prove")


def measure(home: Path) -> None:
    """Print seconds for the built-in model and two random ones."""
    print("\n## From start to ready, seconds (median of 3 starts)\n")
    print("| model | ready after | " + " | ".join(PARTS) + " |")
    print("|---|---|" + "---|" * len(PARTS))
    for model in ("documents", "six-layer", "bert-base"):
        if model != "documents":
            published(home, model)
        starts = [_start(model, home) for _ in range(ROUNDS)]
        middle = {name: statistics.median(each[name] for each in starts) for name in ("ready", *PARTS)}
        print(f"| {model} | " + " | ".join(f"{seconds:.2f}" for seconds in middle.values()) + " |", flush=True)


def _start(model: str, home: Path) -> dict[str, float]:
    with service(home, MODELS=model) as running:
        ready = running.start_seconds
        parts: dict[str, float] = httpx.get(running.url + "/models", timeout=10.0).json()["start_seconds"]
    return {"ready": ready, **{part: parts.get(part, 0.0) for part in PARTS}}


SHARDS = {"bert-base": 8, "bert-large": 16}
COLD_PARTS = ("fetch", "import", "load", "warm-up", "measure")


def measure_cold(home: Path) -> None:
    """Print seconds by part, model and state of the local store."""
    print("\n## From start to ready by what the store has, seconds\n")
    print("| model | store | ready after | " + " | ".join(COLD_PARTS) + " | bound | over it |")
    print("|---|---|---|" + "---|" * (len(COLD_PARTS) + 2))
    with bucket_server(home) as server:
        for shape, shards in SHARDS.items():
            folder = home / f"{shape}-sharded"
            run_module("loadtest.bench.random_models", shape, str(folder), "--shards", str(shards))
            _upload(server, folder, shape, home / "full")
            shutil.rmtree(folder)
            for state, fill in (("empty", _empty), ("half full", _half), ("full", _full)):
                print(_cold_row(shape, state, fill(home), server, home), flush=True)
            shutil.rmtree(home / "full")


def _upload(server: S3Server, folder: Path, name: str, store: Path) -> None:
    """Publish a model folder into the bucket, through a local store."""
    command = [sys.executable, "-m", "service.cli", "models", "publish", str(folder), name]
    command += ["--store", str(store), "--remote", REMOTE]
    environment = {**clean_environment(), **server.environment()}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)


def _cold_row(shape: str, state: str, store: Path, server: S3Server, home: Path) -> str:
    settings = {"MODELS": shape, "MODEL_STORE": store, "MODEL_REMOTE": REMOTE}
    with service(home, server.environment(), **settings) as running:
        ready = running.start_seconds
        parts: dict[str, float] = httpx.get(running.url + "/models", timeout=10.0).json()["start_seconds"]
    seconds = {part: parts.get(part, 0.0) for part in COLD_PARTS}
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
