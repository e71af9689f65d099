"""Classification of a paper: by its headings and sentences, and only then by the labels of its entities.

The rules:
- A heading weighs by its kind and form (`_WEIGHTS`); the heaviest counts, of equal ones the first. A paper that a bill
  refers to weighs less than the bill's own heading: "Lieferschein Nr. 7" above "Rechnung Nr. 5" is a reference.
- A paper's heading stands above its amounts. Behind the line of the `TOP_AMOUNTS`th amount a slip ("Remittance advice")
  or a section of a bill names no paper; there only a bill's heading counts, and less than any at the top.
- A sentence takes a bill's kind from a paper: "this is not an invoice" leaves it without one (a receipt stays one),
  "for customs purposes only" makes it pro forma, "we received your payment" counts where no heading names a bill, and
  "thank you for your order" where no till printed it either.
- A letter without a heading and an account is no bill, though it names a bill's number and amount.
- A paper without a heading is what its labels say (`kinds`), and has no code of UNTDID 1001. A résumé has no headings,
  but a contract with an employee.
- Where no label calls a paper a bill, a title alone names it, or a heading with a number; a bill has an amount besides.
- A paper headed as an invoice is one, and no receipt, unless a till printed it: a line of it begins with words for
  change or a payment, or has a date and the time of day. A till prints no receiver, due date, order number and bank
  account, and leaves no amount to pay behind a payment. The law of many countries calls such slips "tax invoice", and
  restaurants call theirs "Rechnung".
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field

from service.core.fields.headings import (
    HEADING_CHARACTERS,
    REFERRED,
    Heading,
    HeadingForm,
    find_headings,
)
from service.core.fields.kinds import BILL_KINDS, PaperKind, ScoredLabel, decide_kind, is_letter
from service.core.fields.lines import LONGEST_LINE
from service.core.fields.roles import RoleGroup, labels_of
from service.core.fields.vocabulary.paper_sentences import CUSTOMS, NO_BILL, ORDERED, PAID, SENTENCES
from service.core.fields.vocabulary.phrases import PhraseTable, any_of, folded

TOP_AMOUNTS = 2
"""Number of the line of an amount, from the top, at which a paper's top ends."""

TOP_CHARACTERS = 300
"""Characters of a text in which a contract's heading stands that no résumé has."""

_ABOUT = re.compile(
    r"\b(?:d|de|del|du|des|di|da|of|for|between|uber|fur|zur|zum|zwischen|tra|entre|ad)\b|(?:agreement|contract|lease)\W*$"
)
"""Words of a contract's heading that say what it is about, or the name at its end."""

_NO_CONTRACT = re.compile(
    r"(?i:notice|termination of|cancellation of|request|application|receipt|invoice|summary|our|your)\b"
)
"""Words before the name of a contract in the heading of a paper that is none."""
_CONTRACT_LINE = re.compile(
    rf"^(?!{_NO_CONTRACT.pattern})[A-Z]"
    r"(?:[^\n.:;@?!]|\b(?:No|NO)\.){2,70}\b(?:Agreement|AGREEMENT|Contract|CONTRACT|LEASE|Lease)[ \t]*$",
    re.M,
)
_SENTENCES = PhraseTable(phrases=SENTENCES)
_ACCOUNTS = labels_of(RoleGroup.ACCOUNT)
_BUYER = re.compile(rf"(?:^|[\t\n])(?:{any_of('buyer')})\s{{0,3}}(?:[:\t\n]|$)")
_AMOUNT = re.compile(r"[0-9][.,][0-9]{2}(?![0-9.,%])")
_SUM = re.compile(rf"{_AMOUNT.pattern}|(?:[$€£¥₹₩₺₽]|\bRs\.?) ?[0-9]|\b[0-9]{{1,3}}[.,][0-9]{{3}}\b")
_PAYMENT, _CHANGE, _TO_PAY = (re.compile(rf"\W*(?:{any_of(kind)})") for kind in ("paid", "change", "to_pay"))
_NOT_ZERO = re.compile(r"[1-9][0-9.,]*[.,][0-9]{2}(?![0-9])|[.,](?:0[1-9]|[1-9][0-9])(?![0-9])")
_DAY = re.compile(r"[0-9][/.-][0-9]{1,2}[/.-][0-9]{2}")
_TIME = re.compile(r"(?<![0-9:.])[0-9]{1,2} ?: ?[0-9]{2}(?![0-9])")
_LISTS = frozenset((PaperKind.STATEMENT, PaperKind.REMITTANCE_ADVICE))
"""Kinds of papers that list bills, and of slips on a bill: a bill's title beside theirs is the paper's."""
_EARLIER = frozenset((PaperKind.ORDER, PaperKind.OFFER, PaperKind.INQUIRY, PaperKind.CONTRACT))
"""Kinds of papers that are older than any bill: they have no bill's number, and a bill names them in its head."""
_WEIGHTS = (
    dict.fromkeys(PaperKind, (0, 5, 5))
    | dict.fromkeys(_LISTS, (0, 4, 4))
    | dict.fromkeys(REFERRED, (0, 2, 4))
    | dict.fromkeys(_EARLIER, (0, 2, 3))
    | dict.fromkeys(BILL_KINDS, (3, 4, 5))
)
"""Kind → weights of a heading as label, with more than a name, and as title (`HeadingForm`)."""
_BELOW_TOP = 1
"""Weight of a bill's heading behind the paper's top."""


