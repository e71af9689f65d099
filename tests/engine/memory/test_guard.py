"""The guard on a device whose memory another process takes and gives back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.core.memory.budget import ModelMemory
from service.core.memory.cost_model import MemoryCostModel
from service.core.types import Shape
from service.engine.execution.executor import DeviceExecutor
from service.engine.memory.guard import LOOK_SECONDS, NOTICEABLE, REBASELINE_SECONDS, Guard
from tests.support.memory_probes import BYTES_PER_TOKEN, REST_BYTES, Device

MODEL = "sha256:a"
MEMORY = ModelMemory(MemoryCostModel(0, BYTES_PER_TOKEN, 0, 0, 0, 0.0), longest_tokens=512, most_tokens=8_192)


@pytest.fixture
def compute() -> Iterator[DeviceExecutor]:
    with DeviceExecutor() as executor:
        yield executor


def _guard(compute: DeviceExecutor, tokens: int = 4_096) -> tuple[Guard, Device]:
    device = Device(REST_BYTES + tokens * BYTES_PER_TOKEN)
    return Guard(device, {MODEL: MEMORY}, compute), device


def test_the_budget_is_what_the_device_has(compute: DeviceExecutor) -> None:
    guard, device = _guard(compute)
    assert guard.budget_tokens(MODEL) == 4_095  # One byte for rounding.
    assert guard.budget.smallest_budget_tokens(MODEL) == 512
    assert guard.admits(MODEL, Shape.of([512] * 7))
    assert not guard.admits(MODEL, Shape.of([512] * 9))
    assert device.caps == [4_096 * BYTES_PER_TOKEN]


def test_it_shrinks_before_a_batch_can_fail_and_hands_memory_back(compute: DeviceExecutor) -> None:
    guard, device = _guard(compute)
    guard.refresh(0.0)
    device.others_bytes = 3_000 * BYTES_PER_TOKEN
    guard.refresh(LOOK_SECONDS / 2)
    assert guard.budget_tokens(MODEL) == 4_095
    guard.refresh(LOOK_SECONDS)
    assert guard.budget_tokens(MODEL) == 1_095
    compute.submit(int).result()
    assert (device.cache_releases, device.caps[-1]) == (1, 1_096 * BYTES_PER_TOKEN)


def test_the_cache_is_released_only_once_losses_add_up(compute: DeviceExecutor) -> None:
    guard, device = _guard(compute)
    handed_back = []
    for step in range(1, 6):
        device.others_bytes = int(step * 0.4 * NOTICEABLE * 4_096) * BYTES_PER_TOKEN
        guard.refresh(step * LOOK_SECONDS)
        compute.submit(int).result()
        assert guard.budget_tokens(MODEL) == 4_095 - device.others_bytes // BYTES_PER_TOKEN
        handed_back.append(device.cache_releases)
    assert handed_back == [0, 0, 1, 1, 1]


def test_the_allocator_s_limit_is_set_anew_with_what_is_at_rest(compute: DeviceExecutor) -> None:
    guard, device = _guard(compute)
    guard.rebaseline()
    compute.submit(int).result()
    assert len(device.caps) == 2


def test_it_grows_back_slowly(compute: DeviceExecutor) -> None:
    guard, device = _guard(compute)
    device.others_bytes = 3_000 * BYTES_PER_TOKEN
    guard.refresh(0.0)
    device.others_bytes = 0
    budgets = []
    for step in range(1, 400):
        guard.refresh(step * LOOK_SECONDS)
        compute.submit(int).result()
        budgets.append(guard.budget_tokens(MODEL))
        assert device.caps[-1] >= budgets[-1] * BYTES_PER_TOKEN, "the allocator refuses what the budget admits"
    assert budgets == sorted(budgets)
    assert budgets[40] == 1_095
    assert 1_095 < budgets[100] < 4_095
    assert budgets[-1] == 4_095
    assert device.caps[-1] == 4_096 * BYTES_PER_TOKEN


def test_memory_at_rest_is_measured_anew_from_time_to_time(compute: DeviceExecutor) -> None:
    guard, device = _guard(compute)
    for now in (0.0, 1.0, REBASELINE_SECONDS, REBASELINE_SECONDS + 1.0):
        guard.refresh(now)
    compute.submit(int).result()
    assert device.rebaselines == 2


def test_without_a_probe_the_budget_stays_as_it_is(compute: DeviceExecutor) -> None:
    guard = Guard(None, {MODEL: MEMORY}, compute)
    guard.refresh(0.0)
    guard.rebaseline()
    assert (guard.budget_tokens(MODEL), guard.report()) == (MEMORY.most_tokens, None)
