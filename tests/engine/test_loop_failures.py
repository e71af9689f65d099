"""What fails costs what it must and no more: a sequence its document, a broken device its engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest

from service.core.gpu_reading import GpuReading
from service.core.liveness import MOST_SECONDS
from service.core.memory.budget import FAILURE_SHARE, ModelMemory
from service.core.memory.cost_model import MemoryCostModel
from service.core.types import Phase, Shape
from service.engine.device.gpu_monitor import GpuMonitor
from service.engine.lifecycle import DEVICE_START_SECONDS, START_SECONDS, ExitReason
from service.engine.loop import LOOK_SECONDS
from service.engine.memory.guard import Guard
from service.process import EXIT_BROKEN, EXIT_DEVICE_LOST, EXIT_UNUSABLE
from service.wire import Refused
from tests.support.engine_scenes import BUDGET, MODEL, OTHER_MODEL, A, B, Turn, World, document, hello, marked, play
from tests.support.manual_device import DEADLY, TOO_LARGE
from tests.support.memory_probes import BYTES_PER_TOKEN, REST_BYTES, Device


def test_when_loading_fails_the_loop_ends_and_says_why() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello()]
        world.startup.failure = "no such model"
        yield []

    world = play(scene, loaded=False)
    assert world.loop.exit_reason == ExitReason(EXIT_UNUSABLE, "no such model")
    assert (world.status().phase, world.status().detail) == (Phase.FAILED, "no such model")


def test_a_lost_device_ends_the_engine_without_refusals() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello()]
        yield [marked("deadly", 3, DEADLY), document("neighbour", 3)]
        yield [document("waits", 3)]
        world.device.step()
        yield []
        yield []

    world = play(scene)
    assert world.loop.exit_reason == ExitReason(
        EXIT_BROKEN, "AcceleratorError: CUDA error: device-side assert triggered"
    )
    assert world.status().phase is Phase.FAILED
    assert [world.answers(key) for key in ("deadly", "neighbour", "waits")] == [[], [], []]


def test_a_batch_that_hangs_ends_the_engine_without_refusals() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello()]
        yield [document("hangs", 3)]
        for _ in range(int(MOST_SECONDS) + 3):
            world.now += 1.0
            yield [hello()]

    world = play(scene)
    assert world.loop.exit_reason == ExitReason(EXIT_BROKEN, "a batch made no progress for 601 s")
    assert (world.status().phase, world.answers("hangs")) == (Phase.FAILED, [])


def test_a_pause_of_the_engine_is_no_batch_that_hangs() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello()]
        yield [document("slow", 3)]
        world.now += 10 * MOST_SECONDS
        yield [hello()]

    world = play(scene)
    assert (world.loop.exit_reason, world.scored("slow")) == (None, [0])


class Watched:
    """A watch over a GPU that is lost when told."""

    reason: str | None = None
    reported_late: str | None = None
    answers: int | None = None

    def take(self) -> list[GpuReading]:
        return [GpuReading(temperature_celsius=50.0)]

    def lost(self) -> str | None:
        return self.reason

    def verdict(self, _: float) -> str | None:
        return self.reason or self.reported_late


def test_a_lost_gpu_ends_the_engine_and_refuses_what_is_admitted() -> None:
    watched = Watched()

    def scene(world: World) -> Iterator[Turn]:
        yield [hello()]
        yield [document("runs", 3)]
        yield [document("waits", 3)]
        watched.reason = "GPU is lost"
        world.now += LOOK_SECONDS
        yield []
        yield []

    world = play(scene, gpu=cast(GpuMonitor, watched))
    assert world.loop.exit_reason == ExitReason(EXIT_DEVICE_LOST, "GPU is lost")
    assert world.status().phase is Phase.FAILED
    assert [world.refusal(key).code for key in ("runs", "waits")] == ["engine_restarting"] * 2


def test_an_engine_that_none_follows_waits_until_every_worker_has_heard_it() -> None:
    watched = Watched()
    turns: list[str] = []

    def scene(world: World) -> Iterator[Turn]:
        yield [hello(A), hello(B)]
        watched.reason = "GPU is lost"
        world.now += LOOK_SECONDS
        for name, turn in (
            ("lost", []),
            ("one has heard", [hello(A, closed=True)]),
            ("comes late", [document("late", 3, worker=B)]),
            ("both have heard", [hello(B, closed=True)]),
            ("never", []),
        ):
            turns.append(name)
            yield turn

    world = play(scene, gpu=cast(GpuMonitor, watched), workers=2)
    assert turns[-1] == "both have heard"
    assert world.answers("late") == []


def test_a_device_that_dies_idle_ends_the_engine_and_refuses_what_comes() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello()]
        yield []
        world.device.health.failed(RuntimeError("CUDA driver error: unspecified launch failure"))
        yield []

    world = play(scene)
    reason = "RuntimeError: CUDA driver error: unspecified launch failure"
    assert world.loop.exit_reason == ExitReason(EXIT_DEVICE_LOST, reason)
    assert (world.status().phase, world.status().final) == (Phase.FAILED, True)


def test_a_batch_that_fails_on_a_lost_gpu_refuses_what_is_admitted() -> None:
    watched = Watched()
    watched.reported_late = "GPU is lost"

    def scene(world: World) -> Iterator[Turn]:
        yield [hello()]
        yield [marked("runs", 3, DEADLY)]
        yield [document("waits", 3)]
        world.device.health.failed(RuntimeError("CUDA error: unspecified launch failure"))
        world.device.step()
        yield []

    world = play(scene, gpu=cast(GpuMonitor, watched))
    assert world.loop.exit_reason == ExitReason(EXIT_DEVICE_LOST, "GPU is lost")
    assert [world.refusal(key).code for key in ("runs", "waits")] == ["engine_restarting"] * 2


def test_a_batch_that_fails_on_a_healthy_gpu_goes_to_the_next_engine() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello()]
        yield [marked("runs", 3, DEADLY)]
        world.device.health.failed(RuntimeError("CUDA error: device-side assert triggered"))
        yield []
        world.device.step()
        yield []

    world = play(scene, gpu=cast(GpuMonitor, Watched()))
    assert world.loop.exit_reason is not None
    assert (world.loop.exit_reason.exit_code, world.status().final, world.answers("runs")) == (EXIT_BROKEN, False, [])


def test_a_driver_that_hangs_ends_the_engine_and_refuses_what_is_admitted() -> None:
    def scene(world: World) -> Iterator[Turn]:
        yield [hello()]
        yield [document("runs", 3)]
        world.device.health.answered()
        for _ in range(30):
            world.now += 1.0
            yield [hello()]

    world = play(scene)
    assert world.loop.exit_reason == ExitReason(EXIT_DEVICE_LOST, "the driver did not answer for 20 s")
    assert world.refusal("runs").code == "engine_restarting"


@pytest.mark.parametrize(
    ("gpu", "part", "seconds", "exit_code"),
    [
        ("GPU-1", "warm-up", DEVICE_START_SECONDS, EXIT_DEVICE_LOST),
        ("GPU-1", "load", START_SECONDS, EXIT_DEVICE_LOST),
        (None, "warm-up", START_SECONDS, EXIT_BROKEN),
        (None, "fetch", None, None),
    ],
)
def test_a_start_up_that_hangs_ends_the_engine(
    gpu: str | None, part: str, seconds: float | None, exit_code: int | None
) -> None:
    ended_after: list[float] = []

    def scene(world: World) -> Iterator[Turn]:
        world.startup.gpu = gpu
        with world.startup.timed(part):
            begun = world.now
            for _ in range(2 * int(START_SECONDS)):
                if world.loop.exit_reason is None:
                    ended_after[:] = [world.now - begun]
                world.now += 1.0
                yield [hello()]

    reason = play(scene, loaded=False).loop.exit_reason
    assert (None if reason is None else reason.exit_code) == exit_code
    if seconds is not None:
        assert ended_after[0] == pytest.approx(seconds, abs=2.0)


def test_a_start_up_that_goes_on_may_take_its_time() -> None:
    def scene(world: World) -> Iterator[Turn]:
        world.startup.gpu = "GPU-1"
        for _ in range(10 * int(START_SECONDS)):
            world.now += 1.0
            if int(world.now) % 100 == 0:
                with world.startup.timed("prove"):
                    pass
            yield [hello()]

    assert play(scene, loaded=False).loop.exit_reason is None


def test_a_batch_without_memory_shrinks_the_headroom_and_is_answered() -> None:
    memory = ModelMemory(MemoryCostModel(0, BYTES_PER_TOKEN, 0, 0, 0, 0.0), longest_tokens=4, most_tokens=BUDGET)
    guards: list[Guard] = []

    def scene(world: World) -> Iterator[Turn]:
        device = Device(REST_BYTES + BUDGET * BYTES_PER_TOKEN)
        guards.append(Guard(device, dict.fromkeys((MODEL, OTHER_MODEL), memory), world.device))
        world.load(guards[0])
        yield [hello()]
        yield [marked("large", 4, TOO_LARGE), document("neighbour", 4)]
        world.device.finish()
        yield []

    world = play(scene, loaded=False)
    assert (world.scored("large"), world.scored("neighbour")) == ([0], [0])
    assert guards[0].budget.headroom.shrinks == 1
    assert guards[0].budget.headroom.bytes == int(memory.function.bytes(Shape.of([4, 4])) * FAILURE_SHARE)


def test_a_failed_sequence_refuses_its_own_document_only() -> None:
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
