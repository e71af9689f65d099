"""A service that publishes: to moto, where all works, and to endpoints that hang."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from moto.server import ThreadedMotoServer

from service.signals.catalog import PERIOD_SECONDS, SIGNALS, Kind
from tests.support.cloudwatch_endpoint import endpoint
from tests.support.service import Service, serving, wait_until

NAMESPACE = "Gleaner/Test"
FLEET = "fleet-of-tests"
ALWAYS = {signal.name for signal in SIGNALS if signal.kind in (Kind.COUNT, Kind.FLAG)}
SHARE = {signal.name for signal in SIGNALS if signal.kind is Kind.LEVEL}
"""What a ready task publishes."""
PATIENT_SECONDS = 15 * PERIOD_SECONDS
BUSY_WHEN_IDLE = {"WorkRatio", "TokenizeWorkRatio"}
"""A worker's event loop has work of its own: heartbeats, health checks."""
IDLE_RATIO = 0.3


@pytest.fixture
def moto() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def publishing(home: Path) -> Any:
    return serving(home, MODELS="tiny", CLOUDWATCH_NAMESPACE=NAMESPACE, CLOUDWATCH_SERVICE=FLEET)


def extract(service: Service) -> httpx.Response:
    return service.extract(text="Jane Doe lives in Springfield.")


def statistics(url: str, name: str, statistic: str) -> list[float]:
    """One metric's statistic in CloudWatch, by period."""
    cloud = boto3.Session().client("cloudwatch", endpoint_url=url)
    now = datetime.now(UTC)
    answer = cloud.get_metric_statistics(
        Namespace=NAMESPACE,
        MetricName=name,
        Dimensions=[{"Name": "Service", "Value": FLEET}],
        StartTime=now - timedelta(hours=1),
        EndTime=now + timedelta(minutes=1),
        Period=PERIOD_SECONDS,
        Statistics=[statistic],
    )
    return [point[statistic] for point in answer["Datapoints"]]


def test_rounds_arrive_complete_and_in_high_resolution(home: Path, moto: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with endpoint(monkeypatch, upstream=moto) as cloud:
        with publishing(home) as service:
            wait_until(lambda: bool(cloud.data("WorkRatio")), PATIENT_SECONDS)
            assert all(extract(service).status_code == 200 for _ in range(3))
            wait_until(lambda: any(datum["Values"] > [0.0] for datum in cloud.data("BusyRatio")), PATIENT_SECONDS)
            service.kill_engine()
            wait_until(lambda: service.metric("gleaner_engine_starts_total") == 2)
            wait_until(service.is_ready)
            assert service.stop() == 0
        rounds = cloud.calls
        units = {signal.name: signal.unit.value for signal in SIGNALS}
        for call in rounds:
            assert call["Namespace"] == NAMESPACE
            assert {datum["MetricName"] for datum in call["MetricData"]} >= ALWAYS
            for datum in call["MetricData"]:
                assert datum["StorageResolution"] == 1
                assert datum["Dimensions"] == [{"Name": "Service", "Value": FLEET}]
                assert datum["Unit"] == units[datum["MetricName"]]
        values = [{datum["MetricName"]: datum["Values"] for datum in call["MetricData"]} for call in rounds]
        idle = next(each for each in values if "WorkRatio" in each)
        assert all(idle[name][0] < IDLE_RATIO for name in BUSY_WHEN_IDLE)
        resting = (ALWAYS | SHARE) - BUSY_WHEN_IDLE
        assert {name: idle[name] for name in resting} == {name: [0.0] for name in resting}
    listed = boto3.Session().client("cloudwatch", endpoint_url=moto).list_metrics(Namespace=NAMESPACE)["Metrics"]
    assert {metric["MetricName"] for metric in listed} >= ALWAYS | SHARE | {"RequestSeconds"}
    assert sum(statistics(moto, "RequestSeconds", "SampleCount")) == 3
    assert sum(statistics(moto, "Restarts", "Sum")) == 1
    assert max(statistics(moto, "BusyRatio", "Maximum")) > 0


def test_a_hanging_call_and_a_dead_publisher_harm_no_request(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with endpoint(monkeypatch) as cloud:
        cloud.mood = "hanging"
        with publishing(home) as service:
            assert cloud.waiting.wait(PATIENT_SECONDS)
            assert all(extract(service).status_code == 200 for _ in range(20))
            first, engine = service.child("publisher"), service.child("engine")
            cloud.mood = "well"
            os.kill(first, signal.SIGKILL)
            wait_until(lambda: service.find("publisher") not in (None, first), PATIENT_SECONDS)
            wait_until(lambda: bool(cloud.calls), PATIENT_SECONDS)
            assert extract(service).status_code == 200
            assert service.child("engine") == engine
            cloud.mood = "hanging"
            begun = time.monotonic()
            assert service.stop() == 0
            assert time.monotonic() - begun < 43.0


def test_without_a_namespace_there_is_no_publisher(service: Service) -> None:
    assert service.find("publisher") is None
