"""Capacity of one task as the load test measured it: thresholds and costs are computed from its figures."""

from __future__ import annotations

import json
import math
from dataclasses import MISSING, dataclass, fields


class BadCapacity(ValueError):
    """A capacity file lacks a figure or has one that cannot be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """One task's measured capacity.

    Attributes:
        documents_per_second: highest rate whose 99th percentile held the limit.
        tokens_per_second: the same in tokens.
        slo_ms: that limit.
        saturated_documents_per_second: at full load, whatever the latency; None where it was not measured.
    """

    documents_per_second: float
    tokens_per_second: float
    slo_ms: float
    saturated_documents_per_second: float | None = None

    @property
    def is_measured(self) -> bool:
        """False for the one that is assumed."""
        return self is not ASSUMED

    @property
    def full_documents_per_second(self) -> float:
        """The rate at full load, of which every work ratio is a share; the knee's where nothing else was measured."""
        return max(self.saturated_documents_per_second or 0.0, self.documents_per_second)

    @property
    def knee_ratio(self) -> float:
        """The work ratio at which the limit is just held; 1 where it is not known."""
        return self.documents_per_second / self.full_documents_per_second

    @property
    def queue_limit_tokens(self) -> int:
        """Most tokens that may wait: what the device does within the limit; a longer queue only makes answers late.

        A document larger than that is still admitted where no other waits.
        """
        tokens_per_document = self.tokens_per_second / self.documents_per_second
        return math.ceil(max(self.full_documents_per_second * self.slo_ms / 1000, 1.0) * tokens_per_document)

    @property
    def max_queue_ms(self) -> int:
        """Longest wait of a document that is still worth its while: the limit itself; its own length comes on top."""
        return math.ceil(self.slo_ms)


ASSUMED = Capacity(documents_per_second=100.0, tokens_per_second=40_000.0, slo_ms=500.0)
"""Capacity before anything was measured: a middling one-GPU instance and documents of 400 tokens. Measure soon."""


def read_capacity(text: str) -> Capacity:
    """Read the capacity from a load test's JSON; other fields are ignored.

    Raises:
        BadCapacity: names the figure.
    """
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadCapacity(f"the capacity file is not JSON: {error}") from error
    names = (each.name for each in fields(Capacity) if each.default is MISSING or each.name in found)
    return Capacity(**{name: _figure(found, name) for name in names})


def _figure(found: object, name: str) -> float:
    value = found.get(name) if isinstance(found, dict) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise BadCapacity(f"the capacity file's `{name}` is {value!r}; a number above zero is needed")
    return float(value)
