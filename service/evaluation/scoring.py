"""Scores of answers: by set, label, language and kind of document, with errors, calibration and fields."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from service.core.fields.document_fields import ORDER as BILL_ROLES
from service.core.fields.kinds import DocumentKind
from service.evaluation.answers import FoundInDocument
from service.evaluation.conventions import conventional
from service.evaluation.errors import Outcome, outcomes
from service.evaluation.field_truth import is_right
from service.evaluation.records import EvaluationSet, GoldDocument, LabelledSpan, LabelScheme
from service.evaluation.tally import Tally

ROLES = frozenset(role.lower() for role in BILL_ROLES)
RESUME_ROLES = frozenset(("name", "email", "phone"))
"""The roles whose truth is compared: of bills, and of résumés."""
Scored = list[tuple[float, bool]]
"""Score, and whether exact span and label are right."""


@dataclass(slots=True)
class RoleTally:
    """Documents whose truth has a role: how many, and how many times the value was right, with and without a choice."""

    truth: int = 0
    right: int = 0
    right_by_label: int = 0


def _tallies() -> defaultdict[str, Tally]:
    return defaultdict(Tally)


@dataclass(slots=True)
class SetScores:
    """The scores of one set, as tallies; `coarse`: labels replaced by their general ones."""

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


def score_set(found: EvaluationSet, answers: Sequence[FoundInDocument], scheme: LabelScheme) -> SetScores:
    """The scores of one set's answers, which are in the order of its documents."""
    scores = SetScores(found.name, len(found.documents), found.groups)
    for document, answer in zip(found.documents, answers, strict=True):
        _add_spans(scores, found, document, answer)
        _add_coarse(scores, found, document, answer, scheme)
        _add_fields(scores, document, answer)
    return scores


def _add_spans(scores: SetScores, found: EvaluationSet, document: GoldDocument, answer: FoundInDocument) -> None:
    truth = conventional(document.text, document.spans, found.labels)
    predicted = conventional(document.text, answer.spans, found.labels)
    true_spans = {span[:3] for span in truth}
    right = [span[:3] in true_spans for span in predicted]
    group = (found.name, document.group)
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
    found: EvaluationSet,
    document: GoldDocument,
    answer: FoundInDocument,
    scheme: LabelScheme,
) -> None:
    labels = {scheme.coarse(label) for label in found.labels}

    def coarse(spans: Sequence[LabelledSpan]) -> set[tuple[int, int, str]]:
        within = {span.label for span in spans if scheme.coarse(span.label) in labels}
        return {(s.start, s.end, scheme.coarse(s.label)) for s in conventional(document.text, spans, within)}

    truth, predicted = coarse(document.spans), coarse(answer.spans)
    group = (found.name, document.group)
    scores.coarse.add(group, gold=len(truth), found=len(predicted), right=len(truth & predicted))


def _add_fields(scores: SetScores, document: GoldDocument, answer: FoundInDocument) -> None:
    """Count the roles that this answer could have; others, such as an address, are in the truth of some sets."""
    if answer.fields is None:
        return
    roles = RESUME_ROLES if document.kind == DocumentKind.RESUME else ROLES
    for role in roles & document.fields.keys():
        tally, values = scores.roles[role], document.fields[role]
        tally.truth += 1
        tally.right += role in answer.fields and is_right(role, answer.fields[role], values)
        tally.right_by_label += role in answer.by_label and is_right(role, answer.by_label[role], values)
