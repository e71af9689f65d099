"""What each model name may take: its weight in the queue, and its tokens a second. Pure: time is passed in."""

from __future__ import annotations

from collections.abc import Mapping

from service.core.scheduling.rate_limit import TokenBucket
from service.core.types import Refusal, Submission


class ModelQuotas:
    """Of all models of one engine; a weight is 1, and a rate has no limit, unless they are told."""

    def __init__(self, weights: Mapping[str, float], rate_limits: Mapping[str, float]) -> None:
        self._weights = weights
        self._rates = rate_limits
        self._limits = {name: TokenBucket(rate, now=0.0) for name, rate in rate_limits.items()}

    def weight(self, name: str) -> float:
        """A name's weight."""
        return self._weights.get(name, 1.0)

    def reason_against(self, submission: Submission, name: str, now: float) -> Refusal | None:
        """Take a document's tokens out of its model's allowance, or say when to come again."""
        limit = self._limits.get(name)
        wait = limit.take(submission.tokens, now) if limit else 0.0
        if wait == 0.0:
            return None
        detail = f"more than {self._rates[name]:g} tokens a second came for the model {name}"
        return Refusal(submission.key, "rate_limited", detail, retry_after_seconds=wait)
