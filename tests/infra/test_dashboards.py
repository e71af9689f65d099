"""The page: what is committed is what the code builds, Grafana's own model reads it, and every expression is sound."""

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

from infra.dashboards.grafana import FILE, to_json
from infra.dashboards.on_call import ADVICE, LEAST_TASKS, ON_CALL
from tests.support.metric_values import exported_names

PROMETHEUS = Path(__file__).parents[2] / "infra" / "prometheus"
NAMES = re.compile(r"\bgleaner_\w+")
RECORDED = re.compile(r"\bgleaner:\w+:\w+")
SUFFIXES = ("_total", "_bucket", "_sum", "_count")
EXPRESSIONS = [query.expression for panel in ON_CALL.panels() for query in panel.queries]


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(to_json(ON_CALL))["panels"]
    return found


def test_the_committed_file_is_what_the_code_builds() -> None:
    """`make docs` writes it."""
    assert FILE.read_text() == to_json(ON_CALL)


def test_grafanas_own_model_reads_the_file_and_writes_it_unchanged() -> None:
    data = json.loads(to_json(ON_CALL))
    assert json.loads(json.dumps(Dashboard.from_json(data), cls=JSONEncoder)) == data


def test_panels_have_numbers_of_their_own_and_places_of_their_own() -> None:
    shown = panels()
    assert len({panel["id"] for panel in shown}) == len(shown)
    cells = [
        {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        for at in (panel["gridPos"] for panel in shown)
    ]
    assert all(max(x for x, _ in each) < 24 for each in cells)
    assert not any(one & other for one, other in combinations(cells, 2))


@pytest.mark.second_tier  # promtool
def test_every_expression_is_promql(tmp_path: Path) -> None:
    rules = [{"record": f"panel:n{number}", "expr": each} for number, each in enumerate(EXPRESSIONS)]
    path = tmp_path / "panels.yml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    checked = subprocess.run(["promtool", "check", "rules", path], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_every_expression_asks_for_metrics_that_the_service_has() -> None:
    exported = exported_names()
    for name in NAMES.findall(" ".join(EXPRESSIONS)):
        plain = next((name.removesuffix(end) for end in SUFFIXES if name.endswith(end)), name)
        assert {name, plain} & exported, name


def test_page_and_alerts_ask_for_what_is_recorded_and_for_all_of_it() -> None:
    recorded, alerts = ((PROMETHEUS / f"{name}.yml").read_text() for name in ("recording", "alerts"))
    asked = RECORDED.findall(" ".join((*EXPRESSIONS, alerts)))
    assert set(asked) == set(re.findall(r"record: (\S+)", recorded))


def shown(title: str) -> dict[str, Any]:
    """A panel as Grafana reads it."""
    (found,) = [panel for panel in panels() if panel["title"] == title and panel["type"] != "row"]
    return found


@pytest.mark.parametrize(
    ("title", "steps"),
    [
        ("Ready tasks", [(None, "red"), (2, "green")]),
        ("Failed requests", [(None, "green"), (0.001, "yellow"), (0.01, "red")]),
        ("Requests", [(None, "blue")]),
        ("What the tasks are doing", [(None, "red"), (1, "green")]),
    ],
)
def test_a_number_is_green_only_where_it_is_well(title: str, steps: list[tuple[float | None, str]]) -> None:
    found = shown(title)["fieldConfig"]["defaults"]["thresholds"]["steps"]
    assert [(step["value"], step["color"]) for step in found] == steps


def test_units_are_words_and_texts_are_shown_whole() -> None:
    units = {panel["fieldConfig"]["defaults"].get("unit") for panel in panels() if "fieldConfig" in panel}
    assert not units & {"cps", "reqps"}
    for panel in panels():
        if panel["type"] == "text":
            assert panel["options"]["mode"] == "markdown"
            assert panel["gridPos"]["h"] >= 2 + panel["options"]["content"].count("\n")


def test_the_alerts_level_of_ready_tasks_is_the_panels() -> None:
    groups = yaml.safe_load((PROMETHEUS / "alerts.yml").read_text())["groups"]
    (rule,) = [rule for group in groups for rule in group["rules"] if rule.get("alert") == "GleanerTooFewTasks"]
    assert rule["expr"].endswith(f"< {LEAST_TASKS}")


def test_the_runbook_is_one_click_away() -> None:
    assert [(link["title"], link["url"]) for link in json.loads(to_json(ON_CALL))["links"]] == [("Runbook", "$runbook")]


def test_each_advice_leads_to_a_section_of_the_runbook() -> None:
    sections = re.findall(r"^### (\w+)$", (PROMETHEUS.parent / "RUNBOOK.md").read_text(), re.MULTILINE)
    led_to = re.findall(r"\$runbook#(\w+)", shown("What to do")["options"]["content"])
    assert len(led_to) == len(ADVICE)
    assert set(led_to) <= {name.lower() for name in sections}
