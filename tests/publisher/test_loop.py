"""The publisher's loop against endpoints that are well, refuse, hang and fail: what cannot be sent is lost, no more."""

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
from service.publisher.loop import CloudWatch, PublisherMetrics, Stop, publish
from service.signals.points import Snapshot
from service.supervisor import HELPER_STOP_SECONDS
from tests.support.cloudwatch_endpoint import Endpoint, Mood, SharedCredentials, endpoint, use
from tests.support.metric_values import value
from tests.support.service import wait_until

PERIOD_SECONDS = 0.02

READY = ("gleaner_phase", (("phase", "ready"),))
WORK = ("gleaner_stage_work_ratio", (("stage", "compute"),))


class Running:
    """A publisher in a thread of its own, whose n-th snapshot has a work ratio of n."""

    def __init__(self, *timeouts: float) -> None:
        self.numbers = count()
        self.seen = 0
        self.queue = Stop()
        self.metrics = PublisherMetrics()
        cloud = CloudWatch("Gleaner/Test", "fleet", *timeouts)
        self.thread = threading.Thread(
            target=publish, args=(self.snapshot, cloud, self.queue, self.metrics, PERIOD_SECONDS)
        )

    def snapshot(self) -> Snapshot:
        self.seen = next(self.numbers)
        return Snapshot(time.monotonic(), time.time(), {READY: 1.0, WORK: float(self.seen)})

    def counted(self, outcome: str) -> float:
        return value(self.metrics.deliveries, outcome=outcome)

    def stop(self) -> float:
        """Stop it; the seconds that it took."""
        begun = time.monotonic()
        self.queue.put(None)
        self.thread.join(30.0)
        assert not self.thread.is_alive()
        return time.monotonic() - begun


@contextmanager
def publishing(*timeouts: float) -> Iterator[Running]:
    running = Running(*timeouts)
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


def test_every_round_arrives_once_in_order_and_the_last_one_at_the_stop(cloud: Endpoint) -> None:
    with publishing(60.0, 60.0) as running:
        wait_until(lambda: len(cloud.calls) >= 5)
        running.stop()
    assert arrived(cloud) == [float(number) for number in range(1, running.seen + 1)]
    assert len(cloud.data("Refusals")) == running.seen
    assert running.counted("failed") == 0


@pytest.mark.parametrize("mood", ["failing", "hanging", "refusing"])
def test_an_outage_loses_its_rounds_and_later_ones_keep_their_own_time(cloud: Endpoint, mood: Mood) -> None:
    cloud.mood = mood
    with publishing(3.0, 3.0) as running:
        wait_until(lambda: running.counted("failed") >= 2)
        assert not cloud.calls
        lost = running.counted("failed")
        cloud.mood = "well"
        wait_until(lambda: running.counted("sent") >= 2)
        running.stop()
    numbers = arrived(cloud)
    assert numbers == [float(number) for number in range(int(numbers[0]), running.seen + 1)]
    assert lost <= running.counted("failed") == numbers[0] - 1
    times = [datum["Timestamp"] for datum in cloud.data("WorkRatio")]
    assert times == sorted(set(times))


def test_a_stop_waits_for_a_call_that_hangs_no_longer_than_its_timeouts(cloud: Endpoint) -> None:
    cloud.mood = "hanging"
    with publishing() as running:
        assert cloud.waiting.wait(30.0)
        assert running.stop() < HELPER_STOP_SECONDS


def test_without_an_endpoint_the_stop_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = KeptPort()
    use(monkeypatch, f"http://127.0.0.1:{nobody.number}")
    with publishing() as running:
        wait_until(lambda: running.counted("failed") >= 3)
        assert running.stop() < HELPER_STOP_SECONDS


def test_a_region_that_is_not_set_is_a_failure_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    with publishing() as running:
        wait_until(lambda: running.counted("failed") >= 1)


def test_credentials_that_are_renewed_in_their_file_are_used(
    cloud: Endpoint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    credentials = SharedCredentials(tmp_path / "credentials", monkeypatch)
    for key in ("first", "second", "third"):
        cloud.only_key = key
        credentials.write("old")
        before = len(cloud.calls)
        with publishing() as running:
            wait_until(lambda running=running: running.counted("failed") >= 2)  # type: ignore[misc]
            assert len(cloud.calls) == before
            credentials.write(key)
            wait_until(lambda before=before: len(cloud.calls) > before)  # type: ignore[misc]


def test_a_signal_handler_may_stop_it(cloud: Endpoint) -> None:
    """It waits in the main thread, where Python runs the handlers."""
    running = Running()
    before = signal.signal(signal.SIGUSR1, lambda *_: running.queue.put(None))
    try:
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        publish(running.snapshot, CloudWatch("Gleaner/Test", "fleet"), running.queue, running.metrics, 60.0)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert arrived(cloud) == [1.0, 2.0], "one at the start, one at the stop"
