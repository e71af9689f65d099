"""Tables of a report: writes titles, heads and rows as text, for a terminal or a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from service.evaluation.report import (
    SURE,
    EvaluationReport,
    Rates,
    Reliability,
    RoleRates,
    RoleScores,
    SetReport,
)
from service.evaluation.span_scores import Outcome


@dataclass(frozen=True, slots=True)
class ReportTable:
    """One table; each row has a text for each of `head`: first a name, then numbers."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(report: EvaluationReport) -> list[ReportTable]:
    """Make all tables of a report that have rows."""
    found = [
        _sets(report.sets),
        *(_rates(title, rows) for title, rows in _breakdowns(report)),
        _errors(report.sets),
        _fields(report),
        _role_scores(report),
        _calibration("scores of roles", report.role_scores.calibration),
        _calibration("scores of entities", report.calibration),
    ]
    return [table for table in found if table.rows]


def _sets(sets: Sequence[SetReport]) -> ReportTable:
    head = (
        "set",
        "documents",
        "groups",
        "gold",
        "P",
        "R",
        "F1",
        "95 %",
        "coarse",
        "calibration",
        "note",
    )
    rows = tuple(
        (
            each.name,
            str(each.documents),
            str(each.rates.groups),
            *_numbers(each.rates),
            _share(each.coarse.f1),
            _share(each.calibration.error),
            "; ".join(each.notes),
        )
        for each in sets
    )
    return ReportTable("sets: exact spans; only labels that a set annotates", head, rows)


def _breakdowns(report: EvaluationReport) -> list[tuple[str, Mapping[str, Rates]]]:
    return [("label", report.labels), ("language", report.languages), ("kind of document", report.kinds)]


def _rates(title: str, rows: Mapping[str, Rates]) -> ReportTable:
    head = (title, "groups", "gold", "P", "R", "F1", "95 %")
    return ReportTable(
        f"by {title}", head, tuple((name, str(each.groups), *_numbers(each)) for name, each in rows.items())
    )


def _numbers(rates: Rates) -> tuple[str, ...]:
    shares = (rates.precision, rates.recall, rates.f1)
    return (str(rates.gold), *map(_share, shares), _interval(rates))


def _errors(sets: Sequence[SetReport]) -> ReportTable:
    rows = tuple(
        (each.name, *(_share(each.errors[outcome.value] / max(1, each.rates.gold)) for outcome in Outcome))
        for each in sets
    )
    return ReportTable("kinds of errors, as a share of gold", ("set", *Outcome), rows)


def _fields(report: EvaluationReport) -> ReportTable:
    rows = [
        _role(each.name, role, found)
        for each in report.sets
        if each.fields
        for role, found in (*each.fields.items(), ("all roles", _sum(list(each.fields.values()))))
    ]
    return ReportTable(
        "fields: is the value of a role right, wrong in silence, wrong and marked, or missing?",
        ("set", "role", "truth", "right", "silent", "marked", "missing", "by label's score"),
        tuple(rows),
    )


def _sum(found: Sequence[RoleRates]) -> RoleRates:
    return RoleRates(*map(sum, zip(*map(msgspec.structs.astuple, found), strict=True)))


def _role(name: str, role: str, found: RoleRates) -> tuple[str, ...]:
    right, by_score = (f"{n} ({_share(n / max(1, found.truth))})" for n in (found.right, found.right_by_score))
    return (name, role, str(found.truth), right, str(found.silent), str(found.marked), str(found.missing), by_score)


def _calibration(title: str, found: Reliability) -> ReportTable:
    rows = tuple(
        (f"{each.above:.1f}", str(each.entities), _share(each.mean_score), _share(each.right)) for each in found.bins
    )
    head = ("score from", "number", "mean score", "right")
    return ReportTable(f"{title}: expected calibration error {_share(found.error)}", head, rows)


def _role_scores(report: EvaluationReport) -> ReportTable:
    """The reliability of the roles' scores, of each set and of all, with the threshold that promises `SURE`."""
    found = [*((each.name, each.role_scores) for each in report.sets), ("all sets", report.role_scores)]
    rows = tuple(
        (name, str(each.values), _share(each.calibration.error), *_threshold(each))
        for name, each in found
        if each.values
    )
    head = ("set", "values", "calibration", f"score for {SURE:.0%}", "kept")
    return ReportTable("scores of roles", head, rows)


def _threshold(scores: RoleScores) -> tuple[str, str]:
    return ("none", "") if scores.threshold is None else (_share(scores.threshold), f"{scores.kept:.0%}")


def _interval(rates: Rates) -> str:
    return "" if rates.f1_low is None or rates.f1_high is None else f"{_share(rates.f1_low)}–{_share(rates.f1_high)}"


def _share(number: float) -> str:
    return f"{number:.3f}"
