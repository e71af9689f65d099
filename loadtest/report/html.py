"""Parts of a page as HTML: the document, figures with their numbers, tables, tiles.

A page loads nothing from anywhere, follows the reader's light or dark theme, and has each chart's numbers as a table.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path

from loadtest.report.axes import number
from loadtest.report.chart import Bars, Chart
from loadtest.report.draw import draw

HERE = Path(__file__).parent


def document(title: str, parts: Iterable[str]) -> str:
    """The whole file."""
    style = "".join((HERE / name).read_text() for name in ("theme.css", "style.css"))
    script = (HERE / "script.js").read_text()
    meta = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    head = f"{meta}<title>{escape(title)}</title>"
    body = f"<main>{''.join(parts)}</main><script>{script}</script>"
    return f'<!doctype html><html lang="en"><head>{head}<style>{style}</style></head><body>{body}</body></html>\n'


def tile_row(tiles: Iterable[tuple[str, str]]) -> str:
    """The figures that matter most: each its value and its name."""
    shown = (f'<div class="tile"><b>{value}</b><span>{name}</span></div>' for value, name in tiles)
    return f'<section class="tiles">{"".join(shown)}</section>'


def figure(chart: Chart | Bars) -> str:
    """A chart with its caption and its numbers; the script reads where the plot lies in the drawing."""
    drawing = draw(chart)
    head, rows = numbers(chart)
    rows_below = table(head, "".join(row(cells, f' data-x="{x:.6g}"') for x, cells in rows))
    area = ""
    if isinstance(chart, Chart):
        names = ("low", "high", "left", "right", "top", "bottom")
        area = "".join(f' data-{name}="{getattr(drawing, name):.6g}"' for name in names)
    title = f'<h2>{escape(chart.title)}</h2><p class="caption">{escape(chart.caption)}</p>'
    details = f"<details><summary>Numbers</summary>{rows_below}</details>"
    return f'<section class="card">{title}<figure{area}>{drawing.svg}</figure>{details}</section>'


def table(head: tuple[str, ...] | list[str], rows: str) -> str:
    """A table that scrolls by itself; `rows` are those of `row`."""
    cells = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    return f'<div class="scroll"><table><thead><tr>{cells}</tr></thead><tbody>{rows}</tbody></table></div>'


def row(cells: tuple[str, ...] | list[str], attributes: str = "") -> str:
    """One row of a table."""
    return f"<tr{attributes}>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def numbers(chart: Chart | Bars) -> tuple[list[str], list[tuple[float, list[str]]]]:
    """A chart's numbers: the head of a table, and its rows, each with the position of its first cell on the x axis."""
    if isinstance(chart, Bars):
        rows = [
            (float(row), [name, *(number(values[row]) for _, _, values in chart.parts)])
            for row, name in enumerate(chart.rows)
        ]
        return ["", *(name for name, _, _ in chart.parts)], rows
    shown = [each for each in chart.series if each.points]
    columns = [dict(each.points) for each in shown]
    xs = sorted({x for column in columns for x in column})
    first = _share if chart.x_ticks else number
    rows = [(x, [first(x), *(number(column[x]) if x in column else "" for column in columns)]) for x in xs]
    return [chart.x_label, *(each.name for each in shown)], rows


def _share(position: float) -> str:
    """The share at a position on the axis of percentiles, which is -log10(1 - share)."""
    return f"{100 * (1 - 10.0**-position):.4g} %"
