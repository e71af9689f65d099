"""Documents per second over HTTP against transformers' pipeline: same weights, same documents, turn by turn.

The service runs as users get it (bfloat16 where the CPU is fast at it) and pays for HTTP, tokenizing and decoding; the
pipeline runs in float32, its default, at the batch size that is best for it, and pays for tokenizing and decoding.
"""

from __future__ import annotations

import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from loadtest.bench.models import published
from loadtest.bench.running import Peer, serve
from loadtest.bench.texts import texts

BATCH_SIZES = (1, 2, 4, 8, 16, 32)
CLIENTS = 24
ROUNDS = 3
DOCUMENTS = {"six-layer": 240, "bert-base": 72}
Scores = list[list[tuple[str, float]]]


def measure(folder: Path) -> None:
    """Print one row for each model."""
    print("\n## Documents per second, CPU\n")
    print("| model | pipeline's best | at batch size | ours over HTTP | ratio (each round) | largest score difference |"
          " labels that differ |")  # fmt: skip
    print("|---|---|---|---|---|---|---|")
    for shape, count in DOCUMENTS.items():
        print(_row(shape, count, folder), flush=True)


def _row(shape: str, count: int, folder: Path) -> str:
    model = published(folder, shape)
    sample = texts(count)
    peer = Peer("loadtest.peers.transformers_pipeline", str(model))
    with serve(folder / "bench.log", MODELS=shape, MODEL_STORE=folder / "store") as url:
        best = max(BATCH_SIZES, key=lambda size: _ask_peer(peer, size, sample[: count // 3])[0])
        _ask_service(url, sample)
        rounds = [(_ask_peer(peer, best, sample), _ask_service(url, sample)) for _ in range(ROUNDS)]
    peer.close()
    theirs, ours = (statistics.median(each[side][0] for each in rounds) for side in (0, 1))
    ratios = ", ".join(f"{mine[0] / other[0]:.2f}" for other, mine in rounds)
    difference, flipped = _compare(rounds[0][0][1], rounds[0][1][1])
    return f"| {shape} | {theirs:.1f} | {best} | {ours:.1f} | {ratios} | {difference:.4f} | {flipped:.2%} |"


def _ask_peer(peer: Peer, batch_size: int, sample: list[str]) -> tuple[float, Scores]:
    answer = peer.ask(batch_size=batch_size, texts=sample)
    return len(sample) / answer["seconds"], answer["scores"]


def _ask_service(url: str, sample: list[str]) -> tuple[float, Scores]:
    limits = httpx.Limits(max_connections=CLIENTS)
    with httpx.Client(base_url=url, timeout=300.0, limits=limits) as client, ThreadPoolExecutor(CLIENTS) as clients:
        begun = time.perf_counter()
        answers = list(clients.map(lambda text: _extract(client, text), sample))
        seconds = time.perf_counter() - begun
    return len(sample) / seconds, [[(e["label"], e["score"]) for e in answer["entities"]] for answer in answers]


def _extract(client: httpx.Client, text: str) -> dict[str, Any]:
    answer = client.post("/extract", json={"text": text, "aggregation": "simple"})
    answer.raise_for_status()
    document: dict[str, Any] = answer.json()["documents"][0]
    return document


def _compare(theirs: Scores, ours: Scores) -> tuple[float, float]:
    """The largest difference of a token's score, and the share of tokens whose label differs."""
    pairs = [pair for a, b in zip(theirs, ours, strict=True) for pair in zip(a, b, strict=True)]
    same = [abs(a[1] - b[1]) for a, b in pairs if a[0] == b[0]]
    return max(same), 1 - len(same) / len(pairs)
