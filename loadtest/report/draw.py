"""Charts drawn by matplotlib as SVG elements, whose text is text and whose colours a page's theme can replace."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.figure import Figure

from loadtest.report.axes import LEGEND_LETTER, ROW_LETTERS, WIDTH, legend_columns, plot_bars, plot_chart
from loadtest.report.chart import Bars, Chart
from loadtest.report.theme import STYLE, VARIABLES

POINTS_PER_INCH = 72.0
HEIGHT, BAR_HEIGHT = 252.0, 26.0
"""The height of a chart and of a bar, in points, which are the units of an SVG."""
LEFT, RIGHT, TOP, BOTTOM = 56.0, 12.0, 26.0, 34.0
"""The margins around the plot; the same for all charts, so that their axes are in line."""
LEGEND_ROW = 14.0
Y_LABEL = 14.0
"""Where the label of the y axis stands, from the left."""


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


def draw(chart: Chart | Bars, *, themed: bool = True) -> Drawing:
    """Draw one chart. `themed`: with CSS variables for colours, else as an image with a white background."""
    if isinstance(chart, Chart):
        left, height, names = LEFT, HEIGHT, [each.name for each in chart.series if each.points]
    else:
        longest = max(map(len, chart.rows), default=0)
        left, names = max(LEFT, 16 + LEGEND_LETTER * min(longest, ROW_LETTERS)), [name for name, _, _ in chart.parts]
        height = TOP + BAR_HEIGHT * len(chart.rows) + BOTTOM
    rows = max(map(len, legend_columns(names)), default=1)
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
        svg = _svg(figure, chart, themed=themed)
    return Drawing(svg, *axes.get_xlim(), left=left, right=right, top=top, bottom=height - BOTTOM)


def _svg(figure: Figure, chart: Chart | Bars, *, themed: bool) -> str:
    """The figure as one SVG element with the chart's key as its id, and no other ids but those that it refers to."""
    sink = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(sink, format="svg", metadata=nothing, transparent=themed)
    whole = sink.getvalue()
    view, inside = re.search(r'viewBox="([^"]+)"', whole), re.search(r"<svg[^>]*>(.*)</svg>", whole, re.DOTALL)
    assert view is not None
    assert inside is not None
    content = re.sub(r'<g id="[a-zA-Z0-9.]+_\d+"', "<g", inside[1])
    if themed:
        content = re.sub("|".join(VARIABLES), lambda found: VARIABLES[found[0]], content)
    space = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f'<svg id="{chart.key}" viewBox="{view[1]}" role="img" aria-label="{_label(chart)}" {space}>{content}</svg>'


def _label(chart: Chart | Bars) -> str:
    return re.sub(r'[<>"&]', " ", f"{chart.title}. {chart.caption}")
