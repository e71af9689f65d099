"""Entry point of the bulk process (`python -m service.bulk`), which the supervisor runs if there is a queue.

It works on chunks, and sets metrics every ten seconds: the files that wait, and bulk's share of the task's work.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from concurrent.futures import ThreadPoolExecutor

from service.bulk.fleet_worker import IN_FLIGHT, PAUSE_SECONDS, BulkWorker
from service.bulk.own_service import OwnService, Room, snapshot
from service.bulk.sqs import DeadLetters, QueueError, SqsQueue
from service.bulk.storage import StorageError
from service.core.bulk import CHUNK_FILES
from service.core.bulk_scaling import BulkMeter, tasks_wanted
from service.environment import bulk_key
from service.logs import LogEvent, configure
from service.metrics.bulk import BulkMetrics
from service.process import die_with_parent, exit_now, hide_memory, yield_processor
from service.settings import Settings, read_settings
from service.signals.points import total

TICK_SECONDS, TICKS = 1.0, 10
"""Seconds in which time is counted as work or idle, and their number between two updates of the metrics."""
CAPACITY_NAME = "gleaner_capacity_tokens_per_second"
THREADS = 10
"""Threads for calls of S3 and SQS: as many as a client keeps connections."""
STOP_SECONDS = 8.0
"""Longest wait for leases to end after a stop; what is left of them ends by itself."""

log = logging.getLogger(__name__)


async def _measure(settings: Settings, queue: SqsQueue, worker: BulkWorker, meter: BulkMeter) -> None:
    """Set the metrics of this process until cancelled."""
    metrics, dead_letters = BulkMetrics(), DeadLetters(queue)
    while True:
        for _ in range(TICKS):
            await asyncio.sleep(TICK_SECONDS)
            if worker.is_busy:
                meter.worked(TICK_SECONDS, time.monotonic())
        try:
            state = await asyncio.to_thread(queue.state)
            deadline = await worker.deadline()
        except StorageError:  # The worker says so.
            continue
        now = time.monotonic()
        files = (state.waiting + state.leased) * (worker.files / worker.chunks if worker.chunks else CHUNK_FILES)
        backlog_seconds = files * meter.seconds_per_file(now)
        left = None if deadline is None else deadline - time.time()
        capacity = total(await asyncio.to_thread(snapshot), CAPACITY_NAME) or 0.0
        workers = settings.front_workers
        metrics.update(
            backlog_seconds,
            tasks_wanted(backlog_seconds, left, settings.bulk_tasks),
            meter.work_ratios(now, tokens_per_second=capacity, workers=workers, parsers=workers * settings.parsers),
            deadline_left_seconds=left,
            dead_letters=await dead_letters.count(state),
        )


async def _lease_seconds(queue: SqsQueue) -> int:
    """The queue's own lease; waits until the queue answers."""
    while True:
        try:
            return (await asyncio.to_thread(queue.state)).lease_seconds
        except QueueError as error:
            fields = {"event": LogEvent.BULK_QUEUE_UNREACHABLE}
            log.warning("the bulk queue: %s", error.detail, extra=fields)
            await asyncio.sleep(PAUSE_SECONDS)


async def _work(settings: Settings) -> None:
    queue, meter = SqsQueue(settings.bulk_queue), BulkMeter()
    room = Room()
    service = OwnService(settings, room, meter, bulk_key())
    worker = BulkWorker(
        queue,
        service,
        room.wait,
        lease_seconds=await _lease_seconds(queue),
        events=settings.bulk_events,
        in_flight=IN_FLIGHT * settings.front_workers,
    )
    async with asyncio.TaskGroup() as group:
        group.create_task(_measure(settings, queue, worker, meter))
        group.create_task(worker.run())


async def _until_stopped(settings: Settings) -> None:
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    loop.set_default_executor(ThreadPoolExecutor(THREADS))
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    working, stopping = asyncio.create_task(_work(settings)), asyncio.create_task(stopped.wait())
    await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
    if working.done():
        await working
    working.cancel()
    await asyncio.wait((working,), timeout=STOP_SECONDS)
    log.info("stopped bulk work", extra={"event": LogEvent.BULK_STOPPED})


def main() -> None:
    """Work until SIGTERM."""
    settings = read_settings()
    configure(settings.log_level)
    die_with_parent()
    hide_memory()
    yield_processor()  # Reading objects yields to the service's own processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.new_event_loop().run_until_complete(_until_stopped(settings))


if __name__ == "__main__":
    main()
    exit_now(0)  # An ordinary exit would wait for calls that hang.
