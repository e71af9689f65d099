"""Papers: which pages and parts of pages belong together."""

from __future__ import annotations

import re

import pytest

from service.core.decoding.entities import Entity
from service.core.fields.papers import MOST_PAPERS, divide

LABELS = {
    "o": "ORGANIZATION",
    "q": "QUANTITY",
    "s": "SUPPLIER_NAME",
    "m": "MONEY",
    "t": "TOTAL_AMOUNT",
    "d": "DATE",
    "i": "IBAN",
}
_MARKED = re.compile(r"\[([osmtdiq]) ([^\]]*)\]")


def divided(marked: str) -> list[str]:
    """Divide a text with its entities marked, as in `[s Acme Ltd]`; returns the first line of each paper.

    Form feeds are the ends of pages.
    """
    entities: list[Entity] = []
    text, end = "", 0
    for match in _MARKED.finditer(marked):
        text += marked[end : match.start()]
        entities.append(Entity(LABELS[match[1]], match[2], len(text), len(text) + len(match[2]), 0.9))
        text, end = text + match[2], match.end()
    text += marked[end:]
    return [text[start:stop].lstrip().split("\n")[0] for start, stop in divide(text, entities)]


BILL = "[s Acme Ltd]\nInvoice no. A-1\n[d 2 March 2026]\nMount [m 8.00]\nTotal [t 10.00]\n"
OTHER = "[s Finch Ltd]\nInvoice no. B-2\n[d 9 March 2026]\nTotal [t 20.00]\n"


@pytest.mark.parametrize(
    ("text", "papers"),
    [
        (BILL, ["Acme Ltd"]),
        ("", [""]),
        (f"{BILL}\f{OTHER}", ["Acme Ltd", "Finch Ltd"]),
        (f"{OTHER}\f{BILL}\f{OTHER.replace('B-2', 'C-3')}", ["Finch Ltd", "Acme Ltd", "Finch Ltd"]),
        (f"{BILL}\f{BILL.replace('A-1', 'A-2')}", ["Acme Ltd", "Acme Ltd"]),
        (
            "Acme\nRechnung Nr. A-5 vom [d 15.09.2019]\nSumme [t 50,00]\f"
            "Acme\nRechnung Nr. A-6 vom [d 16.09.2019]\nSumme [t 60,00]",
            ["Acme", "Acme"],
        ),
        (f"{BILL}\f[s Finch Ltd]\nGutschrift Nr. B-2\n[d 9.3.2026]\nBetrag [m 20,00]", ["Acme Ltd", "Finch Ltd"]),
        (f"[s Finch Ltd]\nCredit note\n[d 9 March 2026]\n[m 20.00]\f{BILL}", ["Finch Ltd", "Acme Ltd"]),
        (
            "Dear Anna,\nour bill is enclosed.\nYours sincerely\nJo\fAcme\n[d 2/3/2026]\n[t 9.00]",
            ["Dear Anna,", "Acme"],
        ),
        ("Dear Anna,\nthank you.\nYours sincerely\nJo\fPhoto", ["Dear Anna,"]),
        (f"Dear Anna,\nplease find our invoice attached.\n\f{BILL}", ["Dear Anna,", "Acme Ltd"]),
        ("[s Book Shop]\nRECEIPT\nTotal [t 9.00]\f[s Tea House]\nRECEIPT\nTotal [t 7.00]", ["Book Shop", "Tea House"]),
        (
            "[s Taxi Ruiz]\n[d 1/3/2026]\nTotal [t 9.00]\f[s Tea House]\n[d 2/3/2026]\nTotal [t 7.00]",
            ["Taxi Ruiz", "Tea House"],
        ),
        (f"{BILL}\f[s Acme Ltd]\nDelivery note DN-77\nfor invoice no. A-1\n[q 2] mounts", ["Acme Ltd", "Acme Ltd"]),
        (f"{BILL}\fDelivery note\n[d 1 March 2026]\n[q 2] mounts", ["Acme Ltd", "Delivery note"]),
        (f"[s Acme Ltd]\nDelivery note 77\n[d 1 March 2026]\n[q 2] mounts\f{BILL}", ["Acme Ltd", "Acme Ltd"]),
        (
            "Lieferschein LS-7\n[s Acme]\n[q 2] Stück\fLieferschein LS-8\n[s Acme]\n[q 3] Stück",
            ["Lieferschein LS-7", "Lieferschein LS-8"],
        ),
        ("Lieferschein LS-7\n[q 2] Stück\fLieferschein LS-7\n[q 3] Stück", ["Lieferschein LS-7"]),
        (f"{BILL}\f[s Acme Ltd]\nCredit note CN-3\nInvoice no. A-1\nTotal [t 10.00]", ["Acme Ltd", "Acme Ltd"]),
        (f"Mahnung\n[d 9.3.2026]\nRechnung A-1\t[m 10,00]\f{BILL}", ["Mahnung", "Acme Ltd"]),
    ],
)
def test_pages_with_another_heading_number_or_letterhead_begin_a_paper(text: str, papers: list[str]) -> None:
    assert divided(text) == papers


