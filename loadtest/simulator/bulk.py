"""Bulk job of a simulated fleet: files that are worked on with the room that interactive work leaves. Pure.

A file needs seconds of a task; every second each serving task gives what it has left. The job publishes what the bulk
process does, by the same functions (`core/bulk_scaling`), so a deadline asks for tasks as it would in a fleet.
"""

from __future__ import annotations

from dataclasses import dataclass

from service.core.bulk_scaling import AnsweredWork, BulkMeter, tasks_wanted
from service.signals.catalog import BULK_BACKLOG_SECONDS, BULK_TASKS_WANTED, Signal


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkDemand:
    """One job.

    Attributes:
        file_seconds: of one task for a file, with nothing else to do.
        begins_seconds, deadline_seconds: since the beginning of the run; without a deadline it uses idle time alone.
    """

    files: float
    file_seconds: float
    begins_seconds: float = 0.0
    deadline_seconds: float | None = None


class SimulatedJob:
    """The course of one job.

    Attributes:
        left: files that are not answered.
        ended_seconds: when the last one was; None while some are left.
    """

    def __init__(self, demand: BulkDemand, most_tasks: int) -> None:
        self.demand, self._most_tasks = demand, most_tasks
        self.left = demand.files
        self.ended_seconds: float | None = None
        self._meter = BulkMeter()

    def waits(self, now: float) -> bool:
        """True while there is something to do."""
        return now >= self.demand.begins_seconds and self.left > 0

    def work(self, room_seconds: float, tasks: int, elapsed_seconds: float, now: float) -> None:
        """Use the room that all tasks together had until now."""
        if not self.waits(now - elapsed_seconds):
            return
        done = min(room_seconds / self.demand.file_seconds, self.left)
        used = done * self.demand.file_seconds / room_seconds if room_seconds else 1.0
        self.left -= done
        if self.left <= self.demand.files * 1e-12:
            self.left, self.ended_seconds = 0.0, now - elapsed_seconds * (1 - used)
        self._meter.worked(tasks * elapsed_seconds, now)
        self._meter.answered(AnsweredWork(files=done), now)

    def signals(self, now: float) -> dict[Signal, float]:
        """Compute the signals that every task publishes."""
        left = self.left if self.waits(now) else 0.0
        backlog = left * self._meter.seconds_per_file(now)
        deadline = self.demand.deadline_seconds
        wanted = tasks_wanted(backlog, None if deadline is None else deadline - now, self._most_tasks)
        return {BULK_BACKLOG_SECONDS: backlog, BULK_TASKS_WANTED: float(wanted)}

    @property
    def in_time(self) -> bool | None:
        """True if the deadline was met; None without one."""
        deadline, ended = self.demand.deadline_seconds, self.ended_seconds
        return None if deadline is None else ended is not None and ended <= deadline
