"""A progress bar for work counted in bytes (done, rate, remaining time), shown on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from model_store.fileio import no_progress

OnProgress = Callable[[int, int], None]
"""Called with (bytes done, bytes in all)."""


@contextmanager
def progress_bar(verb: str) -> Iterator[OnProgress]:
    """A bar on stderr as long as the context lasts; a callback that does nothing if stderr is no terminal."""
    if not sys.stderr.isatty():
        yield no_progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn(verb), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(verb, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
