"""Payment references: finds a bill's reference by its form and checksum, or behind words for one.

The rules:
- Forms that prove themselves: ISO 11649 (`RF18 5390 0754 7034`), the 27 digits of a Swiss QR bill, the Belgian
  `+++090/9337/55493+++`. Their checksums have to hold.
- Forms without a checksum that no other number has: the Danish `+71<…+…<`; `SI12 …` and `HR01 …` behind their words; a
  number behind "ref" on the line of an account.
- Behind words for a reference ("OCR-nummer", "KID", "Verwendungszweck") any number is one, with all its groups of
  digits: `1234 56789`.
- Words of one country tell the check digit of a number in digits: Norwegian "KID", Finnish "viite", Swedish "OCR".
  An OCR number that is the bill's own may have none.

Sources: ISO 11649 (modulo 97 of ISO 7064), Swiss Payment Standards (modulo 10, recursive), Febelfin OGM-VCS, Danish
Betalingsservice (FIK), Slovenian UPN; Norwegian KID (modulo 10 or 11), Finnish viite (weights 7, 3, 1), Swedish OCR.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import cycle, islice

from service.core.fields.cells import Span

_CREDITOR = re.compile(r"(?<![^\W_])RF[0-9]{2}(?: ?[0-9A-Z]{1,4}){1,6}(?![^\W_])")
_LATER_GROUP = re.compile(r"(?<! ) (?=[^ ]{1,4}(?: |$))")
_SWISS = re.compile(r"(?<![0-9.,] )(?<![\w.,-])[0-9]{2}(?: ?[0-9]{5}){5}(?![\w-]| ?[0-9])")
_BELGIAN = re.compile(r"(?:\+{3}|\*{3}) ?([0-9]{3}) ?/ ?([0-9]{4}) ?/ ?([0-9]{5}) ?(?:\+{3}|\*{3})")
_DANISH = re.compile(r"\+[0-9]{2}<(?: ?[0-9]{14,16})? ?\+ ?[0-9]{7,8}<")
_NAMED = re.compile(
    r"(?:sklic|referenca|poziv na broj|model)[^\n]{0,24}?[\s:(]"
    r"(?P<reference>(?:SI|HR)[0-9]{2}(?: ?[0-9-]{1,22}){1,3})(?!\w)",
    re.IGNORECASE,
)
_BESIDE_ACCOUNT = re.compile(
    r"(?<![^\W\d_])(?:bpay|bank(?:ing)?|acc(?:oun)?t?|iban|bsb|konto|compte|cuenta|conto|rekening)(?![^\W\d_])[^\n]{0,80}?"
    r"[\s,;(](?:r[eé]f(?:erence|erenz|érence|erencia|erentie)?|rif)\.?[:\s]{1,2}(?P<reference>(?=[A-Z/-]{0,12}[0-9])[A-Z0-9][A-Z0-9/-]{3,24})(?![\w/-])",
    re.IGNORECASE,
)
_MORE_GROUPS = re.compile(r"(?: [0-9]{1,8}(?![\w.,/-])){1,8}")
_DIGITS = re.compile(r"(?:RF)?[0-9]{1,8}")
_KEY_OF_KID = re.compile(r"(?<![^\W\d_])kid(?![^\W\d_])")
_KEY_OF_VIITE = re.compile(r"(?<![^\W\d_])viite(?:numero)?(?![^\W\d_])")
_KEY_OF_OCR = re.compile(r"(?<![^\W\d_])ocr(?![^\W\d_])")
_KID = re.compile(r"[0-9]{1,24}[0-9-]", re.ASCII)
_VIITE = re.compile(r"[0-9]{4,20}", re.ASCII)
_OCR = re.compile(r"[0-9]{2,25}", re.ASCII)
_KID_WEIGHTS, _VIITE_WEIGHTS = (2, 3, 4, 5, 6, 7), (7, 3, 1)
"""Weights of the digits before the check digit, from the right, over and over."""
_CARRY = (0, 9, 4, 6, 8, 2, 7, 1, 3, 5)
"""Row of the Swiss modulo 10, recursive: carry + digit → next carry."""


def reference_spans(text: str) -> Iterator[Span]:
    """Yield the references that their form tells from other numbers, in no order."""
    formed = [*_proved_spans(text), *(match.span() for match in _DANISH.finditer(text))]
    yield from formed
    begun = {start for start, _ in formed}
    for pattern in (_NAMED, _BESIDE_ACCOUNT):
        named = (match.span("reference") for match in pattern.finditer(text))
        yield from (whole_reference(text, *span) for span in named if span[0] not in begun)


def _proved_spans(text: str) -> Iterator[Span]:
    """Yield the references whose checksum holds."""
    for match in _CREDITOR.finditer(text):
        ends = (match.start() + group.start() for group in _LATER_GROUP.finditer(match[0]))
        proved = (end for end in (match.end(), *[*ends][::-1]) if has_valid_checksum(text[match.start() : end]))
        yield from ((match.start(), end) for end in islice(proved, 1))
    for pattern in (_SWISS, _BELGIAN):
        yield from (match.span() for match in pattern.finditer(text) if has_valid_checksum(match[0]))


def whole_reference(text: str, start: int, end: int) -> Span:
    """Extend the first group of a reference behind words for one to all its groups of digits."""
    more = _MORE_GROUPS.match(text, end) if _DIGITS.fullmatch(text, start, end) else None
    return start, more.end() if more else end


def has_valid_checksum(reference: str) -> bool | None:
    """True if a reference's checksum holds; None for forms without one."""
    compact = "".join(reference.split())
    if _CREDITOR.fullmatch(compact):
        return int("".join(str(int(sign, 36)) for sign in compact[4:] + compact[:4])) % 97 == 1
    if _SWISS.fullmatch(compact):
        return _has_swiss_digit(compact)
    if parts := _BELGIAN.fullmatch(compact):
        number = "".join(parts.groups())
        return (int(number[:10]) % 97 or 97) == int(number[10:])
    return None


