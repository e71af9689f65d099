"""Ways to reach somebody: e-mail addresses, web addresses, telephone numbers (by phonenumbers)."""

from __future__ import annotations

import re

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumber, PhoneNumberFormat

from service.core.decoding.value import Value, ValueKind
from service.text.values.context import DocumentContext
from service.text.values.script import LONGEST_CHARACTERS, plain

_PHONE = re.compile(r"[+0-9(][0-9+()./ \-–]*(?:(?:\s*(?:ext\.?|x|ext|Durchwahl|poste)\s*)[0-9]{1,7})?", re.IGNORECASE)
MOST_REGIONS = 3
"""Countries whose numbering plans a number without its calling code is tried against."""


def read_email(text: str, context: DocumentContext) -> Value | None:
    """An e-mail address, with its domain in lower case."""
    address = "".join(text.split()).removeprefix("mailto:").strip("<>")
    name, at, domain = address.rpartition("@")
    return Value(ValueKind.EMAIL, f"{name}@{domain.lower().rstrip('.')}") if at and name and domain else None


def read_url(text: str, context: DocumentContext) -> Value | None:
    """A web address as it stands."""
    address = "".join(text.split())
    return Value(ValueKind.URL, address) if "." in address or "://" in address else None


def read_phone(text: str, context: DocumentContext) -> Value | None:
    """A telephone number in E.164; None where the country that it belongs to is unknown."""
    if len(text) > LONGEST_CHARACTERS:
        return None
    found = _PHONE.search(plain(text))
    number = parse_phone(found.group(), context) if found else None
    if number is None:
        return None
    value = phonenumbers.format_number(number, PhoneNumberFormat.E164)
    if number.extension:
        value = f"{value};ext={number.extension}"
    return Value(ValueKind.PHONE, value, valid=bool(phonenumbers.is_valid_number(number)))


def parse_phone(text: str, context: DocumentContext) -> PhoneNumber | None:
    """A number with its calling code, or one that a country's numbering plan has; the first country that does."""
    if text.lstrip("( ").startswith("+"):
        return _parse(text, None)
    if text.startswith("00"):
        return _parse(f"+{text[2:]}", None)
    numbers = (_parse(text, region) for region in context.likely_regions[:MOST_REGIONS])
    return next((each for each in numbers if each is not None and phonenumbers.is_valid_number(each)), None)


def _parse(text: str, region: str | None) -> PhoneNumber | None:
    try:
        return phonenumbers.parse(text, region)
    except NumberParseException:
        return None
