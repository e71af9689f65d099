"""Dates of a bill that the model took for its other date."""

from __future__ import annotations

import pytest

from service.core.decoding.entities import Entity
from service.text.rules.roles import named_dates
from service.text.rules.rule_set import RuleSet
from service.text.values.context import DocumentContext


def entity(text: str, label: str, value: str) -> Entity:
    start = text.index(value)
    return Entity(label, value, start, start + len(value), 0.4)


@pytest.mark.parametrize(
    ("text", "value", "said", "is_"),
    [
        ("Invoice INV-1 from Acme GmbH, due 12 March 2026, total 9", "12 March 2026", "INVOICE_DATE", "DUE_DATE"),
        ("zahlbar bis 17.02.2026", "17.02.2026", "INVOICE_DATE", "DUE_DATE"),
        ("Rechnungsdatum: 03.02.2026", "03.02.2026", "DUE_DATE", "INVOICE_DATE"),
        ("Date d'échéance : 05/04/2026", "05/04/2026", "INVOICE_DATE", "DUE_DATE"),
        ("due 12 March 2026", "12 March 2026", "DUE_DATE", "DUE_DATE"),
        ("due 12 March 2026", "12 March 2026", "DATE", "DATE"),
        ("due 12 March 2026", "12 March 2026", "EFFECTIVE_DATE", "EFFECTIVE_DATE"),
        ("on 12 March 2026", "12 March 2026", "INVOICE_DATE", "INVOICE_DATE"),
        ("Delivery date: 12.03.2026", "12.03.2026", "INVOICE_DATE", "INVOICE_DATE"),
    ],
)
def test_the_words_before_a_bill_s_date_say_which_it_is(text: str, value: str, said: str, is_: str) -> None:
    (found,) = named_dates(text, [entity(text, said, value)])
    assert found == entity(text, is_, value)


def test_a_model_that_does_not_ask_for_it_keeps_its_labels() -> None:
    text = "due 12 March 2026"
    model = [entity(text, "INVOICE_DATE", "12 March 2026")]
    context = DocumentContext(text)
    assert RuleSet(borders=("date",)).apply(context, model, ["INVOICE_DATE"]) == model
    assert [each.label for each in RuleSet(roles=("date",)).apply(context, model, ["INVOICE_DATE"])] == ["DUE_DATE"]
