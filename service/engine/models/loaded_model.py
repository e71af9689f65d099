"""The revisions that an engine holds: what is said of each, what runs it, and its weights, which may be away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from service.core.memory.budget import MemoryBudget
from service.core.models.placement import Placement
from service.core.scheduling.batch_latency import TimedBatch
from service.wire import ModelStatus

if TYPE_CHECKING:
    import torch

    from service.engine.execution.offloading import Offloadable
    from service.engine.execution.runner import Runner


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model that is made, whether or not it serves.

    `sizes`: equal for models that compute alike, so that their batches take equal memory.
    `module`: the model itself, as long as its weights are not away.
    """

    status: ModelStatus
    sizes: str
    runner: Runner
    weights: Offloadable
    module: Callable[[], torch.nn.Module | None] = lambda: None

    @property
    def revision(self) -> str:
        return self.status.revision


@dataclass(frozen=True, slots=True)
class InitialModels:
    """Everything the loop needs to serve.

    Attributes:
        serving: reference, as in the settings → the revision that it leads to.
        residency: where the weights of all `held` are by now.
        release: to be called with each revision that is dropped.
        timed: revision → a batch of the warm-up.
    """

    serving: dict[str, str]
    held: list[LoadedModel]
    residency: Placement
    memory: MemoryBudget
    device: str
    dtype: str
    release: Callable[[str], None] = lambda _: None
    timed: dict[str, TimedBatch] = field(default_factory=dict)
