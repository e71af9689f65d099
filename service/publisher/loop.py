"""The publisher's loop: every period it measures a round of points, queues it, and starts a delivery if none runs.

The loop's thread never waits for the network; a second thread delivers and reports the outcome. They share nothing but
two queues, so a call that hangs loses no points. On a stop the loop measures once more and waits `STOP_SECONDS` for the
last delivery.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from service.logs import LogEvent
from service.metrics.prometheus import counter
from service.publisher.outbox import Outbox, Round, SendOutcome
from service.signals.catalog import SERVICE_DIMENSION, STORAGE_RESOLUTION_SECONDS
from service.signals.points import Point, Snapshot, measure

STOP_SECONDS = 3.0
"""Longest wait for the last delivery after a stop."""

log = logging.getLogger(__name__)


class PublisherMetrics:
    """Metrics of the publisher: deliveries to CloudWatch."""

    def __init__(self) -> None:
        self.deliveries = counter("gleaner_cloudwatch_deliveries", "Calls to CloudWatch by outcome.", "outcome")
        self.given_up = counter("gleaner_cloudwatch_given_up", "Rounds of points that CloudWatch will never get.")


class PublisherSignal(Enum):
    """Requests to the loop from outside its thread."""

    STOP = "stop"


Inbox = queue.SimpleQueue[PublisherSignal | SendOutcome]
"""What wakes the loop; a SimpleQueue, because signal handlers put into it."""


class Publisher:
    """Publishes the rounds of one service, from start to stop."""

    def __init__(
        self,
        snapshot: Callable[[], Snapshot],
        deliver: Callable[[Round], SendOutcome],
        inbox: Inbox,
        metrics: PublisherMetrics,
        period_seconds: float,
    ) -> None:
        self._snapshot = snapshot
        self._deliver = deliver
        self._inbox = inbox
        self._metrics = metrics
        self._period_seconds = period_seconds
        self._outbox = Outbox()
        self._deliveries: queue.SimpleQueue[Round] = queue.SimpleQueue()
        self._failing = False

    def __len__(self) -> int:
        """Rounds that wait or are being delivered."""
        return len(self._outbox)

    def run(self) -> None:
        """Publish until `PublisherSignal.STOP`."""
        threading.Thread(target=self._deliver_all, name="delivery", daemon=True).start()
        self._last = self._snapshot()
        self._measure()  # At once, so that a new task is counted from its first second.
        tick = time.monotonic() + self._period_seconds
        while (event := self._next_event(tick)) is not PublisherSignal.STOP:
            if event is None:
                self._measure()
                tick = max(tick + self._period_seconds, time.monotonic())
            else:
                self._conclude(event)
        self._finish()

    def _deliver_all(self) -> None:
        """The delivery thread: one delivery after the other, each outcome into the inbox."""
        while True:
            self._inbox.put(self._deliver(self._deliveries.get()))

    def _next_event(self, until: float) -> PublisherSignal | SendOutcome | None:
        """The next signal or outcome; None when `until` comes first."""
        try:
            return self._inbox.get(timeout=max(until - time.monotonic(), 0.0))
        except queue.Empty:
            return None

    def _measure(self) -> None:
        now = self._snapshot()
        self._count_dropped(self._outbox.put(measure(self._last, now)))
        self._last = now
        self._start_delivery()

    def _start_delivery(self) -> None:
        if points := self._outbox.take():
            self._deliveries.put(points)

    def _conclude(self, outcome: SendOutcome) -> None:
        self._metrics.deliveries.labels(outcome.value).inc()
        self._count_dropped(self._outbox.conclude(outcome))
        if self._failing != (outcome is SendOutcome.FAILED):
            self._failing = not self._failing
            self._log_reach()
        if outcome is not SendOutcome.FAILED:  # A failed delivery is tried again after the next period.
            self._start_delivery()

    def _log_reach(self) -> None:
        if self._failing:
            log.warning("CloudWatch is out of reach", extra={"event": LogEvent.CLOUDWATCH_UNREACHABLE})
        else:
            log.warning("CloudWatch is in reach again", extra={"event": LogEvent.CLOUDWATCH_REACHABLE})

    def _count_dropped(self, rounds: int) -> None:
        if rounds:
            self._metrics.given_up.inc(rounds)
            log.warning("rounds of points were given up", extra={"event": LogEvent.POINTS_GIVEN_UP, "rounds": rounds})

    def _finish(self) -> None:
        self._measure()
        end = time.monotonic() + STOP_SECONDS
        while len(self._outbox):
            event = self._next_event(end)
            if event is None or event is SendOutcome.FAILED:
                break
            if isinstance(event, SendOutcome):
                self._conclude(event)
        fields = {"event": LogEvent.PUBLISHER_STOPPED, "rounds_left": len(self._outbox)}
        log.info("stopped publishing", extra=fields)


CONNECT_SECONDS = 2.0
READ_SECONDS = 5.0
REFUSED_CODES = frozenset(
    {
        "InvalidParameterValue",
        "InvalidParameterValueException",
        "InvalidParameterCombination",
        "InvalidParameterCombinationException",
        "MissingParameter",
        "MissingRequiredParameterException",
        "RequestEntityTooLarge",
        "ValidationError",
    }
)
"""Error codes of CloudWatch that blame the points themselves, so that sending them again would not help."""


class CloudWatch:
    """Sends points to one namespace of CloudWatch, with the fleet's name as their dimension."""

    def __init__(
        self, namespace: str, service: str, connect_seconds: float = CONNECT_SECONDS, read_seconds: float = READ_SECONDS
    ) -> None:
        self._namespace = namespace
        self._service = service
        self._timeouts = {"connect_timeout": connect_seconds, "read_timeout": read_seconds}
        self._client: Any = None
        self._last_failure = ""

    def deliver(self, points: Round) -> SendOutcome:
        """Send points in one call; never raises, because the next period tries again."""
        try:
            if self._client is None:
                self._client = _client(self._timeouts)
            data = [datum(point, self._service) for point in points]
            self._client.put_metric_data(Namespace=self._namespace, MetricData=data)
        except Exception as error:
            self._log_failure(f"{type(error).__name__}: {error}")
            if _code(error) in REFUSED_CODES:
                return SendOutcome.REFUSED
            self._client = None  # It has read the credentials of files once; they may be renewed since.
            return SendOutcome.FAILED
        self._last_failure = ""
        return SendOutcome.SENT

    def _log_failure(self, reason: str) -> None:
        """Log a failure unless the last one had the same reason."""
        if reason != self._last_failure:
            log.warning("points could not be sent", extra={"event": LogEvent.POINTS_NOT_SENT, "reason": reason})
        self._last_failure = reason


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
    """A boto3 client; region, credentials and endpoint from AWS's variables. No retries: the next period is one."""
    import boto3
    from botocore.config import Config

    config = Config(retries={"total_max_attempts": 1}, **timeouts)
    return boto3.session.Session().client("cloudwatch", config=config)


def _code(error: Exception) -> str:
    """CloudWatch's error code; empty where it did not answer."""
    answer: Mapping[str, Any] = getattr(error, "response", None) or {}
    return str(answer.get("Error", {}).get("Code", ""))
