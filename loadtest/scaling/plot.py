"""The plot of a rehearsal, one SVG file: tasks against load, work ratio, queue and latency over the same time."""

from __future__ import annotations

from loadtest.report.axes import WIDTH
from loadtest.report.chart import Band, Chart, Points, Series
from loadtest.report.draw import HEIGHT, draw
from loadtest.scaling.timeline import TimelineEvent, TimelineRow
from loadtest.scenario.scenario import Phase


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
    """The charts of a rehearsal; vertical lines mark the decisions."""
    bands = tuple(_bands(phases))
    decisions = tuple((event.at_seconds, "") for event in events if "→" in event.text)
    needed = tuple((row.at_seconds, row.per_second / capacity_per_second) for row in rows)
    tasks = (
        Series("wanted", _points(rows, "wanted"), "orange"),
        Series("serving", _points(rows, "serving"), "blue"),
        Series("load over one task's capacity", needed, "grey", dashed=True),
    )
    return (
        _chart("tasks", "tasks", tasks, bands, decisions),
        _chart(
            "work",
            "work ratio (mean of tasks)",
            (Series("work ratio", _points(rows, "work_ratio"), "purple"),),
            bands,
            limit=(work_ratio_target, "target"),
        ),
        _chart("queue", "queued documents per task", (Series("queue", _points(rows, "queue_depth"), "teal"),), bands),
        _chart(
            "slowest", "slowest answer, seconds", (Series("slowest", _points(rows, "slowest_seconds"), "red"),), bands
        ),
    )


def _chart(
    key: str,
    y_label: str,
    series: tuple[Series, ...],
    bands: tuple[Band, ...],
    events: tuple[tuple[float, str], ...] = (),
    limit: tuple[float, str] | None = None,
) -> Chart:
    return Chart(key, y_label.capitalize(), "", "seconds", y_label, series, bands, events, limit)


def _bands(phases: tuple[Phase, ...]) -> list[Band]:
    bands, begin = [], 0.0
    for phase in phases:
        bands.append(Band(begin, begin + phase.seconds, phase.name))
        begin += phase.seconds
    return bands


def _points(rows: list[TimelineRow], name: str) -> Points:
    return tuple((row.at_seconds, float(getattr(row, name))) for row in rows)
