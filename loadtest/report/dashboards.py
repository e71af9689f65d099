"""`python -m loadtest.report.dashboards PROMETHEUS FOLDER`: Grafana's pages with what a Prometheus holds, as HTML.

They are read from the files that Grafana imports: rows, places, expressions, thresholds. For who has no Grafana at
hand, and for looking at a page before it is deployed; Grafana draws better.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx

from loadtest.report.axes import number
from loadtest.report.chart import Bars, Chart, Points, Series
from loadtest.report.draw import draw
from loadtest.report.html import document

DASHBOARDS = Path(__file__).parents[2] / "infra" / "grafana"
COLOURS = ("green", "orange", "blue", "red", "purple", "teal", "gold", "navy", "sky", "grey")
MARKS = {"green": "green", "yellow": "gold", "red": "red"}
STEPS = 240
UNITS = {"none": "", "s": " s", "cps": "/s", "reqps": "/s", "bytes": " bytes", "currencyUSD": " $"}
"""Grafana's ids → what stands behind a number."""
STYLE = """<style>
main { max-width: 1800px } .page { display: grid; grid-template-columns: repeat(24, 1fr); gap: 8px }
.page h2.row { grid-column: 1 / -1; margin: 16px 0 0 } .page .card { margin: 0; padding: 8px; overflow: hidden }
.page h3 { margin: 0; font-size: 14px } .page .caption { font-size: 11px; margin: 2px 0 }
.page .big { font-size: 32px; font-weight: 600 } .page svg { width: 100%; height: auto }
</style>"""
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """One series of an answer: its name in the legend and its points, seconds from now and values."""

    name: str
    points: Points


class Prometheus:
    """Asks one Prometheus of the last `seconds`, with the defaults of a page's variables in its expressions."""

    def __init__(self, client: httpx.Client, seconds: float, variables: Mapping[str, str]) -> None:
        self._client, self._seconds, self._variables = client, seconds, variables

    def filled_in(self, text: str) -> str:
        """A text with the variables' values."""
        for name, value in self._variables.items():
            text = text.replace(f"${name}", value)
        return text

    def ask(self, target: Json) -> list[Found]:
        """The series of one query; those that are no numbers have no points.

        Raises:
            httpx.HTTPError: it does not answer, or refuses the expression.
        """
        expression, now = self.filled_in(target["expr"]), time.time()
        way = "query" if target.get("instant") else "query_range"
        asked: dict[str, str | float] = {"query": expression, "time": now}
        if way == "query_range":
            asked |= {"start": now - self._seconds, "end": now, "step": max(self._seconds / STEPS, 1.0)}
        answer = self._client.get(f"/api/v1/{way}", params=asked)
        answer.raise_for_status()
        return [
            Found(_legend(target["legendFormat"], each["metric"]), _points(each, now))
            for each in answer.json()["data"]["result"]
        ]


def page(dashboard: Json, prometheus: Prometheus) -> str:
    """One dashboard as a whole file."""
    parts = [
        STYLE,
        f"<h1>{escape(dashboard['title'])}</h1>",
        f'<p class="about">{escape(dashboard["description"])}</p>',
    ]
    shown = "".join(_panel(panel, prometheus) for panel in dashboard["panels"])
    return document(dashboard["title"], [*parts, f'<div class="page">{shown}</div>'])


def variables(dashboard: Json) -> dict[str, str]:
    """The defaults of what a reader may change."""
    return {each["name"]: each["query"] for each in dashboard["templating"]["list"] if each["type"] == "textbox"}


def _panel(panel: Json, prometheus: Prometheus) -> str:
    place, title = panel["gridPos"], escape(panel["title"])
    if panel["type"] == "row":
        return f'<h2 class="row">{title}</h2>'
    at = f"grid-column: {place['x'] + 1} / span {place['w']}"
    caption = f'<p class="caption">{escape(panel.get("description", ""))}</p>'
    return f'<section class="card" style="{at}"><h3>{title}</h3>{caption}{_body(panel, prometheus)}</section>'


def _body(panel: Json, prometheus: Prometheus) -> str:
    if panel["type"] == "text":
        return f"<pre>{escape(prometheus.filled_in(panel['options']['content']))}</pre>"
    found = [each for target in panel["targets"] for each in prometheus.ask(target) if each.points]
    if not found:
        return '<p class="big">No data</p>'
    unit = panel["fieldConfig"]["defaults"].get("unit", "")
    if panel["type"] == "stat":
        return " ".join(_number(each, unit, panel) for each in found)
    if panel["type"] == "bargauge":
        values = tuple(each.points[-1][1] for each in found)
        bars = Bars(panel["title"], "", "", unit, tuple(each.name for each in found), (("now", "blue", values),))
        return draw(bars).svg
    stacked = panel["fieldConfig"]["defaults"].get("custom", {}).get("stacking", {}).get("mode") == "normal"
    lines = zip(found, cycle(COLOURS), strict=False)
    series = tuple(Series(each.name, each.points, colour) for each, colour in lines)
    stacked = stacked and len({tuple(x for x, _ in each.points) for each in found}) == 1
    limit = next(((step["value"], "alarm") for step in _steps(panel) if step["color"] == "red"), None)
    chart = Chart(panel["title"], "", "", "seconds from now", unit, series, stacked=stacked, limit=limit)
    return draw(chart).svg


def _number(found: Found, unit: str, panel: Json) -> str:
    value = found.points[-1][1]
    colour = next(step["color"] for step in reversed(_steps(panel)) if step["value"] is None or value >= step["value"])
    shown = f"{100 * value:.3g} %" if unit == "percentunit" else number(value) + UNITS.get(unit, f" {unit}")
    return f'<span class="big" style="color: var(--{MARKS[colour]})">{shown}</span> {escape(found.name)}'


def _steps(panel: Json) -> Sequence[Json]:
    steps: Sequence[Json] = panel["fieldConfig"]["defaults"]["thresholds"]["steps"]
    return steps


def _legend(form: str, labels: Mapping[str, str]) -> str:
    return re.sub(r"{{\s*(\w+)\s*}}", lambda found: labels.get(found[1], ""), form) or "value"


def _points(answer: Json, now: float) -> Points:
    values = answer["values"] if "values" in answer else [answer["value"]]
    return tuple((at - now, float(value)) for at, value in values if math.isfinite(float(value)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a file for each dashboard."""
    parser = argparse.ArgumentParser(prog="python -m loadtest.report.dashboards", description=__doc__)
    parser.add_argument("prometheus", help="its address: http://127.0.0.1:9090")
    parser.add_argument("folder", type=Path, help="for the pages")
    parser.add_argument("--minutes", type=float, default=60.0, help="of the past that are shown (default: 60)")
    chosen = parser.parse_args(arguments)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    try:
        with httpx.Client(base_url=chosen.prometheus, timeout=30.0) as client:
            for file in sorted(DASHBOARDS.glob("*.json")):
                dashboard = json.loads(file.read_text(encoding="utf-8"))
                text = page(dashboard, Prometheus(client, 60 * chosen.minutes, variables(dashboard)))
                (chosen.folder / f"{file.stem}.html").write_text(text, encoding="utf-8")
                print(chosen.folder / f"{file.stem}.html")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        print(f"dashboards: {chosen.prometheus}: {error}", file=sys.stderr)
        return 1
    except (KeyError, ValueError):
        print(f"dashboards: {chosen.prometheus} does not answer as a Prometheus", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
