"""Batches that rise on a device of modelled speed and memory, their budgets, and which models share them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from model_store.families.family import CONFIG
from model_store.families.gliner2 import TRUNK_CONFIG
from service.core.arrays import TokenIds
from service.core.types import Shape
from service.engine.execution.runner import BatchHandle
from service.engine.models.factory import sizes_of
from service.engine.models.profiling import ENOUGH_SECONDS, IN_A_ROW, ROUNDS, BatchSizer, climb
from service.families.processor import zeros
from tests.support.label_models import HOME, WITH_RECORDS

LONGEST = 512


class ModelledRunner:
    """Batches that take the time which a device would; nothing is computed."""

    encoder = None
    blank = staticmethod(zeros)

    def __init__(self, base_seconds: float, tokens_per_second: float, room_tokens: int = 1 << 20) -> None:
        self.base_seconds = base_seconds
        self.tokens_per_second = tokens_per_second
        self.room_tokens = room_tokens
        self.now = 0.0
        self.launched: list[int] = []

    def launch(self, sequences: Sequence[TokenIds]) -> BatchHandle:
        tokens = sum(map(len, sequences))
        self.launched.append(tokens)
        handle = BatchHandle()
        handle.begun_seconds = self.now
        self.now += max(self.base_seconds, tokens / self.tokens_per_second)
        handle.ended_seconds = self.now
        if tokens > self.room_tokens:
            handle.splits, handle.out_of_memory = 1, [Shape.of([len(each) for each in sequences])]
        handle.complete([np.zeros((len(each), 2), dtype=np.float32) for each in sequences])
        return handle


def test_sizes_are_timed_after_they_ran_once() -> None:
    runner = ModelledRunner(0.004, 250_000)
    timed = climb(runner, LONGEST, 512)  # type: ignore[arg-type]
    assert [batch.tokens for batch in timed] == [64, 128, 256, 512]
    assert [round(batch.seconds, 6) for batch in timed] == [0.004] * 4
    times = 1 + ROUNDS * IN_A_ROW
    assert runner.launched == [64] * times + [128] * times + [256] * times + [512] * times


def test_a_size_that_takes_long_is_not_timed_again() -> None:
    runner = ModelledRunner(ENOUGH_SECONDS / IN_A_ROW, 250_000)
    climb(runner, LONGEST, 64)  # type: ignore[arg-type]
    assert runner.launched == [64] * (1 + IN_A_ROW)


def test_a_host_that_is_busy_for_a_moment_makes_no_batch_larger() -> None:
    class Disturbed(ModelledRunner):
        def launch(self, sequences: Sequence[TokenIds]) -> BatchHandle:
            if len(self.launched) % (1 + ROUNDS * IN_A_ROW) < 2 * IN_A_ROW:
                self.now += 0.05
            return super().launch(sequences)

    for kind in (ModelledRunner, Disturbed):
        timed = BatchSizer(0, 65_536).size("bert", kind(0.004, 250_000), LONGEST)  # type: ignore[arg-type]
        assert timed is not None
        assert (timed.tokens, round(timed.seconds, 6)) == (2_048, 2_048 / 250_000)


@pytest.mark.parametrize(
    ("base_seconds", "tokens_per_second", "room_tokens", "largest"),
    [(0.004, 30_000, 1 << 20, 2_048), (0.004, 250_000, 1 << 20, 8_192), (0.004, 3_000_000, 5_000, 4_096)],
    ids=["too long", "no gain", "no memory"],
)
def test_the_ladder_ends_early(base_seconds: float, tokens_per_second: float, room_tokens: int, largest: int) -> None:
    runner = ModelledRunner(base_seconds, tokens_per_second, room_tokens)
    assert climb(runner, LONGEST, 65_536)[-1].tokens == largest  # type: ignore[arg-type]


def test_no_sequence_is_longer_than_the_model_takes() -> None:
    runner = ModelledRunner(0.004, 250_000)
    assert [batch.tokens for batch in climb(runner, 50, 300)] == [50, 100, 250, 300]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("set_tokens", "room_tokens", "budget", "full"),
    [
        (0, 1 << 20, 2_048, 2_048),
        (0, 1_500, 1_024, 1_024),
        (16_384, 1 << 20, 16_384, 2_048),
        (300, 1 << 20, 300, 512),
        (0, 10, 65_536, None),
    ],
    ids=["chosen", "what memory holds", "set", "less than a sequence", "nothing fits"],
)
def test_a_budget_is_set_or_chosen(set_tokens: int, room_tokens: int, budget: int, full: int | None) -> None:
    sizer, runner = BatchSizer(set_tokens, 65_536), ModelledRunner(0.004, 30_000, room_tokens)
    timed = sizer.size("a", runner, LONGEST)  # type: ignore[arg-type]
    assert sizer.budget_tokens("a") == budget
    assert (timed and timed.tokens) == full


def test_a_model_of_the_same_architecture_is_not_timed_again() -> None:
    sizer, runner = BatchSizer(0, 65_536), ModelledRunner(0.004, 30_000)
    first = sizer.size("a", runner, LONGEST)  # type: ignore[arg-type]
    launched = len(runner.launched)
    assert sizer.size("a", runner, LONGEST) is first  # type: ignore[arg-type]
    assert len(runner.launched) == launched
    sizer.size("b", runner, LONGEST)  # type: ignore[arg-type]
    assert len(runner.launched) == 2 * launched


def test_models_that_differ_in_names_alone_compute_alike(tmp_path: Path) -> None:
    sizes = set()
    for number, (file, change) in enumerate(
        [
            (CONFIG, {}),
            (CONFIG, {"_name_or_path": "other"}),
            (CONFIG, {"max_len": 64}),
            (TRUNK_CONFIG, {"num_hidden_layers": 24}),
        ]
    ):
        folder = tmp_path / str(number)
        shutil.copytree(HOME / WITH_RECORDS, folder)
        config = json.loads((folder / file).read_text())
        (folder / file).write_text(json.dumps(config | change))
        sizes.add(sizes_of(folder, 0))
    assert len(sizes) == 3
    assert sizes_of(folder, 0) != sizes_of(folder, 1)
