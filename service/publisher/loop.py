"""The publisher's loop: every period it measures the points of a service and tries once to send them to CloudWatch.

Points that cannot be sent are lost: what scales by them looks at the last minutes. A call that hangs ends by its
timeouts, and the points after it are measured over the longer time. On a stop the loop measures and sends once more,
unless the last call failed: a stop takes no longer than one call.
"""

from __future__ import annotations

import logging
import queue
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from service.logs import LogEvent
from service.metrics.prometheus import counter
from service.signals.catalog import SERVICE_DIMENSION, STORAGE_RESOLUTION_SECONDS
from service.signals.points import Point, Snapshot, measure

CONNECT_SECONDS = 2.0
READ_SECONDS = 2.0
"""Together with `CONNECT_SECONDS` less than the supervisor waits for the end of the process."""

log = logging.getLogger(__name__)

Stop = queue.SimpleQueue[None]
"""Ends the loop once something is in it; a SimpleQueue, because signal handlers put into it."""


class PublisherMetrics:
    def __init__(self) -> None:
        self.deliveries = counter("gleaner_cloudwatch_deliveries", "Calls to CloudWatch by outcome.", "outcome")


class CloudWatch:
    """Sends points to one namespace of CloudWatch, with the fleet's name as their dimension."""

    def __init__(
        self, namespace: str, service: str, connect_seconds: float = CONNECT_SECONDS, read_seconds: float = READ_SECONDS
    ) -> None:
        self._namespace = namespace
        self._service = service
        self._timeouts = {"connect_timeout": connect_seconds, "read_timeout": read_seconds}
        self._client: Any = None
        self._failure = ""

    def deliver(self, points: tuple[Point, ...]) -> bool:
        """Send points in one call; False if that failed, which is logged unless the reason is that of the last call."""
        try:
            if self._client is None:
                self._client = _client(self._timeouts)
            data = [datum(point, self._service) for point in points]
            self._client.put_metric_data(Namespace=self._namespace, MetricData=data)
        except Exception as error:
            self._client = None  # It has read the credentials of files once; they may be renewed since.
            failure = f"{type(error).__name__}: {error}"
            if failure != self._failure:
                fields = {"event": LogEvent.POINTS_NOT_SENT, "reason": failure}
                log.warning("points could not be sent", extra=fields)
            self._failure = failure
            return False
        if self._failure:
            log.warning("CloudWatch is in reach again", extra={"event": LogEvent.CLOUDWATCH_REACHABLE})
        self._failure = ""
        return True


def publish(
    snapshot: Callable[[], Snapshot], cloud: CloudWatch, stop: Stop, metrics: PublisherMetrics, period_seconds: float
) -> None:
    """Publish the points of one service, from now on until the stop."""
    last, tick, stopped = snapshot(), time.monotonic(), False
    while True:  # At once, so that a new task is counted from its first second.
        now = snapshot()
        is_sent = cloud.deliver(measure(last, now))
        metrics.deliveries.labels("sent" if is_sent else "failed").inc()
        last = now
        if stopped:
            break
        tick = max(tick + period_seconds, time.monotonic())
        stopped = _is_stopped_before(tick, stop)
        if stopped and not is_sent:
            break
    log.info("stopped publishing", extra={"event": LogEvent.PUBLISHER_STOPPED})


def _is_stopped_before(tick: float, stop: Stop) -> bool:
    try:
        stop.get(timeout=max(tick - time.monotonic(), 0.0))
    except queue.Empty:
        return False
    return True


def datum(point: Point, service: str) -> dict[str, Any]:
    """A point as an item of PutMetricData's `MetricData`."""
    return {
        "MetricName": point.signal.name,
        "Dimensions": [{"Name": SERVICE_DIMENSION, "Value": service}],
        "Timestamp": datetime.fromtimestamp(point.unix_seconds, UTC),
        "Unit": point.signal.unit.value,
        "StorageResolution": STORAGE_RESOLUTION_SECONDS,
        "Values": list(point.values),
        "Counts": list(point.counts),
    }


def _client(timeouts: Mapping[str, float]) -> Any:
    """A boto3 client that tries once; region, credentials and endpoint from AWS's variables."""
    import boto3
    from botocore.config import Config

    config = Config(retries={"total_max_attempts": 1}, **timeouts)
    return boto3.session.Session().client("cloudwatch", config=config)
