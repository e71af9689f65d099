"""A rehearsal as one SVG: tasks against load, work ratio and queue, and latency, over the same time."""

from __future__ import annotations

from pathlib import Path

from loadtest.report.chart import Band, Chart, Points, Series
from loadtest.report.svg import HEIGHT, WIDTH, draw
from loadtest.scaling.load import Phase
from loadtest.scaling.timeline import TimelineEvent, TimelineRow

STYLE = Path(__file__).parents[1] / "report" / "style.css"


def plot(
    rows: list[TimelineRow], events: list[TimelineEvent], phases: tuple[Phase, ...], needed_each: float, target: float
) -> str:
    """The charts under each other."""
    bands, marks = tuple(_bands(phases)), tuple(_decisions(events))
    charts = (
        _chart(
            "tasks",
            "Tasks",
            (
                Series("wanted", _points(rows, "wanted"), "orange"),
                Series("serving", _points(rows, "serving"), "blue"),
                Series("load over one task's capacity", _needed(rows, needed_each), "grey", dashed=True),
            ),
            bands,
            marks,
        ),
        _chart(
            "work",
            "Work ratio, averaged over tasks",
            (Series("work ratio", _points(rows, "work_ratio"), "purple"),),
            bands,
            limit=(target, "target"),
        ),
        _chart(
            "queue", "Documents that wait, per task", (Series("queue", _points(rows, "queue_depth"), "teal"),), bands
        ),
        _chart(
            "slowest", "Slowest answer, seconds", (Series("slowest", _points(rows, "slowest_seconds"), "red"),), bands
        ),
    )
    parts = (
        draw(chart).replace("<svg ", f'<svg y="{i * HEIGHT}" height="{HEIGHT}" ', 1) for i, chart in enumerate(charts)
    )
    size = f'viewBox="0 0 {WIDTH} {HEIGHT * len(charts)}" font-family="sans-serif"'
    background = '<rect width="100%" height="100%" fill="#fff"/>'
    style = f"<style>{STYLE.read_text()}</style>"
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{style}{background}{"".join(parts)}</svg>\n'


def _chart(
    key: str,
    title: str,
    series: tuple[Series, ...],
    bands: tuple[Band, ...],
    events: tuple[tuple[float, str], ...] = (),
    limit: tuple[float, str] | None = None,
) -> Chart:
    return Chart(key, title, "", "seconds", title, series, bands, events, limit)


def _bands(phases: tuple[Phase, ...]) -> list[Band]:
    bands, begin = [], 0.0
    for phase in phases:
        bands.append(Band(begin, begin + phase.seconds, phase.name))
        begin += phase.seconds
    return bands


def _decisions(events: list[TimelineEvent]) -> list[tuple[float, str]]:
    return [(event.at_seconds, "") for event in events if "→" in event.text]


def _points(rows: list[TimelineRow], name: str) -> Points:
    return tuple((row.at_seconds, float(getattr(row, name))) for row in rows)


def _needed(rows: list[TimelineRow], each: float) -> Points:
    return tuple((row.at_seconds, row.per_second / each) for row in rows)
