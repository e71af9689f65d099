"""CloudWatch's edge, the only user of boto3 beside the model store's remote: points → one PutMetricData call.

Nothing here is on a request's way: it runs in a process of its own, and boto3 is imported by the first delivery.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

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
"""Errors that say that the points themselves are at fault."""

log = logging.getLogger(__name__)


class CloudWatch:
    """One namespace of CloudWatch, and one fleet's dimension in it."""

    def __init__(
        self,
        namespace: str,
        service: str,
        connect_seconds: float = CONNECT_SECONDS,
        read_seconds: float = READ_SECONDS,
    ) -> None:
        self._namespace = namespace
        self._service = service
        self._patience = {"connect_timeout": connect_seconds, "read_timeout": read_seconds}
        self._client: Any = None
        self._complaint = ""

    def deliver(self, points: Round) -> SendOutcome:
        """Send points in one call; never raises."""
        try:
            if self._client is None:
                self._client = _client(self._patience)
            data = [datum(point, self._service) for point in points]
            self._client.put_metric_data(Namespace=self._namespace, MetricData=data)
        except Exception as error:  # Whatever goes wrong out there, the next round is tried.
            self._complain(f"{type(error).__name__}: {error}")
            return SendOutcome.REFUSED if _code(error) in REFUSED_CODES else SendOutcome.FAILED
        self._complaint = ""
        return SendOutcome.SENT

    def _complain(self, complaint: str) -> None:
        """Log a reason once, not every period."""
        if complaint != self._complaint:
            log.warning("points could not be sent", extra={"reason": complaint})
        self._complaint = complaint


def datum(point: Point, service: str) -> dict[str, Any]:
    """A point as PutMetricData takes it."""
    return {
        "MetricName": point.signal.name,
        "Dimensions": [{"Name": SERVICE_DIMENSION, "Value": service}],
        "Timestamp": datetime.fromtimestamp(point.unix_seconds, UTC),
        "Unit": point.signal.unit.value,
        "StorageResolution": STORAGE_RESOLUTION_SECONDS,
        "Values": list(point.values),
        "Counts": list(point.counts),
    }


def _client(patience: Mapping[str, float]) -> Any:
    """Region, credentials and endpoint come from AWS's own variables. One try: the next period is the retry."""
    import boto3
    from botocore.config import Config

    config = Config(retries={"total_max_attempts": 1}, **patience)
    return boto3.session.Session().client("cloudwatch", config=config)


def _code(error: Exception) -> str:
    """The code with which CloudWatch answered, if it did."""
    answer: Mapping[str, Any] = getattr(error, "response", None) or {}
    return str(answer.get("Error", {}).get("Code", ""))
