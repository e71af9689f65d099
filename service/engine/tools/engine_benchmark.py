"""`python -m service.engine.tools.engine_benchmark MODEL`: measures the device and the engine on it, and prints JSON.

The figures are those that HTTP does not show: the device's matrix rate, the engine's tokens per second and latency
without workers, and the memory cost model against measured peaks of random batches. Works on a CPU too. `MODEL 0
FOLDER` measures the texts a second of a folder's `*.txt` alone.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, cycle, takewhile
from pathlib import Path

import msgspec
import torch

from model_store.local.catalog import Catalog
from service.core.arrays import TokenIds
from service.core.memory.budget import ModelMemory
from service.core.types import Shape
from service.engine.execution.executor import MOST_IN_FLIGHT, DeviceExecutor
from service.engine.execution.runner import BatchHandle
from service.engine.memory.probe import MemoryLimit, MemoryProbe, probe_for
from service.engine.models.factory import ModelFactory
from service.engine.models.loaded_model import LoadedModel
from service.engine.models.profiling import ModelProfiler
from service.families.processor import Blank
from service.logs import configure
from service.process import die_with_parent, exit_now
from service.settings import Settings, read_settings
from service.text.pipeline import prepare
from service.text.tokenizer import TextTokenizer

MATRIX = {"cuda": 8_192, "cpu": 1_024}
SECONDS = 5.0
MEDIAN_TOKENS, SPREAD = 150, 0.55
LATENCY_TOKENS = 128
LATENCY_RUNS = 50


def main() -> int:
    """Print one JSON object; arguments: the model, and the number of random batches to check the cost model with."""
    die_with_parent()
    configure("WARNING")
    settings = read_settings()
    compute = DeviceExecutor()
    factory = ModelFactory(settings, compute, lambda: None)
    profiler = ModelProfiler(settings, factory.device, compute)
    model = factory.make(Catalog(settings.model_store).resolve(sys.argv[1]))
    profiler.warm(model)
    memory = profiler.measure(model)
    probe = probe_for(factory.device, MemoryLimit(1.0), compute.health)
    assert probe is not None, "memory cannot be measured on this system"
    if len(sys.argv) > 3:
        rate = texts_per_second(model, memory.most_tokens, Path(sys.argv[3]), settings)
        sys.stdout.buffer.write(msgspec.json.encode({"texts_per_second": rate}))
        return 0
    checked = check_memory(model, memory, probe, compute, int(sys.argv[2]) if len(sys.argv) > 2 else 200)
    figures: dict[str, object] = {
        "device": factory.device_name(),
        "dtype": factory.dtype_name,
        "matrix_flops": matrix_rate(factory.device),
        "engine_tokens_per_second": throughput(model, memory.most_tokens),
        "latency_ms": latency_seconds(model) * 1_000,
        "bytes_per_token": memory.function.bytes_per_token,
        **checked,
    }
    sys.stdout.buffer.write(msgspec.json.encode(figures))
    return 0


def matrix_rate(device: torch.device) -> float:
    """Measure the floating-point operations per second of a product of square bfloat16 matrices."""
    size = MATRIX[device.type]
    left, right = (torch.randn(size, size, device=device, dtype=torch.bfloat16) for _ in range(2))
    product = partial(torch.matmul, left, right)
    runs = _runs_for(product, SECONDS / 2, device)
    return 2 * size**3 * runs


def throughput(model: LoadedModel, batch_tokens: int) -> float:
    """Measure the tokens per second of full batches, two in flight as in the loop."""
    draw = random.Random(0)
    batches = [random_batch(draw, batch_tokens, model.status.max_tokens, model.runner.blank) for _ in range(8)]
    model.runner.launch(batches[0]).result()
    end = time.monotonic() + SECONDS
    tokens, seconds = run_two_at_a_time(model, takewhile(lambda _: time.monotonic() < end, cycle(batches)))
    return tokens / seconds


def texts_per_second(model: LoadedModel, batch_tokens: int, folder: Path, settings: Settings) -> float:
    """Measure the engine's texts per second; all are tokenized before, and run in the order of their names."""
    tokenizer = TextTokenizer(Path(model.status.folder))
    longest, overlap = min(settings.window_tokens, model.status.max_tokens), settings.overlap_tokens
    texts = [path.read_text() for path in sorted(folder.glob("*.txt"))]
    prepared = [prepare(tokenizer, text, longest=longest, overlap=overlap) for text in texts]
    batches: list[list[TokenIds]] = [[]]
    for sequence in chain.from_iterable(each.sequences for each in prepared):
        if sum(map(len, batches[-1])) + len(sequence) > batch_tokens:
            batches.append([])
        batches[-1].append(sequence)
    run_two_at_a_time(model, batches)  # Code is compiled for each new shape.
    return len(texts) / run_two_at_a_time(model, batches)[1]


