"""Model profiler: measures the memory and the time that each model's batches take on this device.

A model is measured when its architecture is new. A revision with the sizes of one that was measured takes what that one
takes, so that a switch costs no time of the device. On a GPU batches of growing size are timed as well, and the budget
is one of them (core/scheduling/batch_size_sweep.py); on a CPU, where all cores are busy with the smallest, it is fixed.
"""

from __future__ import annotations

import logging
from contextlib import nullcontext
from typing import TYPE_CHECKING

from service.core.memory.budget import ModelMemory
from service.core.memory.cost_model import UNMEASURED, MemoryCostModel
from service.core.scheduling.throughput import REACH, TimedBatch
from service.engine.execution.executor import DeviceWork
from service.engine.memory.guard import Guard
from service.engine.models.batch_sizing import BatchSizer
from service.engine.models.loaded_model import LoadedModel
from service.settings import Settings

if TYPE_CHECKING:
    import torch

    from service.engine.memory.probe import MemoryProbe

CPU_BATCH_TOKENS = 1_024
GPU_BATCH_TOKENS = 65_536
"""The largest that is tried."""

CPU_LAYERS = 4
"""Of each kind, when memory is measured."""

log = logging.getLogger(__name__)


class ModelProfiler:
    """Profiles of one engine's models; everything on the device runs on its executor."""

    def __init__(self, settings: Settings, device: torch.device, executor: DeviceWork) -> None:
        from service.engine.execution.cpu_sharding import BATCHES
        from service.engine.memory.probe import MemoryLimit, probe_for

        self._settings = settings
        self._executor = executor
        usual_tokens = GPU_BATCH_TOKENS if device.type == "cuda" else CPU_BATCH_TOKENS
        self._timed_tokens = min(settings.batch_tokens or usual_tokens, usual_tokens) // REACH
        self._on_cpu = device.type == "cpu"
        limit = MemoryLimit(settings.memory_fraction, settings.memory_limit_bytes, BATCHES if self._on_cpu else 1)
        self._probe = probe_for(device, limit, executor.health)
        self._functions: dict[str, MemoryCostModel] = {}
        self._sizer = BatchSizer(settings.batch_tokens, usual_tokens)
        if self._probe is None:
            log.warning("memory cannot be measured on this system; the budget is fixed")

    def warm(self, model: LoadedModel) -> None:
        """Run a few small shapes once."""
        model.runner.warm(self._longest(model))

    def time(self, model: LoadedModel) -> TimedBatch | None:
        """Time a full batch, or one just large enough to predict it; None if it cannot be run whole.

        On a GPU this chooses the budget, so it comes before `measure`.
        """
        if self._on_cpu:
            return model.runner.time(self._longest(model), self._timed_tokens)
        return self._sizer.size(model.sizes, model.runner, self._longest(model))

    def measure(self, model: LoadedModel) -> ModelMemory:
        """The memory that a model's batches need; no bytes at all where memory cannot be read."""
        longest = self._longest(model)
        most = max(self._sizer.budget_tokens(model.sizes), longest)
        return ModelMemory(self._function(model, longest, most), longest, most)

    def guard(self, models: dict[str, ModelMemory]) -> Guard:
        """The memory guard over these models, with the weights that are on the device now at rest."""
        if self._probe is not None:
            self._executor.submit(self._probe.rebaseline).result()
        return Guard(self._probe, models, self._executor)

    def _function(self, model: LoadedModel, longest: int, most_tokens: int) -> MemoryCostModel:
        if self._probe is None:
            return UNMEASURED
        if model.sizes not in self._functions:
            work = self._executor.submit(self._calibrate, model, self._probe, longest, most_tokens)
            self._functions[model.sizes] = work.result()
        return self._functions[model.sizes]

    def _calibrate(self, model: LoadedModel, probe: MemoryProbe, longest: int, most_tokens: int) -> MemoryCostModel:
        """On a CPU with few layers: all of a large model's would take many seconds and need no more memory."""
        from service.engine.encoder.layer_subset import first_layers_only
        from service.engine.memory.profiler import profile_memory

        module = model.module() if self._on_cpu else None
        with first_layers_only(module, CPU_LAYERS) if module is not None else nullcontext():
            return profile_memory(model.runner.encoder, probe, longest, most_tokens)

    def _longest(self, model: LoadedModel) -> int:
        return min(model.status.max_tokens, self._settings.window_tokens)
