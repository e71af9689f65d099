"""Accounts of a bill: the account to pay to and its bank, told apart from the payer's own account.

The rules:
- An account whose checksum holds comes before one whose checksum does not; of several the first, or one named twice.
  A number that cannot be an account (masked, cut) has no value of the kind and is none.
- An account is the payer's where the nearest words on its line, or on the line that its sentence begins on, say that it
  will be debited ("we will debit your account"), and not that it is to be paid to ("transfer to"). A line with another
  account is another sentence.
- The bank is the one whose code follows the account, before the next one; else the first.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from service.core.decoding.value import ValueKind
from service.core.fields.lines import TextLines
from service.core.fields.mentions import Choice, Mention, choose, ranked
from service.core.fields.vocabulary.phrases import PhraseTable, folded

IBAN, BIC = "IBAN", "BIC"
WRONG_CHECKSUM = 0.1
"""Factor of the weight of an account whose checksum does not hold."""
OWN_BANK = 1.0
"""Weight added to the code of a bank that follows the chosen account."""
MOST_ACCOUNTS = 100
"""Most accounts of a bill that are compared."""
AROUND = 160
"""Characters of a line before and behind an account that are searched for words of payment."""

_WORDS = PhraseTable("debit", "transfer")
_ENDS_SENTENCE = re.compile(r"[.!?。]\s*$")


def choose_accounts(mentions: Sequence[Mention], lines: TextLines) -> dict[str, Choice]:
    """Choose the account to pay to and its bank's code, by label; a role without a candidate is left out."""
    accounts = [each for each in mentions if each.label == IBAN and each.value.kind is ValueKind.IBAN][:MOST_ACCOUNTS]
    account = choose(ranked((each for each in accounts if not _is_payers(each, accounts, lines)), _weight))
    found = {IBAN: account, BIC: _bank(mentions, accounts, account)}
    return {label: choice for label, choice in found.items() if choice}


def _is_payers(account: Mention, accounts: Sequence[Mention], lines: TextLines) -> bool:
    """True if the nearest words of payment say that the payer's account is meant."""
    before = lines.before(account.start, AROUND)
    above = next(iter(lines.above(account.start, 1, AROUND)), "")
    if not _ENDS_SENTENCE.search(above) and not any(each.text in above for each in accounts):
        before = f"{above}\n{before}"
    found = list(_WORDS.find(folded(before)))[-1:] or _WORDS.find(folded(lines.after(account.end, AROUND)))
    return bool(found) and found[0].kind == "debit"


def _weight(account: Mention) -> float:
    return 1.0 if account.value.valid else WRONG_CHECKSUM


def _bank(mentions: Sequence[Mention], accounts: Sequence[Mention], account: Choice | None) -> Choice | None:
    start = account.best.start if account else sys.maxsize
    end = min((each.start for each in accounts if each.start > start), default=sys.maxsize)
    codes = (each for each in mentions if each.label == BIC and each.value.kind is ValueKind.BIC)
    return choose(ranked(codes, lambda code: code.score + (OWN_BANK if start < code.start < end else 0.0)))
