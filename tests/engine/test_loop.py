"""The engine's loop, turn by turn: a scripted door, a clock moved by hand, a device that computes when told.

A scene is a generator: each `yield` hands the loop the messages of one turn, and goes on when that turn is over. When
the scene ends, the service is told to stop, and the loop has to find its end by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from service.core.drain import WORKER_SILENCE_SECONDS
from service.core.gpu import GpuReading
from service.core.memory import FixedBudget
from service.core.residency import Residency
from service.core.sequence import Phase, Priority, Shape
from service.engine.door import Door
from service.engine.ending import EXIT_BROKEN, Ending
from service.engine.errands import Errands
from service.engine.gpu_watch import GpuWatch
from service.engine.held import Held, Loaded
from service.engine.loading import Loading
from service.engine.loop import EngineLoop
from service.engine.moving import Mover
from service.engine.packing import Tokens
from service.engine.report import STATUS_SECONDS
from service.engine.runner import Logits, Runner
from service.metrics import EngineMetrics
from service.process import EXIT_DEVICE_LOST, EXIT_UNUSABLE
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
    TurnedAway,
)

BUDGET = 10
QUEUE_LIMIT = 100
GRACE_SECONDS = 2.0
DRAIN_SECONDS = 20.0
FAR = 1e9
MODEL, OTHER_MODEL = "sha256:a", "sha256:b"
BROKEN, DEADLY, TOO_LARGE = -1, -2, -3
A, B = b"a", b"b"
MOST_TURNS = 10_000

Turn = list[tuple[bytes, Message, Buffer | None]]
Scene = Callable[["World"], Iterator[Turn]]


class HandMovedDevice(Executor):
    """Computes one launched batch each time it is told to; with `at_once`, as soon as it is launched."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], object]] = []
        self.at_once = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.waiting.append(lambda: fn(*args, **kwargs))
        if self.at_once:
            self.step()
        return Future()

    def fly(self, batch: Callable[[], None]) -> None:
        self.submit(batch)

    def step(self) -> None:
        self.waiting.pop(0)()

    def finish(self) -> None:
        while self.waiting:
            self.step()


class Encoder:
    """Gives each token its own id as logit; fails over a batch that holds a broken sequence."""

    device = torch.device("cpu")
    max_tokens = 512

    def __init__(self) -> None:
        self.batches: list[list[int]] = []

    def forward(self, sequences: Sequence[Tokens]) -> list[Logits]:
        self.batches.append([len(tokens) for tokens in sequences])
        if any(BROKEN in tokens for tokens in sequences):
            raise ValueError("a bug")
        if any(DEADLY in tokens for tokens in sequences):
            raise torch.AcceleratorError("CUDA error: device-side assert triggered")
        if len(sequences) > 1 and any(TOO_LARGE in tokens for tokens in sequences):
            raise torch.OutOfMemoryError("CUDA out of memory")
        return [tokens.astype(np.float32)[:, None] for tokens in sequences]

    def leave(self) -> None:
        """The weights are nowhere in particular."""

    come = leave


class World:
    """Everything around one loop; also the door that it looks through."""

    def __init__(self, scene: Scene, *, loaded: bool = True, gpu: GpuWatch | None = None) -> None:
        self.now = 1_000.0
        self.device = HandMovedDevice()
        self.encoder = Encoder()
        self.loading = Loading()
        self.sent: list[tuple[bytes, Message]] = []
        self.metrics = EngineMetrics()
        self.stopping = False
        self.waits: list[float] = []
        self._workers: set[bytes] = set()
        self._turns = scene(self)
        if loaded:
            self.load()
        limits = {"queue_limit_tokens": QUEUE_LIMIT, "drain_seconds": DRAIN_SECONDS}
        settings = Settings(drain_grace_seconds=GRACE_SECONDS, **limits)  # type: ignore[arg-type]
        errands = Errands(lambda: None)
        mover = Mover(self.device, errands, self.metrics)
        door = cast(Door, self)
        clock = lambda: self.now  # noqa: E731
        self.loop = EngineLoop("1", door, self.loading, mover, errands, settings, self.metrics, clock, gpu)

    def load(self) -> None:
        """The models are ready from the next turn on."""
        runner = Runner(self.encoder, self.device, lambda: None)
        residency, held, serving = Residency(None), [], {}
        for name, revision in (("m", MODEL), ("n", OTHER_MODEL)):
            status = ModelStatus(name, "stable", revision, f"/{name}", ("O",), 512, True, 1)
            held.append(Held(status, "", runner, self.encoder))
            serving[name] = revision
            residency.add(revision, 1, self.now)
            residency.bring(revision, self.now, ())
        self.loading.loaded = Loaded(serving, held, residency, FixedBudget(BUDGET, BUDGET), "cpu", "float32")

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


