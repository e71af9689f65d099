"""Roles of a bill's fields: one row for each role, from which all readers, choosers and writers derive their labels.

A role's name in an answer is its label in lower case. A model need not have entities of that label: the words before a
value name the role as well. Those words are in `vocabulary`; a row names the fields of `BillWords` that hold them.

The rows are in the order in which an electronic invoice is written for people, with a party's numbers under its name.
Answers have the order of `ORDER`.

Sources of the paths: EN 16931-1 (the terms), UN/CEFACT CII D16B, OASIS UBL 2.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from service.core.decoding.value import ValueKind

Paths = tuple[str, ...]
"""XPaths from an invoice's root, names without namespaces; the first that leads to a value counts."""


class RoleGroup(Enum):
    """The way in which a role's value is chosen; the groups are in the order of answers."""

    NAMED = auto()
    """A number or a date: by its label and the words before it (`named_roles`)."""
    PARTY = auto()
    """A name: by its label, the words before it and its place (`parties`)."""
    SUM = auto()
    """An amount: by its label, its key and by what adds up (`totals`)."""
    ACCOUNT = auto()
    """A number with a form of its own: by its score alone (`document_fields`)."""
    TAX_NUMBER = auto()
    """A tax number: by its form and the party that it stands with (`parties`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """One role of a bill.

    Attributes:
        label: the label of its entities.
        kind: the form of its value.
        heading: the words before it in the text of an electronic invoice.
        words: fields of `BillWords` with the words for it before a number, a date or a name.
        keywords: class of an amount's key (`AmountKeyword`, also fields of `BillWords`) → weight that it adds to the
            amount's score.
        invoice_only: whether no receipt has it: a bill that has it is an invoice.
        cii: paths in CII; those of ZUGFeRD 1 differ in names alone (`documents/invoice_syntaxes`).
        ubl: paths in UBL, of an invoice and of a credit note.
    """

    label: str
    group: RoleGroup
    kind: ValueKind = ValueKind.TEXT
    heading: str
    words: tuple[str, ...] = ()
    keywords: Mapping[str, float] = field(default_factory=dict)
    invoice_only: bool = False
    cii: Paths
    ubl: Paths


SUPPLIER, RECEIVER = "SUPPLIER_NAME", "RECEIVER_NAME"
NET, TAX, TOTAL = "NET_AMOUNT", "TAX_AMOUNT", "TOTAL_AMOUNT"
TAX_ID = "TAX_ID"

CII_AGREEMENT = "SupplyChainTradeTransaction/ApplicableHeaderTradeAgreement"
CII_SETTLEMENT = "SupplyChainTradeTransaction/ApplicableHeaderTradeSettlement"
CII_SUMS = f"{CII_SETTLEMENT}/SpecifiedTradeSettlementHeaderMonetarySummation"
_CII_ORDER = f"{CII_AGREEMENT}/BuyerOrderReferencedDocument"
_CII_SELLER = f"{CII_AGREEMENT}/SellerTradeParty"
_CII_MEANS = f"{CII_SETTLEMENT}/SpecifiedTradeSettlementPaymentMeans"
_UBL_SELLER, _UBL_BUYER = "AccountingSupplierParty/Party", "AccountingCustomerParty/Party"
_UBL_ACCOUNT = "PaymentMeans/PayeeFinancialAccount"

ROLES: tuple[Role, ...] = (
    Role(
        label="INVOICE_ID",
        group=RoleGroup.NAMED,
        heading="Invoice number",
        words=("bill", "credit", "correction"),
        cii=("ExchangedDocument/ID",),
        ubl=("ID",),
    ),
    Role(
        label="INVOICE_DATE",
        group=RoleGroup.NAMED,
        kind=ValueKind.DATE,
        heading="Invoice date",
        words=("dated",),
        cii=("ExchangedDocument/IssueDateTime/DateTimeString",),
        ubl=("IssueDate",),
    ),
    Role(
        label="DUE_DATE",
        group=RoleGroup.NAMED,
        kind=ValueKind.DATE,
        heading="Due date",
        words=("due",),
        invoice_only=True,
        cii=(f"{CII_SETTLEMENT}/SpecifiedTradePaymentTerms/DueDateDateTime/DateTimeString",),
        ubl=("DueDate", "PaymentMeans/PaymentDueDate"),
    ),
    Role(
        label="PURCHASE_ORDER",
        group=RoleGroup.NAMED,
        heading="Purchase order",
        words=("order",),
        invoice_only=True,
        cii=(f"{_CII_ORDER}/IssuerAssignedID", f"{_CII_ORDER}/ID"),
        ubl=("OrderReference/ID",),
    ),
    Role(
        label=SUPPLIER,
        group=RoleGroup.PARTY,
        heading="Supplier",
        words=("seller",),
        cii=(f"{_CII_SELLER}/Name",),
        ubl=(f"{_UBL_SELLER}/PartyLegalEntity/RegistrationName", f"{_UBL_SELLER}/PartyName/Name"),
    ),
    Role(
        label=TAX_ID,
        group=RoleGroup.TAX_NUMBER,
        kind=ValueKind.TAX_ID,
        heading="VAT ID",
        cii=(
            f"{_CII_SELLER}/SpecifiedTaxRegistration/ID[@schemeID='VA']",
            f"{_CII_SELLER}/SpecifiedTaxRegistration/ID[@schemeID='FC']",
        ),
        ubl=(f"{_UBL_SELLER}/PartyTaxScheme[TaxScheme/ID='VAT']/CompanyID", f"{_UBL_SELLER}/PartyTaxScheme/CompanyID"),
    ),
    Role(
        label="IBAN",
        group=RoleGroup.ACCOUNT,
        kind=ValueKind.IBAN,
        heading="IBAN",
        invoice_only=True,
        cii=(f"{_CII_MEANS}/PayeePartyCreditorFinancialAccount/IBANID",),
        ubl=(f"{_UBL_ACCOUNT}/ID",),
    ),
    Role(
        label="BIC",
        group=RoleGroup.ACCOUNT,
        kind=ValueKind.BIC,
        heading="BIC",
        invoice_only=True,
        cii=(f"{_CII_MEANS}/PayeeSpecifiedCreditorFinancialInstitution/BICID",),
        ubl=(
            f"{_UBL_ACCOUNT}/FinancialInstitutionBranch/ID",
            f"{_UBL_ACCOUNT}/FinancialInstitutionBranch/FinancialInstitution/ID",
        ),
    ),
    Role(
        label=RECEIVER,
        group=RoleGroup.PARTY,
        heading="Bill to",
        words=("buyer",),
        invoice_only=True,
        cii=(f"{CII_AGREEMENT}/BuyerTradeParty/Name",),
        ubl=(f"{_UBL_BUYER}/PartyLegalEntity/RegistrationName", f"{_UBL_BUYER}/PartyName/Name"),
    ),
    Role(
        label=NET,
        group=RoleGroup.SUM,
        kind=ValueKind.MONEY,
        heading="Net amount",
        keywords={"net": 0.4, "net_or_total": 0.3, "subtotal": 0.3},
        cii=(f"{CII_SUMS}/TaxBasisTotalAmount",),
        ubl=("LegalMonetaryTotal/TaxExclusiveAmount",),
    ),
    Role(
        label=TAX,
        group=RoleGroup.SUM,
        kind=ValueKind.MONEY,
        heading="Tax amount",
        keywords={"tax": 0.4},
        cii=(f"{CII_SUMS}/TaxTotalAmount",),
        ubl=("TaxTotal/TaxAmount",),
    ),
    Role(
        label=TOTAL,
        group=RoleGroup.SUM,
        kind=ValueKind.MONEY,
        heading="Total",
        keywords={"rounded": 0.5, "gross": 0.45, "to_pay": 0.4, "total": 0.4, "net_or_total": 0.3, "subtotal": 0.1},
        cii=(f"{CII_SUMS}/GrandTotalAmount", f"{CII_SUMS}/DuePayableAmount"),
        ubl=("LegalMonetaryTotal/TaxInclusiveAmount", "LegalMonetaryTotal/PayableAmount"),
    ),
)


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
