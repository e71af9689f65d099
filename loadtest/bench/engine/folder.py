"""A folder of documents posted all at once, while another client keeps posting one short text.

It shows that each file gets a result or a typed error, how long that takes, and that others are served meanwhile.
"""

from __future__ import annotations

import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from loadtest.bench.fixtures import service

PROBE = "Invoice INV-20931 from Acme GmbH, due 12 March 2026, total EUR 1,200.00."


def measure(home: Path, documents: Path) -> None:
    """Print one row for each file of `documents`, then the latency of the short texts meanwhile."""
    files = sorted(path for path in documents.iterdir() if path.is_file())
    print(f"\n## Every file of {documents.name}/, all posted at once\n")
    print("| file | bytes | answer | pages | characters | tokens | windows | entities | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    with service(home) as running:
        url, over = running.url, threading.Event()
        with ThreadPoolExecutor(len(files) + 1) as clients:
            probes = clients.submit(_probe, url, over)
            for row in clients.map(lambda path: _row(url, path), files):
                print(row, flush=True)
            over.set()
        seconds = sorted(probes.result())
    print(f"\nMeanwhile {len(seconds)} short texts, one at a time: p50 {statistics.median(seconds) * 1000:.0f} ms, "
          f"slowest {seconds[-1] * 1000:.0f} ms, none failed.")  # fmt: skip


def _row(url: str, path: Path) -> str:
    data = path.read_bytes()
    began = time.monotonic()
    answer = httpx.post(url + "/extract", files={"file": (path.name, data)}, timeout=600.0)
    seconds = time.monotonic() - began
    body = answer.json()
    facts = _facts(body["documents"][0]) if answer.is_success else f"{body['code']}" + " |" * 5
    return f"| {path.name} | {len(data)} | {answer.status_code} {facts} | {seconds:.1f} |"


def _facts(document: dict[str, Any]) -> str:
    names = ("pages", "characters", "tokens", "windows")
    return "ok | " + " | ".join(str(document[name] or "") for name in names) + f" | {len(document['entities'])}"


def _probe(url: str, over: threading.Event) -> list[float]:
    taken = []
    with httpx.Client(base_url=url, timeout=120.0) as client:
        while not over.is_set():
            began = time.monotonic()
            client.post("/extract", json={"text": PROBE}).raise_for_status()
            taken.append(time.monotonic() - began)
    return taken
