"""Rate limits and weights by model name: token buckets, and the shares that scheduler and queue give each model.

A bucket fills at the allowed rate up to `BURST_SECONDS` of it. A document takes its tokens out of it; one that is
larger than the bucket passes when the bucket is full and leaves a debt, so that no document is refused for ever. Pure:
time is passed in.
"""

from __future__ import annotations

from collections.abc import Mapping

from service.core.types import Refusal, Submission

BURST_SECONDS = 10.0


class TokenBucket:
    """The allowance of one model."""

    def __init__(self, tokens_per_second: float, now: float) -> None:
        self._rate = tokens_per_second
        self._most_tokens = tokens_per_second * BURST_SECONDS
        self._tokens = self._most_tokens
        self._at = now

    def take(self, tokens: int, now: float) -> float:
        """Take a document's tokens and return 0.0; or take nothing and return the seconds until they can be taken."""
        self._tokens = min(self._most_tokens, self._tokens + max(now - self._at, 0.0) * self._rate)
        self._at = max(now, self._at)
        missing = min(tokens, self._most_tokens) - self._tokens
        if missing > 0:
            return missing / self._rate
        self._tokens -= tokens
        return 0.0


class ModelQuotas:
    """Weights and rate limits of an engine's models by name; unset, a weight is 1 and a rate is unlimited."""

    def __init__(self, weights: Mapping[str, float], rate_limits: Mapping[str, float]) -> None:
        self._weights = weights
        self._rates = rate_limits
        self._buckets = {name: TokenBucket(rate, now=0.0) for name, rate in rate_limits.items()}

    def weight(self, name: str) -> float:
        """The weight of a model's share of device and queue."""
        return self._weights.get(name, 1.0)

    def refusal_for(self, submission: Submission, name: str, now: float) -> Refusal | None:
        """Take a document's tokens out of its model's bucket, or refuse it as `rate_limited`."""
        bucket = self._buckets.get(name)
        wait = bucket.take(submission.tokens, now) if bucket else 0.0
        if wait == 0.0:
            return None
        detail = f"more than {self._rates[name]:g} tokens a second came for the model {name}"
        return Refusal(submission.key, "rate_limited", detail, retry_after_seconds=wait)
