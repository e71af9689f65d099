"""The models of one engine: switches, what is kept and for how long, and whose turn it is on the device."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any

import pytest
from msgspec import structs

from service.core.admission.policy import ModelQuotas
from service.core.decoding.model_decoding import PLAIN
from service.core.drain import WorkerRegistry
from service.core.placement import Placement
from service.core.scheduling.scheduler import QueueLimits, Scheduler
from service.engine.device.watch import DeviceHealth
from service.engine.engine_socket import LoopCalls
from service.engine.execution.runner import Runner
from service.engine.memory.guard import Guard
from service.engine.models.device_weights import WeightMover
from service.engine.models.loaded_model import InitialModels, LoadedModel, ProfiledModel
from service.engine.models.manager import IDLE_SECONDS, ModelManager
from service.families.token_classifier.reducing import reduce_to_tags
from service.metrics.engine import EngineMetrics
from service.wire import ModelStatus
from tests.support.budgets import unmeasured
from tests.support.metric_values import value
from tests.support.submissions import submission

WEIGHT_BYTES = 10
MEMORY = unmeasured(512, 512)
WORKER = b"w"
CODE = {"path": "fused", "attention": "flash", "kernels": "cuda", "dtype": "bfloat16", "reason": "none"}


class AtOnce(Executor):
    """The compute thread, as if it were always free."""

    def __init__(self) -> None:
        self.health = DeviceHealth()
        self.compute_threads = 1
        self.takes_turns = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future

    submit_in_order = submit

    def submit_batch(self, batch: Callable[[], None], *, yields: bool = False) -> None:
        batch()


class Weights:
    """Says where it is; fails to come while it is broken."""

    def __init__(self) -> None:
        self.here = True
        self.broken = False

    def forward(self, _sequences: object) -> list[Any]:
        raise AssertionError("nothing is launched here")

    def offload(self) -> None:
        self.here = False

    def load(self) -> None:
        if self.broken:
            raise RuntimeError("no room")
        self.here = True


class World:
    """A manager of `a` and `b`, whose revisions are `a0` and `b0`, and one worker."""

    def __init__(self, budget_bytes: int | None = None, quotas: ModelQuotas | None = None) -> None:
        self.now = 1_000.0
        self.weights: dict[str, Weights] = {}
        self.released: list[str] = []
        self.scheduler: Scheduler[str] = Scheduler(QueueLimits(10_000))
        self.workers = WorkerRegistry(1)
        self.calls = LoopCalls(lambda: None)
        self.metrics = EngineMetrics()
        placement = Placement(budget_bytes)
        first = [self.profiled(name) for name in ("a0", "b0")]
        for each in first:
            revision = each.model.revision
            placement.add(revision, WEIGHT_BYTES, self.now)
            for evicted in placement.place(revision, self.now, ()) or ():
                self.weights[evicted].offload()
            placement.arrived(revision, 0.0, self.now)
        serving = {"a": "a0", "b@candidate": "b0"}
        guard = Guard(None, dict.fromkeys(("a0", "b0"), MEMORY), AtOnce())
        mover = WeightMover(AtOnce(), self.calls, self.metrics)
        self.models = ModelManager(self.scheduler, mover, quotas or ModelQuotas({}, {}), self.metrics)
        self.models.open(InitialModels(serving, tuple(first), placement, guard, "cpu", "float32", self.released.append))

    def profiled(self, revision: str) -> ProfiledModel:
        self.weights[revision] = Weights()
        status = ModelStatus(revision[0], "stable", revision, "/m", ("O",), 512, True, WEIGHT_BYTES)
        runner = Runner(self.weights[revision], AtOnce(), lambda: None)
        status = structs.replace(status, **CODE)
        return ProfiledModel(
            LoadedModel(status, "", runner, self.weights[revision], partial(reduce_to_tags, PLAIN)), MEMORY
        )

    def bring_new(self, reference: str, revision: str) -> None:
        """A new revision, from its reservation to the switch."""
        assert self.models.weights.reserve(revision, WEIGHT_BYTES, self.now) is not None
        self.models.admit_candidate(self.profiled(revision), self.now)
        self.models.switch(reference, revision)

    def hello(self, *revisions: str, informed: bool = True) -> None:
        version = self.models.version if informed else 0
        self.workers.record_heartbeat(WORKER, 1, False, self.now, version=version, revisions=revisions)

    def collect(self, seconds: float = 0.0) -> None:
        self.now += seconds
        self.calls.run()
        self.models.collect_retired(self.workers, self.now)

    def listed(self) -> list[tuple[str, str, str]]:
        return [(each.revision, each.state, each.place) for each in self.models.statuses()]


def test_a_switch_serves_the_new_revision_and_keeps_the_previous_one() -> None:
    world = World()
    version = world.models.version
    world.bring_new("a", "a1")
    assert world.listed() == [
        ("a1", "serving", "device"),
        ("b0", "serving", "device"),
        ("a0", "previous", "device"),
    ]
    assert world.models.version > version
    assert [each.tag for each in world.models.statuses()] == ["stable", "candidate", ""]


def test_the_one_before_the_previous_is_dropped_once_no_worker_uses_it() -> None:
    world = World()
    world.bring_new("a", "a1")
    world.hello("a0")
    world.bring_new("a", "a2")
    world.collect()
    assert "a0" in world.models
    world.hello("a0")
    world.collect()
    assert "a0" in world.models
    world.hello(informed=False)
    world.collect()
    assert "a0" in world.models
    world.hello("a1")
    world.collect()
    assert "a0" not in world.models
    assert (world.released, world.weights["a0"].here) == (["a0"], False)
    assert {"a1", "a2"} <= set(world.models.loaded())


def test_an_idle_previous_revision_is_offloaded_and_can_be_loaded_again() -> None:
    world = World()
    world.models.launched("a0", 5, world.now)
    world.bring_new("a", "a1")
    world.hello()
    world.collect()
    assert ("a0", "previous", "device") in world.listed()
    world.collect(IDLE_SECONDS + 1)
    assert not world.weights["a0"].here
    assert ("a0", "previous", "host") in world.listed()
    assert world.models.weights.is_ready("a0", world.now, ["a0"])
    assert ("a0", "previous", "device") in world.listed()


def test_documents_in_the_queue_keep_their_revision() -> None:
    world = World()
    world.scheduler.admit(submission("a0-10", 10, model="a0"), world.now, None)
    world.bring_new("a", "a1")
    world.bring_new("a", "a2")
    world.hello()
    world.collect(IDLE_SECONDS + 1)
    assert "a0" in world.models
    world.scheduler.cancel("a0-10")
    world.collect()
    assert "a0" not in world.models


def test_a_tag_that_moves_back_finds_its_revision_there() -> None:
    world = World()
    world.bring_new("a", "a1")
    world.models.switch("a", "a0")
    assert [each[:2] for each in world.listed()] == [("a0", "serving"), ("b0", "serving"), ("a1", "previous")]
    world.hello()
    world.collect(IDLE_SECONDS + 1)
    assert world.weights["a0"].here


def test_a_discarded_candidate_is_dropped_and_its_problem_shown() -> None:
    world = World()
    world.models.weights.reserve("a1", WEIGHT_BYTES, world.now)
    world.models.admit_candidate(world.profiled("a1"), world.now)
    assert world.models.refusal_for(submission("a1-10", 10, model="a1"), world.now) is None
    world.models.discard("a1")
    world.models.aliases.note_problem("a", "golden example 1 fails")
    world.hello()
    world.collect()
    assert "a1" not in world.models
    assert world.models.statuses()[0].problem == "golden example 1 fails"
    refusal = world.models.refusal_for(submission("a1-10", 10, model="a1"), world.now)
    assert refusal is not None
    assert refusal.code == "engine_restarting"
    world.bring_new("a", "a2")
    assert world.models.statuses()[0].problem == ""


def test_a_discarded_reservation_frees_its_place() -> None:
    world = World(budget_bytes=3 * WEIGHT_BYTES)
    assert world.models.weights.reserve("a1", WEIGHT_BYTES, world.now) == []
    world.models.discard("a1")
    assert world.released == ["a1"]
    assert world.models.weights.reserve("a2", WEIGHT_BYTES, world.now) == []


def test_without_room_a_candidate_offloads_another_model() -> None:
    world = World(budget_bytes=2 * WEIGHT_BYTES)
    world.models.launched("a0", 5, world.now + 1)
    world.bring_new("a", "a1")
    assert (world.weights["a0"].here, world.weights["b0"].here) == (True, False)
    assert world.models.weights.is_ready("b0", world.now + 60, ["b0"])
    assert not world.weights["a0"].here


def test_a_model_that_cannot_be_loaded_is_offloaded_and_tried_again() -> None:
    world = World(budget_bytes=WEIGHT_BYTES)
    world.weights["a0"].broken = True
    assert world.models.weights.is_ready("a0", world.now + 60, ["a0"])
    world.calls.run()
    assert ("a0", "serving", "host") in world.listed()
    world.weights["a0"].broken = False
    assert world.models.weights.is_ready("a0", world.now + 120, ["a0"])
    assert world.weights["a0"].here


def test_a_rate_limit_holds_for_its_model_whatever_the_revision() -> None:
    world = World(quotas=ModelQuotas({}, {"a": 10.0}))
    assert world.models.refusal_for(submission("a0-101", 101, model="a0"), world.now) is None
    world.bring_new("a", "a1")
    refusal = world.models.refusal_for(submission("a1-100", 100, model="a1"), world.now)
    assert refusal is not None
    assert refusal.code == "rate_limited"
    assert refusal.retry_after_seconds == pytest.approx(0.1)
    assert world.models.refusal_for(submission("b0-100", 100, model="b0"), world.now) is None


def test_metrics_name_a_model_and_sum_what_waits_for_all_its_revisions() -> None:
    world = World()
    world.scheduler.admit(submission("a0-30", 30, model="a0"), world.now, None)
    world.bring_new("a", "a1")
    world.scheduler.admit(submission("a1-12", 12, model="a1"), world.now, None)
    world.models.aliases.note_problem("b@candidate", "golden example 1 fails")
    world.models.export_metrics()
    metrics = world.metrics.models
    assert [value(metrics.queue_tokens, model=name) for name in ("a", "b")] == [42, 0]
    assert value(metrics.rejected, model="a", tag="stable") == 0
    assert value(metrics.rejected, model="b", tag="candidate") == 1


def test_a_manager_that_is_not_open_refuses_as_not_ready() -> None:
    metrics = EngineMetrics()
    scheduler: Scheduler[str] = Scheduler(QueueLimits(10))
    mover = WeightMover(AtOnce(), LoopCalls(lambda: None), metrics)
    models = ModelManager(scheduler, mover, ModelQuotas({}, {}), metrics)
    refusal = models.refusal_for(submission("a0-10", 10, model="a0"), 0.0)
    assert refusal is not None
    assert (refusal.code, models.statuses(), models.loaded(), models.version) == ("not_ready", (), (), 0)
    models.guard.refresh(0.0)
    models.export_metrics()


def test_a_sequence_that_may_not_fit_the_device_is_refused() -> None:
    refusal = World().models.refusal_for(submission("a0-513", 513, model="a0"), 0.0)
    assert refusal is not None
    assert refusal.code == "insufficient_memory"


def test_what_runs_a_revision_is_a_metric_for_as_long_as_it_is_held() -> None:
    world = World()

    def path(revision: str) -> float:
        return value(world.metrics.models.path, model=revision[0], revision=revision, **CODE)

    for revision in ("a1", "a2"):
        world.bring_new("a", revision)
    assert [path(each) for each in ("a0", "a2", "b0")] == [1.0, 1.0, 1.0]
    world.hello("a1")
    world.collect()
    assert [path(each) for each in ("a0", "a1", "a2")] == [0.0, 1.0, 1.0]
