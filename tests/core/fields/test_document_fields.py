"""The fields of whole documents: a bill, a receipt, a résumé, and what is none of them."""

from __future__ import annotations

from service.core.fields import document_fields
from service.core.fields.currencies import CurrencyReader
from service.core.fields.document_fields import DocumentFields, find_fields
from service.core.fields.kinds import PaperKind
from service.core.fields.mentions import Mention
from tests.support.mentions import mention, mentions_in

INVOICE = """Acme GmbH
Invoice INV-20931, date 2 March 2026, due 12 March 2026
Bill to: Finch Ltd
Mount 2 420.00 840.00
Net 840.00
Tax 159.60
Total EUR 999.60
IBAN DE89 3704 0044 0532 0130 00"""


def values(found: DocumentFields | None) -> dict[str, str]:
    assert found is not None
    return {role: choice.best.text for role, choice in found.roles.items()}


def invoice(*others: tuple[str, str]) -> list[Mention]:
    return mentions_in(
        INVOICE,
        *(("SUPPLIER_NAME", "Acme GmbH"), ("INVOICE_ID", "INV-20931"), *others, ("RECEIVER_NAME", "Finch Ltd")),
        *(("LINE_ITEM", "Mount"), ("QUANTITY", "2"), ("MONEY", "420.00"), ("MONEY", "840.00")),
        *(("NET_AMOUNT", "840.00"), ("TAX_AMOUNT", "159.60"), ("TOTAL_AMOUNT", "EUR 999.60")),
        ("IBAN", "DE89 3704 0044 0532 0130 00"),
    )


def test_an_invoice_in_its_roles() -> None:
    found = find_fields(INVOICE, invoice(("INVOICE_DATE", "2 March 2026"), ("DUE_DATE", "12 March 2026")))
    assert values(found) == {
        "invoice_id": "INV-20931",
        "invoice_date": "2 March 2026",
        "due_date": "12 March 2026",
        "supplier_name": "Acme GmbH",
        "receiver_name": "Finch Ltd",
        "net_amount": "840.00",
        "tax_amount": "159.60",
        "total_amount": "EUR 999.60",
        "iban": "DE89 3704 0044 0532 0130 00",
    }
    assert found is not None
    assert (found.kind, found.currency) == (PaperKind.INVOICE, "EUR")
    assert [(check.rule, check.holds) for check in found.checks] == [
        ("net_amount + tax_amount = total_amount", True),
        ("sum of line_items = net_amount", True),
    ]
    (row,) = found.line_items
    assert [part and part.text for part in (row.quantity, row.unit_price, row.amount)] == ["2", "420.00", "840.00"]


def test_dates_without_a_role_get_one_by_the_words_before_them() -> None:
    found = values(find_fields(INVOICE, invoice(("DATE", "2 March 2026"), ("DATE", "12 March 2026"))))
    assert (found["invoice_date"], found["due_date"]) == ("2 March 2026", "12 March 2026")


def test_a_receipt_has_no_receiver_and_no_currency_that_it_does_not_name() -> None:
    text = "Book Shop\nTotal 9.00"
    found = find_fields(text, mentions_in(text, ("SUPPLIER_NAME", "Book Shop"), ("TOTAL_AMOUNT", "9.00")))
    assert values(found) == {"supplier_name": "Book Shop", "total_amount": "9.00"}
    assert found is not None
    assert (found.kind, found.currency, found.checks) == (PaperKind.RECEIPT, None, ())


def test_a_buyer_guessed_on_a_receipt_is_no_field() -> None:
    text = "Book Shop\nCustomer: Finch Ltd\nTotal 9.00"
    parts = (("SUPPLIER_NAME", "Book Shop"), ("ORGANIZATION", "Finch Ltd"), ("TOTAL_AMOUNT", "9.00"))
    assert "receiver_name" not in values(find_fields(text, mentions_in(text, *parts)))


def test_a_bill_with_its_receiver_by_place_is_an_invoice() -> None:
    text = "Book Shop\nCustomer: Finch Ltd\nTotal 9.00"
    model = mentions_in(text, ("SUPPLIER_NAME", "Book Shop"), ("TOTAL_AMOUNT", "9.00"))
    placed = mention(2, "RECEIVER_NAME", "Finch Ltd", text.index("Finch"))._replace(by_keyword=True)
    found = find_fields(text, model, [placed])
    assert values(found)["receiver_name"] == "Finch Ltd"
    assert found is not None
    assert found.kind is PaperKind.INVOICE


