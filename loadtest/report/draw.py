"""Chart drawing: matplotlib plots a specification as an SVG element with text and with CSS variables for colours."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from loadtest.report.chart import COLOURS, MUTED, PAPER, SHADE, STYLE, VARIABLES, Bars, Chart, Series

WIDTH = 9.4 * 72.0
"""Width of a chart in points."""
HEADROOM = 1.22
"""Factor by which the y axis exceeds the highest value, also on a logarithmic axis; phases' names are there."""
LETTER = 5.2
"""Average width of a letter of a phase's name, in points."""
LEGEND_COLUMNS = 4
"""Columns of the legend, if a chart has as many series."""
LEVELS = (0.83, 0.75, 0.67)
"""Heights of the labels of successive events, so that near ones do not overlap."""
ROW_LETTERS = 24
"""Letters of a bar's longest name."""
LOG_DECADES = 2.5
"""Decades of a logarithmic axis beyond which only powers of ten and their triple are labelled."""


def plot_chart(axes: Axes, chart: Chart) -> None:
    """Plot lines or stacked areas, then what frames them: axes, phases, limit, events and the legend."""
    shown = [each for each in chart.series if each.points]
    if chart.stacked and shown:
        xs = [x for x, _ in shown[0].points]
        heights = [[y for _, y in each.points] for each in shown]
        names, colours = [each.name for each in shown], [COLOURS[each.colour] for each in shown]
        axes.stackplot(xs, heights, labels=names, colors=colours, alpha=0.75, linewidth=0)
    else:
        for each in shown:
            _plot_line(axes, each)
    _scale(axes, chart, shown)
    _mark_phases(axes, chart)
    _mark_events(axes, chart)
    if chart.limit:
        _mark_limit(axes, *chart.limit)
    axes.set_xlabel(chart.x_label)
    axes.set_ylabel(chart.y_label)
    _legend(axes, [each.name for each in shown])


def plot_bars(axes: Axes, bars: Bars) -> None:
    """Plot stacked horizontal bars, the first row on top, each with its total."""
    rows = range(len(bars.rows))
    ends = [0.0 for _ in rows]
    for name, colour, values in bars.parts:
        axes.barh(rows, values, left=ends, height=0.66, label=name, color=COLOURS[colour])
        ends = [end + value for end, value in zip(ends, values, strict=True)]
    for row, end in zip(rows, ends, strict=True):
        axes.annotate(number(end), (end, row), (4, 0), textcoords="offset points", va="center", color=MUTED)
    axes.set_yticks(rows, [_shortened(name, ROW_LETTERS) for name in bars.rows])
    axes.set_ylim(len(bars.rows) - 0.5, -0.5)
    axes.set_xlim(0, max(ends, default=1.0) * 1.08)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(bars.x_label)
    _legend(axes, [name for name, _, _ in bars.parts])


def number(value: float) -> str:
    """A number as people write it: 0.125, 12.5, 1,234, 2.5 M."""
    size = abs(value)
    if size >= 1e6:
        return f"{value / 1e6:.3g} M"
    return f"{value:,.0f}" if size >= 1000 else f"{value:.3g}"


def _plot_line(axes: Axes, series: Series) -> None:
    marker = "o" if series.dots or len(series.points) == 1 else None
    axes.plot(
        [x for x, _ in series.points],
        [y for _, y in series.points],
        color=COLOURS[series.colour],
        label=series.name,
        linewidth=6 if series.broad else 1.7,
        alpha=0.45 if series.broad else 1,
        linestyle=(0, (4, 3)) if series.dashed else "-",
        marker=marker,
        markersize=4.5,
        clip_on=False,  # A line at zero lies on the edge; none lies outside.
        zorder=3 if series.dots else 2,
    )


def _scale(axes: Axes, chart: Chart, shown: Sequence[Series]) -> None:
    """Limits that leave room for the names of phases, and round numbers on the axes."""
    xs = [x for each in shown for x, _ in each.points] + [x for each in chart.bands for x in (each.begin, each.end)]
    low, high = min(xs, default=0.0), max(xs, default=1.0)
    axes.set_xlim(low, high if high > low else low + 1.0)
    ys = [y for each in shown for _, y in each.points] + ([chart.limit[0]] if chart.limit else [])
    positive = [y for y in ys if y > 0]
    if chart.log_y and positive:
        bottom, top = min(positive) / 1.3, max(positive) * 1.3
        axes.set_yscale("log")
        axes.set_ylim(bottom, bottom * (top / bottom) ** HEADROOM)
        steps = (1.0, 3.0) if math.log10(top / bottom) > LOG_DECADES else (1.0, 2.0, 5.0)
        axes.yaxis.set_major_locator(LogLocator(subs=steps))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        top = axes.get_ylim()[1] if chart.stacked else max(positive, default=1.0)
        axes.set_ylim(0, max(top, 1e-9) * HEADROOM)
        axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    if chart.x_ticks:
        axes.set_xticks([x for x, _ in chart.x_ticks], [text for _, text in chart.x_ticks])
    else:
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))


