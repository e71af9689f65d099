"""A result as one HTML file: findings, figures, the table of phases, plots. It loads nothing from anywhere."""

from __future__ import annotations

from html import escape
from pathlib import Path

from loadtest.report.chart import Bars, Chart
from loadtest.report.plots import plots
from loadtest.report.svg import draw, draw_bars
from loadtest.results.result import Result, Summary
from loadtest.results.summary import Figures

HERE = Path(__file__).parent
ALARMS = ("FAIL", "FALLS", "DO NOT TRUST", "No phase held", "MISSED", "Not one", "without", "after the deadline")
COLUMNS = (
    "phase", "offered /s", "answered /s", "goodput /s", "p50 ms", "p90 ms", "p99 ms", "max ms", "refused", "failed",
)  # fmt: skip


def page(result: Result) -> str:
    """The whole file."""
    summary = result.summary
    charts = plots(result)
    shown = [chart for chart in charts if chart.has_data]
    parts = (
        f"<h1>{escape(summary.title)}</h1>",
        f'<p class="about">{escape(_about(summary))}</p>',
        _findings(summary.findings),
        _tiles(summary),
        _table(summary),
        *map(_figure, shown),
        _footer([chart for chart in charts if not chart.has_data], summary),
    )
    style, script = (HERE / "style.css").read_text(), (HERE / "script.js").read_text()
    meta = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    head = f"{meta}<title>{escape(summary.title)}</title>"
    body = f"<main>{''.join(parts)}</main><script>{script}</script>"
    return f'<!doctype html><html lang="en"><head>{head}<style>{style}</style></head><body>{body}</body></html>\n'


def _about(summary: Summary) -> str:
    capacity = (
        f", capacity measured first: {summary.capacity_rps:.1f} documents a second" if summary.capacity_rps else ""
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
    shown = (f'<div class="tile"><b>{value}</b><span>{name}</span></div>' for value, name in tiles)
    return f'<section class="tiles">{"".join(shown)}</section>'


def _table(summary: Summary) -> str:
    head = "".join(f"<th>{name}</th>" for name in COLUMNS)
    rows = "".join(f"<tr>{_row(phase)}</tr>" for phase in summary.phases)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<section class="card"><h2>Phases</h2><div class="scroll">{table}</div></section>'


def _row(phase: Figures) -> str:
    latencies = [phase.latency_ms.get(name) for name in ("p50", "p90", "p99", "max")]
    cells = (
        escape(phase.name),
        *(f"{rate:,.1f}" for rate in (phase.offered_rps, phase.throughput_rps, phase.goodput_rps)),
        *("–" if value is None else f"{value:,.0f}" for value in latencies),
        f"{phase.refused:,}",
        f"{phase.failed:,}",
    )
    return "".join(f"<td>{cell}</td>" for cell in cells)


def _figure(chart: Chart | Bars) -> str:
    drawn = draw(chart) if isinstance(chart, Chart) else draw_bars(chart)
    head = f'<h2>{escape(chart.title)}</h2><p class="caption">{escape(chart.caption)}</p>'
    return f'<section class="card">{head}<figure>{drawn}</figure></section>'


def _footer(missing: list[Chart | Bars], summary: Summary) -> str:
    left_out = "; ".join(chart.title for chart in missing)
    said = f"Left out, because there was nothing to show: {escape(left_out)}. " if missing else ""
    files = "requests.csv.gz has every request, service.csv every look at the service, summary.json the figures above."
    seed = f"Seed {summary.scenario.seed}: the same scenario sends the same requests at the same moments."
    return f"<footer><p>{said}{files} {seed}</p></footer>"
