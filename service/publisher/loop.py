"""The publisher's loop: every period it measures a round of points, queues it, and starts a delivery if none runs.

The loop's thread never waits for the network; a second thread delivers and reports the outcome. They share nothing but
two queues, so a call that hangs loses no points. On a stop the loop measures once more and waits `STOP_SECONDS` for the
last delivery.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from enum import Enum

from service.logs import LogEvent
from service.metrics.publisher import PublisherMetrics
from service.publisher.outbox import Outbox, Round, SendOutcome
from service.signals.points import Snapshot, measure

STOP_SECONDS = 3.0
"""Longest wait for the last delivery after a stop."""

log = logging.getLogger(__name__)


class PublisherSignal(Enum):
    """Requests to the loop from outside its thread."""

    STOP = "stop"


Inbox = queue.SimpleQueue[PublisherSignal | SendOutcome]
"""What wakes the loop; a SimpleQueue, because signal handlers put into it."""


class Publisher:
    """Publishes the rounds of one service, from start to stop."""

    def __init__(
        self,
        snapshot: Callable[[], Snapshot],
        deliver: Callable[[Round], SendOutcome],
        inbox: Inbox,
        metrics: PublisherMetrics,
        period_seconds: float,
    ) -> None:
        self._snapshot = snapshot
        self._deliver = deliver
        self._inbox = inbox
        self._metrics = metrics
        self._period_seconds = period_seconds
        self._outbox = Outbox()
        self._deliveries: queue.SimpleQueue[Round] = queue.SimpleQueue()
        self._failing = False

    def __len__(self) -> int:
        """Rounds that wait or are being delivered."""
        return len(self._outbox)

    def run(self) -> None:
        """Publish until `PublisherSignal.STOP`."""
        threading.Thread(target=self._deliver_all, name="delivery", daemon=True).start()
        self._last = self._snapshot()
        self._measure()  # At once, so that a new task is counted from its first second.
        tick = time.monotonic() + self._period_seconds
        while (event := self._next_event(tick)) is not PublisherSignal.STOP:
            if event is None:
                self._measure()
                tick = max(tick + self._period_seconds, time.monotonic())
            else:
                self._conclude(event)
        self._finish()

    def _deliver_all(self) -> None:
        """The delivery thread: one delivery after the other, each outcome into the inbox."""
        while True:
            self._inbox.put(self._deliver(self._deliveries.get()))

    def _next_event(self, until: float) -> PublisherSignal | SendOutcome | None:
        """The next signal or outcome; None when `until` comes first."""
        try:
            return self._inbox.get(timeout=max(until - time.monotonic(), 0.0))
        except queue.Empty:
            return None

    def _measure(self) -> None:
        now = self._snapshot()
        self._count_dropped(self._outbox.put(measure(self._last, now)))
        self._last = now
        self._start_delivery()

    def _start_delivery(self) -> None:
        if points := self._outbox.take():
            self._deliveries.put(points)

    def _conclude(self, outcome: SendOutcome) -> None:
        self._metrics.deliveries.labels(outcome.value).inc()
        self._count_dropped(self._outbox.conclude(outcome))
        if self._failing != (outcome is SendOutcome.FAILED):
            self._failing = not self._failing
            self._log_reach()
        if outcome is not SendOutcome.FAILED:  # A failed delivery is tried again after the next period.
            self._start_delivery()

    def _log_reach(self) -> None:
        if self._failing:
            log.warning("CloudWatch is out of reach", extra={"event": LogEvent.CLOUDWATCH_UNREACHABLE})
        else:
            log.warning("CloudWatch is in reach again", extra={"event": LogEvent.CLOUDWATCH_REACHABLE})

    def _count_dropped(self, rounds: int) -> None:
        if rounds:
            self._metrics.given_up.inc(rounds)
            log.warning("rounds of points were given up", extra={"event": LogEvent.POINTS_GIVEN_UP, "rounds": rounds})

    def _finish(self) -> None:
        self._measure()
        end = time.monotonic() + STOP_SECONDS
        while len(self._outbox):
            event = self._next_event(end)
            if event is None or event is SendOutcome.FAILED:
                break
            if isinstance(event, SendOutcome):
                self._conclude(event)
        fields = {"event": LogEvent.PUBLISHER_STOPPED, "rounds_left": len(self._outbox)}
        log.info("stopped publishing", extra=fields)
