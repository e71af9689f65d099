"""Headings of papers: their kinds, their codes, their forms, and cells that are none."""

from __future__ import annotations

import time

import pytest

from service.core.fields.headings import Heading, HeadingForm, find_headings
from service.core.fields.kinds import PaperKind


def headings(text: str) -> list[Heading]:
    return list(find_headings(text, 0, len(text)))


@pytest.mark.parametrize(
    ("cell", "kind", "code", "form"),
    [
        ("INVOICE", PaperKind.INVOICE, "380", HeadingForm.TITLE),
        ("*** TAX INVOICE ***", PaperKind.INVOICE, "380", HeadingForm.TITLE),
        ("Ihre Rechnung", PaperKind.INVOICE, "380", HeadingForm.TITLE),
        ("Your electricity bill", PaperKind.INVOICE, "380", HeadingForm.TITLE),
        ("R E C H N U N G", PaperKind.INVOICE, "380", HeadingForm.TITLE),
        ("견 적 서", PaperKind.OFFER, None, HeadingForm.TITLE),
        ("KVITT0 004417", PaperKind.RECEIPT, None, HeadingForm.EXTENDED),
        ("Rechnung Nr. 5", PaperKind.INVOICE, "380", HeadingForm.EXTENDED),
        ("FACTURE: ABC12345", PaperKind.INVOICE, "380", HeadingForm.EXTENDED),
        ("INVOICE:", PaperKind.INVOICE, "380", HeadingForm.EXTENDED),
        ("Invoice #", PaperKind.INVOICE, "380", HeadingForm.EXTENDED),
        ("Invoice for May", PaperKind.INVOICE, "380", HeadingForm.EXTENDED),
        ("Betreff: Rechnung 2026-5", PaperKind.INVOICE, "380", HeadingForm.EXTENDED),
        ("Bill 77", PaperKind.INVOICE, "380", HeadingForm.EXTENDED),
        ("Invoice no.", PaperKind.INVOICE, "380", HeadingForm.LABEL),
        ("Factuurnummer VF26/00174", PaperKind.INVOICE, "380", HeadingForm.LABEL),
        ("N° de facture : 5", PaperKind.INVOICE, "380", HeadingForm.LABEL),
        ("Fatura-Recibo FR 2026/5", PaperKind.INVOICE, "380", HeadingForm.EXTENDED),
        ("Kassenbon / Rechnung", PaperKind.INVOICE, "380", HeadingForm.TITLE),
        ("Anzahlungsrechnung", PaperKind.INVOICE, "386", HeadingForm.TITLE),
        ("Facture d'acompte n° 5", PaperKind.INVOICE, "386", HeadingForm.EXTENDED),
        ("2. Abschlagsrechnung", PaperKind.INVOICE, "326", HeadingForm.TITLE),
        ("Faktura korygująca nr 3", PaperKind.INVOICE, "384", HeadingForm.EXTENDED),
        ("Self-billed invoice", PaperKind.INVOICE, "389", HeadingForm.TITLE),
        ("Stornorechnung SR-5", PaperKind.CREDIT_NOTE, "381", HeadingForm.EXTENDED),
        ("Credit note / Tax invoice", PaperKind.CREDIT_NOTE, "381", HeadingForm.TITLE),
        ("Quittung", PaperKind.RECEIPT, None, HeadingForm.TITLE),
        ("Proforma-Rechnung", PaperKind.PRO_FORMA, "325", HeadingForm.TITLE),
        ("Faktura pro forma nr 3/2026", PaperKind.PRO_FORMA, "325", HeadingForm.EXTENDED),
        ("PROFORMA FATURA", PaperKind.PRO_FORMA, "325", HeadingForm.TITLE),
        ("Nota de débito ND-3", PaperKind.DEBIT_NOTE, "383", HeadingForm.EXTENDED),
        ("Auftragsbestätigung", PaperKind.ORDER_CONFIRMATION, None, HeadingForm.TITLE),
        ("Rechnungsreklamation", PaperKind.COMPLAINT, None, HeadingForm.TITLE),
        ("Bill of lading", PaperKind.WAYBILL, None, HeadingForm.TITLE),
        ("2. Mahnung", PaperKind.REMINDER, None, HeadingForm.TITLE),
        ("Reminder: invoice 77 is overdue", PaperKind.REMINDER, None, HeadingForm.EXTENDED),
        ("Invoice INV-9 – second reminder", PaperKind.REMINDER, None, HeadingForm.EXTENDED),
        ("Objet : Relance – facture impayée n° F-26-118", PaperKind.REMINDER, None, HeadingForm.EXTENDED),
        ("Lieferschein", PaperKind.DELIVERY_NOTE, None, HeadingForm.TITLE),
        ("Unser Lieferschein", PaperKind.DELIVERY_NOTE, None, HeadingForm.EXTENDED),
        ("Lieferschein-Nr.: 5512", PaperKind.DELIVERY_NOTE, None, HeadingForm.LABEL),
        ("Lieferschein: siehe Anlage", PaperKind.DELIVERY_NOTE, None, HeadingForm.LABEL),
        ("Angebot:", PaperKind.OFFER, None, HeadingForm.LABEL),
        ("Angebot Nr. 5 – Sanierung der Heizungsanlage", PaperKind.OFFER, None, HeadingForm.EXTENDED),
        ("STATEMENT", PaperKind.STATEMENT, None, HeadingForm.TITLE),
        ("Aanslag gemeentelijke belastingen 2026", PaperKind.TAX_ASSESSMENT, None, HeadingForm.EXTENDED),
        ("納品書兼請求書", PaperKind.INVOICE, "380", HeadingForm.TITLE),
        ("適格請求書", PaperKind.INVOICE, "380", HeadingForm.TITLE),
    ],
)
def test_a_cell_names_its_paper(cell: str, kind: PaperKind, code: str | None, form: HeadingForm) -> None:
    (found,) = headings(f"Acme, Hauptstr. 1\n{cell}\n120,00")
    assert (found.kind, found.code, found.form) == (kind, code, form)
    assert (found.start, found.end) == (18, 18 + len(cell))


