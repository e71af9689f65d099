"""What happened when: a row for each period, a line for each event, printed as it happens and kept for the plot."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One period: what was offered, what the alarms saw, and what callers got."""

    at_seconds: float
    per_second: float
    wanted: int
    serving: int
    work_ratio: float
    backlog_seconds: float
    queue_depth: float
    busy_percent: float
    slowest_seconds: float
    answered: int
    failed: int
    sounding: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """Something that was decided or that came about."""

    at_seconds: float
    text: str


HEAD = (
    "| s | offered/s | wanted | serving | work ratio | backlog s | queue | busy % | slowest s | answered | failed "
    "| what happened |\n|---|---|---|---|---|---|---|---|---|---|---|---|"
)


@dataclass(slots=True)
class Timeline:
    """Rows and events since the start."""

    quiet: bool = False
    begun: float = field(default_factory=time.monotonic)
    rows: list[TimelineRow] = field(default_factory=list)
    events: list[TimelineEvent] = field(default_factory=list)
    _latencies: list[float] = field(default_factory=list)
    _failed: int = 0
    _shown: int = 0

    def start(self) -> None:
        """Count from now; what came before was preparation."""
        self.begun = time.monotonic()
        self.events.clear()
        if not self.quiet:
            print(HEAD, flush=True)

    def now(self) -> float:
        return time.monotonic() - self.begun

    def note(self, text: str) -> None:
        self.events.append(TimelineEvent(self.now(), text))

    def answered(self, seconds: float, status: int) -> None:
        self._latencies.append(seconds)
        self._failed += status != 200

    def take_answers(self) -> tuple[float, int, int]:
        """The slowest answer, how many there were and how many failed, since the last call."""
        latencies, failed = self._latencies, self._failed
        self._latencies, self._failed = [], 0
        return max(latencies, default=0.0), len(latencies), failed

    def add(self, row: TimelineRow) -> None:
        self.rows.append(row)
        happened, self._shown = self.events[self._shown :], len(self.events)
        if not self.quiet:
            print(line(row, happened), flush=True)


def line(row: TimelineRow, events: list[TimelineEvent]) -> str:
    """A row of the table."""
    happened = "; ".join(f"{event.at_seconds:.0f} s: {event.text}" for event in events)
    cells = (
        f"{row.at_seconds:.0f}",
        f"{row.per_second:g}",
        str(row.wanted),
        str(row.serving),
        f"{row.work_ratio:.2f}",
        f"{row.backlog_seconds:.1f}",
        f"{row.queue_depth:.0f}",
        f"{row.busy_percent:.0f}",
        f"{row.slowest_seconds:.2f}",
        str(row.answered),
        str(row.failed),
        happened,
    )
    return f"| {' | '.join(cells)} |"
