"""`python -m service.engine.tools.capacity_plan MODEL [GIB]`: profiles a model and prints its capacity plan as JSON.

Loading, profiling and the arithmetic are the engine's, so that a plan is true of an engine. It runs in a process of its
own, because memory depends on the environment of its start.
"""

from __future__ import annotations

import sys
import time
from dataclasses import asdict

import msgspec

from model_store.errors import StoreError
from model_store.local.catalog import Catalog
from service.core.errors import GleanerError, ModelError
from service.core.memory.capacity_plan import CapacityPlan, ModelMeasurements, plan
from service.engine.device.selection import choose_device
from service.engine.execution.executor import DeviceExecutor
from service.engine.models.factory import GPU_SHARE, ModelFactory
from service.engine.models.loaded_model import LoadedModel
from service.engine.models.profiling import GPU_BATCH_TOKENS, ModelProfiler
from service.logs import configure
from service.process import die_with_parent, exit_now
from service.settings import Settings, read_settings

TYPICAL_TOKENS = 160
SPEED_SECONDS = 2.0
MEASURED_TOKENS = 4_096
"""Tokens of the largest batch with which a CPU measures a GPU's memory: its peak is many times the noise."""


def main() -> int:
    """Print one plan; exit code 1 with one sentence on stderr if there is none."""
    die_with_parent()
    settings = read_settings()
    configure("WARNING")
    size = float(sys.argv[2]) if len(sys.argv) > 2 else None
    try:
        capacity_plan = make_plan(sys.argv[1], settings, size)
    except (GleanerError, StoreError) as error:
        print(error, file=sys.stderr)
        return 1
    sys.stdout.buffer.write(msgspec.json.encode(asdict(capacity_plan)))
    return 0


def make_plan(model: str, settings: Settings, gpu_memory_gib: float | None = None) -> CapacityPlan:
    """Load, warm up and profile a model on this machine's device.

    To plan for a GPU on a CPU, torch runs the model in rows as on a GPU, in bfloat16 in place of float16: their numbers
    have the same size.

    Raises:
        StoreError: there is no such model.
        ModelError: the model cannot be used, or memory cannot be measured on this system.
        InsufficientMemory: the model does not fit.
    """
    wanted, gpu_batch_tokens = settings.dtype, settings.batch_tokens or GPU_BATCH_TOKENS
    if gpu_memory_gib is not None and choose_device(settings.device).type == "cpu":
        dtype = "bfloat16" if wanted == "float16" else wanted
        settings = settings.model_copy(update={"dtype": dtype, "batch_tokens": MEASURED_TOKENS})
    revision = Catalog(settings.model_store).resolve(model)
    compute = DeviceExecutor()
    factory = ModelFactory(settings, compute, lambda: None)
    profiler = ModelProfiler(settings, factory.device, compute)
    loaded = factory.make(revision, as_on_gpu=gpu_memory_gib is not None)
    profiler.warm(loaded)
    profiler.time(loaded)
    memory = profiler.measure(loaded)
    guard = profiler.guard({revision.revision: memory})
    report = guard.report()
    if report is None:
        raise ModelError("memory cannot be measured on this system")
    batch_tokens = min(memory.most_tokens, guard.budget_tokens(revision.revision))
    return plan(
        ModelMeasurements(
            model=f"{revision.name}@{revision.tag}" if revision.tag else revision.name,
            device=factory.device_name(),
            dtype=wanted if wanted == "float16" else factory.dtype_name,
            weights_bytes=loaded.status.parameter_bytes,
            memory=memory,
            available_bytes=report.available_bytes,
            fraction=settings.memory_fraction,
            weights_share=GPU_SHARE,
            gpu_batch_tokens=gpu_batch_tokens,
            tokens_per_second=_speed(loaded, batch_tokens),
        ),
        gpu_memory_gib,
    )


def _speed(loaded: LoadedModel, batch_tokens: int) -> float:
    """Measure the tokens per second of full batches of typical length, one at a time."""
    length = min(TYPICAL_TOKENS, loaded.status.max_tokens)
    batch = [loaded.runner.blank(length)] * max(1, batch_tokens // length)
    loaded.runner.launch(batch).result()
    begun, runs = time.monotonic(), 0
    while time.monotonic() < begun + SPEED_SECONDS:
        loaded.runner.launch(batch).result()
        runs += 1
    return runs * len(batch) * length / (time.monotonic() - begun)


if __name__ == "__main__":
    exit_now(main())
