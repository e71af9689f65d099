"""Paths of an electronic invoice's values in its XML, for the syntaxes of EN 16931: CII and UBL.

Names are without namespaces. ZUGFeRD 1 is CII under other names of elements.
Sources: EN 16931-1 (the terms), UN/CEFACT CII D16B, OASIS UBL 2.1, ZUGFeRD 1.0 and 2.3.
"""

from __future__ import annotations

from dataclasses import dataclass

OLD_NAMES = {
    "HeaderExchangedDocument": "ExchangedDocument",
    "SpecifiedExchangedDocumentContext": "ExchangedDocumentContext",
    "SpecifiedSupplyChainTradeTransaction": "SupplyChainTradeTransaction",
    "ApplicableSupplyChainTradeAgreement": "ApplicableHeaderTradeAgreement",
    "ApplicableSupplyChainTradeDelivery": "ApplicableHeaderTradeDelivery",
    "ApplicableSupplyChainTradeSettlement": "ApplicableHeaderTradeSettlement",
    "SpecifiedTradeSettlementMonetarySummation": "SpecifiedTradeSettlementHeaderMonetarySummation",
    "SpecifiedSupplyChainTradeAgreement": "SpecifiedLineTradeAgreement",
    "SpecifiedSupplyChainTradeDelivery": "SpecifiedLineTradeDelivery",
    "SpecifiedSupplyChainTradeSettlement": "SpecifiedLineTradeSettlement",
}
"""ZUGFeRD 1's names of elements → those of CII D16B."""


@dataclass(frozen=True, slots=True)
class Syntax:
    """The paths of one syntax; the first of several that is there counts. Amounts are below `sums`."""

    name: str
    profile: str
    type_code: tuple[str, ...]
    currency: str
    texts: dict[str, tuple[str, ...]]
    dates: dict[str, tuple[str, ...]]
    amounts: dict[str, tuple[str, ...]]
    amount_due: str
    row: str
    row_texts: tuple[str, ...]
    quantity: str
    price: str
    price_base: str
    row_amount: str


_DEAL = "SupplyChainTradeTransaction/ApplicableHeaderTradeAgreement"
_PAY = "SupplyChainTradeTransaction/ApplicableHeaderTradeSettlement"
_SUMS = f"{_PAY}/SpecifiedTradeSettlementHeaderMonetarySummation"
_MEANS = f"{_PAY}/SpecifiedTradeSettlementPaymentMeans"
_SELLER_TAX = f"{_DEAL}/SellerTradeParty/SpecifiedTaxRegistration/ID"
_PRICE = "SpecifiedLineTradeAgreement/NetPriceProductTradePrice"
_CII = Syntax(
    name="CII",
    profile="ExchangedDocumentContext/GuidelineSpecifiedDocumentContextParameter/ID",
    type_code=("ExchangedDocument/TypeCode",),
    currency=f"{_PAY}/InvoiceCurrencyCode",
    texts={
        "INVOICE_ID": ("ExchangedDocument/ID",),
        "PURCHASE_ORDER": (f"{_DEAL}/BuyerOrderReferencedDocument/IssuerAssignedID",
                           f"{_DEAL}/BuyerOrderReferencedDocument/ID"),
        "SUPPLIER_NAME": (f"{_DEAL}/SellerTradeParty/Name",),
        "RECEIVER_NAME": (f"{_DEAL}/BuyerTradeParty/Name",),
        "IBAN": (f"{_MEANS}/PayeePartyCreditorFinancialAccount/IBANID",),
        "BIC": (f"{_MEANS}/PayeeSpecifiedCreditorFinancialInstitution/BICID",),
        "TAX_ID": (f"{_SELLER_TAX}[@schemeID='VA']", f"{_SELLER_TAX}[@schemeID='FC']"),
    },
    dates={
        "INVOICE_DATE": ("ExchangedDocument/IssueDateTime/DateTimeString",),
        "DUE_DATE": (f"{_PAY}/SpecifiedTradePaymentTerms/DueDateDateTime/DateTimeString",),
    },
    amounts={
        "NET_AMOUNT": (f"{_SUMS}/TaxBasisTotalAmount",),
        "TAX_AMOUNT": (f"{_SUMS}/TaxTotalAmount",),
        "TOTAL_AMOUNT": (f"{_SUMS}/GrandTotalAmount", f"{_SUMS}/DuePayableAmount"),
    },
    amount_due=f"{_SUMS}/DuePayableAmount",
    row="SupplyChainTradeTransaction/IncludedSupplyChainTradeLineItem",
    row_texts=("SpecifiedTradeProduct/Name", "SpecifiedTradeProduct/Description",
               "AssociatedDocumentLineDocument/IncludedNote/Content"),
    quantity="SpecifiedLineTradeDelivery/BilledQuantity",
    price=f"{_PRICE}/ChargeAmount",
    price_base=f"{_PRICE}/BasisQuantity",
    row_amount="SpecifiedLineTradeSettlement/SpecifiedTradeSettlementLineMonetarySummation/LineTotalAmount",
)  # fmt: skip
OLD_ROW_AMOUNT = "SpecifiedLineTradeSettlement/SpecifiedTradeSettlementHeaderMonetarySummation/LineTotalAmount"
_ACCOUNT = "PaymentMeans/PayeeFinancialAccount"
_SUPPLIER, _CUSTOMER = "AccountingSupplierParty/Party", "AccountingCustomerParty/Party"


