"""Metrics of the bulk process, by which a fleet is scaled; the publisher and KEDA read them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from service.core.worker_load import Stage
from service.metrics.processes import ProcessMetrics
from service.metrics.prometheus import gauge_of_processes


class BulkMetrics:
    """Metrics of the bulk process: its queue, and its part of the task's work."""

    def __init__(self) -> None:
        self.backlog_seconds = gauge_of_processes(
            "gleaner_bulk_backlog_seconds",
            "Seconds that one task would need for all files in the bulk queue.",
            together="livemax",
        )
        self.tasks_wanted = gauge_of_processes(
            "gleaner_bulk_tasks_wanted",
            "Tasks that clear the bulk queue by its deadline; without a deadline 1, without work 0.",
            together="livemax",
        )
        self.deadline_left_seconds = gauge_of_processes(
            "gleaner_bulk_deadline_left_seconds",
            "Seconds until the first deadline of the bulk jobs at work, negative after it; +Inf without one.",
            together="livemax",
        )
        self.dead_letters = gauge_of_processes(
            "gleaner_bulk_dead_letters",
            "Chunks among the bulk queue's dead letters; NaN where they may not be counted.",
            together="livemax",
        )
        self.stage_work_ratio = gauge_of_processes(
            "gleaner_bulk_stage_work_ratio",
            "Bulk's part of gleaner_stage_work_ratio, which scaling leaves out.",
            "stage",
            together="livemax",
        )
        self.process = ProcessMetrics("bulk")

    def update(
        self,
        backlog_seconds: float,
        tasks_wanted: int,
        work_ratios: Mapping[Stage, float],
        *,
        deadline_left_seconds: float | None,
        dead_letters: float,
    ) -> None:
        """Set all gauges, once in ten seconds: `core/bulk_scaling` computes most values."""
        self.backlog_seconds.set(backlog_seconds)
        self.tasks_wanted.set(tasks_wanted)
        self.deadline_left_seconds.set(math.inf if deadline_left_seconds is None else deadline_left_seconds)
        self.dead_letters.set(dead_letters)
        for stage, ratio in work_ratios.items():
            self.stage_work_ratio.labels(stage).set(ratio)
        self.process.update()
