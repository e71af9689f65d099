"""The engine's loop, turn by turn: a scripted socket, a clock moved by hand, a device that computes when told.

A scene is a generator: each `yield` hands the loop the messages of one turn, and goes on when that turn is over. When
the scene ends, the service is told to stop, and the loop has to find its end by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

import numpy as np

from service.core.decoding.model_decoding import PLAIN
from service.core.placement import Placement
from service.core.scheduling.throughput import TimedBatch
from service.core.types import Priority
from service.engine.assembly import make_loop
from service.engine.device.gpu_monitor import GpuMonitor
from service.engine.engine_socket import EngineSocket, LoopCalls, Received
from service.engine.execution.runner import Runner
from service.engine.memory.guard import Guard
from service.engine.models.loaded_model import InitialModels, LoadedModel, ProfiledModel
from service.engine.models.startup import StartupState
from service.families.token_classifier.reducing import reduce_to_tags
from service.metrics.engine import EngineMetrics
from service.settings import Settings
from service.wire import (
    Buffer,
    Cancelled,
    Hello,
    Message,
    ModelStatus,
    Refused,
    Scored,
    Started,
    Status,
    Submitted,
)
from tests.support import async_tests
from tests.support.budgets import unmeasured
from tests.support.manual_device import BROKEN, Encoder, HandMovedDevice

BUDGET = 10
QUEUE_LIMIT = 100
GRACE_SECONDS = 2.0
DRAIN_SECONDS = 20.0
FAR = 1e9
MODEL, OTHER_MODEL = "sha256:a", "sha256:b"
A, B = b"a", b"b"
MOST_TURNS = 10_000
Turn = list[Received]
Scene = Callable[["World"], Iterator[Turn]]


class World:
    """Everything around one loop; also the socket that it receives from."""

    def __init__(self, scene: Scene, *, loaded: bool = True, gpu: GpuMonitor | None = None, workers: int = 1) -> None:
        self.now = 1_000.0
        self.device = HandMovedDevice()
        self.encoder = Encoder()
        self.startup = StartupState()
        self.sent: list[tuple[bytes, Message]] = []
        self.metrics = EngineMetrics()
        self.stopping = False
        self.waits: list[float] = []
        self.calls = LoopCalls(lambda: None)
        self._workers: set[bytes] = set()
        self._turns = scene(self)
        limits = {"queue_limit_tokens": QUEUE_LIMIT, "drain_seconds": DRAIN_SECONDS, "workers": workers}
        settings = Settings(drain_grace_seconds=GRACE_SECONDS, **limits)  # type: ignore[arg-type]
        ipc, clock = cast(EngineSocket, self), lambda: self.now
        self.loop = make_loop("1", ipc, self.device, self.startup, settings, self.metrics, gpu=gpu, clock=clock)
        if loaded:
            self.load()

    def load(self, guard: Guard | None = None, timed: TimedBatch | None = None) -> None:
        """The models are ready from the next turn on."""
        runner = Runner(self.encoder, self.device, lambda: None)
        placement, models, serving = Placement(None), [], {}
        memory = unmeasured(BUDGET, BUDGET)
        for name, revision in (("m", MODEL), ("n", OTHER_MODEL)):
            status = ModelStatus(name, "stable", revision, f"/{name}", ("O",), 512, True, 1)
            models.append(
                ProfiledModel(
                    LoadedModel(status, "", runner, self.encoder, partial(reduce_to_tags, PLAIN)), memory, timed
                )
            )
            serving[name] = revision
            placement.add(revision, 1, self.now)
            placement.place(revision, self.now, ())
        guard = guard or Guard(None, dict.fromkeys((MODEL, OTHER_MODEL), memory), self.device)
        initial = InitialModels(serving, tuple(models), placement, guard, "cpu", "float32")
        self.calls.submit(lambda: self.loop.open(initial))

    # The socket

    def receive(self, timeout_seconds: float) -> Iterator[Received]:
        self.waits.append(timeout_seconds)
        assert len(self.waits) < MOST_TURNS, "the loop does not find its end"
        turn = next(self._turns, None)
        for worker, message, buffer in self._closing() if turn is None else turn:
            self._workers.add(worker)
            yield worker, message, buffer

    def send(self, worker: bytes, message: Message, buffer: Buffer | None = None) -> None:
        self.sent.append((worker, message))
        if isinstance(message, Scored):
            assert buffer is not None
            assert buffer.shape == (message.tokens, message.labels)

    def _closing(self) -> Turn:
        """After the scene: everybody closes and is quiet, time passes, the device goes on."""
        self.stopping = True
        self.now += 0.5
        self.device.at_once = True
        self.device.finish()
        return [(worker, Hello(0, closed=True), None) for worker in self._workers]

    # What was sent

    def answers(self, key: str) -> list[Message]:
        """Everything that was said of one document but its start."""
        return [m for _, m in self.sent if isinstance(m, Scored | Refused) and m.key == key]

    def refusal(self, key: str) -> Refused:
        (answer,) = self.answers(key)
        assert isinstance(answer, Refused), f"{key} was not refused: {answer}"
        return answer

    def scored(self, key: str) -> list[int]:
        """The sequences of a document that were answered, in that order."""
        return [m.index for m in self.answers(key) if isinstance(m, Scored)]

    def started(self) -> list[tuple[str, ...]]:
        return [m.keys for _, m in self.sent if isinstance(m, Started)]

    def status(self, worker: bytes = A) -> Status:
        """The last one that this worker heard."""
        return [m for name, m in self.sent if name == worker and isinstance(m, Status)][-1]


def play(scene: Scene, *, loaded: bool = True, gpu: GpuMonitor | None = None, workers: int = 1) -> World:
    """Run a scene of a service with so many workers to the loop's end."""
    world = World(scene, loaded=loaded, gpu=gpu, workers=workers)
    world.loop.run(lambda: world.stopping)
    return world


def played(**options: Any) -> Callable[[async_tests.Scene], Callable[..., None]]:
    """Make a test of a scene; `options` are those of `play`."""

    def decorate(scene: async_tests.Scene) -> Callable[..., None]:
        return async_tests.as_test(scene, lambda **own: play(lambda world: scene(world, **own), **options))

    return decorate


def document(
    key: str,
    *lengths: int,
    worker: bytes = A,
    model: str = MODEL,
    deadline: float = FAR,
    broken: int | None = None,
    allowed: float = math.inf,
) -> Received:
    """A submission; the sequence `broken` is one that the model fails on."""
    ids = np.concatenate([np.full(n, BROKEN if i == broken else i, dtype=np.int32) for i, n in enumerate(lengths)])
    priority = Priority.INTERACTIVE
    return worker, Submitted(key, model, lengths, "c", priority, deadline, 0, allowed_seconds=allowed), ids


def marked(key: str, length: int, mark: int) -> Received:
    """A submission of one sequence of this mark."""
    submitted = Submitted(key, MODEL, (length,), "c", Priority.INTERACTIVE, FAR, 0)
    return A, submitted, np.full(length, mark, dtype=np.int32)


def hello(worker: bytes = A, active: int = 1, *, closed: bool = False) -> Received:
    return worker, Hello(active, closed), None


def cancelled(key: str, worker: bytes = A) -> Received:
    return worker, Cancelled(key), None
