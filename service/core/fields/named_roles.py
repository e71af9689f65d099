"""Dates and numbers of a bill: by the model's labels, and by the words right before them.

The rules:
- A mention under a role's label is of that role; the words for the role before it speak for it.
- A date or number that the model gave no role, or another, is of the role whose words stand before it on its line.
- A date called the bill's own that stands after a word for when to pay counts less.
- A number after words for another bill ("related invoice", "Facture liée") is not this one's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from service.core.fields.choice import Choice, Reason, choose, ranked
from service.core.fields.lines import TextLines
from service.core.fields.mention import Mention

DATES = frozenset(("DATE", "INVOICE_DATE", "DUE_DATE"))
NUMBERS = frozenset(("ID_NUMBER", "INVOICE_ID", "PURCHASE_ORDER"))
NAMED_LABELS = ("INVOICE_ID", "INVOICE_DATE", "DUE_DATE", "PURCHASE_ORDER")
WORD = 0.35
"""What words for a role before a mention add to its weight."""
UNNAMED = 0.5
"""Weight of a score under another label."""
CONTRADICTED = 0.35
"""Weight of a score as this bill's date after a word for when to pay."""
BEFORE = 40
"""Characters before a mention in which words for its role are looked for."""

_DUE = (
    r"\b(?:due(?:[ -]date)?|pay(?:able|ment)? (?:by|until)|fällig\w*|zahlbar\w*|zahlungsziel|échéance|vencimiento|"
    r"scadenza|vencimento|vervaldatum|betaaldatum|förfallodatum|forfald\w*|termin płatności|срок оплаты|"
    r"son ödeme(?: tarihi)?)\b|支払期限|付款日期"
)
_OF_ANOTHER_DAY = (
    r"\b(?:delivery|shipping|service|order|print|start|end|birth)[ -]?date\b"
    r"|\bdate (?:de livraison|of (?:birth|supply))|\bfecha de (?:entrega|pedido)"
    r"|\bdata (?:di consegna|de entrega)|納品日"
)
_DATED = (
    r"\b(?:date|dated|datum|rechnungsdatum|fecha|data|factuurdatum|fakturadatum|dato|tarih\w*|дата|от)\b"
    r"|発行日|日付|日期|التاريخ"
)
_DAY_WORD = re.compile(
    rf"(?P<DUE_DATE>{_DUE})|(?P<another>{_OF_ANOTHER_DAY})|(?P<INVOICE_DATE>{_DATED})", re.IGNORECASE
)
_COUNT = r"[\s:.#-]*(?:(?:no|nr|num|number|nummer|numéro|número|numero|id|code)\b|n[°º.]|№|番号|号码|번호)?[\s:.#№]*$"
_BILL = (
    r"(?:\b(?:invoice|rechnungs?|facture|factura|fattura|fatura|factuur|faktura|credit note|gutschrift|avoir|счет|счёт)"
    r"|請求書|发票|송장)"
)
_ANOTHER_BILL = re.compile(
    r"(?:\b(?:related|original|corrected|previous) invoice|\bfacture (?:liée|d['’]origine|initiale|rectifiée)|"
    r"\b(?:ursprungs|original|bezugs)rechnung|\bzu(?:r)? rechnung|\bfactura (?:rectificada|original)|"
    r"\bfattura (?:collegata|di riferimento)|\bfatura (?:original|de referência)|\boorspronkelijke factuur)" + _COUNT,
    re.IGNORECASE,
)
_ORDER = (
    r"(?:\b(?:purchase order|order|p\.?o\.?|bestellung|bestell|auftrags?|bon de commande|commande|pedido|"
    r"ordine|encomenda|bestelling|beställning|zamówienie|заказ)|注文|订单|주문)"
)
_NUMBER_WORDS = {
    "INVOICE_ID": re.compile(_BILL + _COUNT, re.IGNORECASE),
    "PURCHASE_ORDER": re.compile(_ORDER + _COUNT, re.IGNORECASE),
}


def choose_named(mentions: Sequence[Mention], lines: TextLines) -> dict[str, Choice]:
    """The choices for a bill's numbers and dates by label; a role that nothing speaks for is left out."""
    said = {each.entity: words_before(lines, each) for each in mentions if each.label in DATES | NUMBERS}
    choices = {}
    for label in NAMED_LABELS:
        family = DATES if label in DATES else NUMBERS
        likely = ranked((each for each in mentions if each.label in family), partial(_weight, label=label, said=said))
        by_label = bool(likely) and likely[0][0].label == label
        if choice := choose(likely, Reason.LABEL if by_label else Reason.CONTEXT):
            choices[label] = choice
    return choices


def words_before(lines: TextLines, mention: Mention) -> str | None:
    """The role that the nearest words before a date or number name; `another` for one of another bill or day."""
    before = lines.before(mention.start, BEFORE)
    if mention.label in DATES:
        found = list(_DAY_WORD.finditer(before))
        return found[-1].lastgroup if found else None
    if _ANOTHER_BILL.search(before):
        return "another"
    return next((label for label, words in _NUMBER_WORDS.items() if words.search(before)), None)


def _weight(mention: Mention, label: str, said: dict[int, str | None]) -> float:
    words = said[mention.entity]
    if mention.label != label:
        return UNNAMED * mention.score + WORD if words == label else 0.0
    if words == label:
        return mention.score + WORD
    if label == "INVOICE_ID" and words == "another":
        return 0.0
    if label == "INVOICE_DATE" and words == "DUE_DATE":
        return CONTRADICTED * mention.score
    return mention.score
