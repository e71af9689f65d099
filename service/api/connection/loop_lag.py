"""The event loop's lag: how much later than it should a timer goes off."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

TICK_SECONDS = 0.05
"""How often it is measured."""


class LoopLag:
    """The lag of the running event loop; `on_lag` is called with each measurement, in seconds."""

    def __init__(self, on_lag: Callable[[float], None]) -> None:
        self._on_lag = on_lag
        self._longest_seconds = 0.0

    async def measure(self) -> None:
        """Measure it until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + TICK_SECONDS
            await asyncio.sleep(TICK_SECONDS)
            seconds = max(loop.time() - due, 0.0)
            self._longest_seconds = max(self._longest_seconds, seconds)
            self._on_lag(seconds)

    def take_longest_seconds(self) -> float:
        """The longest since this was asked the last time."""
        longest, self._longest_seconds = self._longest_seconds, 0.0
        return longest
