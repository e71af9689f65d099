"""Preparation turns: texts of one client that wait until their preparation may begin (`core/preparation`)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable

from service.core.preparation import DeviceState, PreparationPace, TextPlace


class PreparationTurns:
    """The waiting texts of one event loop. `device`: what the engine last said."""

    def __init__(self, device: Callable[[], DeviceState], clock: Callable[[], float] = time.monotonic) -> None:
        self._device = device
        self._clock = clock
        self._pace = PreparationPace()
        self._waiting: dict[TextPlace, asyncio.Future[None]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def enter(self, client: Hashable, characters: int, deadline_seconds: float, *, alone: bool) -> TextPlace:
        """Give a text its place until it leaves; raises what `PreparationPace.enter` raises."""
        return self._pace.enter(client, characters, deadline_seconds, self._device(), self._clock(), alone=alone)

    def estimate(self, client: Hashable, characters: int) -> float:
        """The tokens of a text, as its place would have them."""
        return self._pace.estimate(client, characters)

    def leave(self, place: TextPlace) -> None:
        """Remove a text that is finished, refused or given up."""
        self._pace.leave(place)
        if self._waiting:
            self._begin()

    async def turn(self, place: TextPlace) -> None:
        """Wait until a text may begin."""
        if place.may_begin:
            return
        waits = self._waiting[place] = asyncio.get_running_loop().create_future()
        self._begin()
        try:
            await waits
        finally:
            del self._waiting[place]

    @property
    def held_tokens(self) -> float:
        """Of the texts that wait."""
        return self._pace.held_tokens

    def count(self, place: TextPlace, tokens: int) -> None:
        """Note the tokens that a text has."""
        self._pace.count(place, tokens)

    def _begin(self) -> None:
        """Let begin who may, and look again when the next one may."""
        now = self._clock()
        for place in self._pace.begin(self._device().tokens_per_second, now):
            if (waits := self._waiting.get(place)) is not None and not waits.done():
                waits.set_result(None)
        if self._timer is not None:
            self._timer.cancel()
        next_seconds = self._pace.next_seconds()
        if next_seconds is not None:
            self._timer = asyncio.get_running_loop().call_later(max(next_seconds - now, 0.0), self._begin)
