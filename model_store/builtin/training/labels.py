"""The label scheme of the built-in model: 35 labels, their general labels, and 71 BIO tags.

Generic names follow AWS Comprehend, invoice roles follow Google Document AI.
"""

from typing import Final

from service.core.fields.roles import AMOUNTS, DATES, IDENTIFIERS, ORDER, RoleGroup, labels_of

LABELS: Final = (
    *("PERSON", "ORGANIZATION", "LOCATION", "ADDRESS", "DATE", "MONEY", "QUANTITY", "PERCENT", "EMAIL", "PHONE", "URL"),
    *("ID_NUMBER", "COMMERCIAL_ITEM", "TAX_ID", "IBAN", "BIC", "INVOICE_ID", "INVOICE_DATE", "DUE_DATE"),
    *("PURCHASE_ORDER", "SUPPLIER_NAME", "RECEIVER_NAME", "NET_AMOUNT", "TAX_AMOUNT", "TOTAL_AMOUNT", "LINE_ITEM"),
    *("JOB_TITLE", "EMPLOYER", "SCHOOL", "DEGREE", "SKILL", "LANGUAGE", "PARTY", "GOVERNING_LAW", "EFFECTIVE_DATE"),
)
EVERY_LABEL: Final = frozenset(LABELS)
GENERAL_LABEL: Final = {
    **dict.fromkeys((DATES - {"DATE"}) | {"EFFECTIVE_DATE"}, "DATE"),
    **dict.fromkeys(AMOUNTS - {"MONEY"}, "MONEY"),
    **dict.fromkeys((*labels_of(RoleGroup.PARTY), "EMPLOYER", "SCHOOL", "PARTY"), "ORGANIZATION"),
    **dict.fromkeys(("GOVERNING_LAW", "ADDRESS"), "LOCATION"),
    **dict.fromkeys(IDENTIFIERS - {"ID_NUMBER"}, "ID_NUMBER"),
    "LINE_ITEM": "COMMERCIAL_ITEM",
}
TAGS: Final = ("O", *(f"{prefix}-{label}" for label in LABELS for prefix in "BI"))

_INVOICE_LABELS: Final = frozenset((*ORDER, "LINE_ITEM"))
_ABSENT: Final = {
    "ner_": _INVOICE_LABELS | {"DEGREE", "SKILL", "EFFECTIVE_DATE"},
    "legal_": _INVOICE_LABELS | {"DEGREE", "SKILL", "EFFECTIVE_DATE"},
    "jobad_": _INVOICE_LABELS | {"PARTY", "GOVERNING_LAW", "EFFECTIVE_DATE"},
    "resume_": _INVOICE_LABELS | {"PARTY", "GOVERNING_LAW", "EFFECTIVE_DATE"},
    "contract_": _INVOICE_LABELS | {"DEGREE", "SKILL", "SCHOOL"},
    "receipt_": frozenset({"PARTY", "GOVERNING_LAW", "EFFECTIVE_DATE", "DEGREE", "SKILL", "SCHOOL", "JOB_TITLE"}),
    "invoice_": frozenset({"PARTY", "GOVERNING_LAW", "EFFECTIVE_DATE", "DEGREE", "SKILL", "SCHOOL"}),
}
"""Beginning of a set's name → labels that cannot occur in its texts, although its annotators did not look for them."""


def settled_labels(name: str, annotated: frozenset[str]) -> frozenset[str]:
    """The labels that are absent wherever a set has no entity.

    A set that marks every organization marks every employer, so special labels are settled with their general one.
    """
    special = {label for label in LABELS if GENERAL_LABEL.get(label) in annotated}
    absent = next((labels for prefix, labels in _ABSENT.items() if name.startswith(prefix)), frozenset())
    return annotated | special | absent
