"""What a chart shows: its series, scales, labels, phases, events and limit, read off matplotlib's axes."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from loadtest.report.chart import COLOURS, VARIABLES, Band, Bars, Chart, Series
from loadtest.report.draw import Drawing, draw, number, plot_bars, plot_chart
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


def words(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


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


def test_phases_events_and_the_limit_are_named_inside_the_plot() -> None:
    axes = plotted(CHART)
    first, second, *marks = words(axes)
    assert first == "first"
    assert second.startswith("a second phase")
    assert second.endswith("…")
    assert marks == ["publish begins", "publish done", "service level"]
    verticals = [np.asarray(line.get_xdata())[0] for line in axes.lines if len(set(np.asarray(line.get_xdata()))) == 1]
    assert verticals == [3.0, 10.0], "an event after the end is shown at the end"


def test_bars_have_a_row_for_each_phase_and_its_total() -> None:
    bars = Bars("k", "t", "c.", "ms", ("slow", "fast"), (("parse", "gold", (3.0, 1.0)), ("queue", "grey", (4.0, 0.5))))
    axes = plotted(bars)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["slow", "fast"]
    assert words(axes) == ["7", "1.5"]
    assert legend(axes) == ["parse", "queue"]
    shown = [(bar.get_x(), bar.get_width()) for bar in axes.patches if isinstance(bar, Rectangle)]
    assert shown == [(0, 3), (0, 1), (3, 4), (1, 0.5)]
    assert axes.yaxis_inverted(), "the first phase is on top"


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (0.125, "0.125"), (1234, "1,234"), (2.5e6, "2.5 M")])
def test_numbers_are_written_for_people(value: float, text: str) -> None:
    assert number(value) == text


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


def test_colours_are_the_themes_variables_in_a_page_and_plain_in_a_file() -> None:
    themed, plain = draw(CHART_DRAW).svg, draw(CHART_DRAW, themed=False).svg
    assert not set(re.findall(r"#[0-9a-f]{6}", themed)) & set(VARIABLES)
    assert {"var(--blue)", "var(--ink)", "var(--muted)", "var(--grid)"} <= set(re.findall(r"var\(--\w+\)", themed))
    assert "var(" not in plain
    assert "#2f6db3" in plain


def test_the_plots_area_is_where_the_frame_is_drawn() -> None:
    found = draw(CHART_DRAW)
    width, height = map(float, ElementTree.fromstring(found.svg).attrib["viewBox"].split()[2:])
    assert (found.low, found.high) == (0.0, 10.0)
    assert 0 < found.left < found.right <= width
    assert 0 < found.top < found.bottom < height
    _whole, frame, *_ = re.findall(r'd="M ([\d.]+) ([\d.]+) \nL ([\d.]+) [\d.]+ \nL [\d.]+ ([\d.]+) ', found.svg)
    assert list(map(float, frame)) == pytest.approx([found.left, found.bottom, found.right, found.top], abs=1e-3)


def test_no_id_occurs_twice_in_all_charts_of_a_report() -> None:
    ids = [each for chart in plots(made_result()) for each in re.findall(r'\bid="([^"]+)"', draw(chart).svg)]
    assert len(ids) > 14
    assert len(ids) == len(set(ids))
