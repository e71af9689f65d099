"""Batch forecast: how long a batch of a model will take, and when the one behind it is to be formed. Pure.

A batch takes in nothing that comes after it was formed, and it cannot be interrupted. Were the next one formed as soon
as there is work for it, a document would wait for two whole batches before its own. Were it formed when the device is
free, the device would wait for the host. The rules:
- The next batch is formed while enough of the one that runs is left for the host to get it ready: `LEAD_SECONDS`, and
  `LEAD_SHARE` of what it takes, because forecasts err.
- Each model has a latency model of its own (`batch_latency`). What never ran has no forecast: it may end at any moment.
"""

from __future__ import annotations

from service.core.scheduling.batch_latency import BatchLatencyModel

LEAD_SECONDS = 0.003
"""The host's time for a batch: rows are packed, copied and launched, on cores that other threads want too."""
LEAD_SHARE = 0.25


class BatchForecast:
    """The latency models of one device, model by model."""

    def __init__(self) -> None:
        self._models: dict[str, BatchLatencyModel] = {}

    def learn(self, model: str, tokens: int, seconds: float) -> None:
        """Learn from a completed batch of at least one token."""
        self._models.setdefault(model, BatchLatencyModel()).add(tokens, seconds)

    def seconds(self, model: str, tokens: int) -> float:
        """Of a batch; 0 for a model that never ran, or never ran one nearly as large."""
        latency = self._models.get(model)
        return (latency.seconds(tokens) or 0.0) if latency is not None else 0.0

    def base_seconds(self, model: str) -> float:
        """What each batch takes beside its tokens; 0 for a model that never ran."""
        latency = self._models.get(model)
        return latency.fit()[0] if latency is not None else 0.0


def lead_seconds(forecast_seconds: float) -> float:
    """How long before the end of a batch the next one is to be formed."""
    return max(LEAD_SECONDS, LEAD_SHARE * forecast_seconds)
