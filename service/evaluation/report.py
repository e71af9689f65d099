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
SURE = 0.99
"""Share of right values that a threshold of the roles' scores promises."""


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
    """Documents with a role in their truth, and those with the right value: as chosen, and by score alone.

    `silent`, `marked`: wrong values without and with a sign of doubt, inventions included; `missing`: no value.
    """

    truth: int
    right: int
    right_by_score: int
    silent: int = 0
    marked: int = 0
    missing: int = 0


class RoleScores(msgspec.Struct, frozen=True):
    """Reliability of the scores of roles.

    `threshold`: least score at and above which `SURE` of the values are right; None if there is none. `kept`: share of
    the values that have it.
    """

    calibration: Reliability
    values: int
    threshold: float | None
    kept: float


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
    role_scores: RoleScores


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
    role_scores: RoleScores


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
        role_scores(_scored_roles([scores])),
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
        role_scores(_scored_roles(scores)),
    )


def role_scores(scored: Sequence[tuple[float, bool]]) -> RoleScores:
    """Compute the reliability of the roles' scores from (score, True if the value is right) of each value."""
    threshold, kept, right = None, 0, 0
    ordered = sorted(scored, reverse=True)
    for number, (score, is_right) in enumerate(ordered, 1):
        right += is_right
        is_last = number == len(ordered) or ordered[number][0] < score
        if is_last and right >= SURE * number:
            threshold, kept = score, number
    return RoleScores(calibration(scored), len(ordered), threshold, kept / max(1, len(ordered)))


def _scored_roles(scores: Sequence[SetScores]) -> list[tuple[float, bool]]:
    judged = (role for each in scores for role in each.judged)
    return [(role.answer.score, role.is_right) for role in judged if role.answer.score is not None]


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
            counts = (tally.truth, tally.right, tally.right_by_label, tally.silent, tally.marked, tally.missing)
            before = msgspec.structs.astuple(merged.get(role, RoleRates(0, 0, 0)))
            merged[role] = RoleRates(*map(sum, zip(before, counts, strict=True)))
    return dict(sorted(merged.items()))
