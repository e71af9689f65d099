"""Hierarchical fair queue of documents: models share by weight, clients by weight and priority, documents equally.

Each level is a `FairQueue` over tokens. Among the documents of one client, urgent ones go first. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain

from service.core.scheduling.fair_queue import FairQueue
from service.core.types import Priority, Submission

Client = tuple[str, Priority]

WEIGHTS = {Priority.INTERACTIVE: 1.0, Priority.BATCH: 1 / 16}


class FairShareQueue:
    """All documents with sequences that are not launched yet, in the order of fair sharing."""

    def __init__(self) -> None:
        self._models: FairQueue[str] = FairQueue()
        self._clients: dict[str, FairQueue[Client]] = defaultdict(FairQueue)
        self._queues: dict[tuple[str, Client], FairQueue[str]] = defaultdict(FairQueue)
        self._urgent: dict[tuple[str, Client], list[str]] = {}

    def join(self, submission: Submission, model_weight: float) -> None:
        """Add a document."""
        model, client = submission.model, client_of(submission)
        queue = self._queues[model, client]
        if not queue:  # Else the client is there, and so is the model.
            self._models.join(model, model_weight)
            self._clients[model].join(client, WEIGHTS[submission.priority] * submission.quota.weight)
        queue.join(submission.key)

    def charge(self, submission: Submission, tokens: int) -> None:
        """Charge a document, its client and its model for tokens that were launched."""
        model, client = submission.model, client_of(submission)
        self._models.charge(model, tokens)
        self._clients[model].charge(client, tokens)
        self._queues[model, client].charge(submission.key, tokens)

    def leave(self, submission: Submission, tokens: int = 0) -> None:
        """Remove a document, of which these tokens were launched last; client and model leave with their last one."""
        model, client = submission.model, client_of(submission)
        queue, clients = self._queues[model, client], self._clients[model]
        queue.leave(submission.key, tokens)
        if not queue:
            del self._queues[model, client]
            clients.leave(client, tokens)
        elif tokens:
            clients.charge(client, tokens)
        if not clients:
            del self._clients[model]
            self._models.leave(model, tokens)
        elif tokens:
            self._models.charge(model, tokens)

    def prioritize(self, submissions: Iterable[Submission]) -> None:
        """Make these the urgent documents, in this order, in place of those of the last call."""
        self._urgent = defaultdict(list)
        for submission in submissions:
            self._urgent[submission.model, client_of(submission)].append(submission.key)

    def models(self) -> list[str]:
        """Models with waiting documents, the one that fair sharing serves next first."""
        return list(self._models.in_order())

    def documents(self, model: str) -> Iterator[str]:
        """Keys of one model's documents, the one to be served next first."""
        for client in self._clients_of(model):
            yield from self._documents(model, client)

    def clients(self, model: str) -> Iterator[tuple[Client, Iterator[str]]]:
        """The clients of one model with the keys of their documents; both in order, the next to be served first."""
        for client in self._clients_of(model):
            yield client, self._documents(model, client)

    def _clients_of(self, model: str) -> Iterator[Client]:
        clients = self._clients.get(model)
        return iter(()) if clients is None else clients.in_order()

    def _documents(self, model: str, client: Client) -> Iterator[str]:
        queue, urgent = self._queues[model, client], self._urgent.get((model, client))
        if not urgent:
            return queue.in_order()
        first = (key for key in urgent if key in queue)
        return chain(first, (key for key in queue.in_order() if key not in urgent))


def client_of(submission: Submission) -> Client:
    """The client that a document counts for."""
    return (submission.client, submission.priority)
