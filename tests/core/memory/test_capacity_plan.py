"""The arithmetic of a plan, on a device whose batches take 1,000 bytes a token."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.core.errors import InsufficientMemory
from service.core.memory.budget import ModelMemory
from service.core.memory.capacity_plan import CONTEXT_BYTES, GIBIBYTE, ModelMeasurements, plan
from service.core.memory.cost_model import MemoryCostModel

MEMORY = ModelMemory(MemoryCostModel(5_000, 1_000, 0, 0, 0, 0.25), longest_tokens=500, most_tokens=8_000)
MEASURED = ModelMeasurements(
    model="m@stable",
    device="here",
    dtype="bfloat16",
    weights_bytes=2_000_000,
    memory=MEMORY,
    available_bytes=9_000_000,
    fraction=0.9,
    weights_share=0.75,
    gpu_batch_tokens=65_536,
    tokens_per_second=1_234.0,
)


def test_the_plan_for_the_device_at_hand() -> None:
    found = plan(MEASURED)
    assert (found.device, found.measured_on, found.tokens_per_second) == ("here", "here", 1_234.0)
    assert (found.weights_bytes, found.activation_bytes_per_1000_tokens) == (2_000_000, 1_000_000)
    assert found.workspace_bytes == 6_001
    assert found.room_bytes == 9_000_000
    assert (found.batch_tokens, found.memory_batch_tokens) == (8_000, 8_994)
    assert found.models == int((10_000_000 + 2_000_000) * 0.75) // 2_000_000
    assert found.longest_sequence_tokens == 500


def test_the_plan_for_a_gpu_of_another_size() -> None:
    found = plan(MEASURED, gpu_memory_gib=1)
    free = GIBIBYTE - CONTEXT_BYTES
    assert found.device == "a GPU of 1 GiB"
    assert found.room_bytes == int((free - 2_000_000) * 0.9)
    assert found.batch_tokens == 65_536
    assert found.models == int(free * 0.75) // 2_000_000


def test_a_model_that_does_not_fit_at_all() -> None:
    """Its figures were zeros, with a speed beside them."""
    with pytest.raises(InsufficientMemory, match=r"does not fit a GPU of 1 GiB.* 1\.50 GiB"):
        plan(replace(MEASURED, weights_bytes=GIBIBYTE), gpu_memory_gib=1)
    with pytest.raises(InsufficientMemory, match="does not fit here"):
        plan(replace(MEASURED, available_bytes=100))
