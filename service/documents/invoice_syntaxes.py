"""Paths of an electronic invoice's values in its XML, for the syntaxes of EN 16931: CII and UBL.

Names are without namespaces. ZUGFeRD 1 is CII under other names of elements.
Sources: EN 16931-1 (the terms), UN/CEFACT CII D16B, OASIS UBL 2.1, ZUGFeRD 1.0 and 2.3.
"""

from __future__ import annotations

from dataclasses import dataclass

from service.core.fields.roles import CII_SETTLEMENT, ROLES, Paths

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
    """The paths of one syntax; of several the first that leads to a value counts. `roles`: by label."""

    name: str
    profile: str
    type_code: tuple[str, ...]
    currency: str
    roles: dict[str, Paths]
    tax: str
    tax_rate: tuple[str, ...]
    tax_base: str
    tax_amount: str
    row: str
    row_texts: tuple[str, ...]
    quantity: str
    price: str
    price_base: str
    row_amount: str


_PRICE = "SpecifiedLineTradeAgreement/NetPriceProductTradePrice"
_CII = Syntax(
    name="CII",
    profile="ExchangedDocumentContext/GuidelineSpecifiedDocumentContextParameter/ID",
    type_code=("ExchangedDocument/TypeCode",),
    currency=f"{CII_SETTLEMENT}/InvoiceCurrencyCode",
    roles={role.label: role.cii for role in ROLES},
    tax=f"{CII_SETTLEMENT}/ApplicableTradeTax",
    tax_rate=("RateApplicablePercent", "ApplicablePercent"),
    tax_base="BasisAmount",
    tax_amount="CalculatedAmount",
    row="SupplyChainTradeTransaction/IncludedSupplyChainTradeLineItem",
    row_texts=("SpecifiedTradeProduct/Name", "SpecifiedTradeProduct/Description",
               "AssociatedDocumentLineDocument/IncludedNote/Content"),
    quantity="SpecifiedLineTradeDelivery/BilledQuantity",
    price=f"{_PRICE}/ChargeAmount",
    price_base=f"{_PRICE}/BasisQuantity",
    row_amount="SpecifiedLineTradeSettlement/SpecifiedTradeSettlementLineMonetarySummation/LineTotalAmount",
)  # fmt: skip
OLD_ROW_AMOUNT = "SpecifiedLineTradeSettlement/SpecifiedTradeSettlementHeaderMonetarySummation/LineTotalAmount"


def _ubl(kind: str, quantity: str) -> Syntax:
    return Syntax(
        name="UBL",
        profile="CustomizationID",
        type_code=(f"{kind}TypeCode",),
        currency="DocumentCurrencyCode",
        roles={role.label: role.ubl for role in ROLES},
        tax="TaxTotal/TaxSubtotal",
        tax_rate=("TaxCategory/Percent", "Percent"),
        tax_base="TaxableAmount",
        tax_amount="TaxAmount",
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
