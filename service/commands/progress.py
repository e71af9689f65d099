"""The progress bar of work that is counted in bytes: done, rate, remaining time; on a terminal only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

Report = Callable[[int, int], None]
"""Told (bytes done, bytes in all)."""


@contextmanager
def progress_bar(verb: str) -> Iterator[Report]:
    """A bar on stderr as long as the context lasts; nothing where stderr is no terminal."""
    columns = (TextColumn(verb), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(verb, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
