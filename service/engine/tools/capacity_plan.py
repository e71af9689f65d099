"""`python -m service.engine.tools.capacity_plan MODEL [GIB]`: measures a model as an engine would, and prints its plan
as JSON.

Owns nothing of its own: making, measuring and the arithmetic are the engine's, so that a plan says what an engine does.
A process of its own, because what an engine's memory is depends on the environment that engines are started with.
"""

from __future__ import annotations

import sys
import time
from dataclasses import asdict

import msgspec
import numpy as np

from model_store.errors import StoreError
from model_store.local.catalog import Catalog
from service.core.errors import GleanerError, ModelError
from service.core.memory.capacity_plan import CapacityPlan, Measured, plan
from service.engine.execution.executor import DeviceExecutor
from service.engine.models.factory import GPU_SHARE, ModelFactory
from service.engine.models.loaded_model import LoadedModel
from service.engine.models.profiling import GPU_BATCH_TOKENS, ModelProfiler
from service.logs import configure
from service.process import die_with_parent
from service.settings import Settings, read_settings

TYPICAL_TOKENS = 160
SPEED_SECONDS = 2.0


def main() -> int:
    """Print one plan; exit code 1 with a sentence where none can be made."""
    die_with_parent()
    settings = read_settings()
    configure("WARNING")
    size = float(sys.argv[2]) if len(sys.argv) > 2 else None
    try:
        found = make_plan(sys.argv[1], settings, size)
    except (GleanerError, StoreError) as error:
        print(error, file=sys.stderr)
        return 1
    sys.stdout.buffer.write(msgspec.json.encode(asdict(found)))
    return 0


def make_plan(model: str, settings: Settings, gpu_memory_gib: float | None = None) -> CapacityPlan:
    """Load, warm and measure a model on the device at hand.

    Raises:
        StoreError: there is no such model.
        ModelError: it cannot be used, or nothing can be measured on this system.
    """
    revision = Catalog(settings.model_store).resolve(model)
    compute = DeviceExecutor()
    maker = ModelFactory(settings, compute, lambda: None)
    measuring = ModelProfiler(settings, maker.device, compute)
    held = maker.make(revision)
    measuring.warm(held)
    memory = measuring.measure(held)
    if memory is None:
        raise ModelError("memory cannot be measured on this system")
    guard = measuring.guard({revision.revision: memory})
    report = guard.report()
    assert report is not None, "a guard that measures has something to report"
    batch_tokens = min(memory.most_tokens, guard.budget_tokens(revision.revision))
    return plan(
        Measured(
            model=f"{revision.name}@{revision.tag}" if revision.tag else revision.name,
            device=maker.device_name(),
            dtype=maker.dtype_name,
            weights_bytes=held.status.parameter_bytes,
            memory=memory,
            available_bytes=report.available_bytes,
            fraction=settings.memory_fraction,
            weights_share=GPU_SHARE,
            gpu_batch_tokens=settings.batch_tokens or GPU_BATCH_TOKENS,
            tokens_per_second=_speed(held, batch_tokens),
        ),
        gpu_memory_gib,
    )


def _speed(held: LoadedModel, batch_tokens: int) -> float:
    """Tokens per second of full batches of typical length, one at a time."""
    length = min(TYPICAL_TOKENS, held.status.max_tokens)
    batch = [np.zeros(length, dtype=np.int32)] * max(1, batch_tokens // length)
    held.runner.launch(batch).result()
    begun, runs = time.monotonic(), 0
    while time.monotonic() < begun + SPEED_SECONDS:
        held.runner.launch(batch).result()
        runs += 1
    return runs * len(batch) * length / (time.monotonic() - begun)


if __name__ == "__main__":
    sys.exit(main())
