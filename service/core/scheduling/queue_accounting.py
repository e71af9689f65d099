"""Queue accounting in two books: waiting work by model (`QueueStats`), used queue limit by client (`QueueOccupancy`).

The rules of the limit:
- A document that is larger than the limit counts for half of it, so that the others have the other half.
- A client's share is its weight's part of the weights of all clients that have documents here, itself among them.

Pure bookkeeping: sums, no order, no time.
"""

from __future__ import annotations

from dataclasses import dataclass

from service.core.types import Submission


@dataclass(slots=True)
class ModelQueueStats:
    """One model's admitted and unanswered documents, and their sequences and tokens not yet launched."""

    documents: int = 0
    waiting_sequences: int = 0
    waiting_tokens: int = 0


class QueueStats:
    """The sums of a queue, in total and by model."""

    def __init__(self) -> None:
        self.total = ModelQueueStats()
        self._models: dict[str, ModelQueueStats] = {}
        self._weights: dict[str, float] = {}
        self._weights_sum = 0.0

    def set_weight(self, model: str, weight: float | None) -> None:
        """Set a model's weight; None removes it."""
        if weight is None:
            self._weights.pop(model, None)
        else:
            self._weights[model] = weight
        self._weights_sum = sum(self._weights.values())

    def weight(self, model: str) -> float:
        """Look up a model's weight; 1 unless it was set."""
        return self._weights.get(model, 1.0)

    def share(self, model: str) -> float:
        """A model's part of all weights, between 0 and 1."""
        weight = self.weight(model)
        return weight / max(self._weights_sum, weight)

    def of(self, model: str) -> ModelQueueStats:
        """Look up one model's sums; zeros for a model without documents in the queue."""
        return self._models.get(model) or ModelQueueStats()

    def enter(self, model: str, sequences: int, tokens: int) -> None:
        """Count an admitted document."""
        if model not in self._models:
            self._models[model] = ModelQueueStats()
        for stats in (self.total, self._models[model]):
            stats.documents += 1
            stats.waiting_sequences += sequences
            stats.waiting_tokens += tokens

    def stop_waiting(self, model: str, sequences: int, tokens: int) -> None:
        """Subtract sequences that were launched, or whose document was cancelled."""
        for stats in (self.total, self._models[model]):
            stats.waiting_sequences -= sequences
            stats.waiting_tokens -= tokens

    def leave(self, model: str) -> None:
        """Subtract a document that was answered, refused or cancelled, none of whose sequences waits."""
        for stats in (self.total, self._models[model]):
            stats.documents -= 1
        if not self._models[model].documents:
            del self._models[model]


GIANT_SHARE = 0.5
"""Share of the limit that a document larger than all of it takes."""


@dataclass(slots=True)
class ClientOccupancy:
    """One client's unanswered documents, and their waiting tokens, in full and as counted."""

    weight: float = 1.0
    documents: int = 0
    waiting_tokens: int = 0
    counted_tokens: int = 0


class QueueOccupancy:
    """The used part of a queue's limit: `counted_tokens`."""

    def __init__(self, limit_tokens: int) -> None:
        self.limit_tokens = limit_tokens
        self.counted_tokens = 0
        self._giant_tokens = int(limit_tokens * GIANT_SHARE)
        self._giants: set[str] = set()
        self._clients: dict[str, ClientOccupancy] = {}
        self._weights = 0.0

    def of(self, client: str) -> ClientOccupancy:
        """Look up one client's sums; zeros for a client without documents here."""
        return self._clients.get(client) or ClientOccupancy()

    def share(self, submission: Submission) -> float:
        """The share of a submission's client, between 0 and 1."""
        weight, known = submission.quota.weight, self._clients.get(submission.client)
        others = self._weights - (known.weight if known else 0.0)
        return weight / (weight + max(others, 0.0))

    def is_within_share(self, submission: Submission) -> bool:
        """True when a client with this document too takes no more of the limit than its share."""
        counted = self.of(submission.client).counted_tokens + submission.tokens
        return counted <= self.share(submission) * self.limit_tokens

    def enter(self, submission: Submission) -> None:
        """Count an admitted document; the weight of its client is the one that came last."""
        client = self._clients.get(submission.client)
        if client is None:
            client = self._clients[submission.client] = ClientOccupancy(weight=0.0)
        self._weights += submission.quota.weight - client.weight
        client.weight = submission.quota.weight
        client.documents += 1
        tokens = submission.tokens
        if tokens > self.limit_tokens:
            self._giants.add(submission.key)
        self._add(client, tokens, self._counted(submission.key, tokens))

    def stop_waiting(self, submission: Submission, before: int, after: int) -> None:
        """Subtract launched or cancelled tokens of a document: `before` of them waited, `after` do now."""
        counted = self._counted(submission.key, after) - self._counted(submission.key, before)
        self._add(self._clients[submission.client], after - before, counted)

    def leave(self, submission: Submission) -> None:
        """Subtract a document without waiting tokens."""
        self._giants.discard(submission.key)
        client = self._clients[submission.client]
        client.documents -= 1
        if not client.documents:
            del self._clients[submission.client]
            self._weights = self._weights - client.weight if self._clients else 0.0

    def _add(self, client: ClientOccupancy, tokens: int, counted: int) -> None:
        client.waiting_tokens += tokens
        client.counted_tokens += counted
        self.counted_tokens += counted

    def _counted(self, key: str, tokens: int) -> int:
        return min(tokens, self._giant_tokens) if key in self._giants else tokens
