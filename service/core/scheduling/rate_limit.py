"""How many tokens of one model may come in a second. Pure: time is passed in.

The rule: a bucket fills at the allowed rate up to `BURST_SECONDS` of it. A document takes its tokens out; one that is
larger than the bucket passes when the bucket is full and leaves a debt, so that no document is too long for ever.
"""

from __future__ import annotations

BURST_SECONDS = 10.0


class TokenBucket:
    """One model's allowance."""

    def __init__(self, tokens_per_second: float, now: float) -> None:
        self._rate = tokens_per_second
        self._most_tokens = tokens_per_second * BURST_SECONDS
        self._tokens = self._most_tokens
        self._at = now

    def take(self, tokens: int, now: float) -> float:
        """Take a document's tokens; 0.0, or the seconds after which to come again, and nothing is taken."""
        self._tokens = min(self._most_tokens, self._tokens + max(now - self._at, 0.0) * self._rate)
        self._at = max(now, self._at)
        missing = min(tokens, self._most_tokens) - self._tokens
        if missing > 0:
            return missing / self._rate
        self._tokens -= tokens
        return 0.0
