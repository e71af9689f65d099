"""Stated entities: the entities of an electronic invoice by what its XML states.

The rules for an XML file, whose text is written by its reader:
- A part of the text that the XML names has the XML's label, or else the general one, if the model answers it.
- In other words of the XML (notes, terms, names of rows) the model's entities count, but not for a role of a bill that
  the XML states: a text that it states for a role has that role's label, another one the general label.
- Codes, and captions that the reader wrote, are no part: nothing is found in them.
- A contact may be a department, and a row may name a person: there an entity of the model goes before the XML's label.

The rule for a page whose file has the XML attached: an entity where a role's value stands has the role's label. Another
one with the label of a role that the page shows as the XML states it has the label of the role that has its value, or
else the general one. A role that the page shows otherwise stays as the model read it: it contradicts the XML.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from service.core.decoding.entities import Entity, Source
from service.core.decoding.span_trimming import trim
from service.core.decoding.value import Value, ValueKind
from service.core.fields.electronic_invoice import InvoiceFields
from service.core.fields.mentions import Mention
from service.core.fields.role_scores import MOST_DOUBTED
from service.core.fields.roles import NET, ROLES, TAX, RoleGroup
from service.core.fields.stated_invoice import LINE_ITEM, ORGANIZATION, PERSON, StatedPart
from service.core.fields.value_places import is_equal
from service.core.fields.vocabulary.phrases import letters_of

CONTACT_SCORE = 0.5
"""Score of a contact's name as a person, which the model does not tell to be one: it may be a department."""
_GENERAL_OF_GROUP = {
    RoleGroup.PARTY: ORGANIZATION,
    RoleGroup.SUM: "MONEY",
    RoleGroup.TERMS: "PERCENT",
    RoleGroup.TAX_NUMBER: "TAX_ID",
}
_CONTRACT = {"PARTY": ORGANIZATION, "EMPLOYER": ORGANIZATION, "SCHOOL": ORGANIZATION, "EFFECTIVE_DATE": "DATE"}
"""Labels of roles that no invoice has, and general ones."""
GENERAL: Mapping[str, str] = {
    **{
        role.label: "DATE" if role.kind is ValueKind.DATE else _GENERAL_OF_GROUP.get(role.group, "ID_NUMBER")
        for role in ROLES
    },
    **_CONTRACT,
    LINE_ITEM: "COMMERCIAL_ITEM",
}
"""Label of a role → the label of such values, whatever their role."""
_KINDS = {role.label for role in ROLES if role.group in (RoleGroup.ACCOUNT, RoleGroup.TAX_NUMBER)}
"""Labels that tell the form of a value, and not its role."""
_IN_ROWS = frozenset((PERSON, "EMAIL", "PHONE", "ADDRESS", "IBAN"))
"""Labels of entities in the name of a row that count there."""

Read = Callable[[str, str], Value]
"""Reads the value of a text by its label."""


class _Answered:
    """The labels that a model answers; a free label ("supplier name") is found by its words."""

    def __init__(self, labels: Collection[str]) -> None:
        self._names = {_key(label): label for label in labels}

    def best(self, label: str) -> str | None:
        """Return a label as the model has it, or else the general one; None where it has neither."""
        return self._names.get(label) or self._names.get(GENERAL.get(label, label))


def _key(label: str) -> str:
    return "_".join(label.upper().replace("-", " ").replace("_", " ").split())


def stated_entities(
    text: str, parts: Sequence[StatedPart], found: Sequence[Entity], answered: Collection[str], read: Read
) -> list[Entity]:
    """Make the entities of an XML file, in order.

    Args:
        parts: in order.
        found: the model's entities.
        answered: the labels that the model answers.
    """
    names = _Answered(answered)
    by_text = {letters_of(text[part.start : part.end]): part.label for part in reversed(parts) if part.label in GENERAL}
    stated = {part.label for part in parts} | _CONTRACT.keys() | {LINE_ITEM}
    own = _within(text, parts, found)
    entities: list[Entity] = []
    for number, part in enumerate(parts):
        label = names.best(part.label) if part.label else None
        inside = own.get(number, [])
        if label is None or any(map(_goes_first(part.label), inside)):
            entities += _unclaimed(inside, stated, by_text, names)
            continue
        written = text[part.start : part.end]
        score = CONTACT_SCORE if part.label == PERSON else 1.0
        score = MOST_DOUBTED if read(label, written).valid is False else score
        entities.append(Entity(label, written, part.start, part.end, score, Source.EMBEDDED))
    return entities


