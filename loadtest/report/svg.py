"""Plots as SVG text: axes with units, phases as bands, legends, and the numbers behind the lines for the mouse."""

from __future__ import annotations

import json
from html import escape
from itertools import accumulate

from loadtest.report.chart import COLOURS, Bars, Chart, Points, Series
from loadtest.report.scales import Scale, exact, label, linear, logarithmic

WIDTH, HEIGHT = 920, 340
LEFT, RIGHT, TOP, BOTTOM = 78, 18, 54, 48
ROW, ROW_GAP, ROW_LEFT = 24, 12, 130
LIMIT_ROOM = 1.9
"""So much above a limit's line is shown, so that it does not run through the names of phases."""
LETTER = 7.2
"""Width of a letter in the legend, on average."""


def draw(chart: Chart) -> str:
    """The plot's SVG element."""
    series = _stacked(chart.series) if chart.stacked else chart.series
    x, y = _scales(chart, series)
    parts = [
        _bands(chart, x),
        _grid(chart, x, y),
        *(_area(each, below, x, y) for each, below in zip(series, (None, *series), strict=False) if chart.stacked),
        *(_line(each, x, y) for each in series),
        _limit(chart, y),
        _events(chart, x),
        _legend([(each.name, each.colour, each.dashed) for each in chart.series if each.points]),
    ]
    return _element(chart.key, chart.title, HEIGHT, "".join(parts), _data(chart, x))


def draw_bars(bars: Bars) -> str:
    """The same for stacked bars, one row under the other."""
    height = TOP + len(bars.rows) * (ROW + ROW_GAP) + BOTTOM
    totals = [sum(values[row] for _, _, values in bars.parts) for row in range(len(bars.rows))]
    x = linear(totals, ROW_LEFT, WIDTH - RIGHT - 60)
    parts = [_legend([(name, colour, False) for name, colour, _ in bars.parts])]
    for tick in x.ticks(8):
        parts.append(_stroke(x(tick), TOP, x(tick), height - BOTTOM, "grid"))
        parts.append(_words(x(tick), height - BOTTOM + 18, label(tick), "middle"))
    parts.append(_words((ROW_LEFT + WIDTH) / 2, height - 8, bars.x_label, "middle", "axis"))
    for row, name in enumerate(bars.rows):
        top = TOP + row * (ROW + ROW_GAP) + ROW_GAP / 2
        parts.append(_words(ROW_LEFT - 10, top + ROW / 2 + 4, name[:20], "end"))
        parts.append(_bar(bars, row, top, x))
        parts.append(_words(x(totals[row]) + 6, top + ROW / 2 + 4, label(totals[row])))
    return _element(bars.key, bars.title, height, "".join(parts), "")


def _bar(bars: Bars, row: int, top: float, x: Scale) -> str:
    values = [values[row] for _, _, values in bars.parts]
    parts = []
    for (name, colour, _), value, begin in zip(bars.parts, values, accumulate(values, initial=0.0), strict=False):
        if value > 0:
            wide = x(begin + value) - x(begin)
            title = f"<title>{escape(name)}: {label(value)}</title>"
            box = f'x="{x(begin):.1f}" y="{top:.1f}" width="{wide:.1f}" height="{ROW}"'
            parts.append(f'<rect class="bar" {box} fill="{COLOURS[colour]}">{title}</rect>')
    return "".join(parts)


def _scales(chart: Chart, series: tuple[Series, ...]) -> tuple[Scale, Scale]:
    xs = [x for each in series for x, _ in each.points] + [
        edge for band in chart.bands for edge in (band.begin, band.end)
    ]
    ys = [y for each in series for _, y in each.points] + ([chart.limit[0] * LIMIT_ROOM] if chart.limit else [])
    along = exact(min(xs, default=0.0), max(xs, default=1.0), LEFT, WIDTH - RIGHT)
    up = logarithmic if chart.log_y else linear
    return along, up(ys, HEIGHT - BOTTOM, TOP)


def _stacked(series: tuple[Series, ...]) -> tuple[Series, ...]:
    """Each line on top of the ones before; they share their x values."""
    found, heights = [], [0.0] * max((len(each.points) for each in series), default=0)
    for each in series:
        heights = [height + y for height, (_, y) in zip(heights, each.points, strict=True)]
        points = tuple((x, height) for (x, _), height in zip(each.points, heights, strict=True))
        found.append(Series(each.name, points, each.colour))
    return tuple(found)


def _bands(chart: Chart, x: Scale) -> str:
    parts = []
    for number, band in enumerate(chart.bands):
        left, wide = x(band.begin), x(band.end) - x(band.begin)
        shade = "odd" if number % 2 else "even"
        box = f'x="{left:.1f}" y="{TOP}" width="{wide:.1f}" height="{HEIGHT - TOP - BOTTOM}"'
        parts.append(f'<rect class="band {shade}" {box}><title>{escape(band.name)}</title></rect>')
        shown = band.name if len(band.name) * LETTER < wide else band.name[: max(int(wide / LETTER) - 1, 0)] + "…"
        if wide > 3 * LETTER:
            parts.append(_words(left + wide / 2, TOP + 13, shown, "middle", "phase"))
    return "".join(parts)


