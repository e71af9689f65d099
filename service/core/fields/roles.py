"""Roles of a bill's fields: one row for each role, from which all readers, choosers and writers derive their labels.

A role's name in an answer is its label in lower case. A model need not have entities of that label: the words before a
value name the role as well. Those words are in `vocabulary`; a row names the fields of `BillWords` that hold them.

The rows are in the order in which an electronic invoice is written for people: a party's tax and account numbers
follow its name. Answers have the order of `ORDER`.

Sources of the paths: EN 16931-1 (the terms), UN/CEFACT CII D16B, OASIS UBL 2.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from enum import Enum, auto

from service.core.decoding.value import ValueKind

Paths = tuple[str, ...]
"""XPaths from an invoice's root, names without namespaces; the first that leads to a value counts.

Of a date, a path may lead to a period: an element that holds its first and last day.
"""


class RoleGroup(Enum):
    """The way in which a role's value is chosen; the groups are in the order of answers."""

    NAMED = auto()
    """A number or a date: by its label and the words before it (`named_roles`)."""
    PARTY = auto()
    """A name: by its label, the words before it and its place (`parties`)."""
    SUM = auto()
    """An amount: by its label, its key and by what adds up (`totals`)."""
    ACCOUNT = auto()
    """A bank's account or code: by its checksum and the words near it (`accounts`)."""
    TERMS = auto()
    """A percentage or an amount that is taken off: by the words around it (`payment`)."""
    TAX_NUMBER = auto()
    """A tax number: by its form, the words before it and the party that it stands with (`tax_numbers`)."""


@dataclass(frozen=True, slots=True)
class Role:
    """One role of a bill.

    Attributes:
        label: the label of its entities, if a model has one.
        group: the way in which its value is chosen.
        kind: the form of its value.
        heading: the words before it in the text of an electronic invoice.
        invoice_only: True if no receipt has it: an entity of its label makes a bill an invoice.
        words: fields of `BillWords` with the words for it before a number, a date or a name.
        keywords: class of an amount's key (`AmountKeyword`, also fields of `BillWords`) → weight that it adds to the
            amount's score.
        cii: paths in CII; those of ZUGFeRD 1 differ in names alone (`documents/invoice_syntaxes`).
        ubl: paths in UBL, of an invoice and of a credit note.
    """

    label: str
    group: RoleGroup
    kind: ValueKind
    heading: str
    _: KW_ONLY
    invoice_only: bool = False
    words: tuple[str, ...] = ()
    keywords: Mapping[str, float] = field(default_factory=dict)
    cii: Paths
    ubl: Paths


SUPPLIER, RECEIVER = "SUPPLIER_NAME", "RECEIVER_NAME"
NET, TAX, TOTAL = "NET_AMOUNT", "TAX_AMOUNT", "TOTAL_AMOUNT"
PAID, DUE = "PAID_AMOUNT", "AMOUNT_DUE"
EARLY_PAYMENT_DISCOUNT = "EARLY_PAYMENT_DISCOUNT"
TAX_ID, RECEIVER_TAX_ID = "TAX_ID", "RECEIVER_TAX_ID"
SUPPLY_DATE, DISCOUNT_DATE, REFERENCE = "SUPPLY_DATE", "DISCOUNT_DATE", "PAYMENT_REFERENCE"

_CII_AGREEMENT = "SupplyChainTradeTransaction/ApplicableHeaderTradeAgreement"
_CII_DELIVERY = "SupplyChainTradeTransaction/ApplicableHeaderTradeDelivery"
CII_SETTLEMENT = "SupplyChainTradeTransaction/ApplicableHeaderTradeSettlement"
CII_SUMS = f"{CII_SETTLEMENT}/SpecifiedTradeSettlementHeaderMonetarySummation"
_CII_ORDER = f"{_CII_AGREEMENT}/BuyerOrderReferencedDocument"
_CII_SELLER = f"{_CII_AGREEMENT}/SellerTradeParty"
_CII_BUYER = f"{_CII_AGREEMENT}/BuyerTradeParty"
_CII_TAX_NUMBER = f"{_CII_SELLER}/SpecifiedTaxRegistration/ID"
_CII_MEANS = f"{CII_SETTLEMENT}/SpecifiedTradeSettlementPaymentMeans"
_CII_TERMS = f"{CII_SETTLEMENT}/SpecifiedTradePaymentTerms"
_UBL_SELLER, _UBL_BUYER = "AccountingSupplierParty/Party", "AccountingCustomerParty/Party"
_UBL_ACCOUNT = "PaymentMeans/PayeeFinancialAccount"

