"""Queue statistics: documents, sequences and tokens of each model, and each model's share of the queue by weight.

Pure bookkeeping: sums, no order.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class ModelQueueStats:
    """One model's documents that are admitted and not answered, and what of them is not launched yet."""

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
        """A model's weight; 1 unless it was set."""
        return self._weights.get(model, 1.0)

    def share(self, model: str) -> float:
        """A model's part of all weights, between 0 and 1."""
        weight = self.weight(model)
        return weight / max(self._weights_sum, weight)

    def of(self, model: str) -> ModelQueueStats:
        """One model's sums; zeros for a model without documents in the queue."""
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
