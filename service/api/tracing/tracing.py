"""Tracing switch: opens OpenTelemetry if its own variables ask for it and its SDK is installed."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from service.environment import traces_exporter
from service.logs import LogEvent

if TYPE_CHECKING:
    from service.api.tracing.otel import OtelTracing

log = logging.getLogger(__name__)


def open_tracing(version: str) -> OtelTracing | None:
    """The tracing of a worker; None, and nothing imported, where it is off; if it cannot be had, a line is logged."""
    exporter = traces_exporter()
    if exporter is None:
        return None
    try:
        from service.api.tracing.otel import OtelTracing, chosen_exporter

        return OtelTracing(chosen_exporter(exporter), version)
    except (ImportError, LookupError) as error:
        reason = f"{error}; `pip install gleaner[otel]` brings OpenTelemetry"
        log.warning("requests are not traced", extra={"event": LogEvent.TRACING_OFF, "reason": reason})
        return None
