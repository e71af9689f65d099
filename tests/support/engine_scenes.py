"""The engine's loop, turn by turn: a scripted door, a clock moved by hand, a device that computes when told.

A scene is a generator: each `yield` hands the loop the messages of one turn, and goes on when that turn is over. When
the scene ends, the service is told to stop, and the loop has to find its end by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast

import numpy as np

from service.core.memory.budget import FixedBudget
from service.core.models.placement import Placement
from service.core.types import Priority
from service.engine.device.gpu_monitor import GpuMonitor
from service.engine.execution.runner import Runner
from service.engine.ipc.loop_calls import LoopCalls
from service.engine.ipc.server import EngineSocket
from service.engine.loop import EngineLoop
from service.engine.models.loaded_model import InitialModels, LoadedModel
from service.engine.models.startup import StartupState
from service.engine.models.weight_mover import WeightMover
from service.metrics.engine import EngineMetrics
from service.settings import Settings
from service.wire import Buffer, Cancelled, Hello, Message, ModelStatus, Refused, Scored, Started, Status, Submitted
from tests.support.manual_device import BROKEN, Encoder, HandMovedDevice

BUDGET = 10
QUEUE_LIMIT = 100
GRACE_SECONDS = 2.0
DRAIN_SECONDS = 20.0
FAR = 1e9
MODEL, OTHER_MODEL = "sha256:a", "sha256:b"
A, B = b"a", b"b"
MOST_TURNS = 10_000
Turn = list[tuple[bytes, Message, Buffer | None]]
Scene = Callable[["World"], Iterator[Turn]]


class World:
    """Everything around one loop; also the door that it looks through."""

    def __init__(self, scene: Scene, *, loaded: bool = True, gpu: GpuMonitor | None = None, workers: int = 1) -> None:
        self.now = 1_000.0
        self.device = HandMovedDevice()
        self.encoder = Encoder()
        self.loading = StartupState()
        self.sent: list[tuple[bytes, Message]] = []
        self.metrics = EngineMetrics()
        self.stopping = False
        self.waits: list[float] = []
        self._workers: set[bytes] = set()
        self._turns = scene(self)
        if loaded:
            self.load()
        limits = {"queue_limit_tokens": QUEUE_LIMIT, "drain_seconds": DRAIN_SECONDS, "workers": workers}
        settings = Settings(drain_grace_seconds=GRACE_SECONDS, **limits)  # type: ignore[arg-type]
        errands = LoopCalls(lambda: None)
        mover = WeightMover(self.device, errands, self.metrics)
        door = cast(EngineSocket, self)
        clock = lambda: self.now  # noqa: E731
        self.loop = EngineLoop("1", door, self.loading, mover, errands, settings, self.metrics, clock, gpu)

    def load(self) -> None:
        """The models are ready from the next turn on."""
        runner = Runner(self.encoder, self.device, lambda: None)
        residency, held, serving = Placement(None), [], {}
        for name, revision in (("m", MODEL), ("n", OTHER_MODEL)):
            status = ModelStatus(name, "stable", revision, f"/{name}", ("O",), 512, True, 1)
            held.append(LoadedModel(status, "", runner, self.encoder))
            serving[name] = revision
            residency.add(revision, 1, self.now)
            residency.bring(revision, self.now, ())
        self.loading.loaded = InitialModels(serving, held, residency, FixedBudget(BUDGET, BUDGET), "cpu", "float32")

    # The door

    def receive(self, timeout_seconds: float) -> Iterator[tuple[bytes, Message, Buffer | None]]:
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


def document(
    key: str, *lengths: int, worker: bytes = A, model: str = MODEL, deadline: float = FAR, broken: int | None = None
) -> tuple[bytes, Message, Buffer | None]:
    """A submission; the sequence `broken` is one that the model fails on."""
    ids = np.concatenate([np.full(n, BROKEN if i == broken else i, dtype=np.int32) for i, n in enumerate(lengths)])
    return worker, Submitted(key, model, lengths, "c", Priority.INTERACTIVE, deadline, 0), ids


def marked(key: str, length: int, mark: int) -> tuple[bytes, Message, Buffer | None]:
    """A submission of one sequence of this mark."""
    submitted = Submitted(key, MODEL, (length,), "c", Priority.INTERACTIVE, FAR, 0)
    return A, submitted, np.full(length, mark, dtype=np.int32)


def hello(worker: bytes = A, active: int = 1, *, closed: bool = False) -> tuple[bytes, Message, Buffer | None]:
    return worker, Hello(active, closed), None


def cancelled(key: str, worker: bytes = A) -> tuple[bytes, Message, Buffer | None]:
    return worker, Cancelled(key), None
