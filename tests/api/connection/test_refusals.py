"""Prepared answers are whole responses, one for each refusal."""

from __future__ import annotations

import json

from starlette.responses import Response

from service.api.connection.refusals import PreparedProblem, PreparedProblems, Refusals, RefusedRequest, Translation
from service.core.connections.connection_table import ConnectionLimits
from service.core.errors import GleanerError, QueueFull
from service.metrics.worker import WorkerMetrics
from tests.support.metric_values import value


def test_a_prepared_answer_is_a_whole_response() -> None:
    prepared = PreparedProblem(QueueFull("Come back.", retry_after_seconds=2.0))
    for close in (False, True):
        head, _, body = prepared.response([(b"date", b"now")], close=close).partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        assert lines[0] == b"HTTP/1.1 429 Too Many Requests"
        assert {b"date: now", b"retry-after: 2", b"x-content-type-options: nosniff"} <= set(lines)
        assert (b"connection: close" in lines) == close
        assert b"content-length: %d" % len(body) in lines
        assert json.loads(body)["code"] == "queue_full"


def test_every_refusal_of_overload_has_an_answer() -> None:
    problems = PreparedProblems(ConnectionLimits())
    assert {code: each.code for code, each in problems.overloaded.items()} == {
        "queue_full": "queue_full",
        "deadline_exceeded": "deadline_exceeded",
    }


class World:
    """The refusals of a worker with one adapter, and what was told of them."""

    def __init__(self) -> None:
        self.overloads: list[tuple[str, int]] = []
        self.metrics = WorkerMetrics()
        self.refusals = Refusals(
            ConnectionLimits(), lambda code, count: self.overloads.append((code, count)), self.translate
        )

    def translate(self, method: str, path: str, _headers: object, error: GleanerError) -> Translation | None:
        return Translation("adapter", Response(f"{method} {error.code}", 418)) if path == "/adapter" else None

    def refuse(self, path: str, *, late: bool = True) -> int:
        """Refuse a request for a path; the status of its answer."""
        problems = self.refusals.problems
        problem = problems.overloaded["deadline_exceeded"] if late else problems.malformed
        return self.refusals.count(problem, RefusedRequest("POST", path, [])).status

    def counted(self, route: str, status: int) -> float:
        return value(self.metrics.requests, route=route, status=str(status))


def test_a_refusal_is_counted_by_its_route_and_is_in_the_words_of_its_door() -> None:
    world = World()
    statuses = [world.refuse(path) for path in ("/extract", "/extract", "/adapter", "/nothing", "")]
    assert statuses == [504, 504, 418, 504, 504]
    world.refusals.report(world.metrics)
    assert [world.counted(*each) for each in (("/extract", 504), ("adapter", 418), ("other", 504))] == [2, 1, 2]
    assert value(world.metrics.connections.refused, code="deadline_exceeded") == 5


def test_a_head_that_the_service_failed_over_is_its_error() -> None:
    world = World()
    world.refuse("/extract")
    world.refusals.count(world.refusals.problems.failed, RefusedRequest("POST", "/extract", []))
    world.refusals.report(world.metrics)
    assert value(world.metrics.server_errors, code="internal_error") == 1
    assert value(world.metrics.server_errors, code="deadline_exceeded") == 0


def test_overload_is_told_of_work_only_and_once() -> None:
    world = World()
    for path in ("/extract", "/adapter", "/nothing"):
        world.refuse(path)
    world.refuse("/extract", late=False)
    for _ in range(2):
        world.refusals.report(world.metrics)
    assert sorted(world.overloads) == [("deadline_exceeded", 1)] * 2
