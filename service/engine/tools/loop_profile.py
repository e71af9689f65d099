"""`python -m service.engine.tools.loop_profile [BATCHES]`: profiles the loop's Python per sequence and per batch.

The loop is the real one, with its scheduler, memory budget, request table, metrics and the wire's packing. Only socket
and device are replaced: documents of one sequence stand in a list, and the device returns at once. Prints JSON.
"""

from __future__ import annotations

import cProfile
import pstats
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from typing import Any, cast

import msgspec
import numpy as np
import torch

from service.core.arrays import Logits, TokenIds
from service.core.memory.budget import ModelMemory
from service.core.memory.cost_model import MemoryCostModel, ProbeAccuracy
from service.core.models.placement import Placement
from service.core.types import Priority
from service.engine.assembly import make_loop
from service.engine.device.health import DeviceHealth
from service.engine.execution.runner import Runner
from service.engine.ipc.loop_calls import LoopCalls
from service.engine.ipc.server import EngineSocket, Received
from service.engine.memory.guard import Guard
from service.engine.models.loaded_model import InitialModels, LoadedModel, ProfiledModel
from service.engine.models.startup_state import StartupState
from service.metrics.engine import EngineMetrics
from service.settings import Settings
from service.wire import Buffer, Hello, Message, ModelStatus, Refused, Submitted, delivery, messages_in, pack

MODEL, WORKER = "sha256:m", b"worker"
TOKENS, LABELS, BATCH_TOKENS = 160, 9, 16_000
SEQUENCES = BATCH_TOKENS // TOKENS
LARGEST = 3


class _ImmediateExecutor(Executor):
    """A device that runs work when it is submitted."""

    def __init__(self) -> None:
        self.health = DeviceHealth()
        self.lanes = 1
        self.side_by_side = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done

    submit_in_order = submit

    def submit_batch(self, batch: Callable[[], None]) -> None:
        batch()


class _NullEncoder:
    """Returns the same logits for every sequence, at no cost."""

    device = torch.device("cpu")
    max_tokens = 512

    def __init__(self) -> None:
        self._rows = np.zeros((TOKENS, LABELS), dtype=np.float32)

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        return [self._rows] * len(sequences)

    def offload(self) -> None:
        """There are no weights."""

    load = offload


class _Probe:
    """Memory that stays as it is."""

    accuracy = ProbeAccuracy(noise_bytes=0, margin=1.0)
    rest_bytes = 0

    def rebaseline(self) -> None:
        """Nothing is in use."""

    release_cache = rebaseline

    def available_bytes(self) -> int:
        return 1 << 30

    def peak_bytes(self, work: Callable[[], object]) -> int:
        raise AssertionError("nothing is measured here")

    def cap(self, room_bytes: int) -> None:
        """There is no allocator."""


class _Messages:
    """A socket that delivers one batch of documents at each turn of the loop, packed as workers pack them."""

    def __init__(self, batches: int) -> None:
        tokens = np.zeros(TOKENS, dtype=np.int32)
        deadline = time.monotonic() + 3_600

        def submitted(key: str) -> bytes:
            message = Submitted(key, MODEL, (TOKENS,), "c", Priority.INTERACTIVE, deadline, 0)
            return delivery(pack(message, tokens))

        turns = [[submitted(f"{turn}-{n}") for n in range(SEQUENCES)] for turn in range(batches)]
        self._turns: Iterator[list[bytes]] = iter(turns)
        self.over = False
        self.calls = LoopCalls(lambda: None)

    def receive(self, timeout_seconds: float, gather_seconds: float = 0.0) -> Iterator[Received]:
        turn = next(self._turns, None)
        self.over = turn is None
        for frame in turn or ():
            for message, buffer in messages_in([frame]):
                yield WORKER, message, buffer
        if turn is None:
            yield WORKER, Hello(0, closed=True), None

    def send(self, worker: bytes, message: Message, buffer: Buffer | None = None) -> None:
        assert not isinstance(message, Refused), "nothing is refused here"
        delivery(pack(message, buffer))


def main() -> int:
    """Profile this many full batches and print their costs."""
    batches = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    plain = _run(batches)
    profile = cProfile.Profile()
    profile.enable()
    _run(batches)
    profile.disable()
    sequences = batches * SEQUENCES
    largest = [
        {"name": name, "microseconds_per_sequence": 1e6 * seconds * plain / total / sequences}
        for name, seconds, total in _largest(profile)
    ]
    figures = {
        "sequences_per_batch": SEQUENCES,
        "microseconds_per_sequence": 1e6 * plain / sequences,
        "microseconds_per_batch": 1e6 * plain / batches,
        "largest": largest,
    }
    sys.stdout.buffer.write(msgspec.json.encode(figures))
    return 0


def _run(batches: int) -> float:
    """Seconds of the loop's thread."""
    compute, metrics, messages = _ImmediateExecutor(), EngineMetrics(), _Messages(batches)
    settings = Settings(drain_grace_seconds=0.0, drain_seconds=60.0)
    loop = make_loop("1", cast(EngineSocket, messages), compute, StartupState(), settings, metrics)
    loop.open(_initial(compute))
    begun = time.thread_time()
    loop.run(lambda: messages.over)
    return time.thread_time() - begun


def _initial(compute: _ImmediateExecutor) -> InitialModels:
    model, placement = _NullEncoder(), Placement(None)
    placement.add(MODEL, 1, 0.0)
    placement.place(MODEL, 0.0, ())
    status = ModelStatus("m", "stable", MODEL, "/m", ("O",) * LABELS, 512, True, 1)
    loaded = LoadedModel(status, "", Runner(model, compute, lambda: None), model)
    memory = ModelMemory(MemoryCostModel(0.0, 1.0, 0.0, 0.0, 0.0, 0.0), 512, BATCH_TOKENS)
    guard = Guard(_Probe(), {MODEL: memory}, compute)
    return InitialModels({"m": MODEL}, (ProfiledModel(loaded, memory),), placement, guard, "none", "none")


def _largest(profile: cProfile.Profile) -> list[tuple[str, float, float]]:
    """The functions of the service with the most own time, libraries included: name, seconds, seconds of all."""
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    total = sum(row[2] for row in stats.values())
    own: dict[tuple[str, int, str], float] = {}
    for function, row in stats.items():
        ours = "/service/" in function[0]
        for place, seconds in [(function, row[2])] if ours else ((caller, part[2]) for caller, part in row[4].items()):
            own[place] = own.get(place, 0.0) + seconds
    named = {
        place: seconds for place, seconds in own.items() if "/service/" in place[0] and "loop_profile" not in place[0]
    }
    ranked = sorted(named.items(), key=lambda item: item[1], reverse=True)[:LARGEST]
    return [(f"{file.rpartition('/service/')[2]} {name}", seconds, total) for (file, _, name), seconds in ranked]


if __name__ == "__main__":
    sys.exit(main())
