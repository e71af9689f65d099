"""The label scheme: 35 labels, their coarse parents, 71 BIO tags, and the way from tags to spans.

Generic names follow AWS Comprehend, invoice roles follow Google Document AI.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

LABELS: Final = (
    *("PERSON", "ORGANIZATION", "LOCATION", "ADDRESS", "DATE", "MONEY", "QUANTITY", "PERCENT", "EMAIL", "PHONE", "URL"),
    *("ID_NUMBER", "COMMERCIAL_ITEM", "TAX_ID", "IBAN", "BIC", "INVOICE_ID", "INVOICE_DATE", "DUE_DATE"),
    *("PURCHASE_ORDER", "SUPPLIER_NAME", "RECEIVER_NAME", "NET_AMOUNT", "TAX_AMOUNT", "TOTAL_AMOUNT", "LINE_ITEM"),
    *("JOB_TITLE", "EMPLOYER", "SCHOOL", "DEGREE", "SKILL", "LANGUAGE", "PARTY", "GOVERNING_LAW", "EFFECTIVE_DATE"),
)
COARSE_PARENT: Final = {
    **dict.fromkeys(("INVOICE_DATE", "DUE_DATE", "EFFECTIVE_DATE"), "DATE"),
    **dict.fromkeys(("NET_AMOUNT", "TAX_AMOUNT", "TOTAL_AMOUNT"), "MONEY"),
    **dict.fromkeys(("SUPPLIER_NAME", "RECEIVER_NAME", "EMPLOYER", "SCHOOL", "PARTY"), "ORGANIZATION"),
    **dict.fromkeys(("GOVERNING_LAW", "ADDRESS"), "LOCATION"),
    **dict.fromkeys(("INVOICE_ID", "PURCHASE_ORDER", "TAX_ID", "IBAN", "BIC"), "ID_NUMBER"),
    "LINE_ITEM": "COMMERCIAL_ITEM",
}
INVOICE_LABELS: Final = frozenset(
    {
        *("TAX_ID", "IBAN", "BIC", "INVOICE_ID", "INVOICE_DATE", "DUE_DATE", "PURCHASE_ORDER", "SUPPLIER_NAME"),
        *("RECEIVER_NAME", "NET_AMOUNT", "TAX_AMOUNT", "TOTAL_AMOUNT", "LINE_ITEM"),
    }
)
TAGS: Final = ("O", *(f"{prefix}-{label}" for label in LABELS for prefix in "BI"))
TAG_IDS: Final = {tag: number for number, tag in enumerate(TAGS)}


class Span(NamedTuple):
    """One entity: code-point offsets, end exclusive. `label` None: marked as something outside the scheme."""

    start: int
    end: int
    label: str | None


def coarse(label: str) -> str:
    """The label's parent, or itself when it has none."""
    return COARSE_PARENT.get(label, label)


def with_descendants(labels: frozenset[str]) -> frozenset[str]:
    """The labels and their children: a set that marks every organization marks every employer."""
    return labels | {label for label in LABELS if coarse(label) in labels}


def spans_from_tags(tag_ids: Sequence[int], offsets: Sequence[tuple[int, int]]) -> list[Span]:
    """Spans of a tag path. An I tag that continues nothing begins a span, as transformers' pipeline does it."""
    spans: list[Span] = []
    open_label = ""
    for tag_id, (start, end) in zip(tag_ids, offsets, strict=True):
        tag = TAGS[tag_id]
        label = tag[2:]
        if tag[0] == "I" and open_label == label:
            spans[-1] = Span(spans[-1].start, end, label)
        elif tag != "O":
            spans.append(Span(start, end, label))
        open_label = label
    return spans
