"""Timeline and assessment of an autoscaling test: a row per period, events, the plot, and what is not as required."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from infra.scaling.autoscaler import Decision
from loadtest.generator.records import Records
from loadtest.report.chart import Band, Chart, Series
from loadtest.report.draw import HEIGHT, WIDTH, draw
from loadtest.scenario.scenario import Phase


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


DECISION_LIMIT_SECONDS = 40.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """The figures of one test.

    Attributes:
        decision_seconds: from the step to the first decision to scale out; None without one.
        scaled_out_by: tasks added during the high load.
        seen_steady_seconds: how long the high load went on after the fleet should have settled, which is a start and
            half a minute after the first decision (the policy's own cooldown).
        later_changes: decisions in that time; a steady fleet has none.
        added_after: tasks added after the load went down; a fleet that does not oscillate has none.
        scaled_in_by: tasks removed under load.
        refused: requests refused with 429, 503 or 504.
        lost: requests without an answer, or with any other status.
        lost_scaling_in: lost requests that were due after the load went down.
        latest_sent_seconds: the largest lag, which is the delay of the test's own process.
        exit_codes: of all tasks.
    """

    decision_seconds: float | None
    scaled_out_by: int
    seen_steady_seconds: float
    later_changes: int
    added_after: int
    scaled_in_by: int
    requests: int
    refused: int
    lost: int
    lost_scaling_in: int
    latest_sent_seconds: float
    exit_codes: tuple[int, ...]

    @property
    def problems(self) -> list[str]:
        """The requirements that do not hold."""
        checks = (
            (self.decision_seconds is not None, "nothing was decided"),
            ((self.decision_seconds or 0.0) <= DECISION_LIMIT_SECONDS, "the decision came late"),
            (self.seen_steady_seconds > 0, "the high load was too short to see whether the fleet becomes steady"),
            (self.later_changes == 0, "the fleet did not become steady"),
            (self.added_after == 0, "tasks were added after the load had gone down"),
            (self.scaled_in_by > 0, "nothing was scaled in"),
            (self.lost == 0, "requests were lost"),
            (set(self.exit_codes) == {0}, "a task did not end well"),
        )
        return [problem for holds, problem in checks if not holds]

    def lines(self) -> list[str]:
        """The figures as sentences."""
        decided = "never" if self.decision_seconds is None else f"{self.decision_seconds:.0f} s after the step"
        return [
            f"Decided {decided} (limit {DECISION_LIMIT_SECONDS:.0f} s); {self.scaled_out_by} tasks added, "
            f"{self.later_changes} further changes in the last {self.seen_steady_seconds:.0f} s of the high load; then "
            f"{self.added_after} tasks added and {self.scaled_in_by} removed, under load.",
            f"{self.requests} requests, {self.refused} refused, {self.lost} lost, {self.lost_scaling_in} of them while "
            f"scaling in; "
            f"exit codes of all tasks: {', '.join(map(str, sorted(set(self.exit_codes))))}; "
            f"requests were sent at most {self.latest_sent_seconds:.2f} s late.",
        ]


def assess(
    phases: tuple[Phase, Phase, Phase],
    decisions: Sequence[Decision],
    records: Records,
    codes: Sequence[int],
    *,
    settle_seconds: float,
) -> Assessment:
    """The assessment of three phases: before the step, the high load, and after it. Times are from the start.

    Args:
        settle_seconds: how long after the first decision it may be corrected: at first only a part of the step is seen.
    """
    step = phases[0].seconds
    down = step + phases[1].seconds
    out = [each for each in decisions if each.added > 0 and each.at_seconds > step]
    settled = out[0].at_seconds + settle_seconds if out else down
    lost = records.where(records.failed)
    return Assessment(
        decision_seconds=out[0].at_seconds - step if out else None,
        scaled_out_by=sum(each.added for each in out if each.at_seconds < down),
        seen_steady_seconds=max(down - settled, 0.0),
        later_changes=sum(settled <= each.at_seconds < down for each in decisions),
        added_after=sum(each.added for each in out if each.at_seconds >= down),
        scaled_in_by=-sum(each.added for each in decisions if each.at_seconds >= down and each.added < 0),
        requests=len(records),
        refused=int(records.refused.sum()),
        lost=len(lost),
        lost_scaling_in=int((lost.intended >= down).sum()),
        latest_sent_seconds=float(records.lag_ms.max(initial=0.0)) / 1000,
        exit_codes=tuple(codes),
    )


def plot(
    rows: list[TimelineRow],
    events: list[TimelineEvent],
    phases: tuple[Phase, ...],
    capacity_per_second: float,
    work_ratio_target: float,
) -> str:
    """The SVG of four charts, one below the other; `capacity_per_second` is that of one task."""
    charts = charts_of(rows, events, phases, capacity_per_second, work_ratio_target)
    parts = (
        draw(chart, themed=False).svg.replace("<svg ", f'<svg y="{position * HEIGHT:g}" height="{HEIGHT:g}" ', 1)
        for position, chart in enumerate(charts)
    )
    size = f'viewBox="0 0 {WIDTH:g} {HEIGHT * len(charts):g}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(parts)}</svg>\n'


def charts_of(
    rows: list[TimelineRow],
    events: list[TimelineEvent],
    phases: tuple[Phase, ...],
    capacity_per_second: float,
    work_ratio_target: float,
) -> tuple[Chart, ...]:
    """The charts of a test; vertical lines mark the decisions."""
    bands = tuple(_bands(phases))
    decisions = tuple((event.at_seconds, "") for event in events if "→" in event.text)
    needed = tuple((row.at_seconds, row.per_second / capacity_per_second) for row in rows)

    def line(name: str, field: str, colour: str) -> Series:
        return Series(name, tuple((row.at_seconds, float(getattr(row, field))) for row in rows), colour)

    tasks = (
        line("wanted", "wanted", "orange"),
        line("serving", "serving", "blue"),
        Series("load over one task's capacity", needed, "grey", dashed=True),
    )
    specifications: tuple[tuple[str, str, tuple[Series, ...]], ...] = (
        ("tasks", "tasks", tasks),
        ("work", "work ratio (mean of tasks)", (line("work ratio", "work_ratio", "purple"),)),
        ("queue", "queued documents per task", (line("queue", "queue_depth", "teal"),)),
        ("slowest", "slowest answer, seconds", (line("slowest", "slowest_seconds", "red"),)),
    )
    events_of = {"tasks": decisions}
    limits = {"work": (work_ratio_target, "target")}
    return tuple(
        Chart(key, label.capitalize(), "", "seconds", label, series, bands, events_of.get(key, ()), limits.get(key))
        for key, label, series in specifications
    )


def _bands(phases: tuple[Phase, ...]) -> list[Band]:
    bands, begin = [], 0.0
    for phase in phases:
        bands.append(Band(begin, begin + phase.seconds, phase.name))
        begin += phase.seconds
    return bands
