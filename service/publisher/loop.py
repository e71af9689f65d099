"""The publisher's loop: every period measure, keep, and hand over what waits; one delivery at a time.

One thread decides and never waits for the network: a second one delivers and says how it went. They share nothing but
two queues, so a call that hangs costs no point. Asked to stop, the loop measures once more and gives the last delivery
a moment, not more.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from enum import Enum

from service.metrics import PublisherMetrics
from service.publisher.outbox import Outbox, Round, SendOutcome
from service.signals.points import Snapshot, measure

STOP_SECONDS = 3.0
"""Longest wait for the last delivery."""

log = logging.getLogger(__name__)


class PublisherSignal(Enum):
    """What may be asked of the loop."""

    STOP = "stop"


Inbox = queue.SimpleQueue[PublisherSignal | SendOutcome]
"""Signal handlers may put into it at any moment."""


class Publisher:
    """Rounds of one service, from start to stop."""

    def __init__(
        self,
        look: Callable[[], Snapshot],
        deliver: Callable[[Round], SendOutcome],
        inbox: Inbox,
        metrics: PublisherMetrics,
        period_seconds: float,
    ) -> None:
        self._look = look
        self._deliver = deliver
        self._inbox = inbox
        self._metrics = metrics
        self._period_seconds = period_seconds
        self._outbox = Outbox()
        self._orders: queue.SimpleQueue[Round] = queue.SimpleQueue()
        self._failing = False

    def __len__(self) -> int:
        """Rounds that are kept."""
        return len(self._outbox)

    def run(self) -> None:
        """Publish until told to stop."""
        threading.Thread(target=self._carry, name="delivery", daemon=True).start()
        self._last = self._look()
        self._measure()  # At once: a new task is counted from its first second.
        tick = time.monotonic() + self._period_seconds
        while (event := self._next_event(tick)) is not PublisherSignal.STOP:
            if event is None:
                self._measure()
                tick = max(tick + self._period_seconds, time.monotonic())
            else:
                self._settle(event)
        self._finish()

    def _carry(self) -> None:
        """The delivering thread."""
        while True:
            self._inbox.put(self._deliver(self._orders.get()))

    def _next_event(self, until: float) -> PublisherSignal | SendOutcome | None:
        """What comes in, or None when the time has come."""
        try:
            return self._inbox.get(timeout=max(until - time.monotonic(), 0.0))
        except queue.Empty:
            return None

    def _measure(self) -> None:
        now = self._look()
        self._note_given_up(self._outbox.put(measure(self._last, now)))
        self._last = now
        self._hand_over()

    def _hand_over(self) -> None:
        if points := self._outbox.take():
            self._orders.put(points)

    def _settle(self, outcome: SendOutcome) -> None:
        self._metrics.deliveries.labels(outcome.value).inc()
        self._note_given_up(self._outbox.settle(outcome))
        if self._failing != (outcome is SendOutcome.FAILED):
            self._failing = not self._failing
            log.warning("CloudWatch is out of reach" if self._failing else "CloudWatch is in reach again")
        if outcome is not SendOutcome.FAILED:  # What failed is tried again after the next period, not at once.
            self._hand_over()

    def _note_given_up(self, rounds: int) -> None:
        if rounds:
            self._metrics.given_up.inc(rounds)
            log.warning("rounds of points were given up", extra={"rounds": rounds})

    def _finish(self) -> None:
        self._measure()
        end = time.monotonic() + STOP_SECONDS
        while len(self._outbox):
            event = self._next_event(end)
            if event is None or event is SendOutcome.FAILED:
                break
            if isinstance(event, SendOutcome):
                self._settle(event)
        log.info("stopped publishing", extra={"rounds_left": len(self._outbox)})
