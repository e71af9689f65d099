"""Pacing policy: how far ahead of the device one worker tokenizes a client's texts. Pure: time is passed in.

To tokenize a text takes cores, which a CPU that computes needs too, and for which other clients' texts wait. The rules:
- A client's texts are tokenized as they come until they are `AHEAD_SECONDS` of the device's work.
- Beyond that they begin at `TIMES_THE_DEVICE` its pace, the earliest deadline first, so that the queue still grows and
  no device waits for them. No text keeps the next one waiting for more than `LONGEST_PAUSE_SECONDS`.
- A request's only text begins at once, and so does every text where the engine limits waiting, since its queue is
  short there. These are judged by the engine alone.
- A text that seems too long for its deadline even alone is not judged by an estimate: it is tokenized until that is
  certain, and counts nothing before its client's others meanwhile.
- Any other text that could not be finished in time behind its client's others, or would not fit the queue with them,
  even if device and queue were theirs alone, is refused before it is tokenized.

The tokens of a text are not known before. They are estimated from its characters at the rate of its client's earlier
texts, and at `FEW_TOKENS` while none was counted. A file has no characters until it was read.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush

from service.core.admission.policy import ADMIT, WAIT, Decision, QueueState

AHEAD_SECONDS = 1.0
"""Seconds of the device's work that one client's texts may be before their tokenizing is paced."""
TIMES_THE_DEVICE = 2.0
"""Pace beyond that, as a multiple of the tokens that the device computes in a second."""
LONGEST_PAUSE_SECONDS = 0.25
"""Most seconds between two texts of one client. Long texts are tokenized in pieces, a few at once, anyway."""
LATE_SECONDS = 0.05
"""Seconds within which overdue texts begin together: timers are late, and an event loop's turn takes milliseconds."""
FEW_TOKENS = 0.2
"""Tokens per character of English prose; most other texts have more."""


@dataclass(slots=True, eq=False)
class PacingTicket:
    """A text among those of its client, from its arrival to its end.

    Attributes:
        client: the key of fair sharing.
        tokens: estimated until they are counted.
        may_begin: True once it may be tokenized.
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
        """Estimate the tokens of a text from its number of characters."""
        few = FEW_TOKENS * characters
        return max(characters * self.counted_tokens / self.counted_characters, few) if self.counted_characters else few

    def is_ahead(self, speed: float) -> bool:
        """True while more is tokenized, or will be without a pause, than the device computes in `AHEAD_SECONDS`."""
        return self.tokens - self.waiting_tokens > AHEAD_SECONDS * speed

    def decide(self, tokens: float, left_seconds: float, engine: QueueState) -> Decision:
        """Refuse a text for which its client's others leave no room or time; let it wait while they are ahead."""
        queue = self.queue(engine)
        decision = queue.decide(tokens, left_seconds) if queue.waiting_tokens else ADMIT
        if not decision.refuses and (self.waiting or self.is_ahead(engine.tokens_per_second)):
            return WAIT
        return decision

    def queue(self, engine: QueueState) -> QueueState:
        """Build the queue that a text of this client sees: the client's other texts that do not run yet."""
        behind = max(self.tokens - AHEAD_SECONDS * engine.tokens_per_second, 0.0)
        return QueueState(
            engine.tokens_per_second,
            waiting_tokens=behind,
            counted_tokens=behind,
            limit_tokens=engine.limit_tokens,
            documents=self.texts,
            has_room=self.largest_tokens > engine.limit_tokens,  # One that is larger counts for less of the queue.
        )


class PacingPolicy:
    """The texts of one worker that are not over. Speeds are tokens a second, infinite while unknown."""

    def __init__(self) -> None:
        self._clients: dict[Hashable, _Client] = {}
        self._waiting: set[Hashable] = set()
        self._numbers = itertools.count()

    def __len__(self) -> int:
        """Count the clients with texts."""
        return len(self._clients)

    def estimate(self, client: Hashable, characters: int) -> float:
        return self._clients.get(client, _Client()).estimate(characters)

    @property
    def held_tokens(self) -> float:
        """Tokens of the texts that may not begin yet."""
        return sum(max(self._clients[client].waiting_tokens, 0.0) for client in self._waiting)

    def enter(
        self,
        client: Hashable,
        characters: int,
        deadline_seconds: float,
        engine: QueueState,
        now: float,
        *,
        paced: bool = True,
        most_tokens: float = math.inf,
    ) -> PacingTicket:
        """Issue a text's ticket.

        Args:
            paced: False for a text that begins at once and is not refused here.
            most_tokens: tokens from which it is too long for its deadline on an idle engine too: a text that seems so
                takes nothing from its client's others, and is judged once its tokens are counted.

        Raises:
            DeadlineExceeded: the text could not be finished in time.
            QueueFull: the text would not fit the queue.
        """
        account = self._clients.get(client) or _Client()
        expected = account.estimate(characters)
        ticket = PacingTicket(client, characters, expected if expected <= most_tokens else 0.0)
        is_paced = paced and math.isfinite(engine.tokens_per_second)
        decision = account.decide(ticket.tokens, deadline_seconds - now, engine) if is_paced else ADMIT
        decision.enforce()
        if decision is WAIT:
            ticket.may_begin = False
            heappush(account.waiting, (deadline_seconds, next(self._numbers), ticket))
            account.waiting_tokens += ticket.tokens
            self._waiting.add(client)
        self._clients[client] = account
        account.texts += 1
        account.tokens += ticket.tokens
        account.largest_tokens = max(account.largest_tokens, ticket.tokens)
        return ticket

    def begin(self, speed: float, now: float) -> Iterator[PacingTicket]:
        """Yield the waiting texts that may begin now."""
        for client in list(self._waiting):
            account = self._clients[client]
            while account.waiting and (not account.is_ahead(speed) or now >= account.paid_until):
                _, _, ticket = heappop(account.waiting)
                if ticket.is_over:
                    continue
                account.waiting_tokens -= ticket.tokens
                pause = min(ticket.tokens / (TIMES_THE_DEVICE * speed), LONGEST_PAUSE_SECONDS)
                account.paid_until = max(account.paid_until, now - LATE_SECONDS) + pause
                ticket.may_begin = True
                yield ticket
            if not account.waiting:
                self._waiting.discard(client)

    def next_seconds(self) -> float | None:
        """The time at which the next text may begin, unless one ends before; None while none waits."""
        return min((self._clients[client].paid_until for client in self._waiting), default=None)

    def count(self, ticket: PacingTicket, tokens: int) -> None:
        """Replace the estimate for a text that has begun by its counted tokens."""
        account = self._clients[ticket.client]
        account.tokens += tokens - ticket.tokens
        account.largest_tokens = max(account.largest_tokens, tokens)
        if ticket.characters:
            account.counted_tokens += tokens
            account.counted_characters += ticket.characters
        ticket.tokens = tokens

    def leave(self, ticket: PacingTicket) -> None:
        """Remove a text that is finished, refused or given up."""
        account = self._clients[ticket.client]
        ticket.is_over = True
        account.texts -= 1
        account.tokens -= ticket.tokens
        if not ticket.may_begin:
            account.waiting_tokens -= ticket.tokens
        if not account.texts:
            del self._clients[ticket.client]
            self._waiting.discard(ticket.client)
