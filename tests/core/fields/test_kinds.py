"""Which kind of document entities fit, by the best score of each label."""

from __future__ import annotations

import pytest

from service.core.fields.kinds import DocumentKind, KindMatch, decide_kind, is_letter
from tests.support.mentions import mention


def kind_of(**scores: float) -> KindMatch | None:
    return decide_kind(mention(0, label, "x", 0, score) for label, score in scores.items())


@pytest.mark.parametrize(
    ("scores", "kind"),
    [
        ({"TOTAL_AMOUNT": 0.9, "SUPPLIER_NAME": 0.9}, DocumentKind.RECEIPT),
        ({"INVOICE_DATE": 0.9, "SUPPLIER_NAME": 0.9}, DocumentKind.RECEIPT),
        ({"TOTAL_AMOUNT": 0.9, "SUPPLIER_NAME": 0.9, "DUE_DATE": 0.9}, DocumentKind.INVOICE),
        ({"RECEIVER_NAME": 0.9, "SUPPLIER_NAME": 0.9, "INVOICE_ID": 0.9}, DocumentKind.INVOICE),
        ({"SUPPLIER_NAME": 0.9, "IBAN": 0.9}, DocumentKind.INVOICE),
        ({"SUPPLIER_NAME": 0.9, "RECEIVER_NAME": 0.9}, None),
        ({"TOTAL_AMOUNT": 0.45, "SUPPLIER_NAME": 0.5}, None),
        ({"PERSON": 0.9, "JOB_TITLE": 0.9, "EMPLOYER": 0.9, "SKILL": 0.9}, DocumentKind.RESUME),
        ({"JOB_TITLE": 0.9, "EMPLOYER": 0.9, "SKILL": 0.9}, None),
        ({"EMAIL": 0.9, "SCHOOL": 0.9, "DEGREE": 0.95}, DocumentKind.RESUME),
        ({"TOTAL_AMOUNT": 0.9, "LINE_ITEM": 0.9, "PARTY": 0.9, "GOVERNING_LAW": 0.9}, None),
        ({"PERSON": 0.9, "ORGANIZATION": 0.9, "LOCATION": 0.9, "DATE": 0.9}, None),
        ({}, None),
    ],
)
def test_the_kind_of_a_document(scores: dict[str, float], kind: DocumentKind | None) -> None:
    found = kind_of(**scores)
    assert (found and found.kind) == kind


def test_the_stronger_kind_is_chosen() -> None:
    bill = {"TOTAL_AMOUNT": 0.9, "SUPPLIER_NAME": 0.9}
    resume = {"PERSON": 0.9, "JOB_TITLE": 0.9, "EMPLOYER": 0.9, "SCHOOL": 0.9}
    found = kind_of(**bill, **resume)
    assert found is not None
    assert found.kind is DocumentKind.RESUME


def test_the_evidence_is_the_best_score_of_each_label_that_counts() -> None:
    mentions = [
        mention(0, "TOTAL_AMOUNT", "1", 0, 0.7),
        mention(1, "TOTAL_AMOUNT", "2", 2, 0.9),
        mention(2, "INVOICE_ID", "a", 4, 0.8),
        mention(3, "PERSON", "b", 6, 0.8),
    ]
    assert decide_kind(mentions) == KindMatch(DocumentKind.RECEIPT, {"INVOICE_ID": 0.8, "TOTAL_AMOUNT": 0.9})


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
