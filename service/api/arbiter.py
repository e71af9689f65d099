"""gunicorn's arbiter with two more rules, and its logger with the service's JSON lines.

gunicorn replaces a dead worker for ever; here too many deaths within a minute end the API. gunicorn aborts a worker
that has not reported for longer than its time-out, also when the arbiter itself was paused with it; here that time
counts anew after a pause of the arbiter. A worker that starts has not reported yet, and may take any time.
"""

from __future__ import annotations

import logging
import time
from typing import Any

from gunicorn.arbiter import Arbiter
from gunicorn.errors import HaltServer
from gunicorn.glogging import Logger

from service.core.liveness import RestartLimit
from service.logs import LogEvent
from service.process import EXIT_RESTART_LIMIT

PAUSE_SECONDS = 5.0
"""Seconds between two looks at the workers, normally one; a longer gap means that the arbiter itself was paused."""
FEWEST_DEATHS, DEATHS_OF_EACH = 6, 3
"""Deaths within a minute that end the API: three for each worker, but not fewer than six."""

log = logging.getLogger(__name__)


def most_deaths(workers: int) -> int:
    """The deaths within a minute at which the API ends, by its number of workers."""
    return max(FEWEST_DEATHS, DEATHS_OF_EACH * workers)


class WorkerArbiter(Arbiter):  # type: ignore[misc]
    """Starts API workers again when they die, up to a limit."""

    def __init__(self, app: Any) -> None:
        super().__init__(app)
        self._restart_limit = RestartLimit(most_deaths(self.num_workers))
        self._looked_seconds = time.monotonic()
        self._stopping = False

    def record_death(self) -> None:
        """Count a worker that ended, unless the arbiter is stopping.

        Raises:
            HaltServer: too many workers have died within the window.
        """
        if self._stopping or self._restart_limit.allows(time.monotonic()):
            return
        fields = {"event": LogEvent.WORKERS_RESTART_LIMIT}
        log.error("the API workers died too often; giving up", extra=fields)
        raise HaltServer("workers died too often", EXIT_RESTART_LIMIT)

    def murder_workers(self) -> None:
        """Abort workers whose event loop has stood still for the time-out, counted anew after a pause of our own."""
        now = time.monotonic()
        paused = now - self._looked_seconds > PAUSE_SECONDS
        self._looked_seconds = now
        if paused:
            for worker in self.WORKERS.values():
                if worker.tmp.last_update() <= now:  # Before the first report it is the file's own time, since 1970.
                    worker.tmp.notify()
        super().murder_workers()

    def stop(self, graceful: bool = True) -> None:
        """Stop all workers."""
        self._stopping = True
        super().stop(graceful)


class GunicornLogger(Logger):  # type: ignore[misc]
    """gunicorn's logger with the root logger's handlers, which uvicorn's worker takes over; its access log is off."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        self.error_log.handlers = list(logging.getLogger().handlers)
        self.error_log.setLevel(logging.getLogger().level)
        self.access_log.handlers.clear()
