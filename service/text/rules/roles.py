"""Which date of a bill a date is, where the words right before it say so, whatever the model took it for.

Only one of the two roles of a bill's dates is taken for the other: a date without a role stays without.
"""

from __future__ import annotations

from service.core.decoding.entities import Entity
from service.core.fields.lines import TextLines
from service.core.fields.named_roles import date_role

BILL_DATES = frozenset(("INVOICE_DATE", "DUE_DATE"))


def named_dates(text: str, entities: list[Entity]) -> list[Entity]:
    """The entities, a bill's dates of them with the labels that the words before them name."""
    lines = TextLines(text)
    return [_named(lines, each) if each.label in BILL_DATES else each for each in entities]


def _named(lines: TextLines, entity: Entity) -> Entity:
    role = date_role(lines, entity.start)
    return entity._replace(label=role) if role in BILL_DATES else entity
