"""The report's page: findings, figures, a table of phases, and charts with their numbers, in one HTML file."""

from __future__ import annotations

from html import escape

from loadtest.report.chart import Bars, Chart
from loadtest.report.html import document, figure, row, table, tile_row
from loadtest.report.plots import plots
from loadtest.results.result import Result, Summary
from loadtest.results.summary import Figures

ALARMS = ("FAIL", "FALLS", "DO NOT TRUST", "No phase held", "MISSED", "Not one", "without", "after the deadline")
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
