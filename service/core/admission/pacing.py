"""Preparation: how far ahead of the device one worker prepares a client's texts. Pure: time is passed in.

To tokenize a text takes cores, which a CPU that computes wants too, and which other clients' texts wait for. The rules:
- Up to `AHEAD_SECONDS` of the device's work a client's texts are prepared as they come.
- Beyond that they begin at `TIMES_THE_DEVICE` its pace, the earliest deadline first, so that the queue still grows and
  no device waits for them. None keeps the next one waiting for more than `LONGEST_PAUSE_SECONDS`. A request's only text
  begins at once, and so does every text where waiting is limited, since the queue is short there.
- A text that could not be finished in time behind its client's others, or would not fit the queue with them, even were
  device and queue theirs alone, is refused before it is prepared.

The tokens of a text are not known before. They are taken to be as many, by its characters, as those of its client's
texts were; few while none was counted. A file has none until it was read.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple

from service.core.errors import DeadlineExceeded, QueueFull
from service.core.scheduling.admission import RESERVE

AHEAD_SECONDS = 1.0
TIMES_THE_DEVICE = 2.0
LONGEST_PAUSE_SECONDS = 0.25
"""Long texts are tokenized a piece at a time, a few at once, anyway."""
LATE_SECONDS = 0.05
"""Texts that were due so long ago begin together: timers are late, and an event loop has turns of milliseconds."""
FEW_TOKENS = 0.2
"""For a character: of English prose; most other texts have more."""


class DeviceState(NamedTuple):
    """What the engine last said.

    Attributes:
        tokens_per_second: the device's; None while it is unknown.
        queue_limit_tokens: most tokens that may wait; 0 while it is unknown.
        limits_waiting: documents that would wait long are refused.
    """

    tokens_per_second: float | None
    queue_limit_tokens: int
    limits_waiting: bool = False


@dataclass(slots=True, eq=False)
class PacingTicket:
    """A text among those of its client, from its coming to its end.

    Attributes:
        client: with whatever else texts share the device by.
        tokens: estimated until they are counted.
        may_begin: its preparation may.
    """

    client: Hashable
    characters: int
    tokens: float
    may_begin: bool = True
    is_over: bool = False


@dataclass(slots=True)
class _Client:
    """One client's texts that are not over; those that may not begin yet wait, in the order of their deadlines."""

    texts: int = 0
    tokens: float = 0.0
    waiting: list[tuple[float, int, PacingTicket]] = field(default_factory=list)
    waiting_tokens: float = 0.0
    paid_until: float = 0.0
    largest_tokens: float = 0.0
    counted_characters: int = 0
    counted_tokens: int = 0

    def estimate(self, characters: int) -> float:
        """The tokens of a text of so many characters."""
        few = FEW_TOKENS * characters
        return max(characters * self.counted_tokens / self.counted_characters, few) if self.counted_characters else few

    def is_ahead(self, speed: float) -> bool:
        return self.tokens - self.waiting_tokens > AHEAD_SECONDS * speed

    def check(self, tokens: float, left_seconds: float, speed: float, limit: float) -> None:
        """Raise DeadlineExceeded or QueueFull for a text behind these, as far as they do not run already."""
        behind = max(self.tokens - AHEAD_SECONDS * speed, 0.0)
        over = behind + tokens - limit
        if behind and over > 0 and self.largest_tokens <= limit:  # One that is larger counts for less of the queue.
            detail = f"about {behind:.0f} tokens of this client are before it; the limit is {limit:.0f}"
            raise QueueFull(detail, retry_after_seconds=over / speed)
        # Texts take turns at the device: none waits for more of another one than it has itself.
        needed = (RESERVE * min(behind, self.texts * tokens) + tokens) / speed
        if behind and needed > left_seconds:
            detail = f"about {needed:.1f} s are needed for this client's texts and {left_seconds:.1f} s are left"
            raise DeadlineExceeded(detail, retry_after_seconds=needed - left_seconds)


class PacingPolicy:
    """The texts of one worker that are not over."""

    def __init__(self) -> None:
        self._clients: dict[Hashable, _Client] = {}
        self._waiting: set[Hashable] = set()
        self._numbers = itertools.count()

    def __len__(self) -> int:
        """Clients with texts."""
        return len(self._clients)

    def estimate(self, client: Hashable, characters: int) -> float:
        """The tokens of a text, as its place would have them."""
        return self._clients.get(client, _Client()).estimate(characters)

    @property
    def held_tokens(self) -> float:
        """Of the texts that may not begin yet."""
        return sum(max(self._clients[client].waiting_tokens, 0.0) for client in self._waiting)

    def enter(
        self,
        client: Hashable,
        characters: int,
        deadline_seconds: float,
        device: DeviceState,
        now: float,
        *,
        alone: bool = False,
    ) -> PacingTicket:
        """Give a text its place. `alone`: it is its request's only one.

        Raises:
            DeadlineExceeded: it could not be finished in time.
            QueueFull: it would not fit the queue.
        """
        account = self._clients.get(client)
        if account is None:
            account = self._clients[client] = _Client()
        place = PacingTicket(client, characters, account.estimate(characters))
        speed = device.tokens_per_second
        if speed and not alone and not device.limits_waiting:
            account.check(place.tokens, deadline_seconds - now, speed, device.queue_limit_tokens or math.inf)
            if account.waiting or account.is_ahead(speed):
                place.may_begin = False
                heappush(account.waiting, (deadline_seconds, next(self._numbers), place))
                account.waiting_tokens += place.tokens
                self._waiting.add(client)
        account.texts += 1
        account.tokens += place.tokens
        account.largest_tokens = max(account.largest_tokens, place.tokens)
        return place

    def begin(self, speed: float | None, now: float) -> Iterator[PacingTicket]:
        """The texts that waited and may begin now. `speed`: the device's tokens a second, None while unknown."""
        for client in list(self._waiting):
            account = self._clients[client]
            while account.waiting and (not speed or not account.is_ahead(speed) or now >= account.paid_until):
                _, _, place = heappop(account.waiting)
                if place.is_over:
                    continue
                account.waiting_tokens -= place.tokens
                if speed:
                    pause = min(place.tokens / (TIMES_THE_DEVICE * speed), LONGEST_PAUSE_SECONDS)
                    account.paid_until = max(account.paid_until, now - LATE_SECONDS) + pause
                place.may_begin = True
                yield place
            if not account.waiting:
                self._waiting.discard(client)

    def next_seconds(self) -> float | None:
        """When the next text may begin, if none is over before; None while none waits."""
        return min((self._clients[client].paid_until for client in self._waiting), default=None)

    def count(self, place: PacingTicket, tokens: int) -> None:
        """Note the tokens that a text has, which has begun."""
        account = self._clients[place.client]
        account.tokens += tokens - place.tokens
        account.largest_tokens = max(account.largest_tokens, tokens)
        if place.characters:
            account.counted_tokens += tokens
            account.counted_characters += place.characters
        place.tokens = tokens

    def leave(self, place: PacingTicket) -> None:
        """Remove a text that is finished, refused or given up."""
        account = self._clients[place.client]
        place.is_over = True
        account.texts -= 1
        account.tokens -= place.tokens
        if not place.may_begin:
            account.waiting_tokens -= place.tokens
        if not account.texts:
            del self._clients[place.client]
            self._waiting.discard(place.client)