def _goes_first(label: str) -> Callable[[Entity], bool]:
    """Make a test of the model's entities in a part: whether one goes before the XML's label."""
    if label == PERSON:
        return lambda found: _key(found.label) in (PERSON, ORGANIZATION)
    return lambda found: label == LINE_ITEM and _key(found.label) in _IN_ROWS


def within_parts(text: str, parts: Sequence[StatedPart], found: Sequence[Entity]) -> list[Entity]:
    """Cut the model's entities to the parts of the XML; those in captions and codes are left out."""
    inside = _within(text, parts, found)
    return [entity for number in sorted(inside) for entity in inside[number]]


def _within(text: str, parts: Sequence[StatedPart], found: Sequence[Entity]) -> dict[int, list[Entity]]:
    """Return the entities in each part, by its number, cut at its ends."""
    starts = [part.start for part in parts]
    inside: dict[int, list[Entity]] = defaultdict(list)
    for entity in found:
        first, last = max(bisect_right(starts, entity.start) - 1, 0), bisect_left(starts, entity.end)
        for number, part in enumerate(parts[first:last], first):
            start, end = trim(text, max(entity.start, part.start), min(entity.end, part.end))
            if any(map(str.isalnum, text[start:end])):
                inside[number].append(entity._replace(text=text[start:end], start=start, end=end))
    return inside


def _unclaimed(
    found: Sequence[Entity], stated: Collection[str], by_text: Mapping[str, str], names: _Answered
) -> Iterator[Entity]:
    """Yield the model's entities without roles that the XML states, but where it states this text for one."""
    for entity in found:
        claimed = _key(entity.label)
        if claimed not in GENERAL or claimed in _KINDS or claimed not in stated:
            yield entity
            continue
        role = by_text.get(letters_of(entity.text))
        is_alike = role is not None and GENERAL[role] == GENERAL[claimed]
        if label := names.best(role if role and is_alike else GENERAL[claimed]):
            yield entity._replace(label=label)


def restated_labels(
    fields: InvoiceFields, mentions: Sequence[Mention], answered: Collection[str]
) -> dict[int, tuple[str, bool]]:
    """Find the entities of a page that the XML gives another label.

    Args:
        fields: those of the XML, placed on the page.
        mentions: the page's entities.

    Returns:
        entity → its label, and whether the XML states it at this place.
    """
    names = _Answered(answered)
    shown = {role.label: role.value for role in fields.roles.values() if role.end}
    placed = [*fields.roles.values(), *(row.description for row in fields.rows)]
    at: dict[tuple[int, int], list[str]] = defaultdict(list)
    for each in placed:
        at[each.start, each.end].append(each.label)
    labels = {}
    for mention in mentions:
        own, here = _key(mention.label), at.get((mention.start, mention.end), [])
        if here:
            label = own if own in here else here[0]
        elif own not in GENERAL or own in _KINDS or _is_of_a_tax(own, mention, fields):
            continue
        else:
            label = _role_of(own, mention, shown)
        if best := names.best(label):
            labels[mention.entity] = (best, bool(here))
    return labels


def _role_of(own: str, mention: Mention, shown: Mapping[str, Value]) -> str:
    """Find the label of a mention that stands at no role's place: by its value; its own where its role is not shown."""
    equal = [
        label
        for label, value in shown.items()
        if GENERAL[label] == GENERAL[own] and is_equal(label, value, letters_of(value.text), mention)
    ]
    if own in equal or not (equal or own in shown):
        return own
    return equal[0] if equal else GENERAL[own]


def _is_of_a_tax(label: str, mention: Mention, fields: InvoiceFields) -> bool:
    """True if a mention is the tax of one rate, or what it is taken of."""
    parts = [{TAX: tax.amount, NET: tax.base}.get(label) for tax in fields.taxes]
    return any(part is not None and part.value.number == mention.value.number for part in parts)