def _has_swiss_digit(digits: str) -> bool:
    """True if the last digit is that of modulo 10, recursive; a reference of zeros is none."""
    carry = 0
    for digit in digits[:-1]:
        carry = _CARRY[(carry + int(digit)) % 10]
    return (10 - carry) % 10 == int(digits[-1]) and bool(int(digits))


def has_valid_check_digit(key: str, reference: str, bill: str | None = None) -> bool | None:
    """True if a reference has the check digit that its folded key promises; None for keys and forms without one.

    Args:
        bill: the number of the bill.
    """
    number = "".join(reference.split())
    if _KEY_OF_KID.search(key) and _KID.fullmatch(number):
        return _has_luhn_digit(number) or _has_kid_digit(number)
    if _KEY_OF_VIITE.search(key) and _VIITE.fullmatch(number):
        return -_weighed(number, _VIITE_WEIGHTS) % 10 == int(number[-1])
    if _KEY_OF_OCR.search(key) and _OCR.fullmatch(number) and number != bill:
        return _has_luhn_digit(number)
    return None


def _has_luhn_digit(number: str) -> bool:
    """True if the last digit is that of modulo 10 with the weights 2 and 1."""
    if not number.isdecimal():
        return False
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in number[-2::-2])
    return (sum(doubled) + sum(map(int, number[::-2]))) % 10 == 0


def _has_kid_digit(number: str) -> bool:
    """True if the last digit is that of modulo 11; `-` stands for 10."""
    return "0123456789-"[-_weighed(number, _KID_WEIGHTS) % 11] == number[-1]


def _weighed(number: str, weights: Sequence[int]) -> int:
    """Add up the digits before the last one, each times its weight."""
    return sum(int(digit) * weight for digit, weight in zip(number[-2::-1], cycle(weights), strict=False))
