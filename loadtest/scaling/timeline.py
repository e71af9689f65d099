"""The timeline of a rehearsal: a row per period and its events, printed as they come and kept for the plot."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One period: the offered load, the values that the alarms saw, the answers, and the slowest good one."""

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
    alarms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """A decision, or a task that began to serve or ended."""

    at_seconds: float
    text: str


HEAD = (
    "| s | offered/s | wanted | serving | work ratio | backlog s | queue | busy % | slowest s | answered | failed "
    "| what happened |\n|---|---|---|---|---|---|---|---|---|---|---|---|"
)


@dataclass(slots=True)
class Timeline:
    """Rows and events, in seconds since the start. `quiet`: nothing is printed."""

    quiet: bool = False
    began_at: float = field(default_factory=time.monotonic)
    rows: list[TimelineRow] = field(default_factory=list)
    events: list[TimelineEvent] = field(default_factory=list)
    _printed_events: int = 0

    def start(self) -> None:
        """Count from now, and forget the events of the preparation."""
        self.began_at = time.monotonic()
        self.events.clear()
        if not self.quiet:
            print(HEAD, flush=True)

    def now(self) -> float:
        return time.monotonic() - self.began_at

    def note(self, text: str) -> None:
        """Add an event."""
        self.events.append(TimelineEvent(self.now(), text))

    def add(self, row: TimelineRow) -> None:
        """Add a row, and print it with the events since the row before."""
        self.rows.append(row)
        events, self._printed_events = self.events[self._printed_events :], len(self.events)
        if not self.quiet:
            print(line(row, events), flush=True)


def line(row: TimelineRow, events: list[TimelineEvent]) -> str:
    """A row of the printed table."""
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
