"""Fair queue of documents: models share by weight, clients by weight and priority, documents equally.

`FairQueue` is weighted processor sharing over a changing set of members. Every member has a tag, the virtual time at
which its next piece of work is due. Serving a member advances its tag by cost / weight, and virtual time by cost / (sum
of weights), as if all members were served at once. A new member starts at the present virtual time: it owes nothing for
the past and cannot starve the members before it. (Generalised processor sharing: Parekh and Gallager, 1993.)

`FairShareQueue` has one for the models, one for each model's clients and one for each client's documents, all over
tokens; among the documents of one client, urgent ones go first. Pure: no clock.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count
from typing import Generic, TypeVar

from service.core.types import Priority, Submission

Member = TypeVar("Member", bound=Hashable)


@dataclass(slots=True)
class _Share:
    tag: float
    weight: float
    order: int


class FairQueue(Generic[Member]):
    """Members in the order in which processor sharing serves them."""

    def __init__(self) -> None:
        self._shares: dict[Member, _Share] = {}
        self._heap: list[tuple[float, int, Member]] = []
        self._virtual = 0.0
        self._weight = 0.0
        self._arrivals = count()

    def __len__(self) -> int:
        return len(self._shares)

    def __contains__(self, member: Member) -> bool:
        return member in self._shares

    def join(self, member: Member, weight: float = 1.0) -> None:
        """Add a member; one that is there already stays as it is."""
        if member in self._shares:
            return
        share = _Share(self._virtual, weight, next(self._arrivals))
        self._shares[member] = share
        self._weight += weight
        heapq.heappush(self._heap, (share.tag, share.order, member))

    def leave(self, member: Member, cost: float = 0.0) -> None:
        """Remove a member, whose last work had this cost; one that is not there is no error."""
        share = self._shares.pop(member, None)
        if share is not None:
            self._virtual += cost / self._weight
            self._weight = self._weight - share.weight if self._shares else 0.0
            self._drop_outdated()

    def charge(self, member: Member, cost: float) -> None:
        """Charge a member for work of this cost."""
        share = self._shares[member]
        before = share.tag
        share.tag += cost / share.weight
        self._virtual += cost / self._weight
        if share.tag != before:  # Else its entry is current, and a second one would list it twice.
            entry = (share.tag, share.order, member)
            if self._heap[0][1] == share.order:
                heapq.heapreplace(self._heap, entry)
            else:
                heapq.heappush(self._heap, entry)
            self._drop_outdated()

    def in_order(self) -> Iterator[Member]:
        """Yield the members in the order of service; lazily, so that the first few cost little."""
        if not self._heap:
            return
        yield self._heap[0][2]  # The top is never outdated.
        frontier = self._children(0)
        while frontier:
            tag, order, index = heapq.heappop(frontier)
            member = self._heap[index][2]
            if self._is_current(tag, order, member):
                yield member
            for child in self._children(index):
                heapq.heappush(frontier, child)

    def _children(self, index: int) -> list[tuple[float, int, int]]:
        """List tag, order and index of the entries below one of the heap; in a heap's order themselves."""
        below = range(2 * index + 1, min(2 * index + 3, len(self._heap)))
        return sorted((*self._heap[child][:2], child) for child in below)

    def _is_current(self, tag: float, order: int, member: Member) -> bool:
        share = self._shares.get(member)
        return share is not None and share.tag == tag and share.order == order

    def _drop_outdated(self) -> None:
        """Remove outdated entries from the top of the heap, and all of them once they outnumber the members."""
        heap = self._heap
        while heap and not self._is_current(*heap[0]):
            heapq.heappop(heap)
        if len(heap) > 2 * len(self._shares) + 64:
            self._heap = [entry for entry in self._heap if self._is_current(*entry)]
            heapq.heapify(self._heap)


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
        """Remove a document whose last launch had these tokens; client and model leave with their last document."""
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
        """List the models with waiting documents in the order of service."""
        return list(self._models.in_order())

    def documents(self, model: str, priority: Priority | None = None) -> Iterator[str]:
        """Yield the keys of one model's documents, all or of one priority, in the order of service."""
        for client in self._clients_of(model):
            if priority in (None, client[1]):
                yield from self._documents(model, client)

    def clients(self, model: str) -> Iterator[tuple[Client, Iterator[str]]]:
        """Yield the clients of one model with the keys of their documents, both in the order of service."""
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
    return (submission.client, submission.priority)
