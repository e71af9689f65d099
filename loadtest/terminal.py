"""The progress of a run on stderr: one changing line on a terminal, elsewhere a line every ten seconds."""

from __future__ import annotations

import statistics
import sys
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from loadtest.runner.generator_pool import RunProgress
from loadtest.scenario.scenario import Scenario

LINE_SECONDS = 10.0
RECENT_REPORTS = 4
"""Reports whose latencies are shown: those of two seconds."""


class ProgressDisplay:
    """Shows the progress of a run while its context is open."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._console = Console(stderr=True)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(20),
            TimeRemainingColumn(),
            TextColumn("{task.fields[facts]}"),
        )
        self._progress = Progress(*columns, console=self._console, disable=not self._console.is_terminal)
        self._task = self._progress.add_task("starting", total=scenario.seconds, facts="")
        self._latencies: list[tuple[float, ...]] = []
        self._next_line = LINE_SECONDS

    def __enter__(self) -> ProgressDisplay:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def show(self, run: RunProgress) -> None:
        """Show the latest progress."""
        self._latencies = [*self._latencies, run.latencies_ms][-RECENT_REPORTS:]
        facts = self._facts(run)
        name = self._phase(run.elapsed)
        shown = min(max(run.elapsed, 0.0), self._scenario.seconds)
        self._progress.update(self._task, completed=shown, description=name, facts=facts)
        if not self._console.is_terminal and run.elapsed >= self._next_line:
            self._next_line += LINE_SECONDS
            log(f"{run.elapsed:5.0f} s  {name}: {facts}")

    def _facts(self, run: RunProgress) -> str:
        recent = [value for part in self._latencies for value in part]
        p99 = statistics.quantiles(recent, n=100)[98] if len(recent) > 1 else float("nan")
        p50 = statistics.median(recent) if recent else float("nan")
        counts = f"{run.sent} sent, {run.ok} ok, {run.refused} refused, {run.failed} failed, {run.open} open"
        return f"{counts}; p50 {p50:.0f} ms, p99 {p99:.0f} ms; lag {run.lag_ms:.1f} ms"

    def _phase(self, elapsed: float) -> str:
        if elapsed >= self._scenario.seconds:
            return "waiting for the last answers"
        starts = self._scenario.starts
        number = max((n for n in range(len(self._scenario.phases)) if starts[n] <= elapsed), default=0)
        return self._scenario.phases[number].name


def log(text: str) -> None:
    """Print a line on stderr."""
    print(text, file=sys.stderr, flush=True)
