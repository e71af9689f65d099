"""StartupGate: requests that came while the service starts wait for an engine that serves, or for word that none will.

Workers do not read the engine's status in the same moment: a client that heard from one that the service is ready must
not be refused by another.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress

from service.core.admission.head import STARTS_PER_TURN


class StartupGate:
    """Who waits at one worker."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def wait(self, seconds: float) -> None:
        """Wait for `let_in`, for at most this long."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await turn

    def let_in(self) -> None:
        """Let a few of those that wait go on, and the others in later turns of the loop: each has work to begin."""
        for _ in range(min(STARTS_PER_TURN, len(self._waiting))):
            if not (turn := self._waiting.popleft()).done():
                turn.set_result(None)
        if self._waiting:
            asyncio.get_running_loop().call_soon(self.let_in)
