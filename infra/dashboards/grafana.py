"""Grafana's format: page → dashboard, through Grafana's own builders, which only this module uses."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

from grafana_foundation_sdk.builders import (
    bargauge,
    common,
    dashboard,
    prometheus,
    stat,
    statetimeline,
    text,
    timeseries,
)
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.common import GraphTresholdsStyleMode, StackingMode
from grafana_foundation_sdk.models.dashboard import DashboardLinkType, DataSourceRef, Threshold, ThresholdsMode
from grafana_foundation_sdk.models.text import TextMode

from infra.dashboards.on_call import ON_CALL
from infra.dashboards.page import Kind, Page, Panel, Text

DATASOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
Chart = timeseries.Panel | stat.Panel | bargauge.Panel | statetimeline.Panel
QUIET, WORRY, ALARM, NEUTRAL = "green", "yellow", "red", "blue"
RUNBOOK = "infra/RUNBOOK.md"
"""Default address of the runbook; the reader sets it to that of a wiki or repository."""


def to_json(page: Page) -> str:
    """A page as the file that Grafana imports."""
    return json.dumps(to_dashboard(page).build(), cls=JSONEncoder, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def to_dashboard(page: Page) -> dashboard.Dashboard:
    """A page as Grafana's builder has it; rows below one another, panels side by side."""
    built = dashboard.Dashboard(page.title).uid(page.uid).description(page.description)
    built = built.tags(["gleaner"]).time("now-1h", "now").refresh("10s").timezone("browser")
    built = built.with_variable(dashboard.DatasourceVariable("datasource").label("Prometheus").type("prometheus"))
    runbook = dashboard.DashboardLink("Runbook").type(DashboardLinkType.LINK).url("$runbook")
    built = built.link(runbook.icon("doc").target_blank(True))
    built = built.with_variable(dashboard.TextBoxVariable("runbook").label("Runbook").default_value(RUNBOOK))
    numbers = count(1)
    for row in page.rows:
        built = built.with_row(dashboard.Row(row.title).id(next(numbers)))
        for panel in row.panels:
            shown = _text(panel) if isinstance(panel, Text) else _chart(panel)
            built = built.with_panel(shown.id(next(numbers)))
    return built


def _text(panel: Text) -> text.Panel:
    shown = text.Panel().title(panel.title).content(panel.markdown).mode(TextMode.MARKDOWN)
    return shown.span(panel.width).height(panel.height)


def _chart(panel: Panel) -> Chart:
    chart = _of_kind(panel)
    chart.title(panel.title).description(panel.meaning).unit(panel.unit).datasource(DATASOURCE)
    chart.span(panel.width).height(panel.height).thresholds(_thresholds(panel))
    for number, query in enumerate(panel.queries):
        asked = prometheus.Dataquery().expr(query.expression).legend_format(query.legend).ref_id(chr(ord("A") + number))
        now_only = panel.kind in (Kind.NUMBER, Kind.BARS)
        chart.with_target(asked.datasource(DATASOURCE).instant() if now_only else asked.datasource(DATASOURCE).range())
    return chart


def _of_kind(panel: Panel) -> Chart:
    latest = common.ReduceDataOptions().calcs(["lastNotNull"])
    legend = common.VizLegendOptions().show_legend(True)
    match panel.kind:
        case Kind.NUMBER:
            return stat.Panel().reduce_options(latest)
        case Kind.BARS:
            return bargauge.Panel().min(0).reduce_options(latest)
        case Kind.STATES:
            return statetimeline.Panel().legend(legend)
        case Kind.STACK:
            stacking = common.StackingConfig().mode(StackingMode.NORMAL)
            return timeseries.Panel().legend(legend).min(0).fill_opacity(40).stacking(stacking)
        case Kind.LINES:
            lines = timeseries.Panel().legend(legend).min(0)
            marked = common.GraphThresholdsStyleConfig().mode(GraphTresholdsStyleMode.DASHED)
            return lines if panel.alarm is None else lines.thresholds_style(marked)


def _thresholds(panel: Panel) -> dashboard.ThresholdsConfig:
    """Colours by value; a number without a level that matters is not green, which would say that all is well."""
    levels = ((panel.least, QUIET), (panel.worry, WORRY), (panel.alarm, ALARM))
    steps = [Threshold(at, color) for at, color in levels if at is not None]
    steps.insert(0, Threshold(None, ALARM if panel.least is not None else QUIET if steps else NEUTRAL))
    return dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps)


FILE = Path(__file__).parents[1] / "grafana" / f"{ON_CALL.uid}.json"


def main() -> None:
    """Write the page into its file."""
    FILE.write_text(to_json(ON_CALL))


if __name__ == "__main__":
    main()
