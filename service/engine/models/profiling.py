"""Model profiler: measures the memory and the time that each model's batches take on this device.

A model is measured when its architecture is new. A revision with the sizes of one that was measured takes what that one
takes, so that a switch costs no time of the device. On a GPU batches of growing size are timed as well, and the budget
is one of them (core/scheduling/batch_size_sweep.py); on a CPU, where all cores are busy with the smallest, it is fixed.

What lies between the smallest size and the budget is warm afterwards: libraries load a kernel when it is first needed.
"""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING

from service.core.arrays import TokenIds
from service.core.errors import GleanerError
from service.core.memory.budget import ModelMemory
from service.core.memory.cost_model import UNMEASURED, MemoryCostModel
from service.core.scheduling.batch_size_sweep import choose, is_over, sizes_to_time
from service.core.scheduling.throughput import REACH, TimedBatch
from service.engine.execution.executor import DeviceWork
from service.engine.memory.guard import Guard
from service.engine.models.loaded_model import LoadedModel
from service.settings import Settings

if TYPE_CHECKING:
    import torch

    from service.engine.execution.runner import Runner

TYPICAL_TOKENS = 128
"""Tokens of a typical sequence."""

IN_A_ROW = 3
"""Batches timed together, as under load: each is queued while the one before it runs."""

ROUNDS, ENOUGH_SECONDS = 3, 0.1
"""How often a size is timed, and the time after which it is not timed again. The least counts: a host that is busy with
something else makes a batch longer, and a size that looks slow by that would make all batches larger."""

log = logging.getLogger(__name__)


class BatchSizer:
    """The budgets of one engine's models, by their architecture: a model like one that was timed is not timed again.

    Args:
        set_tokens: the budget of all models; 0: chosen for each.
        largest_tokens: the largest that is tried where none is set.
    """

    def __init__(self, set_tokens: int, largest_tokens: int) -> None:
        self._set_tokens = set_tokens
        self._largest_tokens = set_tokens or largest_tokens
        self._full: dict[str, TimedBatch | None] = {}

    def size(self, sizes: str, runner: Runner, longest_tokens: int) -> TimedBatch | None:
        """The batch that fills the budget, with its time; of a budget that is set, the largest that could be run."""
        if sizes not in self._full:
            timed = climb(runner, longest_tokens, max(self._largest_tokens, longest_tokens))
            self._full[sizes] = None if not timed else timed[-1] if self._set_tokens else choose(timed, longest_tokens)
        return self._full[sizes]

    def budget_tokens(self, sizes: str) -> int:
        """The budget of models of this architecture; the largest before `size` was asked."""
        full = self._full.get(sizes)
        return self._largest_tokens if self._set_tokens or full is None else full.tokens


def climb(runner: Runner, longest_tokens: int, most_tokens: int) -> list[TimedBatch]:
    """Times of batches, the smallest first; ends before sizes for which memory runs out."""
    timed: list[TimedBatch] = []
    for tokens in sizes_to_time(most_tokens):
        batch = _time(runner, min(TYPICAL_TOKENS, longest_tokens, tokens), tokens)
        if batch is None:
            break
        timed.append(batch)
        if is_over(timed, longest_tokens):
            break
    milliseconds = {batch.tokens: round(1_000 * batch.seconds, 2) for batch in timed}
    log.info("batches timed", extra={"milliseconds": milliseconds})
    return timed


def _time(runner: Runner, length: int, tokens: int) -> TimedBatch | None:
    """Time a batch; None if memory does not hold it."""
    batch = [runner.blank(length)] * (tokens // length)
    runner.launch(batch).result()
    spent, least = 0.0, math.inf
    for _ in range(ROUNDS):
        if (seconds := _run_in_a_row(runner, batch)) is None:
            return None
        spent, least = spent + seconds, min(least, seconds)
        if spent >= ENOUGH_SECONDS:
            break
    return TimedBatch(length * len(batch), least / IN_A_ROW)


def _run_in_a_row(runner: Runner, batch: list[TokenIds]) -> float | None:
    """Seconds of a few batches one right behind the other; None if memory does not hold them."""
    handles = [runner.launch(batch) for _ in range(IN_A_ROW)]
    outcomes = [outcome for handle in handles for outcome in handle.result()]
    if any(handle.splits for handle in handles) or any(isinstance(each, GleanerError) for each in outcomes):
        return None
    return max(each.ended_seconds for each in handles) - min(each.begun_seconds for each in handles)


CPU_BATCH_TOKENS = 1_024
GPU_BATCH_TOKENS = 65_536
"""The largest that is tried."""


class ModelProfiler:
    """Profiles of one engine's models; everything on the device runs on its executor."""

    def __init__(self, settings: Settings, device: torch.device, executor: DeviceWork) -> None:
        from service.engine.memory.probe import MemoryLimit, probe_for

        self._settings = settings
        self._executor = executor
        usual_tokens = GPU_BATCH_TOKENS if device.type == "cuda" else CPU_BATCH_TOKENS
        self._timed_tokens = min(settings.batch_tokens or usual_tokens, usual_tokens) // REACH
        self._on_cpu = device.type == "cpu"
        limit = MemoryLimit(settings.memory_fraction, settings.memory_limit_bytes)
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
            from service.engine.memory.profiler import profile_memory

            encoder, blank = model.runner.encoder, model.runner.blank
            work = self._executor.submit(profile_memory, encoder, self._probe, longest, most_tokens, blank)
            self._functions[model.sizes] = work.result()
        return self._functions[model.sizes]

    def _longest(self, model: LoadedModel) -> int:
        return min(model.status.max_tokens, self._settings.window_tokens)
