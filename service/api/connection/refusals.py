"""The refusals of one worker's connections, which no application sees: prepared, in their door's words, counted."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from starlette.responses import Response

from service.api.connection.prepared import PreparedProblem, PreparedProblems
from service.core.connections.limits import ConnectionLimits
from service.core.errors import BY_CODE, GleanerError, Overloaded
from service.logs import LogEvent
from service.metrics.worker import WorkerMetrics
from service.signals.routes import OTHER, OWN_WORK_ROUTES

log = logging.getLogger(__name__)


class Translation(NamedTuple):
    """How a route of another protocol, which has this name, says that something is wrong."""

    route: str
    response: Response


Translate = Callable[[str, str, Sequence[tuple[bytes, bytes]], GleanerError], Translation | None]
"""Called with a request's method, path and headers, and the error; None for a route of ours."""


class RefusedRequest(NamedTuple):
    """What is known of a request that is refused; nothing, but for the method, where its head was not complete."""

    method: str
    path: str
    headers: Sequence[tuple[bytes, bytes]]


class Refusals:
    """What connections refuse by themselves. `on_overload` is told the code and number of those for overload.

    Attributes:
        problems: the answers, before they are translated.
        translate: says them in another protocol's words.
    """

    def __init__(self, limits: ConnectionLimits, on_overload: Callable[[str, int], None], translate: Translate) -> None:
        self.problems = PreparedProblems(limits)
        self.translate = translate
        self._on_overload = on_overload
        self._counts: Counter[tuple[str, str, int, bool]] = Counter()

    def count(self, problem: PreparedProblem, request: RefusedRequest) -> PreparedProblem:
        """A refusal that was counted, in the words of the protocol that the request speaks."""
        route = request.path if request.path in OWN_WORK_ROUTES else OTHER
        if route == OTHER and request.path:
            found = self.translate(request.method, request.path, request.headers, problem.error)
            if found is not None:
                route, problem = found.route, PreparedProblem(problem.error, found.response)
        may_be_work = route != OTHER or not request.path
        self._counts[problem.code, route, problem.status, may_be_work] += 1
        return problem

    def report(self, metrics: WorkerMetrics) -> None:
        """Write what was refused since the last report: metrics, one line of log, and overload for the fleet."""
        if not self._counts:
            return
        codes: Counter[str] = Counter()
        for (code, route, status, may_be_work), count in self._counts.items():
            codes[code] += count
            metrics.requests.labels(route, str(status)).inc(count)
            if may_be_work and issubclass(BY_CODE[code], Overloaded):
                self._on_overload(code, count)
        self._counts.clear()
        for code, count in codes.items():
            metrics.connections.refused.labels(code).inc(count)
        facts = {"event": LogEvent.REQUESTS_REFUSED_UNREAD, "codes": dict(codes)}
        log.warning("requests were refused before they were read", extra=facts)
