"""The sandbox is announced in log and metrics, and a service that must have it does not start without."""

from __future__ import annotations

import logging

import pytest

from service.api.parsers.zygote_client import announce
from service.metrics.worker import WorkerMetrics
from service.sandbox.apply import SandboxMode, SandboxPart, SandboxReport
from service.settings import BadSettings

WHOLE = SandboxReport(given=tuple(SandboxPart))
POOR = SandboxReport((SandboxPart.NO_PRIVILEGES,), {SandboxPart.SECCOMP: "Operation not permitted"})


@pytest.mark.parametrize(
    ("report", "mode", "level"),
    [
        (WHOLE, SandboxMode.AUTO, logging.INFO),
        (WHOLE, SandboxMode.REQUIRE, logging.INFO),
        (POOR, SandboxMode.AUTO, logging.WARNING),
        (POOR, SandboxMode.OFF, logging.INFO),
    ],
)
def test_what_was_given_is_said_once(
    report: SandboxReport, mode: SandboxMode, level: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    metrics = WorkerMetrics()
    announce(report, mode, metrics)
    assert [(each.levelno, each.event) for each in caplog.records] == [(level, "parser_sandbox")]  # type: ignore[attr-defined]
    for part in SandboxPart:
        assert metrics.parser_sandbox.labels(part.value)._value.get() == float(report.has(part))


def test_a_service_that_must_have_it_does_not_start_without_and_says_why() -> None:
    with pytest.raises(BadSettings, match="seccomp: Operation not permitted"):
        announce(POOR, SandboxMode.REQUIRE, WorkerMetrics())