@pytest.mark.parametrize(
    "page",
    [
        "[s Acme Ltd]\nInvoice no. A-1\nShelf [m 9.00]\nTotal [t 19.00]",
        "Page 2 of 2\nShelf [m 9.00]",
        "[o Finch Ltd]\nRECEIPT\nSeite 2\nTotal [t 9.00]",
        "Carried forward [m 10.00]\nRECEIPT\n[d 9 March 2026]\nTotal [t 19.00]",
        "- 2 / 3 -\nCredit note\n[d 9 March 2026]",
        "Übertrag [m 10,00]\nRegal [m 9,00]",
        "[o Finch Ltd]\nGeneral terms\nA credit note is given for goods returned.",
        "INVOICE\nTerms of payment",
        "[s Acme Ltd]\nINVOICE\nShelf [m 9.00]\nTotal [t 19.00]",
        "[s Acme Ltd]\nRECEIPT\n[d 9 March 2026]\nGoods may be returned.",
        "Hours of Anna Finch\n[d 1 March 2026] 8 h\n[d 2 March 2026] 7 h",
        "Timesheet\n[d 1 March 2026] 8 h\n[d 2 March 2026] 7 h",
        "Delivery note 4711\n[d 1 March 2026]\nShelf [m 9.00]",
        "Invoice 54877\t[d 1 April 2026]\t[m 288.00]\nInvoice 55001\t[d 1 May 2026]\t[m 310.80]\nTotal [t 598.80]",
        "Credit note\nGoods may be returned.",
        "",
    ],
)
def test_pages_of_one_paper_continue_it(page: str) -> None:
    assert divided(f"{BILL}\f{page}") == ["Acme Ltd"]


def test_a_receipt_without_a_number_begins_a_paper_by_its_letterhead() -> None:
    first = "[s Book Shop]\nRECEIPT no. R-12\nTotal [t 9.00]"
    assert divided(f"{first}\f[s Tea House]\nRECEIPT\nTotal [t 7.00]") == ["Book Shop", "Tea House"]


def test_a_page_with_another_number_under_its_heading_begins_a_paper() -> None:
    assert divided(f"{BILL}\fPage 2\n{OTHER}") == ["Acme Ltd", "Page 2"]


def test_pages_of_one_paper_need_no_number() -> None:
    top = "[s Acme Ltd]\nINVOICE\n[d 2 March 2026]\n"
    assert divided(f"{top}Mount [m 8.00]\f{top}Shelf [m 2.00]\f{top}Total [t 10.00]") == ["Acme Ltd"]


@pytest.mark.parametrize("between", ["", "\n\n", "INVOICE\n", "Thank you.\n"])
def test_within_a_page_a_paper_begins_at_its_letterhead(between: str) -> None:
    papers = divided(f"{BILL}IBAN [i DE89370400440532013000]\n{between}{OTHER}")
    assert papers == ["Acme Ltd", "INVOICE" if "INVOICE" in between else "Finch Ltd"]


def test_within_a_page_a_paper_may_begin_with_its_heading() -> None:
    second = "RECEIPT no. R-2\n[d 9 March 2026]\nTotal [t 20.00]\n"
    assert divided(BILL + second) == ["Acme Ltd", "RECEIPT no. R-2"]


