"""Reads contacts and identifiers: e-mail, web address, telephone, bank account, bank, tax number, payment card.

The rules for accounts:
- A character that a reader takes for a similar one ("O" for "0") is corrected where the country's form has digits, or
  letters, only, and only if the checksum then holds.
- A Polish account of 26 digits (NRB) whose checksum holds with its country is that IBAN.
- A masked number ("FR76 XXXX … 739") is no account.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumber, PhoneNumberFormat
from stdnum import bic, get_cc_module, iban, luhn, numdb
from stdnum.exceptions import InvalidChecksum, ValidationError

from service.core.decoding.value import Value, ValueKind
from service.core.fields.payment_references import has_valid_checksum
from service.text.values.context import DocumentContext
from service.text.values.normalization import LONGEST_CHARACTERS, NOTES, plain, visible

_PHONE = re.compile(r"[+0-9(][0-9+()./ \-–]*(?:(?:\s*(?:ext\.?|x|ext|Durchwahl|poste)\s*)[0-9]{1,7})?", re.IGNORECASE)
MOST_REGIONS = 3
"""Countries whose numbering plans a number without its calling code is tried against."""


def read_email(text: str, context: DocumentContext) -> Value | None:
    """Read an e-mail address, its domain in lower case."""
    address = "".join(visible(text).split()).removeprefix("mailto:").strip("<>")
    name, at, domain = address.rpartition("@")
    return Value(ValueKind.EMAIL, f"{name}@{domain.lower().rstrip(f'.*{NOTES}')}") if at and name and domain else None


def read_url(text: str, context: DocumentContext) -> Value | None:
    """Read a web address as it stands."""
    address = "".join(visible(text).split())
    return Value(ValueKind.URL, address) if "." in address or "://" in address else None


def read_phone(text: str, context: DocumentContext) -> Value | None:
    """Read a telephone number to E.164; None where its country is unknown."""
    if len(text) > LONGEST_CHARACTERS:
        return None
    found = _PHONE.search(plain(text.replace("-\n", "-")))
    number = parse_phone(found.group(), context) if found else None
    if number is None:
        return None
    value = phonenumbers.format_number(number, PhoneNumberFormat.E164)
    if number.extension:
        value = f"{value};ext={number.extension}"
    return Value(ValueKind.PHONE, value, valid=bool(phonenumbers.is_valid_number(number)))


def parse_phone(text: str, context: DocumentContext) -> PhoneNumber | None:
    """Parse a number with its calling code, or by the numbering plan of the first likely country that has it."""
    if text.lstrip("( ").startswith("+"):
        return _parse(text, None)
    if text.startswith("00"):
        return _parse(f"+{text[2:]}", None)
    numbers = (_parse(text, region) for region in context.likely_regions[:MOST_REGIONS])
    return next((number for number in numbers if number is not None and phonenumbers.is_valid_number(number)), None)


def _parse(text: str, region: str | None) -> PhoneNumber | None:
    try:
        return phonenumbers.parse(text, region)
    except NumberParseException:
        return None


_SEPARATORS = re.compile(r"[\s.\-/_:|]+")
_PREFIXED = re.compile(r"(EL|XI|[A-Z]{2})[A-Z]?[0-9]")
_SWISS = re.compile(r"CHE[0-9]")
_SWISS_ENDING = re.compile(r"(?:MWST|TVA|IVA|TPV)$")
_CARD = re.compile(
    r"4[0-9]{12}(?:[0-9]{3}){0,2}|(?:5[1-5][0-9]{2}|222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}"
    r"|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|6(?:011|4[4-9][0-9]|5[0-9]{2})[0-9]{12}|62[0-9]{14,17}"
    r"|35(?:2[89]|[3-8][0-9])[0-9]{12}"
)
"""Visa, Mastercard, American Express, Diners Club, Discover, UnionPay, JCB, by their issuers' prefixes (ISO 7812)."""
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{6,30}")
_NRB = re.compile(r"[0-9]{26}")
_STRAYS = re.compile("[,;'’·]")
"""Marks within an account's number that are no separators: a poor print has them."""
_FORM = re.compile(r"([0-9]+)!([nac])")
_MASK = re.compile(r"[*•●]|X{3}")
_MISREAD = {"n": {"O": "0", "Q": "0", "I": "1", "L": "1", "S": "5", "B": "8", "Z": "2"}, "a": {"0": "O", "1": "I"}}
"""Kind of character → characters that are read in its place, and what they are."""
MOST_CORRECTED = 3
"""Most characters of an account's number that are corrected: with more, one number in 97 fits by chance."""
_COUNTRY_OF_PREFIX = {"EL": "gr", "XI": "gb"}
_WITHOUT_CHECKSUM = frozenset({"us", "cz", "nz"})
"""Countries whose tax numbers are not validated: they have no checksum, or not all have one."""


def compact(text: str) -> str:
    """Write an identifier in upper case without separators."""
    return _SEPARATORS.sub("", plain(text)).upper()


