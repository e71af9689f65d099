"""Debug snapshot of an engine: its load, the batches that it ran, its memory and its refusals.

It travels only when a worker asks for it, so a service that nobody watches pays only for keeping it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator

import msgspec

from service.core.types import Batch, Load, Refusal, Shape

MOST_BATCHES = 256
"""Batches that an engine remembers: some seconds of a GPU, minutes of a CPU."""


class BatchRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One batch that ran, the `number`th of its engine, with device times.

    Attributes:
        full_tokens: token budget of a batch at that moment.
        predicted_bytes: memory by the cost model; 0 where none is measured.
        documents: key → tokens of each of its sequences.
        clients: client → number of its sequences.
    """

    number: int
    model: str
    begun_seconds: float
    ended_seconds: float
    tokens: int
    full_tokens: int
    longest: int
    predicted_bytes: int
    documents: dict[str, tuple[int, ...]]
    clients: dict[str, int]


class RefusalCount(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Number of documents refused with one code, and the last reason."""

    code: str
    documents: int
    detail: str


class MemoryUse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Memory guard's state in bytes; `room_bytes`: for batches, `floor_bytes`: least that this may shrink to.

    Attributes:
        budget_tokens: revision → most tokens of a batch now.
    """

    rest_bytes: int
    room_bytes: int
    floor_bytes: int
    available_bytes: int
    shrinks: int
    budget_tokens: dict[str, int]


class GpuUse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """NVML's readings of the GPU; None where it gives none."""

    utilization_ratio: float | None
    memory_used_bytes: int | None
    memory_total_bytes: int | None
    power_watts: float | None


class DebugSnapshot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One engine at one moment.

    Attributes:
        now_seconds: time of the monotonic clock.
        work_ratios: stage → asked-for work over capacity.
        busy_seconds: time in which batches ran, since the start.
        batches: batches after the requested number, oldest first.
    """

    engine: str
    now_seconds: float
    load: Load
    backlog_seconds: float
    work_ratios: dict[str, float]
    tokens_per_second: float | None
    arrived_tokens_per_second: float
    busy_seconds: float
    batches: tuple[BatchRun, ...]
    refusals: tuple[RefusalCount, ...]
    memory: MemoryUse | None = None
    gpu: GpuUse | None = None


class _Ran(msgspec.Struct, frozen=True):
    number: int
    batch: Batch
    seconds: tuple[float, float]
    full_tokens: int
    clients: dict[str, int]


class EngineHistory:
    """The last batches of an engine, and all its refusals by code."""

    def __init__(self) -> None:
        self._batches: deque[_Ran] = deque(maxlen=MOST_BATCHES)
        self._refused: Counter[str] = Counter()
        self._details: dict[str, str] = {}

    def ran(
        self, number: int, batch: Batch, seconds: tuple[float, float], full_tokens: int, clients: dict[str, int]
    ) -> None:
        """Remember a batch: when the device began and ended it, and whose sequences it held."""
        self._batches.append(_Ran(number, batch, seconds, full_tokens, clients))

    def refused(self, refusal: Refusal) -> None:
        """Remember a refusal."""
        self._refused[refusal.code] += 1
        self._details[refusal.code] = refusal.detail

    def turned_away(self, code: str, documents: int) -> None:
        self._refused[code] += documents

    def refusals(self) -> tuple[RefusalCount, ...]:
        """List all refusals so far, the most frequent first."""
        return tuple(
            RefusalCount(code, count, self._details.get(code, "")) for code, count in self._refused.most_common()
        )

    def since(self, number: int, predict: Callable[[str, Shape], int]) -> Iterator[BatchRun]:
        """Yield the batches after this number; `predict`: estimates the bytes of a model's batch."""
        for each in self._batches:
            if each.number > number:
                yield _run(each, predict(each.batch.model, each.batch.shape))


def _run(ran: _Ran, predicted_bytes: int) -> BatchRun:
    documents: dict[str, tuple[int, ...]] = {}
    for sequence in ran.batch.sequences:
        documents[sequence.key] = (*documents.get(sequence.key, ()), sequence.tokens)
    shape = ran.batch.shape
    return BatchRun(
        number=ran.number,
        model=ran.batch.model,
        begun_seconds=ran.seconds[0],
        ended_seconds=ran.seconds[1],
        tokens=shape.tokens,
        full_tokens=ran.full_tokens,
        longest=shape.longest,
        predicted_bytes=predicted_bytes,
        documents=documents,
        clients=ran.clients,
    )