def play(scene: Scene, *, loaded: bool = True, gpu: GpuWatch | None = None) -> World:
    """Run a scene to the loop's end."""
    world = World(scene, loaded=loaded, gpu=gpu)
    world.loop.run(lambda: world.stopping)
    return world


def document(
    key: str, *lengths: int, worker: bytes = A, model: str = MODEL, deadline: float = FAR, broken: int | None = None
) -> tuple[bytes, Message, Buffer | None]:
    """A submission; the sequence `broken` is one that the model fails on."""
    ids = np.concatenate([np.full(n, BROKEN if i == broken else i, dtype=np.int32) for i, n in enumerate(lengths)])
    return worker, Submitted(key, model, lengths, "c", Priority.INTERACTIVE, deadline, 0), ids


def hello(worker: bytes = A, active: int = 1, *, closed: bool = False) -> tuple[bytes, Message, Buffer | None]:
    return worker, Hello(active, closed), None


def cancelled(key: str, worker: bytes = A) -> tuple[bytes, Message, Buffer | None]:
    return worker, Cancelled(key), None


def test_a_lone_document_is_launched_at_once_and_its_worker_told() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello()]
        yield [document("k", 3)]
        assert (len(world.device.waiting), world.started()) == (1, [("k",)])
        world.device.step()
        yield []
        assert world.scored("k") == [0]

    play(scene)


def test_what_workers_turned_away_counts_as_demand_and_as_refused() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello()]
        yield [document("k", 3)]
        world.device.step()
        yield []
        world.now += 1
        yield [(A, TurnedAway("deadline_exceeded", 7, 7_000), None)]
        yield []
        refused = world.metrics.refusals.labels("deadline_exceeded")
        assert refused._value.get() == 7
        world.now += 1
        yield []
        yield []
        assert world.metrics.backlog_seconds._value.get() > 0
        assert world.metrics.work_ratio._value.get() > 0

    play(scene)


def test_the_loop_waits_only_when_there_is_nothing_to_launch() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield []
        yield []
        assert world.waits[-1] > 0
        yield [document("k", 3)]
        world.device.step()

    play(scene)


def test_while_the_device_computes_a_batch_stays_open_for_late_arrivals() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield []
        yield [document("first", 4)]
        yield [document("second", 4)]
        yield [document("third", 3)]
        assert len(world.device.waiting) == 1
        world.device.step()
        yield []
        assert world.started() == [("first",), ("second", "third")]
        world.device.step()
        assert world.encoder.batches == [[4], [4, 3]]

    play(scene)


def test_when_the_device_is_free_the_next_batch_is_launched_before_the_last_one_is_delivered() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield []
        yield [document("first", 4)]
        yield [document("second", 4)]
        world.device.step()
        yield []
        kinds = [type(message) for _, message in world.sent if isinstance(message, Started | Scored)]
        assert kinds == [Started, Started, Scored]

    play(scene)


def test_a_full_batch_is_formed_ahead_and_no_third_one() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield []
        yield [document("first", 4)]
        yield [document("second", 5), document("third", 5), document("fourth", 10)]
        assert world.started() == [("first",), ("second", "third")]
        assert len(world.device.waiting) == 2
        world.device.step()
        yield []
        assert world.started()[2:] == [("fourth",)]

    play(scene)


def test_a_long_document_goes_out_in_windows_and_comes_back_whole() -> None:
    world = play(lambda _: iter([[], [document("long", 10, 10, 10, 4)]]))
    assert sorted(world.scored("long")) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("submission", "code"),
    [
        (document("k", 3, model="sha256:nobody"), "unknown_model"),
        (document("k", BUDGET + 1), "insufficient_memory"),
        (document("k", 3, deadline=999.0), "deadline_exceeded"),
    ],
)
def test_a_document_that_cannot_be_served_is_refused_at_the_door(
    submission: tuple[bytes, Message, Buffer | None], code: str
) -> None:
    world = play(lambda _: iter([[], [submission]]))
    assert world.refusal("k").code == code
    assert world.encoder.batches == []