def test_a_resume_in_its_lists() -> None:
    text = "Maria Delgado\nEngineer, Castell, 2017\nMSc, University\nPython, SQL\nSpanish"
    found = find_fields(
        text,
        mentions_in(
            text,
            *(("PERSON", "Maria Delgado"), ("JOB_TITLE", "Engineer"), ("EMPLOYER", "Castell"), ("DATE", "2017")),
            *(
                ("DEGREE", "MSc"),
                ("SCHOOL", "University"),
                ("SKILL", "Python"),
                ("SKILL", "SQL"),
                ("LANGUAGE", "Spanish"),
            ),
        ),
    )
    assert values(found) == {"name": "Maria Delgado"}
    assert found is not None
    assert (len(found.jobs), len(found.educations)) == (1, 1)
    assert [each.text for each in (*found.skills, *found.languages)] == ["Python", "SQL", "Spanish"]


def test_a_cover_letter_has_no_fields() -> None:
    text = "Maria Delgado\nDear Ms. Finch,\nEngineer at Castell, MSc\nSincerely,\nMaria Delgado"
    found = (("PERSON", "Maria Delgado"), ("JOB_TITLE", "Engineer"), ("EMPLOYER", "Castell"), ("DEGREE", "MSc"))
    assert find_fields(text, mentions_in(text, *found)) is None
    plain = text.replace("Dear Ms. Finch,", "Curriculum vitae")
    assert find_fields(plain, mentions_in(plain, *found)) is not None


def test_a_document_of_no_kind_has_no_fields() -> None:
    assert find_fields("Anna", [mention(0, "PERSON", "Anna", 0, 1.0)]) is None
    assert find_fields("", []) is None


def test_a_document_of_very_many_entities_has_no_fields() -> None:
    one = invoice()
    many = one + [one[-1]] * document_fields.MOST_ENTITIES
    assert find_fields(INVOICE, many) is None


def test_keyword_values_fill_the_roles_that_the_model_leaves_open() -> None:
    shop, *written = mentions_in(
        "Book Shop\nReceipt R-17, due 12 March 2026\nTOTAL EUR 9.00\nCASH 10.00 CHANGE 1.00",
        *(("SUPPLIER_NAME", "Book Shop"), ("ID_NUMBER", "R-17"), ("DATE", "12 March 2026")),
        *(("MONEY", "EUR 9.00"), ("MONEY", "10.00"), ("MONEY", "1.00")),
    )
    text = "Book Shop\nReceipt R-17, due 12 March 2026\nTOTAL EUR 9.00\nCASH 10.00 CHANGE 1.00"
    tax_id = mention(9, "TAX_ID", "DE1", len(text))
    found = find_fields(text, [shop, tax_id], [each._replace(by_keyword=True) for each in written])
    assert values(found) == {
        "invoice_id": "R-17",
        "due_date": "12 March 2026",
        "supplier_name": "Book Shop",
        "total_amount": "EUR 9.00",
        "tax_id": "DE1",
    }
    assert found is not None
    assert (found.currency, found.evidence) == ("EUR", {"SUPPLIER_NAME": 0.9, "TAX_ID": 0.9})


def test_what_is_written_makes_no_document_a_bill() -> None:
    text = "TOTAL 9.00"
    assert find_fields(text, [], mentions_in(text, ("MONEY", "9.00"))) is None


def test_written_amounts_are_of_the_rows_or_of_the_sums() -> None:
    text = "Acme GmbH\nMount 2 420.00 840.00\nTotal 999.60"
    seller, item, two, price, amount, total = mentions_in(
        text,
        *(("SUPPLIER_NAME", "Acme GmbH"), ("LINE_ITEM", "Mount"), ("QUANTITY", "2")),
        *(("MONEY", "420.00"), ("MONEY", "840.00"), ("MONEY", "999.60")),
    )
    written = [each._replace(by_keyword=True) for each in (two, price, amount, total)]
    tax_id = mention(9, "TAX_ID", "DE1", len(text))
    found = find_fields(text, [seller, item, tax_id], written)
    assert found is not None
    assert values(found)["total_amount"] == "999.60"
    (row,) = found.line_items
    assert [part and part.text for part in (row.quantity, row.unit_price, row.amount)] == ["2", "420.00", "840.00"]


def test_a_bill_has_the_currency_of_its_keys() -> None:
    text = "Acme AG\nTotal CHF\t9.00"
    found = find_fields(
        text,
        mentions_in(text, ("SUPPLIER_NAME", "Acme AG"), ("TOTAL_AMOUNT", "9.00")),
        currencies=CurrencyReader({"CHF": "CHF"}.get),
    )
    assert found is not None
    assert found.currency == "CHF"
