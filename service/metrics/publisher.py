"""Metrics of the publisher: deliveries to CloudWatch."""

from __future__ import annotations

from service.metrics.kinds import counter


class PublisherMetrics:
    """Metrics of the publisher: deliveries to CloudWatch."""

    def __init__(self) -> None:
        self.deliveries = counter("gleaner_cloudwatch_deliveries", "Calls to CloudWatch by outcome.", "outcome")
        self.given_up = counter("gleaner_cloudwatch_given_up", "Rounds of points that CloudWatch will never get.")