def test_a_document_over_the_queue_s_limit_is_refused_with_the_time_to_wait_and_the_others_are_served() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield []
        yield [document("warm", 1)]
        world.device.step()
        yield [document(f"k{n}", *[10] * 5) for n in range(3)]
        assert world.refusal("k2").code == "queue_full"
        assert world.refusal("k2").retry_after_seconds is not None

    world = play(scene)
    assert [sorted(world.scored(f"k{n}")) for n in range(2)] == [[0, 1, 2, 3, 4]] * 2


def test_before_the_models_are_loaded_everything_is_refused_as_not_ready_and_admitted_afterwards() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello(), document("early", 3)]
        assert world.refusal("early").code == "not_ready"
        assert world.status().models == ()
        world.load()
        yield []
        assert (world.status().phase, world.status().percent, world.status().admitting) == (Phase.READY, 100, True)
        yield [document("late", 3)]

    assert play(scene, loaded=False).scored("late") == [0]


def test_when_loading_fails_the_loop_ends_and_says_why() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello()]
        world.loading.failure = "no such model"
        yield []

    world = play(scene, loaded=False)
    assert world.loop.ending == Ending(EXIT_UNUSABLE, "no such model", refuse=False)
    assert (world.status().phase, world.status().detail) == (Phase.FAILED, "no such model")


def marked(key: str, length: int, mark: int) -> tuple[bytes, Message, Buffer | None]:
    """A submission of one sequence of this mark."""
    submitted = Submitted(key, MODEL, (length,), "c", Priority.INTERACTIVE, FAR, 0)
    return A, submitted, np.full(length, mark, dtype=np.int32)


def test_a_broken_device_ends_the_engine_and_what_waits_is_left_to_the_next_one() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello()]
        yield [marked("deadly", 3, DEADLY), document("neighbour", 3)]
        yield [document("waits", 3)]
        world.device.step()
        yield []
        yield []

    world = play(scene)
    assert world.loop.ending == Ending(
        EXIT_BROKEN, "AcceleratorError: CUDA error: device-side assert triggered", refuse=False
    )
    assert world.status().phase is Phase.FAILED
    assert [world.answers(key) for key in ("deadly", "neighbour", "waits")] == [[], [], []]


class Watched:
    """A watch over a GPU that is lost when told."""

    reason: str | None = None

    def take(self) -> list[GpuReading]:
        return [GpuReading(temperature_celsius=50.0)]

    def lost(self) -> str | None:
        return self.reason


def test_a_lost_gpu_ends_the_engine_and_refuses_what_waits_because_no_other_engine_will_come() -> None:
    watched = Watched()

    def scene(world: World) -> Iterator[Turn]:
        yield [hello()]
        yield [document("runs", 3)]
        yield [document("waits", 3)]
        watched.reason = "GPU is lost"
        yield []
        yield []

    world = play(scene, gpu=cast(GpuWatch, watched))
    assert world.loop.ending == Ending(EXIT_DEVICE_LOST, "GPU is lost", refuse=True)
    assert world.status().phase is Phase.FAILED
    assert [world.refusal(key).code for key in ("runs", "waits")] == ["engine_restarting"] * 2


@dataclass(frozen=True)
class Learning(FixedBudget):
    """Notes what it is told."""

    shapes: list[tuple[str, Shape]] = field(default_factory=list)

    def failed(self, model: str, shape: Shape, now: float) -> None:
        self.shapes.append((model, shape))


def test_the_memory_model_learns_of_batches_for_which_memory_ran_out_and_their_documents_are_answered() -> None:
    memory = Learning(BUDGET, BUDGET)

    def scene(world: World) -> Iterator[Turn]:
        assert world.loading.loaded is not None
        world.loading.loaded = replace(world.loading.loaded, memory=memory)
        yield [hello()]
        yield [marked("large", 4, TOO_LARGE), document("neighbour", 4)]
        world.device.step()
        yield []

    world = play(scene)
    assert (world.scored("large"), world.scored("neighbour")) == ([0], [0])
    assert memory.shapes == [(MODEL, Shape.of([4, 4]))]


