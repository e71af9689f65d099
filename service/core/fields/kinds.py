"""Document kind: classifies a document by its entities as invoice, receipt, résumé, or none of these.

The rules:
- A kind's evidence is the best score of each of its labels: a label counts once, however often it occurs.
- A bill needs evidence of at least `BILL_EVIDENCE`, and an amount in a role or two of these: its number or date, a
  party, an account or tax number. A résumé needs `RESUME_EVIDENCE`, and a person, e-mail or phone number.
- The best scores of contract labels are subtracted. The kind with more evidence is chosen.
- A letter is no résumé, though it names jobs and schools. It has a salutation, a closing line, and little else.
- A receipt is a bill without a receiver, due date, order number and bank account. Credit notes are told apart later,
  by their heading (`headings`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Protocol

from service.core.fields.roles import ORDER, ROLES, RoleGroup, labels_of

_AMOUNTS = frozenset(labels_of(RoleGroup.SUM))
_PARTIES = frozenset(labels_of(RoleGroup.PARTY))
_NAMED = frozenset(labels_of(RoleGroup.NAMED))
_NUMBERS = frozenset(labels_of(RoleGroup.ACCOUNT, RoleGroup.TAX_NUMBER))
_OF_INVOICES = frozenset(role.label for role in ROLES if role.invoice_only)
_BILL = frozenset(ORDER) | {"LINE_ITEM"}
_RESUME = frozenset(("JOB_TITLE", "EMPLOYER", "SCHOOL", "DEGREE", "SKILL"))
_REACHED = frozenset(("PERSON", "EMAIL", "PHONE"))
_CONTRACT = frozenset(("PARTY", "GOVERNING_LAW", "EFFECTIVE_DATE"))
BILL_EVIDENCE, RESUME_EVIDENCE = 1.0, 1.5
"""Least sum of a kind's evidence: the expected number of its labels that are right (scores are shares)."""


LINES_BESIDE_LETTER = 24
"""Most lines with text before the salutation, and after the closing line, of a mere letter."""

_SALUTATION = re.compile(
    r"(?:dear|sehr geehrte|liebe|guten tag|hallo|madame|monsieur|messieurs|cher|chère|estimad|muy señor|"
    r"apreciad|egregi|"
    r"gentil|spettabile|spett\.|prezad|caro |cara |exm|geachte|beste|bästa|kære|kjære|szanown|vážen|stimat|"
    r"уважаем|sayın|"
    r"hyvä|dengan hormat|kepada yth|拝啓|尊敬的|존경|السيد|प्रिय|महोदय)[^\n]{0,80}[,:!，：、]?\s*",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"(?:(?:yours |very |most )?(?:sincerely|faithfully|truly)|(?:kind|best|warm)(?:est)? regards|regards|respectfully|"
    r"(?:mit |viele |beste |herzliche )?(?:freundliche\w*|herzliche\w*|besten|vielen)? ?grü(?:ß|ss)e\w*|"
    r"hochachtungsvoll|"
    r"cordialement|bien à vous|(?:veuillez |je vous prie d')(?:agréer|recevoir)|salutations|atentamente|"
    r"un cordial saludo|"
    r"saludos|cordiali saluti|distinti saluti|in fede|atenciosamente|com os melhores cumprimentos|"
    r"met vriendelijke groet\w*|"
    r"hoogachtend|med vän\w+ häls\w+|med venlig hilsen|(?:med )?vennlig hilsen|z poważaniem|s pozdravem|cu stimă|"
    r"с уважением|saygılarımla|ystävällisin terveisin|hormat saya|敬具|此致|敬礼|드림|مع التحية|भवदीय)[^\n]{0,80}",
    re.IGNORECASE,
)


class ScoredLabel(Protocol):
    """An entity, or a mention of one."""

    @property
    def label(self) -> str:
        """Kind of entity."""

    @property
    def score(self) -> float:
        """Expected share of right entities at this score, 0 to 1."""


class PaperKind(StrEnum):
    """Kinds of papers; bills, contracts and résumés have fields."""

    INVOICE = "invoice"
    CREDIT_NOTE = "credit_note"
    RECEIPT = "receipt"
    RESUME = "resume"
    PRO_FORMA = "pro_forma"
    DEBIT_NOTE = "debit_note"
    INQUIRY = "inquiry"
    OFFER = "offer"
    ORDER = "order"
    ORDER_CONFIRMATION = "order_confirmation"
    DELIVERY_NOTE = "delivery_note"
    WAYBILL = "waybill"
    CUSTOMS_DECLARATION = "customs_declaration"
    RETURN_SLIP = "return_slip"
    COMPLAINT = "complaint"
    REMINDER = "reminder"
    STATEMENT = "statement"
    REMITTANCE_ADVICE = "remittance_advice"
    PAYMENT_CONFIRMATION = "payment_confirmation"
    PAYSLIP = "payslip"
    EXPENSE_REPORT = "expense_report"
    TIMESHEET = "timesheet"
    WORK_REPORT = "work_report"
    TAX_ASSESSMENT = "tax_assessment"
    PRICE_LIST = "price_list"
    VOUCHER = "voucher"
    CONTRACT = "contract"


BILL_KINDS = frozenset((PaperKind.INVOICE, PaperKind.CREDIT_NOTE, PaperKind.RECEIPT))
"""Kinds that have a bill's roles."""


def decide_kind(mentions: Iterable[ScoredLabel]) -> tuple[PaperKind | None, dict[str, float]]:
    """Decide a document's kind by its entities, and return the best score of each label that counts for it."""
    best: dict[str, float] = {}
    for mention in mentions:
        best[mention.label] = max(mention.score, best.get(mention.label, 0.0))
    bill, resume = _evidence(best, _BILL), _evidence(best, _RESUME)
    contract = sum(_evidence(best, _CONTRACT).values())
    bill_sum, resume_sum = sum(bill.values()) - contract, sum(resume.values()) - contract
    if bill_sum >= max(BILL_EVIDENCE, resume_sum) and _is_bill(bill):
        return PaperKind.INVOICE if _OF_INVOICES & bill.keys() else PaperKind.RECEIPT, bill
    if resume_sum >= RESUME_EVIDENCE and (reached := _evidence(best, _REACHED)):
        return PaperKind.RESUME, resume | reached
    return None, {}


def is_letter(text: str) -> bool:
    """True if a text is a letter and nothing else; a letter before a résumé in one file is not."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    opening = next((number for number, line in enumerate(lines) if _SALUTATION.fullmatch(line)), None)
    if opening is None or opening > LINES_BESIDE_LETTER:
        return False
    ends = [number for number, line in enumerate(lines) if number > opening and _CLOSING.fullmatch(line)]
    return bool(ends) and len(lines) - ends[0] <= LINES_BESIDE_LETTER


def _evidence(best: dict[str, float], labels: frozenset[str]) -> dict[str, float]:
    return {label: best[label] for label in sorted(labels & best.keys())}


def _is_bill(bill: dict[str, float]) -> bool:
    return bool(_AMOUNTS & bill.keys()) or sum(bool(part & bill.keys()) for part in (_NAMED, _PARTIES, _NUMBERS)) > 1
