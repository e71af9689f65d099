"""Scoring of a model's answers: by set, label, language and kind of document, with errors, calibration and fields.

The value chosen for a role is compared by what it means: amounts as numbers, dates in every reading that their text
allows, names and numbers without case, marks and spaces.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from service.core.fields.kinds import PaperKind
from service.core.fields.roles import ORDER as BILL_ROLES
from service.evaluation.labelled_documents import LabelledDocument, LabelledSet, LabelledSpan, LabelScheme
from service.evaluation.span_scores import Outcome, Tally, conventional, outcomes
from service.text.values.context import DocumentContext
from service.text.values.reading import read_value


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """The entities and fields of one document's answer.

    Attributes:
        fields: role → the chosen text; None if no fields were asked for.
        by_label: role → the text with the highest score under its label, as `fields` would be without a choice.
        tokens: number of tokens of the text.
        refused: the error code of a refused document, which has no entities.
    """

    spans: tuple[LabelledSpan, ...]
    fields: Mapping[str, str] | None = None
    by_label: Mapping[str, str] = field(default_factory=dict)
    tokens: int = 0
    refused: str | None = None


def from_answer(document: Mapping[str, Any]) -> ScoredAnswer:
    """Read the service's answer to a document, with `fields` asked for."""
    spans = [
        LabelledSpan(entity["start"], entity["end"], entity["label"], entity["score"])
        for entity in document["entities"]
    ]
    best: dict[str, tuple[float, str]] = {}
    for entity in document["entities"]:
        role = entity["label"].lower()
        if role not in best or entity["score"] > best[role][0]:
            best[role] = (entity["score"], entity["text"])
    chosen = document.get("fields") or {"roles": {}}
    return ScoredAnswer(
        tuple(spans),
        {role: choice["text"] for role, choice in chosen["roles"].items()},
        {role: text for role, (_, text) in best.items()},
        document["tokens"],
    )


ROLES = frozenset(role.lower() for role in BILL_ROLES)
RESUME_ROLES = frozenset(("name", "email", "phone"))
"""Roles whose truth is compared, of bills (`ROLES`) and of résumés."""
Scored = list[tuple[float, bool]]
"""Pairs of score and True if span and label are right."""


@dataclass(slots=True)
class RoleTally:
    """Documents with a role in their truth, and those with the right value, with and without a choice."""

    truth: int = 0
    right: int = 0
    right_by_label: int = 0


def _tallies() -> defaultdict[str, Tally]:
    return defaultdict(Tally)


@dataclass(slots=True)
class SetScores:
    """Scores of one set, as tallies; `coarse`: with general labels."""

    name: str
    documents: int
    groups: int
    fine: Tally = field(default_factory=Tally)
    coarse: Tally = field(default_factory=Tally)
    labels: defaultdict[str, Tally] = field(default_factory=_tallies)
    languages: defaultdict[str, Tally] = field(default_factory=_tallies)
    kinds: defaultdict[str, Tally] = field(default_factory=_tallies)
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    scored: Scored = field(default_factory=list)
    roles: defaultdict[str, RoleTally] = field(default_factory=lambda: defaultdict(RoleTally))


def score_set(labelled: LabelledSet, answers: Sequence[ScoredAnswer], scheme: LabelScheme) -> SetScores:
    """Score one set's answers, which are in the order of its documents."""
    scores = SetScores(labelled.name, len(labelled.documents), labelled.groups)
    for document, answer in zip(labelled.documents, answers, strict=True):
        _add_spans(scores, labelled, document, answer)
        _add_coarse(scores, labelled, document, answer, scheme)
        _add_fields(scores, document, answer)
    return scores


def _add_spans(scores: SetScores, labelled: LabelledSet, document: LabelledDocument, answer: ScoredAnswer) -> None:
    truth = conventional(document.text, document.spans, labelled.labels)
    predicted = conventional(document.text, answer.spans, labelled.labels)
    true_spans = {span[:3] for span in truth}
    right = [span[:3] in true_spans for span in predicted]
    group = (labelled.name, document.group)
    for tally in (scores.fine, scores.languages[document.language], scores.kinds[document.kind]):
        tally.add(group, gold=len(truth), found=len(predicted), right=sum(right))
    for span in truth:
        scores.labels[span.label].add(group, gold=1, found=0, right=0)
    for span, is_true in zip(predicted, right, strict=True):
        scores.labels[span.label].add(group, gold=0, found=1, right=is_true)
        scores.scored.append((span.score, is_true))
    scores.outcomes += outcomes(truth, predicted)


def _add_coarse(
    scores: SetScores,
    labelled: LabelledSet,
    document: LabelledDocument,
    answer: ScoredAnswer,
    scheme: LabelScheme,
) -> None:
    labels = {scheme.coarse(label) for label in labelled.labels}

    def coarse(spans: Sequence[LabelledSpan]) -> set[tuple[int, int, str]]:
        within = {span.label for span in spans if scheme.coarse(span.label) in labels}
        return {(s.start, s.end, scheme.coarse(s.label)) for s in conventional(document.text, spans, within)}

    truth, predicted = coarse(document.spans), coarse(answer.spans)
    group = (labelled.name, document.group)
    scores.coarse.add(group, gold=len(truth), found=len(predicted), right=len(truth & predicted))


def _add_fields(scores: SetScores, document: LabelledDocument, answer: ScoredAnswer) -> None:
    """Count the roles that this answer could have; the truth of some sets has others, such as an address."""
    if answer.fields is None:
        return
    roles = RESUME_ROLES if document.kind == PaperKind.RESUME else ROLES
    for role in roles & document.fields.keys():
        tally, values = scores.roles[role], document.fields[role]
        tally.truth += 1
        tally.right += role in answer.fields and is_right(role, answer.fields[role], values)
        tally.right_by_label += role in answer.by_label and is_right(role, answer.by_label[role], values)


_ISO = re.compile(r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})")
_TWO_ORDERS = re.compile(r"([0-9]{1,2})[-/.]([0-9]{1,2})[-/.]([0-9]{4}|[0-9]{2})")
_CENTURY = 2000
"""Century of a two-digit year in the truth."""


def is_right(role: str, text: str, truth: Iterable[str]) -> bool:
    """True when a text of the document means one of the role's right values."""
    readings = _readings(role, text)
    return any(readings & _readings(role, value) for value in truth)


def _readings(role: str, text: str) -> set[object]:
    if role.endswith("_amount"):
        return {_number(text)}
    if role.endswith("_date"):
        return _days(text)
    return {"".join(filter(str.isalnum, text.casefold()))}


def _number(text: str) -> object:
    number = read_value("MONEY", text, DocumentContext(text)).number
    return text if number is None else number.normalize()


def _days(text: str) -> set[object]:
    value = read_value("DATE", text, DocumentContext(text)).text
    if found := _ISO.match(value):
        return {tuple(map(int, found.groups()))}
    if found := _TWO_ORDERS.match(value):
        first, second, year = map(int, found.groups())
        year += _CENTURY if len(found[3]) == 2 else 0
        return {(year, second, first), (year, first, second)}
    return {value.casefold()}
