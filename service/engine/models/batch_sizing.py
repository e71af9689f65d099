"""Batch sizing: runs batches of growing size on a model until larger ones cannot become its budget.

What lies between the smallest and the budget is warm afterwards: libraries load a kernel when it is first needed.
"""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING

import numpy as np

from service.core.arrays import TokenIds
from service.core.errors import GleanerError
from service.core.scheduling.batch_size_sweep import choose, is_over, sizes_to_time
from service.core.scheduling.throughput import TimedBatch

if TYPE_CHECKING:
    from service.engine.execution.runner import Runner

TYPICAL_TOKENS = 128
"""Of a sequence."""

IN_A_ROW = 3
"""Batches timed together, as under load: each is queued while the one before it runs."""

ROUNDS, ENOUGH_SECONDS = 3, 0.1
"""How often a size is timed, and the time after which it is not timed again. The least counts: a host that is busy with
something else makes a batch longer, and a size that looks slow by that would make all batches larger."""

log = logging.getLogger(__name__)


class BatchSizer:
    """The budgets of one engine's models, by their architecture: a model like one that was timed is not timed again.

    Args:
        set_tokens: the budget of all models; 0: chosen for each.
        largest_tokens: the largest that is tried where none is set.
    """

    def __init__(self, set_tokens: int, largest_tokens: int) -> None:
        self._set_tokens = set_tokens
        self._largest_tokens = set_tokens or largest_tokens
        self._full: dict[str, TimedBatch | None] = {}

    def size(self, sizes: str, runner: Runner, longest_tokens: int) -> TimedBatch | None:
        """The batch that fills the budget, with its time; of a budget that is set, the largest that could be run."""
        if sizes not in self._full:
            timed = climb(runner, longest_tokens, max(self._largest_tokens, longest_tokens))
            self._full[sizes] = None if not timed else timed[-1] if self._set_tokens else choose(timed, longest_tokens)
        return self._full[sizes]

    def budget_tokens(self, sizes: str) -> int:
        """The budget of models of this architecture; the largest before `size` was asked."""
        full = self._full.get(sizes)
        return self._largest_tokens if self._set_tokens or full is None else full.tokens


def climb(runner: Runner, longest_tokens: int, most_tokens: int) -> list[TimedBatch]:
    """Times of batches, the smallest first; ends before sizes for which memory runs out."""
    timed: list[TimedBatch] = []
    for tokens in sizes_to_time(most_tokens):
        batch = _time(runner, min(TYPICAL_TOKENS, longest_tokens, tokens), tokens)
        if batch is None:
            break
        timed.append(batch)
        if is_over(timed, longest_tokens):
            break
    milliseconds = {batch.tokens: round(1_000 * batch.seconds, 2) for batch in timed}
    log.info("batches timed", extra={"milliseconds": milliseconds})
    return timed


def _time(runner: Runner, length: int, tokens: int) -> TimedBatch | None:
    """None if memory does not hold it."""
    batch = [np.zeros(length, dtype=np.int32)] * (tokens // length)
    runner.launch(batch).result()
    spent, least = 0.0, math.inf
    for _ in range(ROUNDS):
        if (seconds := _run_in_a_row(runner, batch)) is None:
            return None
        spent, least = spent + seconds, min(least, seconds)
        if spent >= ENOUGH_SECONDS:
            break
    return TimedBatch(length * len(batch), least / IN_A_ROW)


def _run_in_a_row(runner: Runner, batch: list[TokenIds]) -> float | None:
    """Seconds of a few batches one right behind the other; None if memory does not hold them."""
    handles = [runner.launch(batch) for _ in range(IN_A_ROW)]
    outcomes = [outcome for handle in handles for outcome in handle.result()]
    if any(handle.splits for handle in handles) or any(isinstance(each, GleanerError) for each in outcomes):
        return None
    return max(each.ended_seconds for each in handles) - min(each.begun_seconds for each in handles)
