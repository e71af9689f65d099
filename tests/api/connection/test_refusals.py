"""Refusals that no application sees are counted by route, code and status, and said in the form of their protocol."""

from __future__ import annotations

from starlette.responses import Response

from service.api.connection.refusals import Refusals, RefusedRequest, Translation
from service.core.connections.limits import ConnectionLimits
from service.core.errors import GleanerError
from service.metrics.worker import WorkerMetrics
from tests.support.metric_values import value


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


def test_overload_is_told_of_work_only_and_once() -> None:
    world = World()
    for path in ("/extract", "/adapter", "/nothing"):
        world.refuse(path)
    world.refuse("/extract", late=False)
    for _ in range(2):
        world.refusals.report(world.metrics)
    assert sorted(world.overloads) == [("deadline_exceeded", 1)] * 2
