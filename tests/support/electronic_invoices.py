"""Electronic invoices in their three forms: CII, ZUGFeRD 1 (CII under other names), UBL; and PDFs that hold them."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from xml.sax.saxutils import escape

import pikepdf

from tests.support.document_files import simple_pdf

CII = "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100"
OLD = "urn:ferd:CrossIndustryDocument:invoice:1p0"
_RAM = "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity"
_UBL = "urn:oasis:names:specification:ubl:schema:xsd"


@dataclass(frozen=True)
class Bill:
    """What an invoice states; the sums add up."""

    number: str = "RE-2026-118"
    code: str = "380"
    date: str = "2026-03-12"
    due: str = "2026-04-11"
    supply: tuple[str, str] = ("2026-02-01", "2026-02-28")
    order: str = "PO 4711"
    reference: str = "RF18539007547034"
    supplier: str = "Nordlicht Optik GmbH"
    receiver: str = "Café Müller & Söhne KG"
    tax_id: str = "DE129273398"
    receiver_tax_id: str = "FR40303265045"
    iban: str = "DE89370400440532013000"
    bic: str = "COBADEFFXXX"
    net: str = "1240.5"
    tax: str = "235.70"
    total: str = "1476.20"
    currency: str = "EUR"
    due_amount: str = ""
    paid: str = "0"
    rate: str = "19.00"
    discount: str = "2"
    rows: tuple[tuple[str, str, str, str], ...] = (
        ("Gleitsichtgläser 1.6", "2.000", "420.2500", "840.50"),
        ("Lesebrille +2,0", "8", "50", "400.00"),
    )
    note: str = "Zahlbar ohne Abzug.\nEs gilt deutsches Recht."

    def but(self, **changes: str) -> Bill:
        """The same, except for these."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def page(self) -> list[str]:
        """The lines that a German page shows."""
        amounts = {name: f"{float(getattr(self, name)):,.2f}" for name in ("net", "tax", "total")}
        german = {name: each.translate(str.maketrans(",.", ".,")) for name, each in amounts.items()}
        year, month, day = self.date.split("-")
        return [
            self.supplier, "Rechnung", f"Rechnungsnummer: {self.number}", f"Rechnungsdatum: {day}.{month}.{year}",
            f"Rechnung an: {self.receiver}", *(f"{name}   {count}   {amount}" for name, count, _, amount in self.rows),
            f"Nettobetrag: {german['net']} EUR", f"MwSt 19 %: {german['tax']} EUR",
            f"Gesamtbetrag: {german['total']} EUR", f"IBAN: {self.iban}", f"USt-IdNr.: {self.tax_id}",
        ]  # fmt: skip


