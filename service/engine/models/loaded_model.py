"""A loaded model: its status, the runner of its batches, its memory, and its weights, which may be offloaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from service.core.arrays import Logits, TokenIds
from service.core.errors import GleanerError
from service.core.memory.budget import ModelMemory
from service.core.placement import Placement
from service.core.scheduling.throughput import TimedBatch
from service.engine.memory.guard import Guard
from service.families.processor import Reducer
from service.wire import ModelStatus

if TYPE_CHECKING:
    from service.engine.execution.offloading import Offloadable
    from service.engine.execution.runner import Runner


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """One revision that can run, whether or not it serves.

    Attributes:
        sizes: equal for models of equal architecture, whose batches take equal memory.
        reduce: what is done with a batch's scores before they are sent.
    """

    status: ModelStatus
    sizes: str
    runner: Runner
    weights: Offloadable
    reduce: Reducer

    @property
    def revision(self) -> str:
        return self.status.revision

    def infer(self, sequences: list[TokenIds]) -> list[Logits]:
        """The logits of each sequence, one at a time: each fits the device alone, and no request waits."""
        logits = []
        for tokens in sequences:
            (outcome,) = self.runner.launch([tokens]).result()
            if isinstance(outcome, GleanerError):
                raise outcome
            logits.append(outcome)
        return logits


@dataclass(frozen=True, slots=True)
class ProfiledModel:
    """A loaded model, what its batches need, and one timed batch of it (None where it could not be run whole)."""

    model: LoadedModel
    memory: ModelMemory
    timed: TimedBatch | None = None


@dataclass(frozen=True, slots=True)
class FailedModel:
    """A reference for which no revision could be brought up.

    Attributes:
        revision: the one that it leads to; empty where that could not be read.
        problem: why it is not served.
        tries_again: with the same revision, because the reason may pass.
    """

    revision: str
    problem: str
    tries_again: bool


@dataclass(frozen=True, slots=True)
class InitialModels:
    """The models, placement and guard that an engine begins to serve with.

    Attributes:
        serving: reference, as in the settings → the revision that it stands for.
        models: all revisions that are loaded.
        placement: where their weights are.
        guard: over the memory of all of them.
        device, dtype: what they run on and in, in words.
        release: to be called with each revision that is dropped.
        failed: references of the settings that are not in `serving`.
        references: all of them, in the order of the settings; those of `serving` if empty.
    """

    serving: dict[str, str]
    models: tuple[ProfiledModel, ...]
    placement: Placement
    guard: Guard
    device: str
    dtype: str
    release: Callable[[str], None] = lambda _: None
    failed: Mapping[str, FailedModel] = field(default_factory=dict)
    references: tuple[str, ...] = ()