def _ubl(kind: str, quantity: str) -> Syntax:
    return Syntax(
        name="UBL",
        profile="CustomizationID",
        type_code=(f"{kind}TypeCode",),
        currency="DocumentCurrencyCode",
        texts={
            "INVOICE_ID": ("ID",),
            "PURCHASE_ORDER": ("OrderReference/ID",),
            "SUPPLIER_NAME": (f"{_SUPPLIER}/PartyLegalEntity/RegistrationName", f"{_SUPPLIER}/PartyName/Name"),
            "RECEIVER_NAME": (f"{_CUSTOMER}/PartyLegalEntity/RegistrationName", f"{_CUSTOMER}/PartyName/Name"),
            "IBAN": (f"{_ACCOUNT}/ID",),
            "BIC": (f"{_ACCOUNT}/FinancialInstitutionBranch/ID",
                    f"{_ACCOUNT}/FinancialInstitutionBranch/FinancialInstitution/ID"),
            "TAX_ID": (f"{_SUPPLIER}/PartyTaxScheme[TaxScheme/ID='VAT']/CompanyID",
                       f"{_SUPPLIER}/PartyTaxScheme/CompanyID"),
        },
        dates={"INVOICE_DATE": ("IssueDate",), "DUE_DATE": ("DueDate", "PaymentMeans/PaymentDueDate")},
        amounts={
            "NET_AMOUNT": ("LegalMonetaryTotal/TaxExclusiveAmount",),
            "TAX_AMOUNT": ("TaxTotal/TaxAmount",),
            "TOTAL_AMOUNT": ("LegalMonetaryTotal/TaxInclusiveAmount", "LegalMonetaryTotal/PayableAmount"),
        },
        amount_due="LegalMonetaryTotal/PayableAmount",
        row=f"{kind}Line",
        row_texts=("Item/Name", "Item/Description", "Note"),
        quantity=quantity,
        price="Price/PriceAmount",
        price_base="Price/BaseQuantity",
        row_amount="LineExtensionAmount",
    )  # fmt: skip


SYNTAXES = {
    "CrossIndustryInvoice": _CII,
    "CrossIndustryDocument": _CII,
    "Invoice": _ubl("Invoice", "InvoicedQuantity"),
    "CreditNote": _ubl("CreditNote", "CreditedQuantity"),
}