@dataclass(frozen=True, slots=True)
class PaperMatch:
    """A paper's kind; None where it is not known, and then it is no bill.

    Attributes:
        heading: the heading that names it; None without one.
        document_type: code of UNTDID 1001 that the heading says.
        evidence: the best score of each label that counts for a bill or a résumé.
    """

    kind: PaperKind | None
    heading: Heading | None = None
    document_type: str | None = None
    evidence: dict[str, float] = field(default_factory=dict)

    def title(self, text: str) -> str | None:
        """Return the heading as the paper's text writes it."""
        return text[self.heading.start : self.heading.end] if self.heading else None


def paper_kind(text: str, mentions: Iterable[ScoredLabel]) -> PaperMatch:
    """Classify one paper by its text and its entities."""
    labelled, evidence = decide_kind(mentions)
    heading = _title(text)
    if labelled in (PaperKind.RESUME, None):
        contract = heading if heading is not None and _is_contract(text, heading) else _contract_line(text)
        if contract is not None and contract.start <= (heading or contract).start:
            return PaperMatch(contract.kind, contract)
    if labelled is PaperKind.RESUME:
        return PaperMatch(None) if is_letter(text) else PaperMatch(labelled, evidence=evidence)
    if labelled is None and (heading is None or not _stands_alone(text, heading)):
        return PaperMatch(None)
    if heading is not None and heading.kind not in BILL_KINDS:
        return PaperMatch(heading.kind, heading, heading.code)
    if said := _by_sentence(text, heading, evidence):
        return said
    if heading is None or _is_receipt(text, heading, labelled):
        return PaperMatch(labelled or PaperKind.RECEIPT, heading, None, evidence)
    return PaperMatch(heading.kind, heading, heading.code, evidence)


def _is_contract(text: str, heading: Heading) -> bool:
    """True if a heading at the very top names a contract, alone or with what it is about; a letter has a title."""
    if heading.kind is not PaperKind.CONTRACT or heading.start >= TOP_CHARACTERS:
        return False
    cell = text[heading.start : heading.end]
    is_about = _NO_CONTRACT.match(cell) is None and cell[:1].isupper() and _ABOUT.search(folded(cell)) is not None
    return heading.form is HeadingForm.TITLE or (
        heading.form is HeadingForm.EXTENDED and is_about and not is_letter(text)
    )


def _contract_line(text: str) -> Heading | None:
    """Find a contract's long title at the very top: "Worldwide License and Distribution Agreement"."""
    line = _CONTRACT_LINE.search(text, 0, TOP_CHARACTERS)
    if line is None or is_letter(text):
        return None
    return Heading(PaperKind.CONTRACT, *line.span(), None, HeadingForm.TITLE)


