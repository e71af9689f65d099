"""Entry point of the publisher (`python -m service.publisher`), which the supervisor runs if a namespace is set."""

from __future__ import annotations

import os
import signal
import sys
import time

from service.logs import configure
from service.metrics.prometheus import series
from service.process import die_with_parent, hide_memory
from service.publisher.loop import CloudWatch, Inbox, Publisher, PublisherMetrics, PublisherSignal
from service.settings import read_settings
from service.signals.catalog import PERIOD_SECONDS
from service.signals.points import Snapshot


def snapshot() -> Snapshot:
    """The metrics of all processes now."""
    return Snapshot(time.monotonic(), time.time(), series())


def main() -> None:
    """Publish until SIGTERM."""
    settings = read_settings()
    configure(settings.log_level)
    die_with_parent()
    hide_memory()
    assert settings.cloudwatch_namespace is not None, "the supervisor starts the publisher only if it is set"
    inbox = Inbox()
    signal.signal(signal.SIGTERM, lambda _signal, _frame: inbox.put(PublisherSignal.STOP))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    cloud = CloudWatch(settings.cloudwatch_namespace, settings.cloudwatch_service)
    Publisher(snapshot, cloud.deliver, inbox, PublisherMetrics(), PERIOD_SECONDS).run()


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # An ordinary exit would wait for a delivery that hangs.