@pytest.mark.parametrize(
    "cell",
    [
        *("Rechnung / Lieferschein", "Lieferschein/Rechnung", "Rechnung und Lieferschein", "Invoice & Packing slip"),
        *("Order invoice", "Delivery note / Invoice", "Facture - Bon de livraison", "Fattura / DDT"),
        *("Delivery challan cum tax invoice", "Account statement and invoice", "Purchase Order / Invoice"),
        *("Rechnung zum Lieferschein 5512", "Invoice for order 88"),
    ],
)
def test_a_bill_with_another_paper_in_one_is_a_bill(cell: str) -> None:
    (found,) = headings(cell)
    assert (found.kind, found.code) == (PaperKind.INVOICE, "380")


@pytest.mark.parametrize(
    "line",
    [
        *("Datum\tText\tBelastung\tGutschrift\tSaldo", "Invoice\tDate", "Rechnung  Betrag  offen"),
        *("Gutschrift Bäckerei Kunz GmbH\t412.00", "Total Gutschriften", "Invoice total", "Bill to", "Rechnung an"),
        *("Reference: invoice 77120", "Original invoice: INV-1", "Place of receipt:", "Cuenta de abono ES91 2100"),
        *("Order date: 3.3.2026", "Ihr Angebot vom 3.3.2026", "Uw bestelbon BB-7741", "your order confirmation"),
        *("Zahlungsavis an buchhaltung@acme.de", "Payment reminder? Call us", "Delivery note please sign"),
        *("Reçu le 12/05/2026", "Bill of materials", "Ticket 5512", "Dies ist keine Rechnung", "THIS IS NOT A BILL"),
        *("A credit note will be issued for returned goods.", "Orders of this kind are delivered in two weeks"),
        *(
            "請求書を同封いたします",
            "Bill Smith",
            "Document no. 5",
            "Berechnung",
            "Rechnung nach Lieferung",
            "Confirmation",
            "Credit card 1234",
            "A B C",
        ),
        *("Offer valid for all orders that reach us by the end of May", "Invoice " + 90 * "x", 401 * "INVOICE  "),
    ],
)
def test_columns_rows_parties_references_and_prose_are_no_headings(line: str) -> None:
    assert headings(line) == []


def test_the_title_beside_a_number_is_no_mere_title() -> None:
    assert [found.form for found in headings("Angebot\t2026-044")] == [HeadingForm.EXTENDED]
    assert [found.form for found in headings("Acme GmbH\tAngebot")] == [HeadingForm.TITLE]


def test_headings_are_those_of_a_part_in_order() -> None:
    text = "INVOICE\nDelivery note 7\nRECEIPT"
    assert [found.kind for found in find_headings(text, 8, len(text))] == [PaperKind.DELIVERY_NOTE, PaperKind.RECEIPT]
    assert [found.kind for found in find_headings(text, 0, 7)] == [PaperKind.INVOICE]
    assert not list(find_headings(text, 0, 0))


@pytest.mark.parametrize("part", ["rechnungs-", "a ", "proforma ", "1 ", "請求", "\t", "- ", "x\tINVOICE "])
def test_hostile_text_takes_linear_time(part: str) -> None:
    text = part * (100_000 // len(part))
    began = time.process_time()
    headings(text)
    headings("\n".join(text[place : place + 79] for place in range(0, len(text), 79)))
    assert time.process_time() - began < 3