@pytest.mark.parametrize(
    ("text", "papers"),
    [
        ("[s Acme Ltd]\nDelivery note 77\n[d 1 March 2026]\n[q 2] mounts\n" + BILL, ["Acme Ltd", "Acme Ltd"]),
        (BILL + "[s Acme Ltd]\nDelivery note 77\n[d 1 March 2026]\n[q 2] mounts\n", ["Acme Ltd", "Acme Ltd"]),
        (
            "Bókhald ehf.\nREIKNINGUR 1180\n[d 3.2.2026]\n[t 148.800]\n\nBókhald ehf.\n[d 3.3.2026]\n[t 117.800]",
            ["Bókhald ehf.", "Bókhald ehf."],
        ),
        ("Bókhald ehf.\n[d 3.2.2026]\n[m 148.800]\nBókhald ehf.\n[d 3.3.2026]\n[t 117.800]", ["Bókhald ehf."]),
        (BILL + "[s Acme Ltd]\nDelivery note\n[d 1 March 2026]\nInvoice no. A-1", ["Acme Ltd", "Acme Ltd"]),
    ],
)
def test_within_a_page_a_paper_may_be_no_bill_or_repeat_the_first_line(text: str, papers: list[str]) -> None:
    assert divided(text) == papers


@pytest.mark.parametrize(
    "line",
    [
        "abzgl. Anzahlung (Re. 2026/0169)\t[m -6.000,00]",
        "abzgl. Anzahlung Rechnung 2026/0169\t[m -6.000,00]",
        "Abschlagsrechnung Nr. 2026/0169\t[m -6.000,00]",
        "Abschlagsrechnung Nr. 2026/0169\n[d 5.10.2026]\n[m -6.000,00]",
        "bereits bezahlt laut Rechnung Nr. 2026/0169\t[m 6.000,00]",
        "Less deposit paid (invoice 2026-169)\t[m 6,000.00]",
        "Less: deposit invoice no. 2026-169\t[m 6,000.00]",
        "Acompte facture n° 2026-169 du [d 05/10/2026]\t[m -6 000,00]",
        "Facture d'acompte n° 2026-169\n[d 05/10/2026]\n[m -6 000,00]",
        "A dedurre fattura di acconto n. 169 del [d 05/10/2026]\t[m -6.000,00]",
        "Anticipo factura 2026-169\t[m -6.000,00]",
        "Aanbetaling factuur 2026-169\t[m -6.000,00]",
        "Faktura zaliczkowa nr 169/2026\n[d 05.10.2026]\n[m 6 000,00]",
        "Zálohová faktura č. 2026169\n[d 5. 10. 2026]\n[m -6 000,00]",
        "Forskudsfaktura nr. 2026169\n[d 05.10.2026]\n[m -6.000,00]",
        "Original invoice no. B-2\n[d 5 October 2026]",
        "Please pay invoice no. B-2 of [o Finch Ltd] as well",
        "Invoice date: [d 5 October 2026]\n[o Finch Ltd]",
    ],
)
def test_a_bill_that_is_named_divides_nothing(line: str) -> None:
    assert divided(f"{BILL}{line}\nTo pay [m 8,728.80]\nIBAN [i DE89370400440532013000]") == ["Acme Ltd"]


def test_the_capital_of_a_firm_is_no_total() -> None:
    top = "Facture F-412\n[s Le Goff]\nSARL au capital de [t 20 000 €]\n"
    assert divided(f"{top}Facture F-9\n[d 18/09/2026]\n[o Finch]\nTotal [t 9,00]") == ["Facture F-412"]


def test_a_total_above_many_amounts_of_a_page_needs_its_label() -> None:
    rows = "".join(f"Shelf [m {row}.00]\n" for row in range(12))
    other = "[s Tea House]\nRECEIPT\nTotal [t 7.00]"
    assert divided(f"[s Book Shop]\nRECEIPT\nTotal [m 9.00]\n{rows}\f{other}") == ["Book Shop"]
    assert divided(f"[s Book Shop]\nRECEIPT\nTotal [t 9.00]\n{rows}\f{other}") == ["Book Shop", "Tea House"]


def test_a_slip_at_the_foot_is_of_its_bill() -> None:
    slip = "[s Acme Ltd]\nInvoice no. A-1\nAmount due [t 10.00]"
    for heading in ("RECEIPT", "REMITTANCE ADVICE"):
        assert divided(f"{BILL}{heading}\n{slip}") == ["Acme Ltd"]
        assert divided(f"{BILL}{heading}\n{slip.replace('Invoice no. A-1', '')}") == ["Acme Ltd"]


def test_the_last_of_very_many_papers_has_the_rest() -> None:
    bills = [f"[s Acme Ltd]\nInvoice no. A-{number}\n" for number in range(MOST_PAPERS + 9)]
    assert len(divided("\f".join(bills))) == MOST_PAPERS
