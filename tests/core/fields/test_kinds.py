"""Kind of a document: by the best score of each label, and of a bill by its heading; where several bills end."""

from __future__ import annotations

import pytest

from service.core.fields.document_fields import DocumentFields, find_fields
from service.core.fields.kinds import PaperKind, decide_kind, is_letter
from tests.support.mentions import mention, mentions_in


def kind_of(**scores: float) -> PaperKind | None:
    kind, _ = decide_kind(mention(0, label, "x", 0, score) for label, score in scores.items())
    return kind


@pytest.mark.parametrize(
    ("scores", "kind"),
    [
        ({"TOTAL_AMOUNT": 0.9, "SUPPLIER_NAME": 0.9}, PaperKind.RECEIPT),
        ({"INVOICE_DATE": 0.9, "SUPPLIER_NAME": 0.9}, PaperKind.RECEIPT),
        ({"TOTAL_AMOUNT": 0.9, "SUPPLIER_NAME": 0.9, "DUE_DATE": 0.9}, PaperKind.INVOICE),
        ({"RECEIVER_NAME": 0.9, "SUPPLIER_NAME": 0.9, "INVOICE_ID": 0.9}, PaperKind.INVOICE),
        ({"SUPPLIER_NAME": 0.9, "IBAN": 0.9}, PaperKind.INVOICE),
        ({"SUPPLIER_NAME": 0.9, "RECEIVER_NAME": 0.9}, None),
        ({"TOTAL_AMOUNT": 0.45, "SUPPLIER_NAME": 0.5}, None),
        ({"PERSON": 0.9, "JOB_TITLE": 0.9, "EMPLOYER": 0.9, "SKILL": 0.9}, PaperKind.RESUME),
        ({"JOB_TITLE": 0.9, "EMPLOYER": 0.9, "SKILL": 0.9}, None),
        ({"EMAIL": 0.9, "SCHOOL": 0.9, "DEGREE": 0.95}, PaperKind.RESUME),
        ({"TOTAL_AMOUNT": 0.9, "LINE_ITEM": 0.9, "PARTY": 0.9, "GOVERNING_LAW": 0.9}, None),
        ({"PERSON": 0.9, "ORGANIZATION": 0.9, "LOCATION": 0.9, "DATE": 0.9}, None),
        ({}, None),
    ],
)
def test_the_kind_of_a_document(scores: dict[str, float], kind: PaperKind | None) -> None:
    assert kind_of(**scores) == kind


def test_the_stronger_kind_is_chosen() -> None:
    bill = {"TOTAL_AMOUNT": 0.9, "SUPPLIER_NAME": 0.9}
    resume = {"PERSON": 0.9, "JOB_TITLE": 0.9, "EMPLOYER": 0.9, "SCHOOL": 0.9}
    assert kind_of(**bill, **resume) is PaperKind.RESUME


def test_the_evidence_is_the_best_score_of_each_label_that_counts() -> None:
    mentions = [
        mention(0, "TOTAL_AMOUNT", "1", 0, 0.7),
        mention(1, "TOTAL_AMOUNT", "2", 2, 0.9),
        mention(2, "INVOICE_ID", "a", 4, 0.8),
        mention(3, "PERSON", "b", 6, 0.8),
    ]
    assert decide_kind(mentions) == (PaperKind.RECEIPT, {"INVOICE_ID": 0.8, "TOTAL_AMOUNT": 0.9})


BODY = "I have worked as an engineer for Castell since 2017.\n\nMy degree is an MSc of the University of Valencia."


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("Dear Ms. Finch,", "Sincerely,"),
        ("Dear hiring team", "Kind regards"),
        ("Sehr geehrte Frau Muster,", "Mit freundlichen Grüßen"),
        ("Madame, Monsieur,", "Cordialement"),
        ("Estimado señor Vidal:", "Atentamente,"),
        ("Gentile dottoressa Bellini,", "Cordiali saluti"),
        ("Уважаемый Иван Петрович!", "С уважением,"),
    ],
)
def test_a_letter_has_a_salutation_and_a_closing(opening: str, closing: str) -> None:
    text = f"Maria Delgado\n{opening}\n{BODY}\n{closing}\nMaria Delgado"
    assert is_letter(text)
    assert not is_letter(text.replace(opening, ""))
    assert not is_letter(text.replace(closing, ""))
    assert not is_letter(f"{text}\n" + "Engineer, Castell, 2017\n" * 40)
    assert not is_letter("Engineer, Castell, 2017\n" * 40 + text)


def fields(text: str, *found: tuple[str, str]) -> DocumentFields:
    fields = find_fields(text, mentions_in(text, *found))
    assert fields is not None
    return fields


def values(found: DocumentFields) -> dict[str, str]:
    return {role: choice.best.text for role, choice in found.roles.items()}


@pytest.mark.parametrize(
    ("title", "total", "kind", "code"),
    [
        ("Credit note CN-1", "120.00", PaperKind.CREDIT_NOTE, "381"),
        ("Avoir CN-1", "-120.00", PaperKind.CREDIT_NOTE, "381"),
        ("Factura rectificativa CN-1", "-120.00", PaperKind.CREDIT_NOTE, "381"),
        ("Factura rectificativa CN-1", "120.00", PaperKind.INVOICE, "384"),
        ("Invoice CN-1", "120.00", PaperKind.INVOICE, "380"),
    ],
)
def test_the_kind_of_a_bill_says_whether_its_total_is_to_be_paid(
    title: str, total: str, kind: PaperKind, code: str
) -> None:
    text = f"Acme GmbH\n{title}\nTo: Finch Ltd\nTotal EUR {total}"
    parts = (("SUPPLIER_NAME", "Acme GmbH"), ("INVOICE_ID", "CN-1"), ("RECEIVER_NAME", "Finch Ltd"))
    found = fields(text, *parts, ("TOTAL_AMOUNT", f"EUR {total}"))
    assert (found.kind, found.document_type) == (kind, code)


def test_a_receipt_has_no_document_type_but_as_a_credit_note() -> None:
    shop = (("SUPPLIER_NAME", "Book Shop"), ("TOTAL_AMOUNT", "9.00"))
    assert fields("Book Shop\nTotal 9.00", *shop).document_type is None
    assert fields("Book Shop\nCredit note\nTotal 9.00", *shop).document_type == "381"


def test_the_number_of_the_credited_invoice_is_no_order() -> None:
    text = "Pérez S.L.\nNota de crédito NC-33\nFactura original: F-100\nTotal 121,00 €"
    parts = (("SUPPLIER_NAME", "Pérez S.L."), ("INVOICE_ID", "NC-33"), ("PURCHASE_ORDER", "F-100"))
    assert "purchase_order" not in values(fields(text, *parts, ("TOTAL_AMOUNT", "121,00 €")))