def _stands_alone(text: str, heading: Heading) -> bool:
    """True if a heading names a paper that no label calls a bill: with a number or as title; a bill has an amount."""
    if heading.kind in BILL_KINDS and _SUM.search(text) is None:
        return False
    if heading.kind is PaperKind.CONTRACT and heading.form is not HeadingForm.TITLE and is_letter(text):
        return False
    has_number = any(map(str.isdigit, text[heading.start : heading.end]))
    return heading.form is HeadingForm.TITLE or (heading.form is HeadingForm.EXTENDED and has_number)


def _by_sentence(text: str, heading: Heading | None, evidence: Container[str]) -> PaperMatch | None:
    """Classify a paper by a sentence that says what it is, or by being a letter; None where nothing says so."""
    if heading is not None and heading.kind is PaperKind.RECEIPT:
        return None
    said = {match.kind for match in _SENTENCES.find(folded(text[:HEADING_CHARACTERS]))}
    if NO_BILL in said:
        return PaperMatch(None, heading)
    if CUSTOMS in said:
        return PaperMatch(PaperKind.PRO_FORMA, heading)
    if heading is not None:
        return None
    if PAID in said:
        return PaperMatch(PaperKind.PAYMENT_CONFIRMATION)
    if ORDERED in said and not _is_till_slip(_top_lines(text)):
        return PaperMatch(PaperKind.ORDER_CONFIRMATION)
    has_account = any(label in evidence for label in _ACCOUNTS)
    return PaperMatch(None) if is_letter(text) and not has_account else None


def _is_receipt(text: str, heading: Heading, labelled: PaperKind | None) -> bool:
    """True if a bill headed as an invoice is a receipt."""
    if heading.kind is not PaperKind.INVOICE or labelled is PaperKind.INVOICE:
        return False
    lines = _top_lines(text)
    stated = [(line, words) for line, words in lines if _AMOUNT.search(line)]
    if any(map(_CHANGE.match, (words for _, words in stated))):
        return True
    if _BUYER.search(folded(text[:HEADING_CHARACTERS])) or _leaves_to_pay(stated):
        return False
    return heading.form is HeadingForm.LABEL or _is_till_slip(lines)


def _top_lines(text: str) -> list[tuple[str, str]]:
    """Return the lines of a text's beginning, as written and folded."""
    lines = text[:HEADING_CHARACTERS].split("\n")
    return [(line, folded(line)) for line in lines if len(line) <= LONGEST_LINE]


def _leaves_to_pay(stated: Sequence[tuple[str, str]]) -> bool:
    """True if an amount above 0 is left to pay behind a payment; of lines with amounts, as written and folded."""
    payment = next((place for place, (_, words) in enumerate(stated) if _PAYMENT.match(words)), len(stated))
    behind = (line for line, words in stated[payment + 1 :] if _TO_PAY.match(words))
    return any(_NOT_ZERO.search(line) for line in behind)


def _is_till_slip(lines: Sequence[tuple[str, str]]) -> bool:
    """True if a line, as written and folded, tells a payment and its amount, or a date with the time of day."""
    return any(
        (_AMOUNT.search(line) and _PAYMENT.match(words)) or (_DAY.search(line) and _TIME.search(line))
        for line, words in lines
    )


def _title(text: str) -> Heading | None:
    """Find the heading that says what a paper is."""
    best, most, top = None, 0, _top(text)
    for heading in find_headings(text, 0, HEADING_CHARACTERS):
        weight = heading_weight(heading, is_at_top=heading.start < top)
        if weight > most:
            best, most = heading, weight
    return best


def heading_weight(heading: Heading, *, is_at_top: bool = True) -> int:
    """Weigh a heading by its form and its place: the heaviest says what a paper is."""
    if not is_at_top:
        return _BELOW_TOP if heading.kind in BILL_KINDS else 0
    return _WEIGHTS[heading.kind][heading.form - 1]


def _top(text: str) -> int:
    """Find the end of a paper's top."""
    start = lines = 0
    for line in text[:HEADING_CHARACTERS].split("\n"):
        lines += _AMOUNT.search(line) is not None
        if lines == TOP_AMOUNTS:
            return start
        start += len(line) + 1
    return len(text)
