"""Says in log and metrics what of the parsers' sandbox the platform gave; refuses to go on if it must be there."""

from __future__ import annotations

import logging

from service.logs import LogEvent
from service.metrics.worker import WorkerMetrics
from service.sandbox.apply import SandboxMode, SandboxPart, SandboxReport
from service.settings import BadSettings

log = logging.getLogger(__name__)


def announce(report: SandboxReport, mode: SandboxMode, metrics: WorkerMetrics) -> None:
    """Log and count the parts of a sandbox.

    Raises:
        BadSettings: the sandbox is required, and what was given does not hold.
    """
    for part in SandboxPart:
        metrics.parser_sandbox.labels(part.value).set(float(report.has(part)))
    missing = {part.value: reason for part, reason in report.missing.items()}
    fields = {"event": LogEvent.PARSER_SANDBOX, "given": list(report.given), "missing": missing, "holds": report.holds}
    level = logging.INFO if report.holds or mode is SandboxMode.OFF else logging.WARNING
    log.log(level, "the sandbox of the parsers", extra=fields)
    if mode is SandboxMode.REQUIRE and not report.holds:
        reasons = "; ".join(f"{part}: {reason}" for part, reason in missing.items())
        raise BadSettings(f"GLEANER_PARSER_SANDBOX=require: the platform does not give enough of it: {reasons}")
