"""What a chart shows: its series, scales, labels, phases, events and limit, read off matplotlib's axes."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from loadtest.report.chart import COLOURS, Band, Bars, Chart, Series
from loadtest.report.draw import Drawing, draw, plot_bars, plot_chart
from loadtest.report.plots import plots
from tests.support.load_result import made_result

LINES = (
    Series("offered", ((0.0, 10.0), (5.0, 10.0), (10.0, 10.0)), "grey", dashed=True),
    Series("answered", ((0.0, 4.0), (5.0, 8.0), (10.0, 2.0)), "blue"),
    Series("failed", (), "red"),
)
CHART = Chart(
    "flow",
    "Flow",
    "A caption.",
    "seconds",
    "requests per second",
    LINES,
    bands=(Band(0, 6, "first"), Band(6, 10, "a second phase with a very long name, which cannot be shown whole")),
    events=((3.0, "publish begins"), (99.0, "publish done")),
    limit=(12.0, "service level"),
)


def plotted(chart: Chart | Bars) -> Axes:
    axes = Figure().add_subplot()
    if isinstance(chart, Chart):
        plot_chart(axes, chart)
    else:
        plot_bars(axes, chart)
    return axes


def legend(axes: Axes) -> list[str]:
    figure = axes.figure
    assert isinstance(figure, Figure)
    return [text.get_text() for each in figure.legends for text in each.get_texts()]


def test_each_series_with_points_is_a_line_in_its_colour_and_in_the_legend() -> None:
    axes = plotted(CHART)
    lines = {str(line.get_label()): line for line in axes.lines if not str(line.get_label()).startswith("_")}
    assert list(lines) == legend(axes) == ["offered", "answered"]
    for series in LINES[:2]:
        assert [tuple(point) for point in np.asarray(lines[series.name].get_xydata())] == list(series.points)
        assert to_hex(lines[series.name].get_color()) == COLOURS[series.colour]
    assert (lines["offered"].get_linestyle(), lines["answered"].get_linestyle()) == ("--", "-")


NASTY = '</svg><script>$x$ & "y"'
CHART_DRAW = Chart(
    "k",
    'Latency "over" <time>',
    "A caption.",
    "seconds",
    "ms",
    (Series(NASTY, ((0, 1), (10, 3)), "blue"),),
    bands=(Band(0, 10, NASTY),),
    events=((2.0, NASTY),),
)


def texts(drawing: Drawing) -> list[str]:
    found = ElementTree.fromstring(drawing.svg).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(each.itertext()) for each in found]


def test_text_stays_text_and_names_from_outside_are_only_text() -> None:
    shown = texts(draw(CHART_DRAW))
    assert {"seconds", "ms", "0", "10"} <= set(shown)
    assert shown.count(NASTY) == 3


def test_no_id_occurs_twice_in_all_charts_of_a_report() -> None:
    ids = [each for chart in plots(made_result()) for each in re.findall(r'\bid="([^"]+)"', draw(chart).svg)]
    assert len(ids) > 14
    assert len(ids) == len(set(ids))
