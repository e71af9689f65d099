"""Rate limits: how much a client or a model may take a second on average. Pure: time is passed in.

An allowance is one number, the moment until which its holder has paid: an amount moves it on by amount / rate, and time
catches up with it, never by more than `BURST_SECONDS`. A holder that has paid beyond now is in debt and is refused; any
other passes whole, whatever it brings, so that nothing is too large for ever. (The virtual scheduling of ITU-T I.371,
annex A.)
"""

from __future__ import annotations

from collections.abc import Mapping

from service.core.admission.policy import ADMIT, Decision, refuse
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


def in_debt(paid_until: float, now: float, detail: str) -> Decision:
    """Refuse what comes while its holder is in debt."""
    wait = wait_seconds(paid_until, now)
    return refuse("rate_limited", detail, wait) if wait else ADMIT


class ModelQuotas:
    """Weights and rate limits of an engine's models by name; unset, a weight is 1 and a rate is unlimited."""

    def __init__(self, weights: Mapping[str, float], rate_limits: Mapping[str, float]) -> None:
        self._weights = weights
        self._rates = rate_limits
        self._paid_until: dict[str, float] = {}

    def weight(self, name: str) -> float:
        """The weight of a model's share of device and queue."""
        return self._weights.get(name, 1.0)

    def refusal_for(self, submission: Submission, name: str, now: float) -> Refusal | None:
        """Charge a document's tokens to its model, or refuse it as `rate_limited` while the model is in debt."""
        rate, paid_until = self._rates.get(name), self._paid_until.get(name, NOTHING_PAID)
        if rate is None:
            return None
        decision = in_debt(paid_until, now, f"more than {rate:g} tokens a second came for the model {name}")
        if decision.refuses:
            return Refusal(submission.key, decision.code, decision.detail, decision.retry_after_seconds)
        self._paid_until[name] = charged(paid_until, submission.tokens, rate, now)
        return None
