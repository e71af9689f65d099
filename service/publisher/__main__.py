"""The publisher process: `python -m service.publisher`. Started by the supervisor when a namespace is set."""

from __future__ import annotations

import os
import signal
import sys
import time

from service.logs import configure
from service.metrics import PublisherMetrics, series
from service.process import die_with_parent
from service.publisher.cloudwatch import CloudWatch
from service.publisher.loop import Inbox, Publisher, PublisherSignal
from service.settings import read_settings
from service.signals.catalog import PERIOD_SECONDS
from service.signals.points import Snapshot


def look() -> Snapshot:
    """All processes' metrics now."""
    return Snapshot(time.monotonic(), time.time(), series())


def main() -> None:
    """Publish until SIGTERM."""
    settings = read_settings()
    configure(settings.log_level)
    die_with_parent()
    assert settings.cloudwatch_namespace is not None, "the supervisor starts the publisher only if it is set"
    inbox = Inbox()
    signal.signal(signal.SIGTERM, lambda _signal, _frame: inbox.put(PublisherSignal.STOP))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    cloud = CloudWatch(settings.cloudwatch_namespace, settings.cloudwatch_service)
    Publisher(look, cloud.deliver, inbox, PublisherMetrics(), PERIOD_SECONDS).run()


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # A delivery that hangs would hold up an ordinary exit.