def _grid(chart: Chart, x: Scale, y: Scale) -> str:
    parts = []
    for tick in y.ticks():
        parts.append(_stroke(LEFT, y(tick), WIDTH - RIGHT, y(tick), "grid"))
        parts.append(_words(LEFT - 8, y(tick) + 4, label(tick), "end"))
    for tick, words in chart.x_ticks or [(tick, label(tick)) for tick in x.ticks(9)]:
        parts.append(_stroke(x(tick), HEIGHT - BOTTOM, x(tick), HEIGHT - BOTTOM + 5, "tick"))
        parts.append(_words(x(tick), HEIGHT - BOTTOM + 18, words, "middle"))
    parts.append(_stroke(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, "base"))
    parts.append(_words((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, chart.x_label, "middle", "axis"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    turn = f'transform="rotate(-90 16 {middle:.0f})"'
    parts.append(
        f'<text class="axis" x="16" y="{middle:.0f}" text-anchor="middle" {turn}>{escape(chart.y_label)}</text>'
    )
    return "".join(parts)


def _line(series: Series, x: Scale, y: Scale) -> str:
    if not series.points:
        return ""
    colour = COLOURS[series.colour]
    dash = ' stroke-dasharray="5 4"' if series.dashed else ""
    look = "line broad" if series.broad else "line"
    path = f'<path class="{look}" d="{_path(series.points, x, y)}" stroke="{colour}"{dash}/>'
    marked = series.dots or len(series.points) == 1
    dots = (f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="3.2" fill="{colour}"/>' for a, b in series.points)
    return path + ("".join(dots) if marked else "")


def _area(series: Series, below: Series | None, x: Scale, y: Scale) -> str:
    """What lies between this line and the one before it."""
    if not series.points:
        return ""
    floor = below.points if below is not None else tuple((a, 0.0) for a, _ in series.points)
    back = _path(tuple(reversed(floor)), x, y).replace("M", "L", 1)
    return f'<path class="area" d="{_path(series.points, x, y)}{back}Z" fill="{COLOURS[series.colour]}"/>'


def _path(points: Points, x: Scale, y: Scale) -> str:
    return "".join(f"{'L' if number else 'M'}{x(a):.1f} {y(b):.1f}" for number, (a, b) in enumerate(points))


def _limit(chart: Chart, y: Scale) -> str:
    if chart.limit is None:
        return ""
    value, words = chart.limit
    place = y(value)
    return _stroke(LEFT, place, WIDTH - RIGHT, place, "limit") + _words(
        WIDTH - RIGHT - 4, place - 5, words, "end", "limit"
    )


def _events(chart: Chart, x: Scale) -> str:
    parts = []
    for number, (at, words) in enumerate(chart.events):
        parts.append(_stroke(x(at), TOP, x(at), HEIGHT - BOTTOM, "event"))
        near_end = x(at) > WIDTH * 0.8
        place = x(at) + (-4 if near_end else 4)
        parts.append(_words(place, TOP + 28 + 13 * (number % 3), words, "end" if near_end else "start", "event"))
    return "".join(parts)


def _legend(entries: list[tuple[str, str, bool]]) -> str:
    parts, place, row = [], float(LEFT), 0
    for name, colour, dashed in entries:
        wide = 34 + len(name) * LETTER
        if place + wide > WIDTH - RIGHT and place > LEFT:
            place, row = float(LEFT), row + 1
        height = 16 + 17 * row
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        ends = f'x1="{place:.0f}" x2="{place + 18:.0f}" y1="{height}" y2="{height}"'
        parts.append(f'<line class="key" {ends} stroke="{COLOURS[colour]}"{dash}/>')
        parts.append(_words(place + 24, height + 4, name, "start", "legend"))
        place += wide
    return "".join(parts)


def _element(key: str, title: str, height: float, inside: str, data: str) -> str:
    box = f'viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(title)}"'
    return f'<svg id="{key}" {box}>{inside}</svg>{data}'


def _data(chart: Chart, x: Scale) -> str:
    """The numbers behind the lines, for the crosshair."""
    shown = [
        {"name": each.name, "points": [(round(a, 4), float(f"{b:.4g}")) for a, b in each.points]}
        for each in chart.series
    ]
    facts = {"for": chart.key, "low": x.low, "high": x.high, "first": x.first, "last": x.last}
    text = json.dumps({**facts, "x": chart.x_label, "series": shown}).replace("</", "<\\/")
    return f'<script type="application/json" class="data">{text}</script>'


def _stroke(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _words(x: float, y: float, text: str, anchor: str = "start", kind: str = "label") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