def _mark_phases(axes: Axes, chart: Chart) -> None:
    low, high = axes.get_xlim()
    for position, band in enumerate(chart.bands):
        if position % 2:
            axes.axvspan(band.begin, band.end, color=SHADE, linewidth=0, zorder=0)
        letters = int((band.end - band.begin) / (high - low) * WIDTH * 0.9 / LETTER)
        if letters >= 3:
            middle, name = (band.begin + band.end) / 2, _shortened(band.name, letters)
            axes.text(
                middle, 0.985, name, transform=axes.get_xaxis_transform(), ha="center", va="top", color=MUTED, size=8
            )


def _mark_events(axes: Axes, chart: Chart) -> None:
    low, high = axes.get_xlim()
    for position, (moment, text) in enumerate(chart.events):
        at = min(max(moment, low), high)
        axes.axvline(at, color=COLOURS["purple"], linewidth=1, linestyle=(0, (4, 3)))
        right = at > low + 0.8 * (high - low)
        axes.annotate(
            text,
            (at, LEVELS[position % len(LEVELS)]),
            (-4 if right else 4, 0),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            ha="right" if right else "left",
            color=COLOURS["purple"],
            fontsize=8,
        )


def _mark_limit(axes: Axes, value: float, text: str) -> None:
    axes.axhline(value, color=COLOURS["red"], linewidth=1.2, linestyle=(0, (1.5, 2)))
    axes.annotate(
        text,
        (1.0, value),
        (-4, 3),
        xycoords=axes.get_yaxis_transform(),
        textcoords="offset points",
        ha="right",
        va="bottom",
        color=COLOURS["red"],
        fontsize=8,
        bbox={"facecolor": PAPER, "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
        zorder=4,
    )


def _legend(axes: Axes, names: Sequence[str]) -> None:
    if names:
        columns = min(len(names), LEGEND_COLUMNS)
        axes.figure.legend(loc="upper left", ncols=columns, handlelength=1.6, columnspacing=1.6, borderaxespad=0.2)


def _shortened(text: str, letters: int) -> str:
    return text if len(text) <= letters else text[: letters - 1] + "…"


POINTS_PER_INCH = 72.0
HEIGHT, BAR_HEIGHT = 252.0, 26.0
"""Heights of a chart and of a bar, in points, which are the units of an SVG."""
LEFT, RIGHT, TOP, BOTTOM = 56.0, 12.0, 26.0, 34.0
"""Margins around the plot; the same for all charts, so that their axes are in line."""
LEGEND_ROW = 14.0
Y_LABEL = 14.0
"""Points from the left to the y axis's label."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """An SVG element, and the plot's area in it: x limits in data, and the edges in points."""

    svg: str
    low: float
    high: float
    left: float
    right: float
    top: float
    bottom: float


def draw(chart: Chart | Bars) -> Drawing:
    """Draw one chart, with CSS variables for its colours."""
    if isinstance(chart, Chart):
        left, height, names = LEFT, HEIGHT, [each.name for each in chart.series if each.points]
    else:
        longest = max(map(len, chart.rows), default=0)
        left, names = max(LEFT, 16 + LETTER * min(longest, ROW_LETTERS)), [name for name, _, _ in chart.parts]
        height = TOP + BAR_HEIGHT * len(chart.rows) + BOTTOM
    rows = max(math.ceil(len(names) / LEGEND_COLUMNS), 1)
    top, right = TOP + LEGEND_ROW * (rows - 1), WIDTH - RIGHT
    with mpl.rc_context({**STYLE, "svg.hashsalt": chart.key}):
        figure = Figure(figsize=(WIDTH / POINTS_PER_INCH, height / POINTS_PER_INCH))
        inside = (right - left) / WIDTH, (height - top - BOTTOM) / height
        axes = figure.add_axes((left / WIDTH, BOTTOM / height, *inside))
        axes.yaxis.set_label_coords((Y_LABEL - left) / (right - left), 0.5)
        if isinstance(chart, Chart):
            plot_chart(axes, chart)
        else:
            plot_bars(axes, chart)
        svg = _svg(figure, chart)
    return Drawing(svg, *axes.get_xlim(), left=left, right=right, top=top, bottom=height - BOTTOM)


def _svg(figure: Figure, chart: Chart | Bars) -> str:
    """The figure as one SVG element with the chart's key as its id, and no other ids but those that it refers to."""
    sink = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(sink, format="svg", metadata=nothing, transparent=True)
    whole = sink.getvalue()
    view, inside = re.search(r'viewBox="([^"]+)"', whole), re.search(r"<svg[^>]*>(.*)</svg>", whole, re.DOTALL)
    assert view is not None
    assert inside is not None
    content = re.sub(r'<g id="[a-zA-Z0-9.]+_\d+"', "<g", inside[1])
    content = re.sub("|".join(VARIABLES), lambda colour: VARIABLES[colour[0]], content)
    space = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f'<svg id="{chart.key}" viewBox="{view[1]}" role="img" aria-label="{_label(chart)}" {space}>{content}</svg>'


def _label(chart: Chart | Bars) -> str:
    return re.sub(r'[<>"&]', " ", f"{chart.title}. {chart.caption}")