def run_two_at_a_time(model: LoadedModel, batches: Iterable[list[TokenIds]]) -> tuple[int, float]:
    """Run batches, two in flight; returns their tokens and seconds."""
    begun, tokens = time.monotonic(), 0
    in_flight: list[BatchHandle] = []
    for batch in batches:
        in_flight.append(model.runner.launch(batch))
        tokens += sum(map(len, batch))
        if len(in_flight) == MOST_IN_FLIGHT:
            in_flight.pop(0).result()
    for handle in in_flight:
        handle.result()
    return tokens, time.monotonic() - begun


def latency_seconds(model: LoadedModel) -> float:
    document = [model.runner.blank(min(LATENCY_TOKENS, model.status.max_tokens))]
    spent = []
    for _ in range(LATENCY_RUNS):
        begun = time.perf_counter()
        model.runner.launch(document).result()
        spent.append(time.perf_counter() - begun)
    return statistics.median(spent)


def check_memory(
    model: LoadedModel, memory: ModelMemory, probe: MemoryProbe, compute: DeviceExecutor, count: int
) -> dict[str, object]:
    """Compare the cost model with the peaks of random batches: times that it is below, and amounts above."""
    below, ratios, most_over = 0, [], 0
    for batch in _random_batches(memory, count, model.runner.blank):
        work = partial(model.runner.encoder.forward, batch)
        compute.submit(work).result()  # A new shape's kernels are created once; they are no cost of a batch.
        peak = compute.submit(probe.peak_bytes, work).result()
        predicted = memory.function.bytes(Shape.of([len(tokens) for tokens in batch]))
        below += peak > predicted
        most_over = max(most_over, predicted - peak)
        if peak > 4 * probe.accuracy.noise_bytes:
            ratios.append(predicted / peak - 1)
    return {
        "batches_checked": count,
        "batches_below": below,
        "over_median": statistics.median(ratios) if ratios else None,
        "over_most": max(ratios) if ratios else None,
        "over_most_bytes": most_over,
    }


def _random_batches(memory: ModelMemory, count: int, blank: Blank) -> Iterator[list[TokenIds]]:
    draw = random.Random(1)
    for _ in range(count):
        left = draw.randint(1, memory.most_tokens)
        longest = draw.choice((memory.longest_tokens, 64, draw.randint(1, memory.longest_tokens)))
        lengths = []
        while left > 0:
            lengths.append(min(left, draw.randint(1, longest)))
            left -= lengths[-1]
        yield [blank(length) for length in lengths]


def random_batch(draw: random.Random, tokens: int, longest: int, blank: Blank) -> list[TokenIds]:
    """Draw a batch of this many tokens; lengths like real documents': log-normal, 175 tokens on average."""
    batch: list[TokenIds] = []
    left = tokens
    while left:
        length = min(left, longest, max(3, int(MEDIAN_TOKENS * draw.lognormvariate(0.0, SPREAD))))
        batch.append(blank(length))
        left -= length
    return batch


def _runs_for(work: Callable[[], object], seconds: float, device: torch.device) -> float:
    """Measure the runs of the work per second."""
    for _ in range(3):
        work()
    _synchronize(device)
    begun, runs = time.monotonic(), 0
    while time.monotonic() < begun + seconds:
        for _ in range(10):
            work()
        _synchronize(device)
        runs += 10
    return runs / (time.monotonic() - begun)


def _synchronize(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


if __name__ == "__main__":
    exit_now(main())
