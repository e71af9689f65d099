"""A simulated run as one HTML file: figures, demand and instances over time, what waited, and every decision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from operator import attrgetter

from loadtest.report.chart import Chart, Points, Series
from loadtest.report.page import document, figure, row, table, tile_row
from loadtest.simulator.autoscaler import Decision
from loadtest.simulator.demand import Demand
from loadtest.simulator.fleet import FleetRun, Minute
from loadtest.simulator.outcome import Outcome

MOST_POINTS = 400
Largest = Callable[[Minute], float]


def page(run: FleetRun, demand: Demand, outcome: Outcome, sentences: Sequence[str]) -> str:
    """The whole file."""
    about = f"{outcome.documents:,.0f} documents in {demand.seconds / 3600:g} h, one row a minute; simulated"
    items = "".join(f"<li>{escape(each)}</li>" for each in sentences)
    parts = (
        f"<h1>A fleet under “{escape(demand.name)}”</h1>",
        f'<p class="about">{escape(about)}</p>',
        f'<section class="card"><ul class="findings">{items}</ul></section>',
        tile_row(_tiles(outcome)),
        *(figure(chart) for chart in charts(run) if chart.has_data),
        _decisions(run),
        "<footer><p>The largest value of each stretch is drawn. The same seed gives the same page.</p></footer>",
    )
    return document(f"Simulated: {demand.name}", parts)


CHARTS = (
    ("demand", "Demand", "Documents a second, the mean of each minute.", "documents per second",
     (("came", "per_second", "blue"),)),
    ("instances", "Instances",
     "Paid for, wanted and serving: the first is above the others by what starts, drains or is idle.", "instances",
     (("paid for", "machines", "sky"), ("wanted", "wanted", "orange"), ("serving", "serving", "navy"))),
    ("work", "Work ratio", "Asked-for work over the capacity of the tasks that serve; above 1 a queue grows.",
     "work ratio", (("work ratio", "work_ratio", "purple"),)),
    ("queue", "Longest queue", "Seconds of work that wait on the task that has most, at the end of each minute.",
     "seconds", (("longest queue", "longest_queue_seconds", "red"),)),
)  # fmt: skip
"""Key, title, caption and y label of each chart, and its lines: the name, the field of a `Minute`, the colour."""


def charts(run: FleetRun) -> Iterator[Chart]:
    """Demand, instances, work and queue over time."""
    for key, title, caption, y_label, lines in CHARTS:
        series = (
            Series(name, points(run.minutes, attrgetter(field)), colour, broad=name == "paid for")
            for name, field, colour in lines
        )
        limit = (1.0, "full") if key == "work" else None
        yield Chart(key, title, caption, "hours", y_label, tuple(series), limit=limit)


def points(minutes: Sequence[Minute], value: Largest) -> Points:
    """Points (hour, largest value since the point before), `MOST_POINTS` at most."""
    step = -(-len(minutes) // MOST_POINTS) or 1
    stretches = (minutes[at : at + step] for at in range(0, len(minutes), step))
    return tuple((each[-1].at_seconds / 3600, float(max(map(value, each)))) for each in stretches)


def _tiles(outcome: Outcome) -> tuple[tuple[str, str], ...]:
    return (
        (f"{outcome.kept:.3%}", "in time"),
        (f"{outcome.refused:.3%}", "refused"),
        (f"{outcome.p99_ms:,.0f} ms", "99th percentile"),
        (f"${outcome.dollars_per_million:.2f}", "per million documents"),
        (f"{outcome.over_oracle:.2f}", "times the best fleet's hours"),
        (f"{outcome.short_lives:.1%}", "of the hours in brief lives"),
    )


def _decisions(run: FleetRun) -> str:
    rows = "".join(row(_cells(each)) for each in run.decisions)
    below = table(("hour", "by", "value", "before", "after"), rows)
    summary = f"<summary>{len(run.decisions)} decisions</summary>"
    return f'<section class="card"><h2>Decisions</h2><details open>{summary}{below}</details></section>'


def _cells(made: Decision) -> tuple[str, ...]:
    hour = f"{made.at_seconds / 3600:.3f}"
    return hour, made.by, f"{made.value:.2f}", str(made.tasks_before), str(made.tasks_after)
