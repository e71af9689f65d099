"""Canary: a candidate revision answers a share of the requests and is compared with the stable one. Pure.

A candidate is judged by what it does with the same documents: errors that the other one does not make, its latency, and
its drift, which is the share of all entities that only one of the two found. Drift is not wrong by itself, since a new
revision is to answer otherwise; so its limit is the publisher's to say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Entity = tuple[str, int, int]
"""Label, start and end."""
LEAST_DOCUMENTS = 20
"""Fewest distinct documents for a judgement."""
LEAST_ANSWERS = 100
"""Fewest answers by each revision; with fewer the 99th percentile would be the slowest answer."""


def is_candidates_turn(number: int, percent: float) -> bool:
    """True if the `number`th request, from 1 on, goes to the candidate; these are spread evenly."""
    return math.floor(number * percent / 100) > math.floor((number - 1) * percent / 100)


@dataclass(frozen=True, slots=True)
class CanaryAnswer:
    """One revision's answer to one document. `error`: a code, or empty."""

    seconds: float
    entities: frozenset[Entity] = frozenset()
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryLimits:
    """The limits within which a candidate may be worse.

    Attributes:
        errors: additional share of documents that it may fail on.
        slower: most ratio of its median and 99th percentile to the stable revision's.
        drift: most share of entities that only one of the two found.
    """

    errors: float = 0.0
    slower: float = 1.25
    drift: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryReport:
    """Comparison of two revisions on the same documents; each pair is (stable, candidate)."""

    documents: int
    errors: tuple[float, float]
    p50_seconds: tuple[float, float]
    p99_seconds: tuple[float, float]
    drift: float
    drift_by_label: tuple[tuple[str, float], ...]

    def problems(self, limits: CanaryLimits) -> list[str]:
        """List the reasons against promoting the candidate; empty when it should be."""
        stable, candidate = self.errors
        limit = f"times the stable revision's; the limit is {limits.slower:g}"
        checks = (
            (self.documents >= LEAST_DOCUMENTS, f"{self.documents} documents prove nothing; {LEAST_DOCUMENTS} do"),
            (candidate <= stable + limits.errors, f"it fails on {candidate:.1%} of the documents, not {stable:.1%}"),
            (_within(self.p50_seconds, limits.slower), f"its p50 is {_ratio(self.p50_seconds):.2f} {limit}"),
            (
                _within(self.p99_seconds, limits.slower),
                f"its p99 is {_ratio(self.p99_seconds):.2f} {limit}",
            ),
            (self.drift <= limits.drift, f"{self.drift:.1%} of the entities differ; the limit is {limits.drift:.1%}"),
        )
        return [problem for holds, problem in checks if not holds]


def compare(stable: Sequence[CanaryAnswer], candidate: Sequence[CanaryAnswer]) -> CanaryReport:
    """Compare answers to the same documents, in the same order."""
    assert len(stable) == len(candidate), "both are asked for the same documents"
    both = [(a, b) for a, b in zip(stable, candidate, strict=True) if not a.error and not b.error]
    labels = sorted({label for pair in both for answer in pair for label, _, _ in answer.entities})
    return CanaryReport(
        documents=len(stable),
        errors=(_errors(stable), _errors(candidate)),
        p50_seconds=(_quantile(stable, 0.5), _quantile(candidate, 0.5)),
        p99_seconds=(_quantile(stable, 0.99), _quantile(candidate, 0.99)),
        drift=_drift([(a.entities, b.entities) for a, b in both]),
        drift_by_label=tuple(
            (name, _drift([(_only(a.entities, name), _only(b.entities, name)) for a, b in both])) for name in labels
        ),
    )


def _errors(answers: Sequence[CanaryAnswer]) -> float:
    return sum(bool(each.error) for each in answers) / len(answers) if answers else 0.0


def _quantile(answers: Sequence[CanaryAnswer], share: float) -> float:
    ordered = sorted(each.seconds for each in answers if not each.error)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)] if ordered else math.nan


def _drift(pairs: Sequence[tuple[frozenset[Entity], frozenset[Entity]]]) -> float:
    """Divide the entities that only one of two has by those that either has."""
    either = sum(len(a | b) for a, b in pairs)
    return sum(len(a ^ b) for a, b in pairs) / either if either else 0.0


def _only(entities: frozenset[Entity], label: str) -> frozenset[Entity]:
    return frozenset(each for each in entities if each[0] == label)


def _ratio(pair: tuple[float, float]) -> float:
    return pair[1] / pair[0] if pair[0] else math.nan


def _within(pair: tuple[float, float], slower: float) -> bool:
    """True if the candidate is fast enough; a candidate without answers (NaN) is not."""
    return pair[1] <= pair[0] * slower
