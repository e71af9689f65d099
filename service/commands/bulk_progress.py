"""Progress of `gleaner bulk` on stderr: a bar on a terminal, else a line every few seconds."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn
from rich.progress import Progress as Bar

from service.bulk.run import RunCounts
from service.core.bulk import Progress
from service.terminal import printable, say

BAR_SECONDS, LINE_SECONDS = 0.25, 10.0
"""Seconds between two changes of the bar, and between two lines."""


def duration(seconds: float) -> str:
    """Format seconds as `45 s`, `12 min` or `3.4 h`."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_970 else f"{seconds / 3600:.1f} h"


def errors_in_words(errors: Counter[str]) -> str:
    """Format counts as `unreadable_document 3, object_missing 1`, the most frequent first."""
    return ", ".join(f"{printable(code)} {count:,}" for code, count in errors.most_common())


def in_words(counts: RunCounts, seconds: float, dollars_an_hour: float | None) -> str:
    """Format one line: files of this run, rate, time left, cost, errors; and the files that were answered before it."""
    progress = Progress(counts.files, counts.done, counts.begun_with, seconds)
    total = f"{counts.files - counts.begun_with:,}" + ("" if counts.is_planned else " or more")
    said = [f"{counts.done - counts.begun_with:,} of {total} files"]
    if (rate := progress.files_a_second) is not None and (left := progress.seconds_left) is not None:
        said.append(f"{rate:.1f} files/s")
        if counts.is_planned:
            said.append(f"{duration(left)} left")
    if dollars_an_hour is not None:
        cost = f"${progress.dollars(dollars_an_hour):.2f}"
        left = progress.seconds_left if counts.is_planned else None
        said.append(cost if left is None else f"{cost} of ${(seconds + left) / 3600 * dollars_an_hour:.2f}")
    if counts.errors:
        said.append(f"{counts.errors.total():,} errors ({errors_in_words(counts.errors)})")
    if counts.later:
        said.append(f"{counts.later:,} for later")
    if counts.answered_before:
        said.append(f"{counts.answered_before:,} answered before")
    return ", ".join(said)


class ShownProgress:
    """Progress of a run as shown to a person."""

    def __init__(self, bar: Bar, dollars_an_hour: float | None) -> None:
        self._bar, self._dollars_an_hour = bar, dollars_an_hour
        self._task = bar.add_task("starting", total=None)

    def say(self, text: str) -> None:
        """Show the work before the first file."""
        self._bar.update(self._task, description=printable(text))

    @asynccontextmanager
    async def of(self, counts: RunCounts) -> AsyncIterator[None]:
        """Show a run's counts as they grow, and once more at its end."""
        begun = time.monotonic()
        showing = asyncio.create_task(self._show(counts, begun))
        try:
            yield
        finally:
            showing.cancel()
            self._show_once(counts, begun)

    async def _show(self, counts: RunCounts, begun: float) -> None:
        while True:
            await asyncio.sleep(LINE_SECONDS if self._bar.disable else BAR_SECONDS)
            self._show_once(counts, begun)

    def _show_once(self, counts: RunCounts, begun: float) -> None:
        text = in_words(counts, time.monotonic() - begun, self._dollars_an_hour)
        if self._bar.disable:
            say(text)
        else:
            done, total = (each - counts.begun_with for each in (counts.done, counts.files))
            self._bar.update(self._task, description=text, completed=done, total=total)


@contextmanager
def shown_progress(dollars_an_hour: float | None) -> Iterator[ShownProgress]:
    """Show a bar while the context lasts, if stderr is a terminal."""
    console = Console(stderr=True)
    columns = (SpinnerColumn(), BarColumn(), TextColumn("{task.description}", markup=False))
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield ShownProgress(bar, dollars_an_hour)