ROLES: tuple[Role, ...] = (
    Role("INVOICE_ID", RoleGroup.NAMED, ValueKind.TEXT, "Invoice number",
         words=("bill", "bill_number", "credit", "correction"),
         cii=("ExchangedDocument/ID",),
         ubl=("ID",)),
    Role("INVOICE_DATE", RoleGroup.NAMED, ValueKind.DATE, "Invoice date",
         words=("dated",),
         cii=("ExchangedDocument/IssueDateTime/DateTimeString",),
         ubl=("IssueDate",)),
    Role("DUE_DATE", RoleGroup.NAMED, ValueKind.DATE, "Due date", invoice_only=True,
         words=("due",),
         cii=(f"{_CII_TERMS}/DueDateDateTime/DateTimeString",),
         ubl=("DueDate", "PaymentMeans/PaymentDueDate")),
    Role(SUPPLY_DATE, RoleGroup.NAMED, ValueKind.DATE, "Supply date",
         words=("supply",),
         cii=(f"{_CII_DELIVERY}/ActualDeliverySupplyChainEvent/OccurrenceDateTime/DateTimeString",
              f"{CII_SETTLEMENT}/BillingSpecifiedPeriod"),
         ubl=("Delivery/ActualDeliveryDate", "InvoicePeriod")),
    Role(DISCOUNT_DATE, RoleGroup.NAMED, ValueKind.DATE, "Discount date", invoice_only=True,
         words=("discount_until",),
         cii=(),
         ubl=("PaymentTerms[SettlementDiscountPercent]/SettlementPeriod/EndDate",)),
    Role("PURCHASE_ORDER", RoleGroup.NAMED, ValueKind.TEXT, "Purchase order", invoice_only=True,
         words=("order", "your_order"),
         cii=(f"{_CII_ORDER}/IssuerAssignedID", f"{_CII_ORDER}/ID"),
         ubl=("OrderReference/ID",)),
    Role(REFERENCE, RoleGroup.NAMED, ValueKind.TEXT, "Payment reference", invoice_only=True,
         words=("reference",),
         cii=(f"{CII_SETTLEMENT}/PaymentReference",),
         ubl=("PaymentMeans/PaymentID",)),
    Role(SUPPLIER, RoleGroup.PARTY, ValueKind.TEXT, "Supplier",
         words=("seller",),
         cii=(f"{_CII_SELLER}/Name",),
         ubl=(f"{_UBL_SELLER}/PartyLegalEntity/RegistrationName", f"{_UBL_SELLER}/PartyName/Name")),
    Role(TAX_ID, RoleGroup.TAX_NUMBER, ValueKind.TAX_ID, "VAT ID",
         words=("tax_number",),
         cii=(f"{_CII_TAX_NUMBER}[@schemeID='VA']", f"{_CII_TAX_NUMBER}[@schemeID='FC']"),
         ubl=(f"{_UBL_SELLER}/PartyTaxScheme[TaxScheme/ID='VAT']/CompanyID",
              f"{_UBL_SELLER}/PartyTaxScheme/CompanyID")),
    Role("IBAN", RoleGroup.ACCOUNT, ValueKind.IBAN, "IBAN", invoice_only=True,
         cii=(f"{_CII_MEANS}/PayeePartyCreditorFinancialAccount/IBANID",),
         ubl=(f"{_UBL_ACCOUNT}/ID",)),
    Role("BIC", RoleGroup.ACCOUNT, ValueKind.BIC, "BIC", invoice_only=True,
         cii=(f"{_CII_MEANS}/PayeeSpecifiedCreditorFinancialInstitution/BICID",),
         ubl=(f"{_UBL_ACCOUNT}/FinancialInstitutionBranch/ID",
              f"{_UBL_ACCOUNT}/FinancialInstitutionBranch/FinancialInstitution/ID")),
    Role(RECEIVER, RoleGroup.PARTY, ValueKind.TEXT, "Bill to", invoice_only=True,
         words=("buyer",),
         cii=(f"{_CII_BUYER}/Name",),
         ubl=(f"{_UBL_BUYER}/PartyLegalEntity/RegistrationName", f"{_UBL_BUYER}/PartyName/Name")),
    Role(RECEIVER_TAX_ID, RoleGroup.TAX_NUMBER, ValueKind.TAX_ID, "Buyer VAT ID", invoice_only=True,
         words=("your",),
         cii=(f"{_CII_BUYER}/SpecifiedTaxRegistration/ID[@schemeID='VA']",),
         ubl=(f"{_UBL_BUYER}/PartyTaxScheme[TaxScheme/ID='VAT']/CompanyID",)),
    Role(NET, RoleGroup.SUM, ValueKind.MONEY, "Net amount",
         keywords={"net": 0.4, "net_or_total": 0.3, "subtotal": 0.3},
         cii=(f"{CII_SUMS}/TaxBasisTotalAmount",),
         ubl=("LegalMonetaryTotal/TaxExclusiveAmount",)),
    Role(TAX, RoleGroup.SUM, ValueKind.MONEY, "Tax amount",
         keywords={"tax": 0.4},
         cii=(f"{CII_SUMS}/TaxTotalAmount",),
         ubl=("TaxTotal/TaxAmount",)),
    Role(TOTAL, RoleGroup.SUM, ValueKind.MONEY, "Total",
         keywords={"rounded": 0.5, "gross": 0.45, "to_pay": 0.4, "total": 0.4, "net_or_total": 0.3, "subtotal": 0.1},
         cii=(f"{CII_SUMS}/GrandTotalAmount", f"{CII_SUMS}/DuePayableAmount"),
         ubl=("LegalMonetaryTotal/TaxInclusiveAmount", "LegalMonetaryTotal/PayableAmount")),
    Role(PAID, RoleGroup.SUM, ValueKind.MONEY, "Paid amount",
         keywords={"prepaid": 0.4, "paid": 0.1},
         cii=(f"{CII_SUMS}/TotalPrepaidAmount",),
         ubl=("LegalMonetaryTotal/PrepaidAmount",)),
    Role(DUE, RoleGroup.SUM, ValueKind.MONEY, "Amount due",
         keywords={"to_pay": 0.4},
         cii=(f"{CII_SUMS}/DuePayableAmount",),
         ubl=("LegalMonetaryTotal/PayableAmount",)),
    Role(EARLY_PAYMENT_DISCOUNT, RoleGroup.TERMS, ValueKind.PERCENT, "Early-payment discount",
         words=("early_payment",),
         cii=(f"{_CII_TERMS}/ApplicableTradePaymentDiscountTerms/CalculationPercent",
              f"{_CII_TERMS}/Description"),
         ubl=("PaymentTerms/SettlementDiscountPercent", "PaymentTerms/Note")),
)  # fmt: skip


def labels_of(*groups: RoleGroup) -> tuple[str, ...]:
    """The labels of some groups' roles, in the order of the rows."""
    return tuple(role.label for role in ROLES if role.group in groups)


ORDER = tuple(label for group in RoleGroup for label in labels_of(group))
"""The labels of all roles in the order of an answer."""
DATES = frozenset(("DATE", *(role.label for role in ROLES if role.kind is ValueKind.DATE)))
"""Labels of dates: the general one and those of roles."""
AMOUNTS = frozenset(("MONEY", *(role.label for role in ROLES if role.kind is ValueKind.MONEY)))
"""Labels of sums of money: the general one and those of roles."""
NUMBERS = frozenset(("ID_NUMBER", *labels_of(RoleGroup.NAMED))) - DATES
"""Labels of numbers of papers: the general one, and those of roles that words name."""
IDENTIFIERS = NUMBERS | {*labels_of(RoleGroup.ACCOUNT, RoleGroup.TAX_NUMBER)}
"""Labels of all numbers that white space ends: those of papers, accounts and taxpayers."""
NAMES = frozenset(("ORGANIZATION", "PERSON", *labels_of(RoleGroup.PARTY)))
"""Labels of what may be a party of a bill."""
