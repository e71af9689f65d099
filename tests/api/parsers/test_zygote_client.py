"""Parsers that wait are stopped and go on; the sandbox is announced, and a service that must have it needs it."""

from __future__ import annotations

import asyncio
import logging
import socket

import pytest

from service.api.parsers.parser import Parser
from service.api.parsers.zygote import Order
from service.api.parsers.zygote_client import IdleParserPool, announce
from service.core.tenants import ANONYMOUS
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


class OneParser:
    """A source of one parser, and the orders for it."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self.orders: list[Order] = []

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    async def fork(self) -> Parser:
        return self.parser

    def order(self, order: Order, parser: Parser) -> None:
        self.orders.append(order)


async def test_a_parser_that_was_interrupted_as_it_answered_reads_its_next_file() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        source = OneParser(Parser(1, *await asyncio.open_connection(sock=ours)))
        idle = IdleParserPool(1, 4, source, anonymous=ANONYMOUS)
        parser = await idle.take("c")
        idle.interrupt(parser, True)
        idle.put_back(parser, 0.3, sound=True, stopped=True)
        assert await idle.take("c") is parser
        assert source.orders == [Order.STOP, Order.CONTINUE]
        source.parser.close()