def test_a_document_that_is_cancelled_while_it_waits_is_never_computed() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield []
        yield [document("first", 4)]
        yield [document("gone", 3)]
        yield [cancelled("gone")]

    world = play(scene)
    assert (world.answers("gone"), world.started(), world.scored("first")) == ([], [("first",)], [0])


def test_a_document_that_is_cancelled_while_it_runs_gets_nothing() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield []
        yield [document("gone", 4, 4), document("stays", 2)]
        yield [cancelled("gone"), cancelled("never there")]
        world.device.step()

    world = play(scene)
    assert (world.answers("gone"), world.scored("stays")) == ([], [0])


def test_a_sequence_that_fails_refuses_its_own_document_once_and_no_neighbour() -> None:
    def scene(_: World) -> Iterator[Turn]:
        yield []
        yield [document("good", 3), document("bad", 2, 2, broken=0), document("too", 3)]

    world = play(scene)
    assert (world.scored("good"), world.scored("too")) == ([0], [0])
    refusals = [answer for answer in world.answers("bad") if isinstance(answer, Refused)]
    assert [answer.code for answer in refusals] == ["internal_error"]


def test_after_a_document_failed_its_further_windows_are_not_computed() -> None:
    def scene(_: World) -> Iterator[Turn]:
        yield []
        yield [document("bad", *[10] * 6, broken=0)]

    world = play(scene)
    assert [type(answer) for answer in world.answers("bad")] == [Refused]
    assert len(world.encoder.batches) <= 3  # Those that had been launched by then.


def test_a_deadline_that_passes_in_the_queue_is_refused() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield []
        yield [document("first", 4)]
        yield [document("late", 3, deadline=world.now + 1)]
        world.now += 2
        yield []
        assert world.refusal("late").code == "deadline_exceeded"

    play(scene)


def test_a_repeated_submission_is_answered_once() -> None:
    world = play(lambda _: iter([[], [document("k", 3), document("k", 3)], [document("k", 3)]]))
    assert world.scored("k") == [0]


def test_models_are_not_mixed_in_a_batch() -> None:
    def scene(_: World) -> Iterator[Turn]:
        yield []
        yield [document("a", 3), document("b", 3, model=OTHER_MODEL)]

    assert sorted(play(scene).encoder.batches) == [[3], [3]]


def test_a_new_worker_hears_at_once_how_things_are_and_all_hear_it_again() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield []
        yield [hello(B)]
        assert world.status(B).phase is Phase.READY
        heard = len(world.sent)
        world.now += STATUS_SECONDS
        yield []
        assert [name for name, message in world.sent[heard:] if isinstance(message, Status)] == [B]

    play(scene)


def test_a_worker_that_falls_silent_is_worked_for_no_more_and_others_are() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello(A), hello(B)]
        yield [document("first", 4, worker=B)]
        yield [document("silent's", 3, worker=A), document("other's", 3, worker=B)]
        world.now += WORKER_SILENCE_SECONDS + 1
        yield [hello(B)]
        assert world.refusal("silent's").code == "internal_error"

    world = play(scene)
    assert (world.scored("other's"), world.scored("first"), world.scored("silent's")) == ([0], [0], [])


def test_during_its_grace_a_draining_engine_admits_and_finishes_what_it_has() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello()]
        world.stopping = True
        yield [document("early", 3)]
        assert (world.status().phase, world.status().admitting) == (Phase.DRAINING, True)
        world.now += GRACE_SECONDS
        yield [hello(active=1)]
        assert not world.status().admitting
        yield [document("let in before", 3)]  # The worker let its request in while the door was open.
        world.device.finish()
        yield []
        world.device.finish()
        yield [hello(active=0, closed=True)]

    world = play(scene)
    assert (world.scored("early"), world.scored("let in before")) == ([0], [0])


def test_a_draining_engine_waits_for_every_worker_to_know_and_to_be_quiet() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello(A), hello(B)]
        world.stopping = True
        world.now += GRACE_SECONDS
        yield []
        world.now += GRACE_SECONDS
        yield [hello(A, 0, closed=True), hello(B, 0, closed=False)]
        yield [hello(B, 1, closed=True)]
        yield [hello(B, 0, closed=True)]
        raise AssertionError("the loop should have ended")

    play(scene)


