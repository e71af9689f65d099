"""How a run goes, on a terminal: one line that changes; elsewhere a line every ten seconds. Writes to stderr only."""

from __future__ import annotations

import statistics
import sys
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from loadtest.runner.generator_pool import RunProgress
from loadtest.scenario.scenario import Scenario

LINE_SECONDS = 10.0
LAST_TICKS = 4
"""The latencies shown are those of the last two seconds."""


class Display:
    """Shows ticks between enter and exit."""

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

    def __enter__(self) -> Display:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def say(self, text: str) -> None:
        """A line that stays."""
        say(text)

    def tick(self, tick: RunProgress) -> None:
        """Show how it goes."""
        self._latencies = [*self._latencies, tick.latencies_ms][-LAST_TICKS:]
        facts = self._facts(tick)
        name = self._phase(tick.elapsed)
        shown = min(max(tick.elapsed, 0.0), self._scenario.seconds)
        self._progress.update(self._task, completed=shown, description=name, facts=facts)
        if not self._console.is_terminal and tick.elapsed >= self._next_line:
            self._next_line += LINE_SECONDS
            self.say(f"{tick.elapsed:5.0f} s  {name}: {facts}")

    def _facts(self, tick: RunProgress) -> str:
        lately = [value for part in self._latencies for value in part]
        p99 = statistics.quantiles(lately, n=100)[98] if len(lately) > 1 else float("nan")
        p50 = statistics.median(lately) if lately else float("nan")
        counts = f"{tick.sent} sent, {tick.ok} ok, {tick.refused} refused, {tick.failed} failed, {tick.open} open"
        return f"{counts}; p50 {p50:.0f} ms, p99 {p99:.0f} ms; lag {tick.lag_ms:.1f} ms"

    def _phase(self, elapsed: float) -> str:
        if elapsed >= self._scenario.seconds:
            return "waiting for the last answers"
        starts = self._scenario.starts
        number = max((n for n in range(len(self._scenario.phases)) if starts[n] <= elapsed), default=0)
        return self._scenario.phases[number].name


def say(text: str) -> None:
    """A line on stderr."""
    print(text, file=sys.stderr, flush=True)
