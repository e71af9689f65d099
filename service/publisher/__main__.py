"""Entry point of the publisher (`python -m service.publisher`), which the supervisor runs if a namespace is set."""

from __future__ import annotations

import signal
import time

from service.logs import configure
from service.metrics.prometheus import series
from service.process import die_with_parent, hide_memory
from service.publisher.loop import CloudWatch, PublisherMetrics, Stop, publish
from service.settings import read_settings
from service.signals.catalog import PERIOD_SECONDS
from service.signals.points import Snapshot


def snapshot() -> Snapshot:
    return Snapshot(time.monotonic(), time.time(), series())


def main() -> None:
    settings = read_settings()
    configure(settings.log_level)
    die_with_parent()
    hide_memory()
    assert settings.cloudwatch_namespace is not None, "the supervisor starts the publisher only if it is set"
    stop = Stop()
    signal.signal(signal.SIGTERM, lambda _signal, _frame: stop.put(None))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    cloud = CloudWatch(settings.cloudwatch_namespace, settings.cloudwatch_service)
    publish(snapshot, cloud, stop, PublisherMetrics(), PERIOD_SECONDS)


if __name__ == "__main__":
    main()
