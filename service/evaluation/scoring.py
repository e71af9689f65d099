"""Scoring of a model's answers: by set, label, language and kind of document, with errors, calibration and fields.

The value chosen for a role is compared by what it means: amounts as numbers without sign, dates in every reading that
their text allows, names and numbers without case, marks and spaces. A firm's name may lack its legal form, or a part of
at most half of it.

A wrong value is marked where the answer itself doubts it: a score below `DOUBT`, several readings, a checksum that is
wrong, or for an amount a check that does not hold. Otherwise it is silent.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from service.core.fields.kinds import PaperKind
from service.core.fields.party_places import firm_letters
from service.core.fields.roles import ORDER as BILL_ROLES
from service.core.fields.roles import RoleGroup, labels_of
from service.evaluation.document_files import NO_PAPER
from service.evaluation.labelled_documents import LabelledDocument, LabelledSet, LabelledSpan, LabelScheme
from service.evaluation.span_scores import Outcome, Tally, conventional, outcomes
from service.text.values.context import DocumentContext
from service.text.values.reading import read_value

DOUBT = 0.5
"""Score of a role below which its value is marked as doubtful."""


@dataclass(frozen=True, slots=True)
class RoleAnswer:
    """The value that was answered for a role.

    Attributes:
        text: its standard form, if it is an amount or a date, or else as the document writes it.
        score: None for what has no score: a kind and a currency.
        evidence: what speaks for and against it, by name.
    """

    text: str
    score: float | None = None
    is_marked: bool = False
    evidence: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """The entities and fields of one document's answer.

    Attributes:
        fields: role → the answer, with the roles `kind` and `currency`; None if no fields were asked for.
        by_label: role → the text with the highest score under its label, as `fields` would be without a choice.
        tokens: number of tokens of the text.
        refused: the error code of a refused document, which has no entities.
    """

    spans: tuple[LabelledSpan, ...]
    fields: Mapping[str, RoleAnswer] | None = None
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
    return ScoredAnswer(
        tuple(spans),
        dict(_answers(document.get("fields") or {})),
        {role: text for role, (_, text) in best.items()},
        document["tokens"],
    )


def _answers(fields: Mapping[str, Any]) -> Iterator[tuple[str, RoleAnswer]]:
    """Yield the roles of an answer; `fields` is empty where there are none."""
    yield "kind", RoleAnswer(fields.get("kind") or NO_PAPER)
    if currency := fields.get("currency"):
        yield "currency", RoleAnswer(currency)
    fails = any(not check["holds"] for check in fields.get("checks") or [])
    for role, choice in fields.get("roles", {}).items():
        is_doubted = choice["score"] < DOUBT or bool(choice.get("ambiguous")) or choice.get("valid") is False
        is_marked = is_doubted or (fails and role.endswith("_amount"))
        yield role, RoleAnswer(_shown(role, choice), choice["score"], is_marked, choice.get("evidence") or {})


def _shown(role: str, choice: Mapping[str, Any]) -> str:
    """Return the number of an amount, the ISO form of a date, and of others what the page shows."""
    if role.endswith("_amount") and choice.get("number"):
        return str(choice["number"])
    is_day = role.endswith("_date") and _ISO.fullmatch(choice["value"]) is not None
    return str(choice["value"] if is_day else choice["text"] or choice["value"])


_PARTIES = frozenset(role.lower() for role in labels_of(RoleGroup.PARTY))
ROLES = frozenset(role.lower() for role in BILL_ROLES) | {"kind", "currency"}
RESUME_ROLES = frozenset(("name", "email", "phone"))
"""Roles whose truth is compared, of bills (`ROLES`) and of résumés."""
Scored = list[tuple[float, bool]]
"""Pairs of score and True if span and label are right."""


@dataclass(slots=True)
class RoleTally:
    """Documents with a role in their truth, and those with the right value, with and without a choice.

    `silent` and `marked` count wrong values, and values of documents that state none; `missing`: no value.
    """

    truth: int = 0
    right: int = 0
    right_by_label: int = 0
    silent: int = 0
    marked: int = 0
    missing: int = 0

    def add(self, answer: RoleAnswer | None, *, is_right: bool) -> None:
        """Count the answer about one document."""
        if answer is None:
            self.missing += 1
        elif is_right:
            self.right += 1
        elif answer.is_marked:
            self.marked += 1
        else:
            self.silent += 1


class JudgedRole(NamedTuple):
    """One value of a role, and whether it is right."""

    group: str
    role: str
    answer: RoleAnswer
    is_right: bool


def _tallies() -> defaultdict[str, Tally]:
    return defaultdict(Tally)


@dataclass(slots=True)
class SetScores:
    """Scores of one set, as tallies; `coarse`: with general labels; `judged`: the values of roles with a score."""

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
    judged: list[JudgedRole] = field(default_factory=list)


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


def _add_fields(scores: SetScores, document: LabelledDocument, answered: ScoredAnswer) -> None:
    """Count the roles that this answer could have; the truth of some sets has others, such as an address."""
    if answered.fields is None:
        return
    roles = RESUME_ROLES if document.kind == PaperKind.RESUME else ROLES
    for role in sorted(roles & document.fields.keys()):
        values, answer = document.fields[role], answered.fields.get(role)
        is_true = answer is not None and is_right(role, answer.text, values)
        if values or answer is not None:
            scores.roles[role].add(answer, is_right=is_true)
        scores.roles[role].truth += bool(values)
        scores.roles[role].right_by_label += role in answered.by_label and is_right(
            role, answered.by_label[role], values
        )
        if answer is not None and answer.score is not None:
            scores.judged.append(JudgedRole(document.group, role, answer, is_true))


_ISO = re.compile(r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})")
_NAME_PART = 4
"""Least letters of a name that counts as a part of another one."""
_TWO_ORDERS = re.compile(r"([0-9]{1,2})[-/.]([0-9]{1,2})[-/.]([0-9]{4}|[0-9]{2})")
_CENTURY = 2000
"""Century of a two-digit year in the truth."""


def is_right(role: str, text: str, truth: Iterable[str]) -> bool:
    """True when a text of the document means one of the role's right values."""
    if role in _PARTIES:
        return any(_is_same_name(firm_letters(text), firm_letters(value)) for value in truth)
    readings = _readings(role, text)
    return any(readings & _readings(role, value) for value in truth)


def _readings(role: str, text: str) -> set[object]:
    if role.endswith("_amount"):
        return {_number(text)}
    if role.endswith("_date"):
        return _days(text)
    return {"".join(filter(str.isalnum, text.casefold()))}


def _is_same_name(first: str, second: str) -> bool:
    short, long = sorted((first, second), key=len)
    return short == long or (short in long and len(short) >= max(_NAME_PART, len(long) / 2))


def _number(text: str) -> object:
    number = read_value("MONEY", text, DocumentContext(text)).number
    return text if number is None else abs(number).normalize()


def _days(text: str) -> set[object]:
    value = read_value("DATE", text, DocumentContext(text)).text
    if found := _ISO.match(value):
        return {tuple(map(int, found.groups()))}
    if found := _TWO_ORDERS.match(value):
        first, second, year = map(int, found.groups())
        year += _CENTURY if len(found[3]) == 2 else 0
        return {(year, second, first), (year, first, second)}
    return {value.casefold()}
