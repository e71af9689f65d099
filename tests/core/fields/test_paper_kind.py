"""Kind of a paper: headings before labels, sentences before headings, bills before what they refer to, till slips."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from service.core.fields.kinds import PaperKind
from service.core.fields.paper_kind import PaperMatch, paper_kind
from tests.support.mentions import mention

INVOICE_LABELS = ("SUPPLIER_NAME", "RECEIVER_NAME", "TOTAL_AMOUNT", "INVOICE_DATE", "DUE_DATE")
RECEIPT_LABELS = ("SUPPLIER_NAME", "TOTAL_AMOUNT", "INVOICE_DATE", "LINE_ITEM")


def paper(text: str, labels: Sequence[str] = INVOICE_LABELS) -> PaperMatch:
    """Classify a text whose entities have some labels."""
    return paper_kind(text, [mention(number, label, "x", 0) for number, label in enumerate(labels)])


@pytest.mark.parametrize(
    "text",
    [
        "Acme Ltd\nLieferschein-Nr. 5512\nRechnung Nr. 77\nPos  Summe\n1  100.00\nTotal 120.00",
        "Müller GmbH\tRechnung\nLieferschein 5512\tAuftrag 99\nSumme 100,00\nMwSt 19,00\nGesamt 119,00",
        "Müller GmbH\nLieferschein\t5512\nBestellung\t99\nRechnungsnummer\tR-5\nSumme 100,00\nGesamt 119,00",
        "Acme Ltd\nOrder confirmation no. AB-77\nInvoice no. 5\nGoods 100.00\nTotal 120.00",
        "INVOICE\nAcme\nYour quote Q-12\nGoods 100.00\nVAT 20.00\nTotal 120.00\n\nREMITTANCE ADVICE\n"
        "Please detach and return\nAmount 120.00",
        "Acme Energy\nYour statement\nYour bill for May 2026\nBalance brought forward 20.00\n"
        "Charges 100.00\nTotal 120.00",
        "Acme\nINVOICE 5\nGoods 100.00\nTotal 120.00\nReminder fee 5.00 after 30 days\nPayment reminder\n"
        "General terms of offer",
        "Acme\nInvoice\nReminder fee: 5.00\nTotal 120.00",
        "Acme\nFacture n° 5\nVotre devis n° D-5 du 3/3/2026\nBon de livraison n° 88\nTotal TTC 120,00",
        "Acme\nVotre devis n° D-5 du 3/3/2026\nBon de livraison n° 88\nFacture n° 5\nTotal TTC 120,00",
        "Acme\nBon de livraison n° 88\nN° de facture : 5\nDate de facture : 3/3/2026\nTotal HT 100,00\n"
        "Total TTC 120,00",
        "Acme\nNuestro presupuesto 77\nAlbarán 5512\nFACTURA 2026/5\nTotal 120,00",
        "Acme\nRif. ordine 77  DDT 5512\nFattura 5\nTotale 120,00",
        "Acme\nZamówienie nr 77\nFaktura VAT nr 5/2026\nRazem 120,00",
        "Acme\nDatum  Lieferschein  Bestellung\n3.3.2026  5512  99\nRechnungsnummer: 5\nSumme 100,00\nGesamt 119,00",
        "Acme\nInvoice number 5\nKontoauszug: bitte beachten\nTotal 120.00",
        "Acme\nThis invoice replaces pro forma 77\nINVOICE 5\nTotal 120.00",
        "Acme\nINVOICE 5\nThis is not a tax invoice\nTotal 120.00",
        "Acme\nINVOICE 5\nPlease do not pay: this amount will be collected by direct debit.\nTotal 120.00",
        "Acme\nRechnung 5\nZahlungsavis bitte an buchhaltung@acme.de\nGesamt 120,00",
        "Acme\nFactuur 5\nPakbon 77\nUw offerte 88\nTotaal 120,00",
        "Acme\nPurchase order: 4500\nDelivery note: 88\nInvoice date: 3 March 2026\nTotal 120.00",
        "Acme\nContract no. C-5\nInvoice\nTotal 120.00",
        "Acme\nContract\tC-5\nTimesheet\tW12\nInvoice\tINV-5\nTotal 120.00",
        "Acme\nGoods 100.00\nTotal 120.00",
        "Acme\nSTATEMENT OF CHARGES\nINVOICE 5\nGoods 100.00\nTotal 120.00",
        "TAX INVOICE\nAcme Pty Ltd\nABN 51 824 753 556\nQuote 88\nJob sheet 99\nTotal 120.00\nHow to pay\n"
        "Remittance advice\nAmount due 120.00",
        "Acme\nLieferschein und Rechnung\nTotal 120.00",
        "Rechnung\nSehr geehrte Frau Muster,\nwir berechnen Ihnen: 120,00\nMit freundlichen Grüßen\nAcme",
        "Acme Utility\nAccount statement and invoice\nTotal 120.00",
        "Purchase Order / Invoice\nTotal 120.00",
        "Energía Sur\nCONTRATO\n5512 Tarifa plana\nFactura de electricidad 2026/5\nTotal 120,00",
        "Acme\nPedido\n88120\nFACTURA 2026/5\nTotal 120,00",
        "Acme\nRechnung 5\nKontoauszug\nSaldo alt 20,00\nGesamt 120,00",
        "REMITTANCE SLIP – return with check\nAmount: $120.00\nInvoice\nAcme Inc.\nInvoice # 5\nTotal $120.00",
    ],
)
def test_what_an_invoice_mentions_does_not_change_it(text: str) -> None:
    assert paper(text).kind is PaperKind.INVOICE


@pytest.mark.parametrize(
    "title",
    ["CREDIT NOTE", "Credit note no.: CN-1", "Tax credit note", "Credit Memo # 5", "Gutschrift",
     "Gutschriftsnummer: 7", "Warengutschrift Nr. 7 vom 02.03.2026", "Stornorechnung SR-5", "Storno-Rechnung",
     "Rechnungskorrektur", "AVOIR N° 9", "Avoir sur facture F-1", "Facture d'avoir", "Note de crédit",
     "Nota de crédito n.º 33", "Factura de abono", "NOTA DI CREDITO N. 12/2026", "Creditnota",
     "Kreditfaktura 4", "Kreditnota", "Dobropis č. 3", "Notă de credit", "Hyvityslasku", "İade Faturası",
     "返還請求書", "红字发票", "إشعار دائن", "Кредит-нота", "Finch Ltd    Credit note", "Document no. 4\nCredit note",
     "Original invoice: INV-1\nCredit note", "Credit note for invoice INV-20931", "credit note 7\nInvoice 6"],
)  # fmt: skip
def test_a_title_names_a_credit_note(title: str) -> None:
    assert paper(f"Acme GmbH, 1 Main Street\n\n{title}\nTotal 120.00\n").document_type == "381"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Invoice no.: 7\nCredit note CN-5   -20.00\nTotal 100.00", "380"),
        ("Rechnung\nGutschrift: keine", "380"),
        ("FACTURE N° 3\navoir été payé avant", "380"),
        ("avoir été payé avant le terme\nTotal 100.00", None),
        ("A credit note will be issued for returned goods.\nTotal 100.00", None),
        ("Please send back any goods that you do not want for a credit note.", None),
        ("Credit card 1234\nTotal 100.00", None),
        ("Factura rectificativa R-1", "384"),
        ("Faktura korygująca nr 5", "384"),
        ("", None),
    ],
)
def test_other_headings_and_prose(text: str, code: str | None) -> None:
    assert paper(text).document_type == code


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Acme\nGutschrift Nr. 5\nzu Rechnung Nr. 77\nGesamt 120,00", PaperKind.CREDIT_NOTE),
        ("Acme\nNota de crédito 5\nReferente à fatura FT 2026/388\nTotal 120,00", PaperKind.CREDIT_NOTE),
        ("Acme\nCREDIT NOTE\nInvoice no. 77\nTotal 120.00", PaperKind.CREDIT_NOTE),
        ("Acme\nRechnung Nr. 77 vom 3.3.2026\n2. Mahnung\nOffen 120,00\nGebühr 5,00", PaperKind.REMINDER),
        (
            "Acme\nRechnungsdatum: 3.3.2026\nRechnungsnummer: 77\nZAHLUNGSERINNERUNG\nOffen 120,00\nGebühr 5,00",
            PaperKind.REMINDER,
        ),
        (
            "Acme\nKontoauszug\nDatum  Text  Lastschrift  Gutschrift  Saldo\n"
            "1.3.  Gutschrift Bäckerei  -  412,00\nTotal Gutschriften 412,00",
            PaperKind.STATEMENT,
        ),
        (
            "Bank\nStatement of account\nDate\tDetails\tDebit\tCredit\nInvoice 77\t100.00\t\n"
            "Credit note 5\t\t20.00\nBalance 80.00",
            PaperKind.STATEMENT,
        ),
        ("Acme\nPURCHASE ORDER\nInvoice to: Finch Ltd\nDeliver to: Finch\nTotal 120.00", PaperKind.ORDER),
        (
            "Acme\nBestellung Nr. 45001\nRechnungsadresse: Finch\nLieferadresse\nSumme 100,00\nGesamt 119,00",
            PaperKind.ORDER,
        ),
        (
            "Acme\nOrder confirmation\nThe invoice will follow.\nInvoice address\nTotal 120.00",
            PaperKind.ORDER_CONFIRMATION,
        ),
        ("Acme\nPACKING SLIP\nInvoice no. 5\nGoods 5 pcs 100.00\nTotal 120.00", PaperKind.DELIVERY_NOTE),
        ("Acme\nAngebot\nRechnung nach Lieferung\nTotal 120.00", PaperKind.OFFER),
        (
            "Dear Ms Finch,\nWe received your payment of GBP 1,422.00.\nReference: invoice 77120\nKind regards\nAcme",
            PaperKind.PAYMENT_CONFIRMATION,
        ),
        (
            "Sehr geehrte Frau Finch,\nwir haben Ihre Zahlung erhalten: 1.422,00 EUR.\n"
            "Verwendungszweck: Rechnung 77120\nMit freundlichen Grüßen\nAcme",
            PaperKind.PAYMENT_CONFIRMATION,
        ),
        ("Dear Ms Finch,\nplease find enclosed our invoice 77120 over GBP 1,422.00.\nKind regards\nAcme", None),
        ("INVOICE preview\nThis is not an invoice.\nTotal 120.00", None),
        ("Acme\nDies ist keine Rechnung.\nGesamt 120,00", None),
        ("Acme\nCeci n'est pas une facture\nTotal 120,00", None),
        ("Commercial invoice\nFor customs purposes only\nTotal 120.00", PaperKind.PRO_FORMA),
        ("Acme\nBulletin de paie\nSalaire 2000,00\nNet à payer 1500,00", PaperKind.PAYSLIP),
        (
            "Acme\nREMITTANCE ADVICE\nInvoice  Date  Amount\n77  3/3/2026  100.00\nTotal paid 100.00",
            PaperKind.REMITTANCE_ADVICE,
        ),
        ("Acme\nDebit note\nAgainst invoice 77\nTotal 120.00", PaperKind.DEBIT_NOTE),
        ("Acme\nPrice list 2026\nOak 10.00\nElm 12.00", PaperKind.PRICE_LIST),
        ("Service agreement\nbetween Acme and Finch\nFee 120.00", PaperKind.CONTRACT),
    ],
)
def test_what_another_paper_mentions_does_not_make_it_a_bill(text: str, kind: PaperKind | None) -> None:
    assert paper(text).kind is kind


@pytest.mark.parametrize(
    "sentence",
    [
        *("This is not an invoice.", "THIS IS NOT A BILL", "This document is not\nan invoice"),
        *("Dies ist keine Rechnung.", "Tämä ei ole lasku"),
        *("Diese Mitteilung gilt nicht als Rechnung", "Dit is geen factuur", "Detta är inte en faktura"),
        *("Dette er ikke en faktura", "Ceci n'est pas une facture", "Ce document ne constitue pas une facture"),
        *("Esto no es una factura", "Non è una fattura", "Este documento não serve de fatura", "Nu este o factură"),
        *("To nie jest faktura", "Toto není faktura", "Не является счетом на оплату", "Fatura yerine geçmez"),
        *("これは請求書ではありません", "此单非发票", "이것은 청구서가 아닙니다", "هذه ليست فاتورة"),
        *("यह बिल नहीं है", "Ini bukan invois"),
    ],
)
def test_a_sentence_says_that_a_paper_is_no_bill(sentence: str) -> None:
    assert paper(f"Acme\nOak 100.00\nTotal 120.00\n{sentence}").kind is None
    assert paper(f"Acme\nINVOICE 5\n{sentence}\nTotal 120.00").kind is None
    assert paper(f"Acme\nQuotation\n{sentence}\nTotal 120.00").kind is PaperKind.OFFER
    assert paper(f"Acme\nReceipt\n{sentence}\nTotal 120.00").kind is PaperKind.RECEIPT


@pytest.mark.parametrize(
    "sentence",
    [
        *("This is not a tax invoice.", "Please do not pay: we collect the amount by direct debit."),
        *("Sie haben keine Rechnung erhalten? Rufen Sie uns an.", "No invoice was sent before."),
        "Non valido ai fini fiscali",
    ],
)
def test_a_sentence_of_an_invoice_says_nothing_else(sentence: str) -> None:
    assert paper(f"Acme\nINVOICE 5\n{sentence}\nTotal 120.00").kind is PaperKind.INVOICE


@pytest.mark.parametrize(
    "sentence",
    ["For customs purposes only", "Wert nur für Zollzwecke", "Sans valeur commerciale", "Sin valor comercial"],
)
def test_an_invoice_for_the_customs_is_pro_forma_and_has_no_code(sentence: str) -> None:
    found = paper(f"Acme\nCOMMERCIAL INVOICE 5\n{sentence}\nTotal 120.00")
    assert (found.kind, found.document_type) == (PaperKind.PRO_FORMA, None)


MAIL = "Dear Ms Finch,\n\n{}\nReference: invoice 77120, GBP 1,422.00\n\nKind regards\nAcme Ltd"


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("We received your payment on 3 March.", PaperKind.PAYMENT_CONFIRMATION),
        ("Wir haben Ihre Zahlung erhalten.", PaperKind.PAYMENT_CONFIRMATION),
        ("Nous avons bien reçu votre paiement.", PaperKind.PAYMENT_CONFIRMATION),
        ("Please find our invoice enclosed.", None),
    ],
)
def test_a_letter_about_a_bill_is_none(sentence: str, kind: PaperKind | None) -> None:
    assert paper(MAIL.format(sentence)).kind is kind
    assert paper("INVOICE\n" + MAIL.format(sentence)).kind is PaperKind.INVOICE


@pytest.mark.parametrize(
    "sentence",
    [
        "Thank you for your order, Emily!",
        "Your order has shipped",
        "Vielen Dank für Ihre Bestellung!",
        "Bedankt voor je bestelling",
        "Votre commande a été expédiée",
        "Gracias por tu pedido",
        "Děkujeme za objednávku",
        "ご注文ありがとうございます",
    ],
)
def test_mail_about_an_order_is_no_bill_without_a_bills_heading_or_a_till(sentence: str) -> None:
    mail = f"Acme\n{sentence}\nTea pot 42,00\nTotal 42,00"
    assert paper(mail).kind is PaperKind.ORDER_CONFIRMATION
    assert paper(f"Invoice 7\n{mail}").kind is PaperKind.INVOICE
    assert paper(f"{mail}\nCash 50,00").kind is not PaperKind.ORDER_CONFIRMATION


def test_a_letter_with_an_account_may_be_a_bill() -> None:
    letter = MAIL.format("For my work in May I ask you for GBP 1,422.00.")
    assert paper(letter, (*INVOICE_LABELS, "IBAN")).kind is PaperKind.INVOICE


@pytest.mark.parametrize(
    ("text", "kind", "code"),
    [
        ("Shop\nTAX INVOICE\nTotal 12.00\nCash 20.00\nChange 8.00", PaperKind.RECEIPT, None),
        ("Shop\nTAX INVOICE\n3/3/2026 10:22\nTotal 12.00", PaperKind.RECEIPT, None),
        ("Gasthaus\nRechnung\nTisch 5\nSumme 12,00\nBar 20,00\nZurück 8,00", PaperKind.RECEIPT, None),
        ("Café\nFacture\nTable 5\nTotal 12,00\nCarte bancaire 12,00", PaperKind.RECEIPT, None),
        ("Café\nInvoice no.\t5\nTotal 12.00", PaperKind.RECEIPT, None),
        ("Shop\nOak 12.00\nTotal 12.00", PaperKind.RECEIPT, None),
        ("Shop\nINVOICE\nTotal 12.00\nAmount due 12.00\nVisa 12.00", PaperKind.RECEIPT, None),
        ("Shop\nINVOICE\nTotal 12.00\nVisa 12.00\nBalance due 0.00", PaperKind.RECEIPT, None),
        ("Shop\nINVOICE\nCustomer: 17\nTotal 12.00\nCash 20.00\nChange 8.00", PaperKind.RECEIPT, None),
        ("Acme\nINVOICE\nTotal 119.00\nPaid 50.00\nBalance due 69.00", PaperKind.INVOICE, "380"),
        ("Acme\nINVOICE\nTotal 50.42\nPaid 50.00\nBalance due 0.42", PaperKind.INVOICE, "380"),
        ("Acme\nInvoice no.\t5\nBill to: Beta Ltd\nTotal 119.00\nPaid 50.00", PaperKind.INVOICE, "380"),
        ("Acme\nRechnung\nKunde: Beta GmbH\nGesamt 119,00\nBar 119,00", PaperKind.INVOICE, "380"),
        ("Acme\nFacture\nClient : Beta SARL\n3/3/2026 10:22\nTotal 119,00", PaperKind.INVOICE, "380"),
        ("Fotostudio\nRECHNUNG\nRechnungsnummer: 5\nPortrait 120,00\nGesamt 120,00", PaperKind.INVOICE, "380"),
        ("Studio\nFATURA FT 2026/5\nData 3/3/2026\nTotal 120,00", PaperKind.INVOICE, "380"),
        ("Studio\nFattura\n3/3/2026\nTotale 120,00", PaperKind.INVOICE, "380"),
        ("Pracownia\nFaktura VAT nr 5\nData 3.3.2026\nRazem 120,00", PaperKind.INVOICE, "380"),
        ("AUTO SA\nFACTURA\nFecha y hora: 12-03-2026 10:22\nReceptor\nX\nTotal 12.00", PaperKind.INVOICE, "380"),
    ],
)
def test_a_bill_headed_invoice_is_a_receipt_only_where_a_till_printed_it(
    text: str, kind: PaperKind, code: str | None
) -> None:
    found = paper(text, RECEIPT_LABELS)
    assert (found.kind, found.document_type) == (kind, code)
    assert found.evidence == dict.fromkeys(sorted(RECEIPT_LABELS), 0.9)


def test_a_paper_without_a_heading_is_what_its_labels_say() -> None:
    text = "Acme\nOak 100.00\nTotal 120.00"
    assert paper(text) == PaperMatch(PaperKind.INVOICE, None, None, dict.fromkeys(sorted(INVOICE_LABELS), 0.9))
    assert (paper(text).title(text), paper(text, ()).kind) == (None, None)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("PAYMENT RECEIPT\nSkyline Rooms\nRs 1939", PaperKind.RECEIPT),
        ("INVOICE\nOak 12.00", PaperKind.INVOICE),
        ("TAX INVOICE\n3/3/2026 10:22\nOak 12.00", PaperKind.RECEIPT),
        ("REIKNINGUR nr. 1180\nBókhald janúar  120.000", PaperKind.INVOICE),
        ("Invoice date\nOak 12.00", None),
        ("Packing list\nOak, 5 pieces", PaperKind.DELIVERY_NOTE),
        ("Delivery note 5512\nOak, 5 pieces", PaperKind.DELIVERY_NOTE),
        ("Invoice for the month\nOak 12.00", None),
        ("INVOICE\nTerms and conditions", None),
        ("Sales order management\nYou lead a team of five.", None),
    ],
)
def test_where_no_label_says_bill_a_title_does(text: str, kind: PaperKind | None) -> None:
    assert paper(text, ()).kind is kind


def test_a_resume_has_no_heading_and_a_letter_is_none() -> None:
    labels = ("PERSON", "JOB_TITLE", "EMPLOYER", "SKILL")
    assert paper("Anna Finch\nQuotation\nEngineer", labels).kind is PaperKind.RESUME
    assert paper("Dear Ms Finch,\nI am an engineer.\nKind regards\nAnna", labels).kind is None


HIRED = ("JOB_TITLE", "EMPLOYER", "PERSON", "EMAIL")


@pytest.mark.parametrize("labels", [(), HIRED])
@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Employment agreement\nbetween Acme and Anna Finch", "Employment agreement"),
        ("CONTRAT DE TRAVAIL\nentre Acme et Anna Finch", "CONTRAT DE TRAVAIL"),
        (
            "Worldwide License and Distribution Agreement\nbetween Acme and Finch",
            "Worldwide License and Distribution Agreement",
        ),
        ("Jonas Merz\nContract manager\nAcme", None),
        ("Acme\n" * 100 + "Contract for cleaning\nbetween Acme and Finch", None),
        ("Dear Ms Finch,\nContract for cleaning\nWe begin in May.\nKind regards\nAcme", None),
        ("Dear Ms Finch,\nYour Office Window Cleaning Agreement\nWe begin in May.\nKind regards\nAcme", None),
        ("AMENDMENT NO. 2 TO MASTER SERVICES AGREEMENT\nof 1 May", "AMENDMENT NO. 2 TO MASTER SERVICES AGREEMENT"),
        ("Summary of the Lease Agreement\nLandlord: Acme", None),
        ("Our new lease agreement\nWe signed it in May.", None),
        ("Notice of Termination of Tenancy Agreement\nI hereby terminate", None),
        ("Dear Ms Finch,\nLease of 14 Canal Street\nWe act for Acme.\nYours sincerely\nFinch", None),
        ("Quotation\nfor the Office Window Cleaning Agreement", None),
        ("Quotation\nOffice Window and Door Cleaning Agreement", None),
    ],
)
def test_a_contract_has_its_title_at_the_very_top(text: str, title: str | None, labels: tuple[str, ...]) -> None:
    found = paper(text, labels)
    assert (found.kind is PaperKind.CONTRACT, title) == (title is not None, title and found.title(text))