def test_a_draining_engine_does_not_wait_for_a_worker_that_is_gone() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello(A)]
        world.stopping = True
        world.now += GRACE_SECONDS
        yield []
        world.now += WORKER_SILENCE_SECONDS + 1
        yield []
        raise AssertionError("the loop should have ended")

    play(scene)


def test_when_the_drain_is_over_what_is_left_is_refused() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello()]
        yield [document("running", 10), document("waiting", 10, 10)]
        world.stopping = True
        yield [hello()]
        world.now += GRACE_SECONDS + DRAIN_SECONDS
        yield [hello()]
        assert (world.refusal("running").code, world.refusal("waiting").code) == ("draining", "draining")

    world = play(scene)
    assert [type(answer) for key in ("running", "waiting") for answer in world.answers(key)] == [Refused, Refused]


def test_a_stop_before_the_models_are_loaded_ends_the_loop_once_all_workers_had_time_to_say_that_they_wait() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello(active=0)]
        world.stopping = True
        yield []
        world.now += 3.0
        yield []
        raise AssertionError("the loop should have ended")

    play(scene, loaded=False)


def test_a_stop_before_the_models_are_loaded_waits_for_what_an_earlier_engine_left() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello()]
        world.stopping = True
        yield []
        world.now += 3.0
        yield []
        world.load()
        yield []
        yield [document("a", 3), hello(active=1, closed=True)]
        world.device.finish()
        yield []
        assert world.scored("a") == [0]
        world.now += GRACE_SECONDS
        yield [hello(active=0, closed=True)]
        raise AssertionError("the loop should have ended")

    play(scene, loaded=False)


KEYS = st.sampled_from([f"k{n}" for n in range(12)])
LENGTHS = st.lists(st.integers(1, BUDGET + 1), min_size=1, max_size=4)
ACTIONS = st.one_of(
    st.tuples(st.just("submit"), KEYS, LENGTHS, st.sampled_from([A, B]), st.sampled_from([FAR, FAR, 1_005.0, 900.0])),
    st.tuples(st.just("submit broken"), KEYS, LENGTHS, st.sampled_from([A, B]), st.just(FAR)),
    st.tuples(st.just("cancel"), KEYS),
    st.tuples(st.just("compute")),
    st.tuples(st.just("wait"), st.floats(0.1, 3.0)),
    st.tuples(st.just("turn")),
)


@given(st.lists(ACTIONS, max_size=40))
@settings(max_examples=150, deadline=None)
def test_whatever_happens_every_document_is_answered_exactly_once(actions: list[Any]) -> None:
    submitted: dict[str, int] = {}
    gone: dict[str, int] = {}

    def scene(world: World) -> Iterator[Turn]:
        turn: Turn = []
        yield [hello(A), hello(B)]
        for action in actions:
            match action:
                case (str(kind), key, lengths, worker, deadline) if key not in submitted:
                    submitted[key] = len(lengths)
                    broken = 0 if kind == "submit broken" else None
                    turn.append(document(key, *lengths, worker=worker, deadline=deadline, broken=broken))
                case ("cancel", key) if key in submitted and key not in gone:
                    yield turn
                    gone[key] = len(world.answers(key))
                    turn = [cancelled(key)]
                case ("compute",) if world.device.waiting:
                    world.device.step()
                case ("wait", seconds):
                    world.now += seconds
                    turn += [hello(A), hello(B)]
                case ("turn",):
                    yield turn
                    turn = []
        yield turn

    world = play(scene)
    for key, sequences in submitted.items():
        answers = world.answers(key)
        refusals = [answer for answer in answers if isinstance(answer, Refused)]
        scored = Counter(answer.index for answer in answers if isinstance(answer, Scored))
        assert all(count == 1 for count in scored.values()), f"{key}: a sequence was answered twice"
        if key in gone:
            assert len(answers) == gone[key], f"{key}: answered after it was cancelled"
        elif refusals:
            assert answers[-1:] == refusals, f"{key}: refused more than once, or answered after it was refused"
        else:
            assert set(scored) == set(range(sequences)), f"{key}: sequences without an answer"
