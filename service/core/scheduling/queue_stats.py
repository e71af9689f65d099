"""What each model has in the queue, and its share of it. Pure bookkeeping: sums only, no order."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class ModelQueueStats:
    """One model's documents that are admitted and not answered, and what of them waits."""

    documents: int = 0
    waiting_sequences: int = 0
    waiting_tokens: int = 0


class QueueStats:
    """The sums of a queue, in all and by model."""

    def __init__(self) -> None:
        self.total = ModelQueueStats()
        self._accounts: dict[str, ModelQueueStats] = {}
        self._weights: dict[str, float] = {}

    def weigh(self, model: str, weight: float | None) -> None:
        """Know a model's weight; None forgets it."""
        if weight is None:
            self._weights.pop(model, None)
        else:
            self._weights[model] = weight

    def weight(self, model: str) -> float:
        """A model's weight; 1 unless it was told."""
        return self._weights.get(model, 1.0)

    def share(self, model: str) -> float:
        """A model's part of all weights; alone it has everything."""
        return self.weight(model) / max(sum(self._weights.values()), self.weight(model))

    def of(self, model: str) -> ModelQueueStats:
        """One model's account; an empty one if it has nothing in the queue."""
        return self._accounts.get(model, ModelQueueStats())

    def enter(self, model: str, sequences: int, tokens: int) -> None:
        """A document came in."""
        for account in (self.total, self._accounts.setdefault(model, ModelQueueStats())):
            account.documents += 1
            account.waiting_sequences += sequences
            account.waiting_tokens += tokens

    def stop_waiting(self, model: str, sequences: int, tokens: int) -> None:
        """Sequences went to the device, or nobody wants them any more."""
        for account in (self.total, self._accounts[model]):
            account.waiting_sequences -= sequences
            account.waiting_tokens -= tokens

    def leave(self, model: str) -> None:
        """A document is answered, refused or cancelled; nothing of it waits any more."""
        for account in (self.total, self._accounts[model]):
            account.documents -= 1
        if not self._accounts[model].documents:
            del self._accounts[model]