def read_iban(text: str, context: DocumentContext) -> Value | None:
    """Read an account's number; it is invalid with a wrong checksum or length."""
    number = account_number(text)
    whole = whole_iban(number)
    if whole is not None:
        return Value(ValueKind.IBAN, whole, valid=True)
    if not _IBAN.fullmatch(number) or _MASK.search(number) or not iban_form(number[:2]):
        return None
    return Value(ValueKind.IBAN, number, valid=False)


def account_number(text: str) -> str:
    """Write an account's number in upper case without separators and stray marks."""
    return compact(_STRAYS.sub("", text)).removeprefix("IBAN")


def is_iban(number: str) -> bool:
    """True if a compact number has its country's form and the right check digits (ISO 13616)."""
    return len(number) <= 34 and bool(iban.is_valid(number, check_country=False))


def whole_iban(number: str) -> str | None:
    """Complete or correct a compact number to an account's whose checksum holds; None if there is none."""
    if _NRB.fullmatch(number):
        number = f"PL{number}"
    if is_iban(number):
        return number
    form = iban_form(number[:2])
    if len(number) != len(form):
        return None
    read = "".join(_MISREAD.get(kind, {}).get(sign, sign) for kind, sign in zip(form, number, strict=True))
    corrected = sum(one != other for one, other in zip(number, read, strict=True))
    return read if 0 < corrected <= MOST_CORRECTED and is_iban(read) else None


@cache
def iban_form(country: str) -> str:
    """Write the form of a country's account numbers, a sign for each character: `n` digit, `a` letter, `c` any.

    From stdnum's table of ISO 13616; empty for a country without such numbers.
    """
    found = numdb.get("iban").info(country)[0][1].get("bban", "") if len(country) == 2 else ""
    parts = _FORM.findall(found)
    return "aann" + "".join(kind * int(length) for length, kind in parts) if parts else ""


def read_bic(text: str, context: DocumentContext) -> Value | None:
    """Read a bank's code (ISO 9362)."""
    code = compact(text).removeprefix("BIC")
    return Value(ValueKind.BIC, code) if bic.is_valid(code) else None


def read_tax_id(text: str, context: DocumentContext) -> Value | None:
    """Read a tax number; its validity is known where its prefix, or its document's country, tells the country."""
    number = compact(text)
    if not any(map(str.isdecimal, number)) or len(text) > LONGEST_CHARACTERS:
        return None
    return Value(ValueKind.TAX_ID, number, valid=_is_tax_id(number, context))


def read_payment_reference(text: str, _context: DocumentContext) -> Value:
    """Read a payment's reference, written without spaces; `valid` where its form has a checksum."""
    number = "".join(plain(text).split())
    return Value(ValueKind.TEXT, number, valid=has_valid_checksum(number))


def read_number(text: str, context: DocumentContext) -> Value | None:
    """Read a payment card's number; None for all other identifiers."""
    number = compact(text)
    if not is_card_number(number) or (not luhn.is_valid(number) and not _in_fours(text)):
        return None
    return Value(ValueKind.CARD, number, valid=bool(luhn.is_valid(number)))


def is_card_number(number: str) -> bool:
    """True if compact digits have the prefix and the length of a payment card, whatever their checksum."""
    return _CARD.fullmatch(number) is not None


def is_vat(number: str) -> bool:
    """True if a compact number for value added tax has the right check digits for its country's prefix."""
    if _SWISS.match(number):
        return _is_valid_tax_number("ch", _SWISS_ENDING.sub("", number), whole=True) is True
    country = _COUNTRY_OF_PREFIX.get(number[:2], number[:2].lower())
    return _is_valid_tax_number(country, number, whole=True) is True


def _in_fours(text: str) -> bool:
    return re.fullmatch(r"[0-9]{4}([ -])[0-9]{4}\1[0-9]{4}\1[0-9]{4}", text.strip()) is not None


def _is_tax_id(number: str, context: DocumentContext) -> bool | None:
    if _SWISS.match(number):
        return _is_valid_tax_number("ch", _SWISS_ENDING.sub("", number), whole=True)
    if prefixed := _PREFIXED.match(number):
        country = _COUNTRY_OF_PREFIX.get(prefixed[1], prefixed[1].lower())
        if _module(country) is not None:
            return _is_valid_tax_number(country, number, whole=True)
    found = {_is_valid_tax_number(region.lower(), number, whole=False) for region in context.regions[:2]}
    return True if True in found else False if False in found else None


def _is_valid_tax_number(country: str, number: str, *, whole: bool) -> bool | None:
    """True if a country's tax number is valid; None if the country has no checksum, or it is another sort of number.

    `whole`: the number's prefix says that it is of this sort.
    """
    module = _module(country)
    if module is None or country in _WITHOUT_CHECKSUM:
        return None
    try:
        module.validate(number + "MWST" if country == "ch" else number)
    except InvalidChecksum:
        return False
    except ValidationError:
        return False if whole else None
    return True


@cache
def _module(country: str) -> Any:
    return get_cc_module(country, "vat")
