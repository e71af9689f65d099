"""A start-up on a modelled device: sizes are timed and a budget is chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.core.scheduling.batch_size_sweep import LONGEST_SECONDS
from tests.rehearsal.devices import A10G, T4, Device
from tests.rehearsal.engine_parts import SmallEngine
from tests.rehearsal.scene import Gpu, play

WIDE, DEEP = 1_024, 6


def _started(gpu: Gpu) -> tuple[int, float, int, list[str]]:
    engine = SmallEngine(gpu, hidden=WIDE, layers=DEEP)
    timed = engine.profiler.time(engine.model)
    assert timed is not None
    assert engine.profiler.time(engine.model) == timed
    return timed.tokens, timed.seconds, engine.profiler.measure(engine.model).most_tokens, engine.log.messages


@pytest.mark.parametrize("device", [T4, A10G], ids=lambda each: each.name)
def test_a_budget_is_chosen_by_times(device: Device, tmp_path: Path) -> None:
    tokens, seconds, budget, messages = play(_started, device, tmp_path)
    assert tokens == budget
    assert 2_048 <= budget < 65_536
    assert seconds <= LONGEST_SECONDS
    assert messages.count("batches timed") == 1