def cii(bill: Bill, *, old: bool = False, more: str = "") -> bytes:
    """As Factur-X and ZUGFeRD 2 have it, or ZUGFeRD 1; `more`: XML at the end of the transaction."""
    rows = "".join(
        f"<r:IncludedSupplyChainTradeLineItem><r:SpecifiedTradeProduct><r:Name>{escape(name)}</r:Name>"
        f"</r:SpecifiedTradeProduct><r:SpecifiedLineTradeAgreement><r:NetPriceProductTradePrice><r:ChargeAmount>{price}"
        "</r:ChargeAmount></r:NetPriceProductTradePrice></r:SpecifiedLineTradeAgreement><r:SpecifiedLineTradeDelivery>"
        f'<r:BilledQuantity unitCode="C62">{count}</r:BilledQuantity></r:SpecifiedLineTradeDelivery>'
        "<r:SpecifiedLineTradeSettlement><r:SpecifiedTradeSettlementLineMonetarySummation><r:LineTotalAmount>"
        f"{amount}</r:LineTotalAmount></r:SpecifiedTradeSettlementLineMonetarySummation>"
        "</r:SpecifiedLineTradeSettlement></r:IncludedSupplyChainTradeLineItem>"
        for name, count, price, amount in bill.rows
    )

    def stamp(name: str, date: str) -> str:
        return f'<r:{name}><u:DateTimeString format="102">{date.replace("-", "")}</u:DateTimeString></r:{name}>'

    text = (
        f'<?xml version="1.0" encoding="UTF-8"?><!-- terms of use --><x:CrossIndustryInvoice xmlns:x="{CII}" '
        f'xmlns:r="{_RAM}:100" xmlns:u="urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100">'
        "<x:ExchangedDocumentContext><r:GuidelineSpecifiedDocumentContextParameter><r:ID>urn:cen.eu:en16931:2017"
        "</r:ID></r:GuidelineSpecifiedDocumentContextParameter></x:ExchangedDocumentContext>"
        f"<x:ExchangedDocument><r:ID>{bill.number}</r:ID><r:TypeCode>{bill.code}</r:TypeCode>"
        f"{stamp('IssueDateTime', bill.date)}<r:IncludedNote><r:Content>{escape(bill.note)}</r:Content>"
        f"</r:IncludedNote></x:ExchangedDocument><x:SupplyChainTradeTransaction>{rows}<r:ApplicableHeaderTradeAgreement>"
        f"<r:SellerTradeParty><r:Name>{escape(bill.supplier)}</r:Name><r:SpecifiedTaxRegistration>"
        '<r:ID schemeID="FC">201/113/40209</r:ID></r:SpecifiedTaxRegistration><r:SpecifiedTaxRegistration>'
        f'<r:ID schemeID="VA">{bill.tax_id}</r:ID></r:SpecifiedTaxRegistration></r:SellerTradeParty>'
        f"<r:BuyerTradeParty><r:Name>{escape(bill.receiver)}</r:Name><r:SpecifiedTaxRegistration>"
        f'<r:ID schemeID="VA">{bill.receiver_tax_id}</r:ID></r:SpecifiedTaxRegistration></r:BuyerTradeParty>'
        f"<r:BuyerOrderReferencedDocument><r:IssuerAssignedID>{bill.order}</r:IssuerAssignedID>"
        "</r:BuyerOrderReferencedDocument></r:ApplicableHeaderTradeAgreement><r:ApplicableHeaderTradeSettlement>"
        f"<r:PaymentReference>{bill.reference}</r:PaymentReference>"
        f"<r:InvoiceCurrencyCode>{bill.currency}</r:InvoiceCurrencyCode><r:SpecifiedTradeSettlementPaymentMeans>"
        f"<r:PayeePartyCreditorFinancialAccount><r:IBANID>{bill.iban}</r:IBANID></r:PayeePartyCreditorFinancialAccount>"
        f"<r:PayeeSpecifiedCreditorFinancialInstitution><r:BICID>{bill.bic}</r:BICID>"
        "</r:PayeeSpecifiedCreditorFinancialInstitution></r:SpecifiedTradeSettlementPaymentMeans>"
        f"<r:ApplicableTradeTax><r:CalculatedAmount>{bill.tax}</r:CalculatedAmount><r:TypeCode>VAT</r:TypeCode>"
        f"<r:BasisAmount>{bill.net}</r:BasisAmount><r:CategoryCode>S</r:CategoryCode><r:RateApplicablePercent>"
        f"{bill.rate}</r:RateApplicablePercent></r:ApplicableTradeTax>"
        f"<r:BillingSpecifiedPeriod>{stamp('StartDateTime', bill.supply[0])}{stamp('EndDateTime', bill.supply[1])}"
        "</r:BillingSpecifiedPeriod>"
        f"<r:SpecifiedTradePaymentTerms>{stamp('DueDateDateTime', bill.due)}<r:ApplicableTradePaymentDiscountTerms>"
        f"<r:CalculationPercent>{bill.discount}</r:CalculationPercent></r:ApplicableTradePaymentDiscountTerms>"
        "</r:SpecifiedTradePaymentTerms>"
        f"<r:SpecifiedTradeSettlementHeaderMonetarySummation><r:TaxBasisTotalAmount>{bill.net}</r:TaxBasisTotalAmount>"
        f'<r:TaxTotalAmount currencyID="HUF">94280.00</r:TaxTotalAmount>'
        f'<r:TaxTotalAmount currencyID="{bill.currency}">{bill.tax}</r:TaxTotalAmount>'
        f"<r:GrandTotalAmount>{bill.total}</r:GrandTotalAmount><r:TotalPrepaidAmount>{bill.paid}</r:TotalPrepaidAmount>"
        f"<r:DuePayableAmount>{bill.due_amount or bill.total}</r:DuePayableAmount>"
        "</r:SpecifiedTradeSettlementHeaderMonetarySummation>"
        f"</r:ApplicableHeaderTradeSettlement>{more}</x:SupplyChainTradeTransaction></x:CrossIndustryInvoice>"
    )
    return (_renamed(text) if old else text).encode()


def _renamed(text: str) -> str:
    """Under the names of ZUGFeRD 1."""
    names = {
        "CrossIndustryInvoice ": "CrossIndustryDocument ", "CrossIndustryInvoice>": "CrossIndustryDocument>", CII: OLD,
        "x:ExchangedDocument>": "x:HeaderExchangedDocument>",
        "ExchangedDocumentContext": "SpecifiedExchangedDocumentContext",
        "x:SupplyChainTradeTransaction": "x:SpecifiedSupplyChainTradeTransaction", "IssuerAssignedID": "ID",
        "ApplicableHeaderTrade": "ApplicableSupplyChainTrade", "SpecifiedLineTrade": "SpecifiedSupplyChainTrade",
        "SettlementHeaderMonetary": "SettlementMonetary", "SettlementLineMonetary": "SettlementMonetary",
    }  # fmt: skip
    for new, old in names.items():
        text = text.replace(new, old)
    return text


