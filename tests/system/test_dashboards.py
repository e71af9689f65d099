"""The page against the real thing: a Prometheus that scrapes a service under a little load, and no panel is empty."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import yaml

from infra.dashboards.on_call import ON_CALL
from infra.scaling.policy import policy_for
from loadtest.service_process import KeptPort
from tests.support.helm import NAMESPACE, RELEASE, Helm
from tests.support.nvml.stub import StubNvml
from tests.support.service import PLAIN, Service, serving, wait_until

MOST_IDLE = 0.3
"""Work ratio of a service that is asked for nothing: its event loop's own."""

ROOT = Path(__file__).parents[2]
RULES = ROOT / "infra" / "prometheus"
OF_A_MEASURED_FLEET = "gleaner:request_seconds:slo"
"""Recorded where a `capacity_file` names the limit."""
INVOICE = ROOT / "loadtest" / "samples" / "invoice.pdf"


@contextmanager
def prometheus(folder: Path, service: Service, **labels: str) -> Iterator[str]:
    """Our own configuration with this service's address and these labels, and every second instead of every ten."""
    config = yaml.safe_load((RULES / "prometheus.yml").read_text())
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config["rule_files"] = []
    for name in config_rule_files():
        rules = yaml.safe_load((RULES / name).read_text())
        for group in rules["groups"]:
            group["interval"] = "1s"
        (folder / name).write_text(yaml.safe_dump(rules))
        config["rule_files"].append(str(folder / name))
    config["alerting"] = {}
    target = {"targets": [service.url.removeprefix("http://")], "labels": labels}
    config["scrape_configs"][0]["static_configs"] = [target]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    port = KeptPort()
    address = f"127.0.0.1:{port.number}"
    command = [
        "prometheus",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={address}",
    ]
    with (folder / "prometheus.log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            wait_until(lambda: _is_ready(process, f"http://{address}"))
            yield f"http://{address}"
        finally:
            process.terminate()
            process.wait(30.0)


def _is_ready(process: subprocess.Popen[bytes], url: str) -> bool:
    """Prometheus answers 503 to all queries until its store is open."""
    assert process.poll() is None, f"prometheus ended with exit code {process.returncode}"
    try:
        return httpx.get(f"{url}/-/ready", verify=PLAIN).is_success
    except httpx.HTTPError:
        return False


def config_rule_files() -> list[str]:
    names: list[str] = yaml.safe_load((RULES / "prometheus.yml").read_text())["rule_files"]
    return names


def numbers(url: str, expression: str) -> list[float]:
    """What Prometheus answers now: each series' value, none that is not a number."""
    response = httpx.get(f"{url}/api/v1/query", params={"query": expression}, timeout=30.0, verify=PLAIN)
    assert response.is_success, response.text
    answer = response.json()
    values = (float(series["value"][1]) for series in answer["data"]["result"])
    return [value for value in values if math.isfinite(value)]


def post_some(service: Service) -> None:
    with service.client() as client:
        for _ in range(3):
            assert client.post("/extract", json={"text": "Jane Doe lives in Springfield."}).status_code == 200
        assert client.post("/extract", files={"file": (INVOICE.name, INVOICE.read_bytes())}).status_code == 200
        assert client.post("/extract", json={"text": "late", "deadline_ms": 1}).status_code in (200, 422, 504)


def test_no_panel_is_empty(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in StubNvml(tmp_path / "nvml").environment.items():
        monkeypatch.setenv(name, value)
    queries = [query.expression for panel in ON_CALL.panels() for query in panel.queries]
    with serving(home, MODELS="tiny", GPU_WATCH="0") as service, prometheus(tmp_path, service) as url:
        empty = [each for each in dict.fromkeys(queries) if each != OF_A_MEASURED_FLEET]
        assert len(empty) > 30

        def all_have_numbers() -> bool:
            post_some(service)
            empty[:] = [expression for expression in empty if not numbers(url, expression)]
            return not empty

        try:
            wait_until(all_have_numbers, 150.0)
        except AssertionError as error:
            raise AssertionError(f"empty: {empty}\n{(tmp_path / 'prometheus.log').read_text()[-2000:]}") from error
        # After a scrape that took too long a query has no answer until the next.
        wait_until(lambda: numbers(url, 'sum(gleaner_phase{phase="ready"})') == [1.0])
        wait_until(lambda: numbers(url, "gleaner_gpu_utilization_ratio") == [0.73])
        wait_until(lambda: sum(numbers(url, "gleaner:stage_seconds:mean1m")) > 0)
        assert numbers(url, 'count(ALERTS{alertstate="firing"})') == []


def test_what_keda_asks_is_there_and_follows_the_work(home: Path, tmp_path: Path) -> None:
    """The chart's queries over a pod of its release, whose device is too slow for what it is asked."""
    work, backlog, queue, gpu = Helm.unpacked(tmp_path).scaling_queries()
    pod = {"namespace": NAMESPACE, "pod": f"{RELEASE}-7c9d5b-x2x4z"}
    slow = serving(home, MODELS="tiny", PACE_TOKENS_PER_SECOND="1000", BATCH_TOKENS="256", WINDOW_TOKENS="256")
    documents = [{"text": "Jane Doe lives in Springfield. " * 30}] * 40
    with slow as service, prometheus(tmp_path, service, **pod) as url, service.client() as client:
        wait_until(lambda: max(numbers(url, work), default=1.0) < MOST_IDLE and numbers(url, backlog) == [0.0])

        def is_asked_for_more() -> bool:
            client.post("/extract", json={"documents": documents, "deadline_ms": 3_000})
            assert {*numbers(url, queue), *numbers(url, gpu)} <= {0.0}, "a slow device, with a queue that is not deep"
            return max(numbers(url, work), default=0.0) > policy_for().targets.work_ratio

        wait_until(is_asked_for_more)
        wait_until(lambda: numbers(url, queue) == numbers(url, gpu) == [0.0])
