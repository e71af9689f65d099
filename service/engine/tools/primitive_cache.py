"""`python -m service.engine.tools.primitive_cache FOLDER`: resident memory and speed over minutes of random lengths.

Computes with oneDNN, as engines do where the parked kernels do not run: in one process with rows of every length, in a
second one with rows rounded up to few sizes. Both are started as engines are. Prints a table.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from service.environment import child_environment

BATCH_TOKENS = 2_048
SAMPLES = 10
MEGABYTE = 1e6


class Figures(msgspec.Struct):
    """One process's rates, and its resident memory beyond that after the first batch, at the end of each tenth."""

    documents_per_second: float
    documents_per_cpu_second: float
    growth_bytes: list[int]
    trimmed_bytes: int


def main() -> int:
    """Print one row for each process; `--exact` is how this tool starts them."""
    parser = argparse.ArgumentParser(prog="python -m service.engine.tools.primitive_cache", description=__doc__)
    parser.add_argument("folder", type=Path, help="of a Hugging Face token classifier")
    parser.add_argument("--minutes", type=float, default=10.0, help="for each process (default: 10)")
    parser.add_argument("--int8", action="store_true", help="linear layers in 8-bit integers")
    parser.add_argument("--capacity", default="", help="ONEDNN_PRIMITIVE_CACHE_CAPACITY of both (default: oneDNN's)")
    parser.add_argument("--exact", choices=("yes", "no"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.exact is not None:
        found = measure(chosen.folder, 60 * chosen.minutes, int8=chosen.int8, exact=chosen.exact == "yes")
        sys.stdout.buffer.write(msgspec.json.encode(found))
        return 0
    print("| rows | documents/s | per CPU second | MB more after each tenth of the time | after a trim |")
    print("|---|---|---|---|---|")
    for name, exact in (("of every length", "yes"), ("rounded up", "no")):
        figures = _in_a_process([*sys.argv[1:], "--exact", exact], chosen.capacity)
        growth = ", ".join(f"{each / MEGABYTE:.0f}" for each in figures.growth_bytes)
        rates = f"{figures.documents_per_second:.1f} | {figures.documents_per_cpu_second:.1f}"
        print(f"| {name} | {rates} | {growth} | {figures.trimmed_bytes / MEGABYTE:.0f} |", flush=True)
    return 0


def measure(folder: Path, seconds: float, *, int8: bool, exact: bool) -> Figures:
    """Run random batches on all cores for this long, counted from the end of the first."""
    import torch

    import service.host_memory as host
    from service.engine.device.selection import use_threads
    from service.engine.encoder.encoder import load_encoder
    from service.engine.execution import row_filling
    from service.engine.execution.cpu_sharding import ShardedEncoder, Threads
    from service.engine.tools.engine_benchmark import random_batch

    if exact:
        row_filling.SMALLEST_STEP_TOKENS, row_filling.SIZES_PER_DOUBLING = 1, BATCH_TOKENS
    use_threads(0)
    encoder = load_encoder(folder, torch.device("cpu"), torch.bfloat16, int8=int8, native_kernels=False)
    sharded = ShardedEncoder(encoder, Threads(torch.get_num_threads()))
    draw = random.Random(0)
    sharded.forward(random_batch(draw, draw.randint(1, BATCH_TOKENS), encoder.max_tokens))
    host.trim()
    before_bytes, documents, growth = host.resident_bytes(), 0, list[int]()
    begun, begun_cpu = time.monotonic(), time.process_time()
    while len(growth) < SAMPLES:
        batch = random_batch(draw, draw.randint(1, BATCH_TOKENS), encoder.max_tokens)
        sharded.forward(batch)
        documents += len(batch)
        if time.monotonic() - begun >= seconds * (len(growth) + 1) / SAMPLES:
            growth.append(host.resident_bytes() - before_bytes)
    rates = documents / (time.monotonic() - begun), documents / (time.process_time() - begun_cpu)
    host.trim()
    return Figures(*rates, growth, host.resident_bytes() - before_bytes)


def _in_a_process(arguments: list[str], capacity: str) -> Figures:
    environment = child_environment(Path.cwd())
    if capacity:
        environment["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] = capacity
    command = [sys.executable, "-m", "service.engine.tools.primitive_cache", *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=Figures)


if __name__ == "__main__":
    sys.exit(main())
