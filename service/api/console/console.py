"""The parts of the console in one worker."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from service.api.console.entrance import Entrance
from service.api.console.live import LiveFeed
from service.api.console.page_files import PageFiles
from service.api.console.requests import RequestFinder
from service.api.console.siblings import Siblings
from service.api.worker import Worker
from service.settings import Settings


@dataclass(frozen=True, slots=True)
class Console:
    """What the console's routes share: `request.state.console`."""

    files: PageFiles
    entrance: Entrance
    on_internal_port: bool
    requests: RequestFinder
    siblings: Siblings
    live: LiveFeed


@asynccontextmanager
async def open_console(settings: Settings, worker: Worker) -> AsyncIterator[Console | None]:
    """The console of a worker, while the context is open; None where the settings ask for none."""
    if settings.console == "off":
        yield None
        return
    keyed = settings.api_keys_file is not None or bool(settings.api_keys)
    finder = RequestFinder(worker.traces, worker.engine)
    siblings = Siblings(settings.sockets, finder.answer)
    await siblings.open()
    try:
        yield Console(
            files=PageFiles(),
            entrance=Entrance(settings.console, keyed, settings.host),
            on_internal_port=bool(settings.internal_port),
            requests=finder,
            siblings=siblings,
            live=LiveFeed(worker.engine, settings.queue_limit_tokens),
        )
    finally:
        await siblings.close()
