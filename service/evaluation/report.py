"""Report of an evaluation as one JSON value. A set with fewer than five groups has no interval, and a note says so.

Calibration: the expected error of the scores over ten bins (Guo et al., 2017).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from service.evaluation.scoring import RoleTally, SetScores
from service.evaluation.span_scores import LEAST_GROUPS, Outcome, SpanScore, Tally

BINS = 10


@dataclass(frozen=True, slots=True)
class ScoreBin:
    """Entities with scores between two tenths: their number, their mean score, and the share that is right."""

    above: float
    entities: int
    mean_score: float
    right: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """Calibration; `error`: mean distance of score and right share, bins weighted by their entities."""

    error: float
    bins: tuple[ScoreBin, ...]


def calibration(scored: Iterable[tuple[float, bool]]) -> Reliability:
    """Compute the calibration from (score, True if span and label are right) of each found entity; omits empty bins."""
    binned: dict[int, list[tuple[float, bool]]] = {}
    for score, right in scored:
        binned.setdefault(min(int(score * BINS), BINS - 1), []).append((score, right))
    bins = tuple(_bin(number, binned[number]) for number in sorted(binned))
    total = sum(each.entities for each in bins)
    distance = sum(each.entities * abs(each.mean_score - each.right) for each in bins)
    return Reliability(distance / total if total else 0.0, bins)


def _bin(number: int, scored: list[tuple[float, bool]]) -> ScoreBin:
    count = len(scored)
    return ScoreBin(number / BINS, count, sum(s for s, _ in scored) / count, sum(r for _, r in scored) / count)


class Rates(msgspec.Struct, frozen=True):
    """Rates of exact spans over a number of groups; the interval of F1 covers 95 %, over groups."""

    gold: int
    found: int
    right: int
    precision: float
    recall: float
    f1: float
    groups: int
    f1_low: float | None
    f1_high: float | None


class RoleRates(msgspec.Struct, frozen=True):
    """Documents with a role in their truth, and those with the right value: as chosen, and by score alone."""

    truth: int
    right: int
    right_by_score: int


class SetReport(msgspec.Struct, frozen=True):
    """The scores of one set."""

    name: str
    documents: int
    rates: Rates
    coarse: Rates
    errors: dict[str, int]
    calibration: Reliability
    fields: dict[str, RoleRates]
    notes: list[str]


class EvaluationReport(msgspec.Struct, frozen=True):
    """The scores of all sets, and by label, language and kind of document over all sets together."""

    model: str
    revision: str
    documents: int
    tokens: int
    seconds: float
    sets: list[SetReport]
    labels: dict[str, Rates]
    languages: dict[str, Rates]
    kinds: dict[str, Rates]
    errors: dict[str, int]
    calibration: Reliability
    fields: dict[str, RoleRates]


def set_report(scores: SetScores, *, notes: Sequence[str] = ()) -> SetReport:
    few = [f"{scores.groups} groups: no interval"] if scores.groups < LEAST_GROUPS else []
    return SetReport(
        scores.name,
        scores.documents,
        rates(scores.fine.score()),
        rates(scores.coarse.score()),
        _errors([scores.outcomes]),
        calibration(scores.scored),
        _roles([scores.roles]),
        [*few, *notes],
    )


def all_together(
    model: str, revision: str, sets: Sequence[SetReport], scores: Sequence[SetScores], *, tokens: int, seconds: float
) -> EvaluationReport:
    """Make the report of all sets; `scores`: those that `sets` were made from."""
    return EvaluationReport(
        model,
        revision,
        sum(each.documents for each in sets),
        tokens,
        seconds,
        list(sets),
        _merged(each.labels for each in scores),
        _merged(each.languages for each in scores),
        _merged(each.kinds for each in scores),
        _errors([each.outcomes for each in scores]),
        calibration(scored for each in scores for scored in each.scored),
        _roles([each.roles for each in scores]),
    )


def rates(score: SpanScore) -> Rates:
    numbers = (score.precision, score.recall, score.f1)
    low, high = score.low, score.high
    return Rates(score.gold, score.found, score.right, *numbers, score.groups, low, high)


def _merged(tallies: Iterable[Mapping[str, Tally]]) -> dict[str, Rates]:
    merged: defaultdict[str, Tally] = defaultdict(Tally)
    for by_name in tallies:
        for name, tally in by_name.items():
            for group, (gold, found, right) in tally.counts.items():
                merged[name].add(group, gold=gold, found=found, right=right)
    return {name: rates(merged[name].score()) for name in sorted(merged)}


def _errors(counts: Iterable[Counter[Outcome]]) -> dict[str, int]:
    total: Counter[Outcome] = sum(counts, Counter())
    return {outcome.value: total[outcome] for outcome in Outcome}


def _roles(tallies: Iterable[Mapping[str, RoleTally]]) -> dict[str, RoleRates]:
    merged: dict[str, RoleRates] = {}
    for by_role in tallies:
        for role, tally in by_role.items():
            before = merged.get(role, RoleRates(0, 0, 0))
            merged[role] = RoleRates(
                before.truth + tally.truth,
                before.right + tally.right,
                before.right_by_score + tally.right_by_label,
            )
    return dict(sorted(merged.items()))
