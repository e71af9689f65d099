"""A client of CloudWatch: sends points in one PutMetricData call. The first delivery imports boto3."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from service.logs import LogEvent
from service.publisher.outbox import Round, SendOutcome
from service.signals.catalog import SERVICE_DIMENSION, STORAGE_RESOLUTION_SECONDS
from service.signals.points import Point

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

log = logging.getLogger(__name__)


class CloudWatch:
    """Sends points to one namespace of CloudWatch, with the fleet's name as their dimension."""

    def __init__(
        self,
        namespace: str,
        service: str,
        connect_seconds: float = CONNECT_SECONDS,
        read_seconds: float = READ_SECONDS,
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
            return SendOutcome.REFUSED if _code(error) in REFUSED_CODES else SendOutcome.FAILED
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
