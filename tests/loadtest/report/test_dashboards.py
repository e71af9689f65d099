"""Grafana's pages as HTML: every panel in its place, numbers in their colours, and a sentence where nobody answers."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from loadtest.report.dashboards import DASHBOARDS, Prometheus, main, page, variables

FILES = sorted(DASHBOARDS.glob("*.json"))


def answering(value: str, labels: dict[str, str] | None = None) -> tuple[httpx.Client, list[str]]:
    """A Prometheus with one series for every question, and what it was asked."""
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.params["query"])
        points = {"value": [0, value]} if request.url.path.endswith("/query") else {"values": [[0, value], [1, value]]}
        return httpx.Response(200, json={"data": {"result": [{"metric": labels or {}, **points}]}})

    return httpx.Client(transport=httpx.MockTransport(answer), base_url="http://prometheus"), asked


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_every_panel_is_there_and_asked_with_the_readers_values(file: Path) -> None:
    dashboard = json.loads(file.read_text())
    client, asked = answering("0.25", {"stage": "tokenize"})
    found = page(dashboard, Prometheus(client, 600.0, variables(dashboard)))
    assert all(panel["title"].replace("'", "&#x27;") in found for panel in dashboard["panels"])
    assert len(asked) == sum(len(panel.get("targets", [])) for panel in dashboard["panels"])
    assert not any(f"${name}" in expression for name in variables(dashboard) for expression in asked)
    assert "No data" not in found
    assert found.count("<svg") > 5


@pytest.mark.parametrize(("value", "shown"), [("0.25", "25 %"), ("NaN", "No data")])
def test_a_number_has_its_unit_and_what_is_no_number_is_said(value: str, shown: str) -> None:
    dashboard = json.loads(FILES[1].read_text())
    panel = next(each for each in dashboard["panels"] if each["type"] == "stat" and "percentunit" in str(each))
    client, _ = answering(value)
    found = page({**dashboard, "panels": [panel]}, Prometheus(client, 600.0, {}))
    assert shown in found
    assert ("--red" in found.partition('class="page"')[2]) == (value == "0.25"), "far above its alarm"


def test_a_prometheus_that_is_not_there_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["http://127.0.0.1:9", str(tmp_path)]) == 1
    assert "dashboards: http://127.0.0.1:9: " in capsys.readouterr().err
