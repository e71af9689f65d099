"""Report page: findings, figures and charts as one HTML file, and the folder of a result that it is written to.

A page loads nothing from anywhere, follows the reader's light or dark theme, and has each chart's numbers as a table.
The folder holds requests.csv.gz, service.csv, summary.json and report.html; `gleaner loadtest compare` reads it
again.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from html import escape
from pathlib import Path

import msgspec

from loadtest.errors import BadInput
from loadtest.generator.records import read_csv, write_csv
from loadtest.generator.sampler import MetricsSample
from loadtest.report.chart import Bars, Chart
from loadtest.report.draw import draw, number
from loadtest.report.plots import plots
from loadtest.results.summary import Figures, Result, Summary

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
    """The figures that matter most, as pairs of value and name."""
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


ALARMS = ("FAIL", "falls to", "DO NOT TRUST", "No phase held", "MISSED", "Not one", "without", "after the deadline")
"""Words of a finding that is shown as a problem."""
COLUMNS = (
    "phase", "offered /s", "answered /s", "goodput /s", "p50 ms", "p90 ms", "p99 ms", "max ms", "refused", "failed",
)  # fmt: skip


def page(result: Result) -> str:
    """The whole HTML file."""
    summary = result.summary
    charts = plots(result)
    parts = (
        f"<h1>{escape(summary.title)}</h1>",
        f'<p class="about">{escape(_about(summary))}</p>',
        _findings(summary.findings),
        _tiles(summary),
        _phases(summary),
        *(figure(chart) for chart in charts if chart.has_data),
        _footer([chart for chart in charts if not chart.has_data], summary),
    )
    return document(summary.title, parts)


def _about(summary: Summary) -> str:
    capacity = (
        f", capacity {summary.capacity_source}: {summary.capacity_rps:.1f} documents a second"
        if summary.capacity_rps
        else ""
    )
    seconds = summary.scenario.seconds
    arrivals = {"even": "evenly spaced", "poisson": "Poisson", "bursty": "bursty (Gamma-Poisson)"}[
        summary.scenario.arrivals
    ]
    return (
        f"{summary.at} · {summary.url} · {summary.machine} · {seconds:.0f} s, {arrivals} arrivals, open loop{capacity}"
    )


def _findings(sentences: list[str]) -> str:
    items = (
        f'<li class="bad">{escape(each)}</li>' if any(alarm in each for alarm in ALARMS) else f"<li>{escape(each)}</li>"
        for each in sentences
    )
    return f'<section class="card"><ul class="findings">{"".join(items)}</ul></section>'


def _tiles(summary: Summary) -> str:
    whole, peak = summary.whole, max((phase.goodput_rps for phase in summary.phases), default=0.0)
    tokens = max((phase.tokens_per_second for phase in summary.phases), default=0.0)
    tiles = (
        (f"{peak:,.1f}/s", "peak goodput, documents"),
        (f"{tokens:,.0f}/s", "peak tokens"),
        (f"{whole.latency_ms.get('p50', float('nan')):,.0f} ms", "median latency"),
        (f"{whole.latency_ms.get('p99', float('nan')):,.0f} ms", "99th percentile"),
        (f"{whole.refusal_rate:.1%}", "refused"),
        (f"{whole.error_rate:.2%}", "failed"),
    )
    return tile_row(tiles)


def _phases(summary: Summary) -> str:
    rows = "".join(row(_phase_cells(phase)) for phase in summary.phases)
    return f'<section class="card"><h2>Phases</h2>{table(COLUMNS, rows)}</section>'


def _phase_cells(phase: Figures) -> tuple[str, ...]:
    latencies = [phase.latency_ms.get(name) for name in ("p50", "p90", "p99", "max")]
    return (
        phase.name,
        *(f"{rate:,.1f}" for rate in (phase.offered_rps, phase.throughput_rps, phase.goodput_rps)),
        *("–" if value is None else f"{value:,.0f}" for value in latencies),
        f"{phase.refused:,}",
        f"{phase.failed:,}",
    )


def _footer(missing: list[Chart | Bars], summary: Summary) -> str:
    names = "; ".join(chart.title for chart in missing)
    left_out = f"Left out, because there was nothing to show: {escape(names)}. " if missing else ""
    files = (
        "requests.csv.gz has every request, service.csv every sample of the service, summary.json the figures above."
    )
    seed = f"Seed {summary.scenario.seed}: the same scenario sends the same requests at the same times."
    return f"<footer><p>{left_out}{files} {seed}</p></footer>"


REQUESTS, SERVICE, SUMMARY, REPORT = "requests.csv.gz", "service.csv", "summary.json", "report.html"


def write_raw(result: Result, folder: Path) -> None:
    """Write the records and the metrics samples."""
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(result.records, folder / REQUESTS)
    _write_samples(result.samples, folder / SERVICE)


def write_report(result: Result, folder: Path) -> Path:
    """Write the summary and the report; returns the report's path."""
    encoded = msgspec.json.format(msgspec.json.encode(result.summary), indent=1)
    (folder / SUMMARY).write_bytes(encoded + b"\n")
    (folder / REPORT).write_text(page(result))
    return folder / REPORT


def read_result(folder: Path) -> Result:
    """The result in a folder, without its metrics samples.

    Raises:
        BadInput: the folder has none.
    """
    try:
        summary = msgspec.json.decode((folder / SUMMARY).read_bytes(), type=Summary)
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput(f"{folder} holds no result of a load test: {error}") from error
    return Result(summary, read_csv(folder / REQUESTS), ())


def _write_samples(samples: tuple[MetricsSample, ...], path: Path) -> None:
    names = sorted({name for sample in samples for name in sample.values})
    with path.open("w", newline="") as sink:
        rows = csv.writer(sink)
        rows.writerow(["seconds", *names])
        rows.writerows(
            [f"{each.at:.3f}", *(f"{each.values[n]:.6g}" if n in each.values else "" for n in names)]
            for each in samples
        )
