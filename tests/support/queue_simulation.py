"""A device in virtual time behind the real scheduler: who was refused for what, and how long the others waited.

No clock and no thread: a batch takes its tokens over the device's speed, and one batch runs at a time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from service.core.scheduling.scheduler import QueueLimits, Scheduler
from service.core.types import Submission
from tests.support.budgets import FixedBudget

Arrival = tuple[float, Submission]


@dataclass
class Outcome:
    """What came of the submissions, by client.

    Attributes:
        waits: seconds from arrival to the last sequence of each answered document.
        refused: codes of those that were refused at the door.
        expired: codes of those that were let in and then refused.
        most_waiting: the most tokens that waited at any moment.
    """

    waits: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    refused: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    expired: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    most_waiting: int = 0

    def quantile(self, client: str, share: float) -> float:
        """The wait that this share of a client's answered documents did not pass."""
        waits = sorted(self.waits[client])
        return waits[min(int(share * len(waits)), len(waits) - 1)]


def simulate(arrivals: Iterable[Arrival], *, queue_tokens: int, batch_tokens: int, tokens_per_second: float) -> Outcome:
    """Play these arrivals, in order of their time, to the end."""
    queue: Scheduler[tuple[float, str]] = Scheduler(QueueLimits(queue_tokens))
    outcome, due, budget = Outcome(), sorted(arrivals, key=lambda each: each[0])[::-1], FixedBudget(batch_tokens)
    now = 0.0
    while True:
        while due and due[-1][0] <= now:
            at, submission = due.pop()
            refusal = queue.admit(submission, now, tokens_per_second, (at, submission.client))
            if refusal is not None:
                outcome.refused[submission.client][refusal.code] += 1
        outcome.most_waiting = max(outcome.most_waiting, queue.waiting_tokens)
        for expired, payload in queue.expire(now, tokens_per_second):
            assert payload is not None
            outcome.expired[payload[1]][expired.code] += 1
        batch = queue.next_batch(budget)
        if batch is None:
            if not due:
                break
            now = due[-1][0]
            continue
        now += batch.tokens / tokens_per_second
        payloads = {sequence.key: queue.payload(sequence.key) for sequence in batch.sequences}
        queue.delivered(batch)
        for key, payload in payloads.items():
            if payload is not None and key not in queue:
                outcome.waits[payload[1]].append(now - payload[0])
    return outcome
