"""Charts drawn by matplotlib as SVG elements, whose text is text and whose colours a page's theme can replace."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.figure import Figure

from loadtest.report.axes import WIDTH, plot_bars, plot_chart
from loadtest.report.chart import Bars, Chart
from loadtest.report.theme import STYLE, VARIABLES

HEIGHT = 252.0
BAR_HEIGHT, BARS_FRAME = 26.0, 83.0
"""Heights in points, which are the units of an SVG."""
POINTS_PER_INCH = 72.0


@dataclass(frozen=True, slots=True)
class Drawing:
    """An SVG element, and the plot's area in it: x limits in data, and the edges in the units of the element."""

    svg: str
    low: float
    high: float
    left: float
    right: float
    top: float
    bottom: float


def draw(chart: Chart | Bars, *, themed: bool = True) -> Drawing:
    """Draw one chart. `themed`: with CSS variables for colours, else as an image with a white background."""
    height = HEIGHT if isinstance(chart, Chart) else BARS_FRAME + BAR_HEIGHT * len(chart.rows)
    with mpl.rc_context({**STYLE, "svg.hashsalt": chart.key}):
        figure = Figure(figsize=(WIDTH / POINTS_PER_INCH, height / POINTS_PER_INCH), layout="constrained")
        axes = figure.add_subplot()
        if isinstance(chart, Chart):
            plot_chart(axes, chart)
        else:
            plot_bars(axes, chart)
        svg = _svg(figure, chart, themed=themed)
    low, high = axes.get_xlim()
    box = axes.get_position()
    return Drawing(svg, low, high, box.x0 * WIDTH, box.x1 * WIDTH, (1 - box.y1) * height, (1 - box.y0) * height)


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
