"""The table of roles: every row is whole, and every part that reads, chooses or writes fields follows it."""

from __future__ import annotations

import json
import re

import pytest

from service.core.decoding import span_trimming
from service.core.fields.document_fields import find_fields
from service.core.fields.roles import AMOUNTS, ORDER, ROLES, Role, RoleGroup
from service.core.fields.vocabulary.phrases import LANGUAGES
from tests.support.mentions import mentions_in
from tests.support.source_tree import ROOT

BILL = {
    "INVOICE_ID": ("Invoice no.: ", "A-17", "ID_NUMBER"),
    "INVOICE_DATE": ("Invoice date: ", "2 March 2026", "DATE"),
    "DUE_DATE": ("Due date: ", "1 April 2026", "DATE"),
    "SUPPLY_DATE": ("Date of supply: ", "28 February 2026", "DATE"),
    "DISCOUNT_DATE": ("2 % discount if paid by ", "16 March 2026", "DATE"),
    "PURCHASE_ORDER": ("Purchase order: ", "PO-4711", "ID_NUMBER"),
    "PAYMENT_REFERENCE": ("Payment reference: ", "RF18 5390 0754 7034", "ID_NUMBER"),
    "SUPPLIER_NAME": ("Seller: ", "Acme GmbH", "ORGANIZATION"),
    "RECEIVER_NAME": ("Bill to: ", "Finch Ltd", "ORGANIZATION"),
    "NET_AMOUNT": ("Net amount ", "840.00", "MONEY"),
    "TAX_AMOUNT": ("VAT ", "159.60", "MONEY"),
    "TOTAL_AMOUNT": ("Grand total ", "999.60", "TOTAL_AMOUNT"),
    "PAID_AMOUNT": ("Deposit paid ", "100.00", "MONEY"),
    "AMOUNT_DUE": ("Amount due ", "899.60", "MONEY"),
    "EARLY_PAYMENT_DISCOUNT": ("Early payment discount ", "2 %", "PERCENT"),
    "IBAN": ("IBAN ", "DE89 3704 0044 0532 0130 00", "IBAN"),
    "BIC": ("BIC ", "COBADEFFXXX", "BIC"),
    "TAX_ID": ("VAT ID ", "DE129273398", "TAX_ID"),
    "RECEIVER_TAX_ID": ("Your VAT ID ", "FR40303265045", "TAX_ID"),
}
"""Label of each role → the words before its value on a bill, the value, and the label that a model gives it."""
WITHOUT_PHRASES: dict[str | tuple[str, str], str] = {
    **dict.fromkeys(("IBAN", "BIC"), "Its form tells it from other numbers."),
}
"""Label, or language and label → the reason why the vocabulary has no phrase for it."""
WITHOUT_PATH: dict[tuple[str, str], str] = {
    ("CII", "DISCOUNT_DATE"): "It states a number of days from a date.",
}
"""Syntax and label → the reason why an electronic invoice's XML does not state it."""

each_role = pytest.mark.parametrize("role", ROLES, ids=lambda role: str(role.label))


@each_role
def test_a_role_has_phrases_in_every_language_or_a_reason(role: Role) -> None:
    words = (*role.words, *role.keywords)
    lacking = {language for language, phrases in LANGUAGES.items() if not any(getattr(phrases, word) for word in words)}
    for language in lacking:
        assert role.label in WITHOUT_PHRASES or (language, role.label) in WITHOUT_PHRASES, language


@each_role
def test_a_role_has_a_path_in_both_syntaxes_or_a_reason(role: Role) -> None:
    for syntax, paths in (("CII", role.cii), ("UBL", role.ubl)):
        assert bool(paths) is not ((syntax, role.label) in WITHOUT_PATH), syntax


@each_role
def test_a_role_s_texts_are_read_as_its_kind(role: Role) -> None:
    text = BILL[role.label][1]
    assert mentions_in(text, (role.label, text))[0].value.kind is role.kind


def test_every_role_of_a_bill_is_found_by_the_words_before_it() -> None:
    text = "\n".join(f"{words}{value}" for words, value, _ in (BILL[role] for role in ORDER))
    bill = mentions_in(text, *((label, value) for _, value, label in (BILL[role] for role in ORDER)))
    found = find_fields(text, bill)
    assert found is not None
    chosen = [(role, choice.best.text) for role, choice in found.roles.items()]
    assert chosen == [(role.lower(), BILL[role][1]) for role in ORDER]


def test_the_order_of_answers_has_every_role_once() -> None:
    assert sorted(ORDER) == sorted(role.label for role in ROLES)
    assert all(role.keywords for role in ROLES if role.group is RoleGroup.SUM)


def test_copies_have_the_labels_of_the_built_in_model() -> None:
    """Two lists cannot import the table: the console's colours, and the amounts that keep their signs."""
    config = json.loads((ROOT / "model_store/builtin/documents/config.json").read_text())
    labels = {tag[2:] for tag in config["id2label"].values() if tag != "O"}
    script = (ROOT / "service/api/console/static/findings.js").read_text()
    known = re.search(r"const KNOWN = \((.*?)\)\.split", script, re.DOTALL)
    assert known is not None
    assert sorted(re.findall(r"[A-Z][A-Z_]+", known[1])) == sorted(labels)
    assert AMOUNTS & labels == span_trimming.AMOUNTS
