"""Whose turn it is. Pure: models share by their weights, then clients by their priority, then documents alike.

Each level is a `fair_queue` of tokens; among the documents of one client, those that must hurry go first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from service.core.scheduling.fair_queue import FairQueue
from service.core.types import Priority, Submission

Client = tuple[str, Priority]

WEIGHTS = {Priority.INTERACTIVE: 1.0, Priority.BATCH: 1 / 16}


class FairShareQueue:
    """All documents of which something waits, at their places."""

    def __init__(self) -> None:
        self._models: FairQueue[str] = FairQueue()
        self._clients: dict[str, FairQueue[Client]] = defaultdict(FairQueue)
        self._queues: dict[tuple[str, Client], FairQueue[str]] = defaultdict(FairQueue)
        self._urgent: dict[tuple[str, Client], list[str]] = {}

    def join(self, submission: Submission, model_weight: float) -> None:
        """A document begins to wait."""
        model, client = submission.model, _client(submission)
        self._models.join(model, model_weight)
        self._clients[model].join(client, WEIGHTS[submission.priority])
        self._queues[model, client].join(submission.key)

    def charge(self, submission: Submission, tokens: int) -> None:
        """So much of a document was taken."""
        model, client = submission.model, _client(submission)
        self._models.charge(model, tokens)
        self._clients[model].charge(client, tokens)
        self._queues[model, client].charge(submission.key, tokens)

    def leave(self, submission: Submission) -> None:
        """Nothing of a document waits any more."""
        model, client = submission.model, _client(submission)
        queue = self._queues[model, client]
        queue.leave(submission.key)
        if not queue:
            del self._queues[model, client]
            self._clients[model].leave(client)
        if not self._clients[model]:
            del self._clients[model]
            self._models.leave(model)

    def hurry(self, submissions: Iterable[Submission]) -> None:
        """From now on these go first, in this order, and no others do."""
        self._urgent = defaultdict(list)
        for submission in submissions:
            self._urgent[submission.model, _client(submission)].append(submission.key)

    def models(self) -> list[str]:
        """The models that have work waiting, the most deserving first."""
        return list(self._models.in_order())

    def documents(self, model: str) -> Iterator[str]:
        """The keys of one model's documents, the most deserving first."""
        if model not in self._clients:
            return
        for client in self._clients[model].in_order():
            queue, urgent = self._queues[model, client], self._urgent.get((model, client), ())
            for key in urgent:
                if key in queue:
                    yield key
            for key in queue.in_order():
                if key not in urgent:
                    yield key


def _client(submission: Submission) -> Client:
    return (submission.client, submission.priority)
