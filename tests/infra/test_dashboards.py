"""The pages: what is committed is what the code builds, Grafana's own model reads it, and every expression is sound."""

from __future__ import annotations

import json
import re
import subprocess
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from infra.dashboards.grafana import FOLDER, PAGES, to_json
from infra.dashboards.on_call import ADVICE, LEAST_TASKS, ON_CALL
from infra.dashboards.page import Page
from tests.support.metric_values import exported_names

PROMETHEUS = Path(__file__).parents[2] / "infra" / "prometheus"
NAMES = re.compile(r"\bgleaner_\w+")
RECORDED = re.compile(r"\bgleaner:\w+:\w+")
SUFFIXES = ("_total", "_bucket", "_sum", "_count")
page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.uid)


def expressions(page: Page) -> list[str]:
    return [page.filled_in(query.expression) for panel in page.panels() for query in panel.queries]


def panels(page: Page) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(to_json(page))["panels"]
    return found


@page
def test_the_committed_file_is_what_the_code_builds(page: Page) -> None:
    """`make docs` writes it."""
    assert (FOLDER / f"{page.uid}.json").read_text() == to_json(page)


@page
def test_grafanas_own_model_reads_the_file_and_writes_it_unchanged(page: Page) -> None:
    data = json.loads(to_json(page))
    assert json.loads(json.dumps(Dashboard.from_json(data), cls=JSONEncoder)) == data


@page
def test_panels_have_numbers_of_their_own_and_places_of_their_own(page: Page) -> None:
    shown = panels(page)
    assert len({panel["id"] for panel in shown}) == len(shown)
    cells = [
        {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        for at in (panel["gridPos"] for panel in shown)
    ]
    assert all(max(x for x, _ in each) < 24 for each in cells)
    assert not any(one & other for one, other in combinations(cells, 2))


@page
@pytest.mark.second_tier  # promtool
def test_every_expression_is_promql(page: Page, tmp_path: Path) -> None:
    rules = [{"record": f"panel:n{number}", "expr": each} for number, each in enumerate(expressions(page))]
    path = tmp_path / "panels.yml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    checked = subprocess.run(["promtool", "check", "rules", path], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


@page
def test_every_expression_asks_for_what_is_exported_or_recorded(page: Page) -> None:
    exported = exported_names()
    recorded = set(RECORDED.findall((PROMETHEUS / "recording.yml").read_text()))
    for expression in expressions(page):
        for name in NAMES.findall(expression):
            plain = next((name.removesuffix(end) for end in SUFFIXES if name.endswith(end)), name)
            assert {name, plain} & exported, name
        assert set(RECORDED.findall(expression)) <= recorded


def shown(title: str, page: Page = ON_CALL) -> dict[str, Any]:
    """A panel as Grafana reads it."""
    (found,) = [panel for panel in panels(page) if panel["title"] == title and panel["type"] != "row"]
    return found


@pytest.mark.parametrize(
    ("title", "steps"),
    [
        ("Ready tasks", [(None, "red"), (2, "green")]),
        ("Slow requests", [(None, "green"), (0.005, "yellow"), (0.01, "red")]),
        ("Requests", [(None, "blue")]),
        ("What the tasks are doing", [(None, "red"), (1, "green")]),
    ],
)
def test_a_number_is_green_only_where_it_is_well(title: str, steps: list[tuple[float | None, str]]) -> None:
    found = shown(title)["fieldConfig"]["defaults"]["thresholds"]["steps"]
    assert [(step["value"], step["color"]) for step in found] == steps


@page
def test_units_are_words_and_texts_are_shown_whole(page: Page) -> None:
    units = {panel["fieldConfig"]["defaults"].get("unit") for panel in panels(page) if "fieldConfig" in panel}
    assert not units & {"cps", "reqps"}
    for panel in panels(page):
        if panel["type"] == "text":
            assert panel["options"]["mode"] == "markdown"
            assert panel["gridPos"]["h"] >= 2 + panel["options"]["content"].count("\n")


def test_the_alerts_level_of_ready_tasks_is_the_panels() -> None:
    groups = yaml.safe_load((PROMETHEUS / "alerts.yml").read_text())["groups"]
    (rule,) = [rule for group in groups for rule in group["rules"] if rule.get("alert") == "GleanerTooFewTasks"]
    assert rule["expr"].endswith(f"< {LEAST_TASKS}")


@page
def test_the_runbook_is_one_click_away(page: Page) -> None:
    assert [(link["title"], link["url"]) for link in json.loads(to_json(page))["links"]] == [("Runbook", "$runbook")]


def test_each_advice_leads_to_a_section_of_the_runbook() -> None:
    sections = re.findall(r"^### (\w+)$", (PROMETHEUS.parent / "RUNBOOK.md").read_text(), re.MULTILINE)
    led_to = re.findall(r"\$runbook#(\w+)", shown("What to do")["options"]["content"])
    assert len(led_to) == len(ADVICE)
    assert set(led_to) <= {name.lower() for name in sections}
