"""GPU benchmark: `python -m loadtest.bench.gpu` runs the GPU tests, then prints BENCHMARKS.md's table.

After the tests, BERT-large with random weights: the engine alone, and a service over HTTP with many clients, each as a
share of the matrix rate measured on the same device. It takes less than ten minutes; `--shape small` tries the flow.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from loadtest.bench.fixtures import LEAN, published, run_tool, service, texts
from loadtest.cli import end_on_sigterm

CLIENTS = 96
DOCUMENTS_PER_REQUEST = 16
"""Together some 270,000 tokens in flight, more than four full batches: a second batch is formed ahead only when it is
full, so with fewer no two ever overlap, and the figure is that of the gaps between them."""
LIGHT_REQUESTS = 60
TEST_SECONDS = 300
RECORD = (
    "MLPerf Inference 4.1, BERT-large, H200: 9,164 samples/s in INT8, 7,994 in FP8 (offline; no HTTP, no tokenizer)"
)
PARAMETERS = {"small": 4_400_000, "six-layer": 22_400_000, "bert-base": 108_900_000, "bert-large": 333_600_000}
"""Approximate; embeddings included."""
EMBEDDINGS = {"small": 3_980_000, "six-layer": 11_900_000, "bert-base": 23_800_000, "bert-large": 31_800_000}
"""Parameters that are looked up, not multiplied."""


def main() -> int:
    """Run tests and benchmark; the exit code is that of the tests."""
    parser = argparse.ArgumentParser(prog="python -m loadtest.bench.gpu", description=__doc__)
    parser.add_argument("--shape", choices=PARAMETERS, default="bert-large")
    parser.add_argument("--seconds", type=float, default=60.0, help="of load over HTTP")
    parser.add_argument("--batches", type=int, default=1_000, help="random batches to check the memory cost model with")
    chosen = parser.parse_args()
    end_on_sigterm()
    failed = _tests()
    with tempfile.TemporaryDirectory(prefix="gleaner-gpu-") as home:
        _measure(Path(home), chosen.shape, chosen.seconds, chosen.batches)
    return failed


def _tests() -> int:
    """Run the GPU tests in an engine's environment, so with its allocator; tests that do not end spoil no figure."""
    command = [sys.executable, "-m", "pytest", "-q", "tests/gpu"]
    environment = {**os.environ, **LEAN, "REQUIRE": "cuda"}
    try:
        return subprocess.run(command, env=environment, check=False, timeout=TEST_SECONDS).returncode
    except subprocess.TimeoutExpired:
        print(f"the GPU tests did not end within {TEST_SECONDS} s", file=sys.stderr, flush=True)
        return 1


def _measure(home: Path, shape: str, seconds: float, batches: int) -> None:
    published(home, shape)
    trial = run_tool(home, "service.engine.tools.engine_benchmark", shape, str(batches))
    per_token = 2 * (PARAMETERS[shape] - EMBEDDINGS[shape])
    share = per_token / trial["matrix_flops"]
    settings = {"MODELS": shape, "WORKERS": max(1, min(16, (os.cpu_count() or 2) - 1))}
    with service(home, **settings) as running:
        light = _light(running.url)
        over_http = _saturate(running.url, seconds)
    over = trial["over_most"]
    rows = {
        "device": f"{trial['device']}, {trial['dtype']}",
        "matrix rate of the device": f"{trial['matrix_flops'] / 1e12:,.2f} TFLOP/s (bfloat16)",
        "tokens per second, engine alone": _rate(trial["engine_tokens_per_second"], share),
        "tokens per second over HTTP": _rate(over_http["tokens_per_second"], share),
        "documents per second over HTTP": f"{over_http['documents_per_second']:,.0f}; failed: {over_http['failed']}",
        "engine busy at saturation": f"{over_http['busy']:.1%}",
        "GPU utilization (NVML)": f"{over_http['utilization']:.0%}" if over_http["utilization"] else "not watched",
        "one document of 128 tokens, engine alone": f"{trial['latency_ms']:.2f} ms",
        "one short document over HTTP, p50": f"{light * 1000:.2f} ms",
        "batches that took more memory than predicted": f"{trial['batches_below']} of {trial['batches_checked']}",
        "largest prediction above a measured peak": "no batch large enough" if over is None else f"{over:.1%}",
    }
    print(f"\n| {shape}, random weights | figure |\n|---|---|")
    for name, value in rows.items():
        print(f"| {name} | {value} |")
    print(f"\nBeside it: {RECORD}.", flush=True)


def _rate(tokens_per_second: float, share: float) -> str:
    return f"{tokens_per_second:,.0f} tokens/s, {tokens_per_second * share:.0%} of the matrix rate"


def _light(url: str) -> float:
    """Median seconds of a short document, one client."""
    spent = []
    with httpx.Client(base_url=url, timeout=60.0) as client:
        for text in texts(LIGHT_REQUESTS, seed=3):
            began = time.perf_counter()
            client.post("/extract", json={"text": text[:600]}).raise_for_status()
            spent.append(time.perf_counter() - began)
    return statistics.median(spent[LIGHT_REQUESTS // 4 :])


def _saturate(url: str, seconds: float) -> dict[str, float]:
    """Throughput of many clients that post one request after another."""
    requests = [
        {"documents": [{"id": str(number), "text": text} for number, text in enumerate(part)]}
        for part in (texts(DOCUMENTS_PER_REQUEST, seed=seed) for seed in range(4 * CLIENTS))
    ]
    before = _metrics(url)
    began = time.monotonic()
    end = began + seconds

    def client(number: int) -> tuple[int, int]:
        done = failed = 0
        with httpx.Client(base_url=url, timeout=300.0) as connection:
            while time.monotonic() < end:
                answer = connection.post("/extract", json=requests[(number + done) % len(requests)])
                done += 1
                failed += answer.status_code != 200
        return done, failed

    with ThreadPoolExecutor(CLIENTS) as pool:
        counts = list(pool.map(client, range(CLIENTS)))
        after = _metrics(url)
    spent = time.monotonic() - began
    return {
        "tokens_per_second": (after["gleaner_tokens_total"] - before["gleaner_tokens_total"]) / spent,
        "documents_per_second": DOCUMENTS_PER_REQUEST * sum(done for done, _ in counts) / spent,
        "failed": sum(failed for _, failed in counts),
        "busy": (after["gleaner_busy_seconds_total"] - before["gleaner_busy_seconds_total"]) / spent,
        "utilization": after.get("gleaner_gpu_utilization_ratio", 0.0),
    }


def _metrics(url: str) -> dict[str, float]:
    lines = httpx.get(url + "/metrics", timeout=30.0).text.splitlines()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}


if __name__ == "__main__":
    sys.exit(main())
