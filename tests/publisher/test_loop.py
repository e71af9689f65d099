"""The publisher's loop against endpoints that are well, refuse, hang and fail: only old points are ever lost."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from loadtest.service_process import KeptPort
from service.publisher.loop import STOP_SECONDS, CloudWatch, Inbox, Publisher, PublisherMetrics, PublisherSignal
from service.publisher.outbox import MOST_ROUNDS, Round, SendOutcome
from service.signals.catalog import SIGNALS
from service.signals.points import Snapshot
from tests.support.cloudwatch_endpoint import Endpoint, SharedCredentials, endpoint, use
from tests.support.metric_values import value
from tests.support.service import wait_until

PERIOD_SECONDS = 0.02
"""So long that all rounds are kept meanwhile, however long a busy machine takes to import boto3 for the first call."""
SHORT_PERIOD_SECONDS = 0.005
"""For many rounds soon."""
SLACK_SECONDS = 5.0
"""What a busy machine may add to a stop; still far less than the timeout of a call that hangs."""

READY = ("gleaner_phase", (("phase", "ready"),))
WORK = ("gleaner_stage_work_ratio", (("stage", "compute"),))


class Running:
    """A publisher in a thread of its own, whose n-th snapshot has a work ratio of n."""

    def __init__(self, cloud: CloudWatch, period_seconds: float) -> None:
        self.numbers = count()
        self.seen = 0
        self.inbox = Inbox()
        self.metrics = PublisherMetrics()
        self.publisher = Publisher(self.snapshot, cloud.deliver, self.inbox, self.metrics, period_seconds)
        self.thread = threading.Thread(target=self.publisher.run)

    def snapshot(self) -> Snapshot:
        self.seen = next(self.numbers)
        return Snapshot(time.monotonic(), time.time(), {READY: 1.0, WORK: float(self.seen)})

    def counted(self, outcome: SendOutcome) -> float:
        return value(self.metrics.deliveries, outcome=outcome.value)

    def stop(self) -> float:
        """Ask it to stop; the seconds that it took."""
        begun = time.monotonic()
        self.inbox.put(PublisherSignal.STOP)
        self.thread.join(30.0)
        assert not self.thread.is_alive()
        return time.monotonic() - begun


@contextmanager
def publishing(
    timeouts: tuple[float, float] | None = None, period_seconds: float = PERIOD_SECONDS
) -> Iterator[Running]:
    running = Running(CloudWatch("Gleaner/Test", "fleet", *(timeouts or ())), period_seconds)
    running.thread.start()
    try:
        yield running
    finally:
        if running.thread.is_alive():
            running.stop()


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with endpoint(monkeypatch) as listening:
        yield listening


def arrived(cloud: Endpoint) -> list[float]:
    """The work ratios that arrived: the numbers of the snapshots."""
    return [datum["Values"][0] for datum in cloud.data("WorkRatio")]


def delivered(cloud: Endpoint) -> dict[float, float]:
    """The time of each snapshot that arrived, by its number, in order of the first arrival.

    A round may arrive twice: where an answer is later than the call's timeout, nobody can know that it was taken.
    """
    times: dict[float, float] = {}
    for datum in cloud.data("WorkRatio"):
        assert times.setdefault(datum["Values"][0], datum["Timestamp"]) == datum["Timestamp"]
    return times


def test_every_round_arrives_once_in_order_and_the_last_one_at_the_stop(cloud: Endpoint) -> None:
    with publishing((60.0, 60.0)) as running:
        wait_until(lambda: len(cloud.calls) >= 5)
        running.stop()
    assert arrived(cloud) == [float(number) for number in range(1, running.seen + 1)]
    assert len(cloud.data("Refusals")) == running.seen
    assert running.counted(SendOutcome.FAILED) == 0


@pytest.mark.parametrize("mood", ["failing", "hanging"])
def test_what_could_not_be_sent_arrives_later_with_its_own_time(cloud: Endpoint, mood: str) -> None:
    cloud.mood = "failing" if mood == "failing" else "hanging"
    with publishing((1.0, 1.0)) as running:  # A call that is answered later than that is made once more.
        wait_until(lambda: running.counted(SendOutcome.FAILED) >= 2)
        assert not cloud.calls
        cloud.mood = "well"
        wait_until(lambda: running.counted(SendOutcome.SENT) >= 2)
        running.stop()
    times = delivered(cloud)
    assert list(times) == [float(number) for number in range(1, running.seen + 1)]
    assert list(times.values()) == sorted(set(times.values()))


def test_without_an_endpoint_nothing_is_lost_and_the_stop_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = KeptPort()
    use(monkeypatch, f"http://127.0.0.1:{nobody.number}")
    with publishing() as running:
        wait_until(lambda: running.counted(SendOutcome.FAILED) >= 3)
        assert running.stop() < STOP_SECONDS + SLACK_SECONDS
    assert value(running.metrics.given_up) == 0


def test_a_region_that_is_not_set_is_a_failure_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    with publishing() as running:
        wait_until(lambda: running.counted(SendOutcome.FAILED) >= 1)


def test_credentials_that_are_renewed_in_their_file_are_used(
    cloud: Endpoint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    credentials = SharedCredentials(tmp_path / "credentials", monkeypatch)
    for key in ("first", "second", "third"):
        cloud.only_key = key
        credentials.write("old")
        before = len(cloud.calls)
        with publishing() as running:
            wait_until(lambda running=running: running.counted(SendOutcome.FAILED) >= 2)  # type: ignore[misc]
            assert len(cloud.calls) == before
            credentials.write(key)
            wait_until(lambda before=before: len(cloud.calls) > before)  # type: ignore[misc]


def test_points_that_are_at_fault_do_not_hold_up_the_others(cloud: Endpoint) -> None:
    cloud.mood = "refusing"
    with publishing() as running:
        wait_until(lambda: running.counted(SendOutcome.REFUSED) >= 2)
        cloud.mood = "well"
        wait_until(lambda: bool(cloud.calls))
    assert value(running.metrics.given_up) >= 2


def test_a_hanging_call_leaves_measuring_and_a_bounded_outbox(cloud: Endpoint) -> None:
    cloud.mood = "hanging"
    with publishing((1.0, 60.0), SHORT_PERIOD_SECONDS) as running:
        assert cloud.waiting.wait(30.0)
        taken = running.seen
        wait_until(lambda: running.seen > MOST_ROUNDS + 50)
        kept = len(running.publisher)
        assert kept <= MOST_ROUNDS + taken
        assert value(running.metrics.given_up) >= 40
        assert running.stop() < STOP_SECONDS + SLACK_SECONDS


def test_a_backlog_leaves_in_calls_that_cloudwatch_takes(cloud: Endpoint) -> None:
    cloud.mood = "failing"
    with publishing(period_seconds=SHORT_PERIOD_SECONDS) as running:
        wait_until(lambda: running.seen > 150)
        cloud.mood = "well"
        wait_until(lambda: running.counted(SendOutcome.SENT) >= 3)
    sizes = [len(call["MetricData"]) for call in cloud.calls]
    assert max(sizes) <= 1000
    assert sizes[0] > 10 * len(SIGNALS)


def test_a_signal_handler_may_stop_it(cloud: Endpoint) -> None:
    """It waits in the main thread, where Python runs the handlers."""
    inbox = Inbox()
    before = signal.signal(signal.SIGUSR1, lambda *_: inbox.put(PublisherSignal.STOP))
    try:
        sent: list[Round] = []
        publisher = Publisher(
            lambda: Snapshot(time.monotonic(), time.time(), {}),
            lambda points: sent.append(points) or SendOutcome.SENT,  # type: ignore[func-returns-value]
            inbox,
            PublisherMetrics(),
            60.0,
        )
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        publisher.run()
        assert len(sent) == 2, "one at the start, one at the stop"
    finally:
        signal.signal(signal.SIGUSR1, before)