def ubl(bill: Bill) -> bytes:
    """As Peppol and XRechnung have it: an Invoice, or a CreditNote where the code is 381."""
    kind, count = ("CreditNote", "Credited") if bill.code == "381" else ("Invoice", "Invoiced")

    def money(name: str, number: str) -> str:
        return f'<b:{name} currencyID="{bill.currency}">{number}</b:{name}>'

    def party(role: str, name: str, more: str = "") -> str:
        return (
            f"<a:{role}><a:Party>{more}<a:PartyLegalEntity><b:RegistrationName>{escape(name)}</b:RegistrationName>"
            f"</a:PartyLegalEntity></a:Party></a:{role}>"
        )

    rows = "".join(
        f'<a:{kind}Line><b:{count}Quantity unitCode="C62">{number}</b:{count}Quantity>'
        f"{money('LineExtensionAmount', amount)}<a:Item><b:Name>{escape(name)}</b:Name></a:Item><a:Price>"
        f"{money('PriceAmount', price)}</a:Price></a:{kind}Line>"
        for name, number, price, amount in bill.rows
    )

    def tax_number(number: str) -> str:
        return (
            f"<a:PartyTaxScheme><b:CompanyID>{number}</b:CompanyID><a:TaxScheme><b:ID>VAT</b:ID></a:TaxScheme>"
            "</a:PartyTaxScheme>"
        )

    due = "" if kind == "CreditNote" else f"<b:DueDate>{bill.due}</b:DueDate>"
    due_later = f"<b:PaymentDueDate>{bill.due}</b:PaymentDueDate>" if kind == "CreditNote" else ""
    return (
        f'<{kind} xmlns="{_UBL}:{kind}-2" xmlns:a="{_UBL}:CommonAggregateComponents-2" '
        f'xmlns:b="{_UBL}:CommonBasicComponents-2"><b:CustomizationID>urn:cen.eu:en16931:2017</b:CustomizationID>'
        f"<b:ID>{bill.number}</b:ID><b:IssueDate>{bill.date}</b:IssueDate>{due}<b:{kind}TypeCode>{bill.code}"
        f"</b:{kind}TypeCode><b:Note>{escape(bill.note)}</b:Note><b:DocumentCurrencyCode>{bill.currency}"
        f"</b:DocumentCurrencyCode><a:InvoicePeriod><b:StartDate>{bill.supply[0]}</b:StartDate><b:EndDate>"
        f"{bill.supply[1]}</b:EndDate></a:InvoicePeriod><a:OrderReference><b:ID>{bill.order}</b:ID></a:OrderReference>"
        "<a:AdditionalDocumentReference><a:Attachment><b:EmbeddedDocumentBinaryObject filename='hours.pdf'>JVBERi0="
        "</b:EmbeddedDocumentBinaryObject></a:Attachment></a:AdditionalDocumentReference>"
        f"{party('AccountingSupplierParty', bill.supplier, tax_number(bill.tax_id))}"
        f"{party('AccountingCustomerParty', bill.receiver, tax_number(bill.receiver_tax_id))}"
        f"<a:PaymentMeans>{due_later}<b:PaymentID>{bill.reference}</b:PaymentID><a:PayeeFinancialAccount>"
        f"<b:ID>{bill.iban}</b:ID><a:FinancialInstitutionBranch>"
        f"<b:ID>{bill.bic}</b:ID></a:FinancialInstitutionBranch></a:PayeeFinancialAccount></a:PaymentMeans><a:PaymentTerms>"
        f"<b:Note>#SKONTO#TAGE=14#PROZENT={bill.discount}.00#</b:Note></a:PaymentTerms><a:TaxTotal>"
        f"{money('TaxAmount', bill.tax)}<a:TaxSubtotal>{money('TaxableAmount', bill.net)}"
        f"{money('TaxAmount', bill.tax)}<a:TaxCategory><b:ID>S</b:ID><b:Percent>{bill.rate}</b:Percent></a:TaxCategory>"
        f"</a:TaxSubtotal></a:TaxTotal><a:LegalMonetaryTotal>{money('TaxExclusiveAmount', bill.net)}"
        f"{money('TaxInclusiveAmount', bill.total)}{money('PrepaidAmount', bill.paid)}"
        f"{money('PayableAmount', bill.due_amount or bill.total)}"
        f"</a:LegalMonetaryTotal>{rows}</{kind}>"
    ).encode()


def with_attachment(page: bytes, data: bytes, name: str = "factur-x.xml") -> bytes:
    """A PDF with a file attached."""
    written = io.BytesIO()
    with pikepdf.open(io.BytesIO(page)) as pdf:
        pdf.attachments[name] = data
        pdf.save(written)
    return written.getvalue()


def hybrid(shown: Bill, stated: Bill) -> bytes:
    """A PDF whose page shows one bill, and whose XML states another, or the same."""
    return with_attachment(simple_pdf(*shown.page()), cii(stated))
