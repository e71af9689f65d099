"""What each model's batches take of this device's memory and time, and the guard over all of them.

Owns when memory is measured: when a model is new in shape. A revision whose sizes are those of one that was measured
takes what that one takes, so that a switch costs no time of the device.
"""

from __future__ import annotations

import logging
from concurrent.futures import Executor
from contextlib import nullcontext
from typing import TYPE_CHECKING

from service.core.memory.budget import FixedBudget, MemoryBudget, ModelMemory
from service.core.scheduling.batch_latency import REACH, TimedBatch
from service.engine.models.loaded_model import LoadedModel
from service.settings import Settings

if TYPE_CHECKING:
    import torch

    from service.core.memory.cost_model import MemoryCostModel
    from service.engine.memory.probe import MemoryProbe

CPU_BATCH_TOKENS = 2_048
GPU_BATCH_TOKENS = 65_536
CPU_LAYERS = 4
"""Of each kind, when memory is measured."""

log = logging.getLogger(__name__)


class ModelProfiler:
    """Memory functions of one engine's models; everything on the device happens on its compute thread."""

    def __init__(self, settings: Settings, device: torch.device, compute: Executor) -> None:
        from service.engine.execution.cpu_sharding import BATCHES
        from service.engine.memory.probe import MemoryLimit, probe_for

        self._settings = settings
        self._compute = compute
        usual_tokens = GPU_BATCH_TOKENS if device.type == "cuda" else CPU_BATCH_TOKENS
        self._batch_tokens = settings.batch_tokens or usual_tokens
        self._timed_tokens = min(self._batch_tokens, usual_tokens) // REACH
        self._on_cpu = device.type == "cpu"
        side_by_side = BATCHES if self._on_cpu else 1
        allowance = MemoryLimit(settings.memory_fraction, settings.memory_limit_bytes, side_by_side)
        self._gauge = probe_for(device, allowance, graphs=settings.cuda_graphs == "auto")
        self._functions: dict[str, MemoryCostModel] = {}
        if self._gauge is None:
            log.warning("memory cannot be measured on this system; the budget is fixed")

    def warm(self, held: LoadedModel) -> None:
        """Run a few small shapes once."""
        held.runner.warm(self._longest(held))

    def time(self, held: LoadedModel) -> TimedBatch | None:
        """How long a batch takes that is just large enough to tell a full one's speed; None: it cannot be run."""
        return held.runner.time(self._longest(held), self._timed_tokens)

    def measure(self, held: LoadedModel) -> ModelMemory | None:
        """What a model on the device takes; None where nothing can be measured."""
        if self._gauge is None:
            return None
        longest = self._longest(held)
        most = max(self._batch_tokens, longest)
        if held.sizes not in self._functions:
            work = self._compute.submit(self._calibrate, held, self._gauge, longest, most)
            self._functions[held.sizes] = work.result()
        return ModelMemory(self._functions[held.sizes], longest, most)

    def guard(self, models: dict[str, ModelMemory]) -> MemoryBudget:
        """The memory model over what was measured, weights at rest being those that are there now."""
        from service.engine.memory.guard import Guard

        if self._gauge is None:
            return FixedBudget(self._batch_tokens, self._settings.window_tokens)
        self._compute.submit(self._gauge.rebaseline).result()
        return Guard(self._gauge, models, self._compute)

    def settle(self) -> None:
        """What is in use now is at rest; for the compute thread, between batches."""
        if self._gauge is not None:
            self._gauge.rebaseline()

    def _calibrate(self, held: LoadedModel, gauge: MemoryProbe, longest: int, most_tokens: int) -> MemoryCostModel:
        """On a CPU with few layers: all of a large model's would take many seconds and need no more memory."""
        from service.engine.encoder.layer_subset import first_layers_only
        from service.engine.memory.profiler import profile_memory

        module = held.module() if self._on_cpu else None
        with first_layers_only(module, CPU_LAYERS) if module is not None else nullcontext():
            return profile_memory(held.runner.encoder, gauge, longest, most_tokens)

    def _longest(self, held: LoadedModel) -> int:
        return min(held.status.max_tokens, self._settings.window_tokens)
