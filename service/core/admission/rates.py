"""Rate limits: how much a client or a model may take a second on average. Pure: time is passed in.

A client's allowance is one number, the moment until which it has paid: an amount moves it on by amount / rate, and time
catches up with it, never by more than `BURST_SECONDS`. A client that has paid beyond now is in debt and is refused; any
other passes whole, whatever it brings, so that nothing is too large for ever. (The virtual scheduling of ITU-T I.371,
annex A.)
"""

from __future__ import annotations

from collections.abc import Mapping

from service.core.types import Refusal, Submission

BURST_SECONDS = 10.0
"""Most that an allowance saves up, in seconds of its rate."""
NOTHING_PAID = float("-inf")
"""The number of a client that has not been seen."""


def wait_seconds(paid_until: float, now: float) -> float:
    """Seconds until a client may come again; 0.0 unless it is in debt."""
    return max(paid_until - now, 0.0)


def charged(paid_until: float, amount: float, rate: float, now: float, burst_seconds: float = BURST_SECONDS) -> float:
    """The moment until which a client has paid once this amount is taken from it, at this rate a second."""
    return max(paid_until, now - burst_seconds) + amount / rate


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
