"""Rules for bank accounts, banks, tax numbers, payment cards and percentages: numbers with a grammar or a checksum."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from stdnum import get_cc_module, luhn

from service.text.rules.rule_matches import RuleMatch, Strength, is_named, scan
from service.text.values.context import DocumentContext
from service.text.values.identifiers import (
    account_number,
    compact,
    iban_form,
    is_card_number,
    is_vat,
    read_bic,
    whole_iban,
)

_GAP = r"[ \t]{0,8}(?:\r?\n[ \t]{0,8}|\t[ \t]{0,8}| [ \t]{1,7}|\|[ \t]{0,8})|[ \u00a0\u202f-]"
_BREAK = f"(?>{_GAP}|)"
"""Break between two characters of a number whose checksum holds: a space, a tab, a cell's or a line's end."""
_BREAK_OR_MARK = f"(?> ?[.,:;·'’_] ?|{_GAP}|)"
"""The same, or a mark that does not belong there, as a poor print has it."""
_IBAN_HEAD = re.compile(
    rf"([A-Z])(?:(?<![A-Za-z0-9].)|(?<=IBAN.)){_BREAK}([A-Z]){_BREAK}[0-9O]{_BREAK}[0-9O]"
    rf"(?={_BREAK_OR_MARK}[A-Z0-9]{_BREAK_OR_MARK}[A-Z0-9])"
)
_NRB = re.compile(r"[0-9]{2}(?<![\w.,+/-]..)(?:[ \u00a0\u202f-]?[0-9]{4}){6}(?![\w-]|[.,/][0-9])")
_ACCOUNT_NAMES = re.compile(r"rachun|konto|kont[aeu]|NRB|account|bank", re.IGNORECASE)
_IBAN_NAMES = re.compile(r"IBAN[\s:.()nr°#-]{0,12}$", re.IGNORECASE)
_FEWEST_IBAN_CHARACTERS = 14
_WRITTEN_HEAD = 4
"""Characters of a country and check digits together; a longer head has breaks, and only a checksum proves it."""
_GROUP = re.compile(r"[ -]?[A-Z0-9]{1,4}(?![A-Za-z0-9])|[A-Z0-9]{1,30}(?![A-Za-z0-9])")
_BIC = re.compile(r"[A-Z][A-Z](?<![A-Za-z0-9]..)[A-Z]{4}[A-Z0-9]{2}(?:[A-Z0-9]{3})?(?![A-Za-z0-9])")
_BIC_NAMES = re.compile(r"BIC|SWIFT", re.IGNORECASE)
_VAT_COUNTRIES = "AT|BE|BG|CY|CZ|DE|DK|EE|EL|ES|FI|FR|GB|HR|HU|IE|IT|LT|LU|LV|MT|NL|NO|PL|PT|RO|SE|SI|SK|XI"
_VAT = re.compile(
    r"[A-Z][A-Z](?<![A-Za-z0-9]..)(?:(?<=CH)E[- ]?[0-9]{3}[. ]?[0-9]{3}[. ]?[0-9]{3}(?: ?(?:MWST|TVA|IVA|TPV))?"
    rf"|(?<={_VAT_COUNTRIES})"
    r"[ -]?[A-Z0-9](?:[ .-]?[A-Z0-9]){6,13})(?![A-Za-z0-9])"
)
_VAT_NAMES = re.compile(
    r"VAT|USt|UID|MwSt|TVA|IVA|NIF|CIF|BTW|MOMS|MVA|NIP|DIČ|IČ|DPH|ALV|CUI|tax|Steuer|fiscal|partita", re.IGNORECASE
)
_VAT_ON_TWO_LINES = re.compile(
    rf"[A-Z][A-Z](?<![A-Za-z0-9]..)(?<={_VAT_COUNTRIES})[ -]?[A-Z0-9](?:[ .-]?[A-Z0-9]){{1,11}}"
    r"[ \t]{0,8}\r?\n[ \t]{0,8}"
    r"[A-Z0-9](?:[ .-]?[A-Z0-9]){0,10}(?![A-Za-z0-9])"
)
_NAMED_TAX_IDS = (
    (re.compile(r"(?<![^\W_])NIP(?:[\s.:nr-]{1,8})?$", re.IGNORECASE), "pl", "nip"),
    (re.compile(r"(?<![^\W_])CNPJ[\s.:nº°-]{0,8}$", re.IGNORECASE), "br", "cnpj"),
    (re.compile(r"(?<![^\W_])CPF[\s.:nº°-]{0,8}$", re.IGNORECASE), "br", "cpf"),
    (re.compile(r"(?:partita\s*iva|p\.?\s?iva)[\s.:n°-]{0,8}$", re.IGNORECASE), "it", "iva"),
    (re.compile(r"(?:NIF|CIF|NIE)[\s.:nº°-]{0,8}$", re.IGNORECASE), "es", "nif"),
    (re.compile(r"(?:NIF|NIPC|contribuinte)[\s.:nº°-]{0,8}$", re.IGNORECASE), "pt", "nif"),
    (re.compile(r"(?:Steuernummer|Steuer-?Nr\.?|St\.?-?Nr\.?)[\s:]{0,4}$", re.IGNORECASE), "de", "stnr"),
    (re.compile(r"(?:GSTIN|GST(?:IN)?\s*(?:no|number)?)[\s.:#-]{0,4}$", re.IGNORECASE), "in", "gstin"),
    (re.compile(r"(?<![^\W_])ABN[\s.:#-]{0,4}$", re.IGNORECASE), "au", "abn"),
    (re.compile(r"(?<![^\W_])ИНН[\s.:№-]{0,4}$", re.IGNORECASE), "ru", "inn"),
    (re.compile(r"(?:EIN|er identification number)[\s.:#-]{0,4}$", re.IGNORECASE), "us", "ein"),
)
"""Words before a tax number without a country's prefix, and its country and scheme."""
_TAX_NAMES = re.compile("|".join(f"(?:{names.pattern})" for names, _, _ in _NAMED_TAX_IDS), re.IGNORECASE)
_TAX_WORDS = (
    *("nip", "cnpj", "cpf", "iva", "nif", "cif", "nie", "contribuinte", "steuer", "st.nr", "st-nr", "st.-nr", "stnr"),
    *("gst", "abn", "инн", "ein", "employer"),
)
"""A part of each of these words: most texts have none, and are not scanned."""
_BEFORE_DIGIT_CHARACTERS = 30
"""Most characters between such a word and the first digit of its number (`is_named`)."""
_TAX_NUMBER = re.compile(r"(?<![\w/-])[A-Z]{0,2}[0-9](?:[ ./-]?[A-Z0-9]){6,17}(?!\w)", re.IGNORECASE)
_ALNUM = re.compile(r"[A-Za-z0-9]+")
_CARD = re.compile(
    r"[1-6](?<![\w.,+/-].)[0-9]{3}(?:(?:\s{1,4}[0-9]{4}){3}|(?:[ -]?[0-9]{2,6}){2,4})(?![\w-]|[.,/][0-9])"
)
_FEWEST_DIGITS_ALONE = 14
"""Fewest digits of a card's number without a word or groups; a GTIN has 13."""
_CARD_NAMES = re.compile(
    r"card|karte|carte|tarjeta|carta|kaart|cartão|kort|kart|карт|カード|visa|master|amex|american express",
    re.IGNORECASE,
)
_FEWEST_TAX_DIGITS, _MOST_TAX_DIGITS = 7, 14


def ibans(text: str, context: DocumentContext) -> Iterator[RuleMatch]:
    """Yield numbers of accounts of their country's length; those with a wrong checksum only where a word names them."""
    yield from _polish_accounts(text)
    for head in scan(_IBAN_HEAD, text):
        length = len(iban_form(head[1] + head[2]))
        if not length:
            continue
        end = _end_of(text, head.start(), length)
        if end is not None and whole_iban(account_number(text[head.start() : end])):
            yield RuleMatch("IBAN", head.start(), end, Strength.PROVEN, 1.0)
            continue
        if len(head.group()) > _WRITTEN_HEAD:
            continue
        end = end if end and "\n" not in text[head.start() : end] else _end_of_groups(text, head.end())
        named = is_named(_IBAN_NAMES, text, head.start()) and end - head.start() >= _FEWEST_IBAN_CHARACTERS
        yield RuleMatch("IBAN", head.start(), end, Strength.LIKELY if named else Strength.BOUNDS, 0.9)


def _polish_accounts(text: str) -> Iterator[RuleMatch]:
    """Yield accounts of 26 digits whose checksum holds, in groups or after a word for them."""
    for match in scan(_NRB, text):
        is_grouped = not match.group().isdecimal()
        if whole_iban(account_number(match.group())) and (is_grouped or is_named(_ACCOUNT_NAMES, text, match.start())):
            yield RuleMatch("IBAN", match.start(), match.end(), Strength.PROVEN, 1.0)


def bics(text: str, context: DocumentContext) -> Iterator[RuleMatch]:
    """Yield codes of banks; a word must name them, since `CUSTOMER` has their form as well."""
    for match in scan(_BIC, text):
        if read_bic(match.group(), context) is not None:
            named = is_named(_BIC_NAMES, text, match.start())
            yield RuleMatch("BIC", match.start(), match.end(), Strength.PROVEN if named else Strength.BOUNDS, 0.95)


def tax_ids(text: str, context: DocumentContext) -> Iterator[RuleMatch]:
    """Yield numbers for value added tax with their country's prefix, and other tax numbers after a word for them."""
    for match in scan(_VAT, text):
        yield from _vat(text, match)
    for match in scan(_VAT_ON_TWO_LINES, text):
        first, _, _ = match.group().partition("\n")
        if is_named(_VAT_NAMES, text, match.start()) and is_vat(compact(match.group())) and not is_vat(compact(first)):
            yield RuleMatch("TAX_ID", match.start(), match.end(), Strength.PROVEN, 0.98)
    if not _has_tax_word(text):
        return
    for match in scan(_TAX_NUMBER, text):
        if not is_named(_TAX_NAMES, text, match.start()):
            continue
        for names, country, scheme in _NAMED_TAX_IDS:
            if is_named(names, text, match.start()):
                yield from _longest(match, _scheme(country, scheme).is_valid)


def cards(text: str, context: DocumentContext) -> Iterator[RuleMatch]:
    """Yield numbers of payment cards: an issuer's prefix and length with the checksum or a word that names them."""
    for match in scan(_CARD, text):
        number = compact(match.group())
        named, issued = is_named(_CARD_NAMES, text, match.start()), is_card_number(number)
        grouped = len(number) < match.end() - match.start()
        if luhn.is_valid(number) and (named or (issued and grouped)):
            yield RuleMatch("ID_NUMBER", match.start(), match.end(), Strength.PROVEN, 0.98)
        elif issued and (named or (luhn.is_valid(number) and len(number) >= _FEWEST_DIGITS_ALONE)):
            yield RuleMatch("ID_NUMBER", match.start(), match.end(), Strength.LIKELY, 0.8)


def _has_tax_word(text: str) -> bool:
    """True if a text has one of `_TAX_WORDS`, and a digit soon after it."""
    lower = text.lower()
    if not text.isascii():  # These letters have more than two forms.
        lower = lower.replace("ſ", "s").replace("ı", "i").replace("i\u0307", "i")
    return any(word in lower and next(scan(_before_digit(word), lower), None) is not None for word in _TAX_WORDS)


@cache
def _before_digit(word: str) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(word)}[^0-9]{{0,{_BEFORE_DIGIT_CHARACTERS}}}[0-9]")


def _vat(text: str, match: re.Match[str]) -> Iterator[RuleMatch]:
    """Yield the longest part of a match whose checksum holds; else its groups with digits."""
    start, proven = match.start(), list(_longest(match, lambda part: is_vat(compact(part))))
    if proven:
        yield from proven
        return
    digits = re.match(r"(?:[ .-]?[A-Z]{0,3}[0-9][A-Z0-9]*|[A-Z]{2,3}(?=[ -]?[A-Z]?[0-9]))+", match.group())
    if digits and sum(map(str.isdigit, digits.group())) >= _FEWEST_TAX_DIGITS:
        named = is_named(_VAT_NAMES, text, start)
        yield RuleMatch("TAX_ID", start, start + digits.end(), Strength.LIKELY if named else Strength.BOUNDS, 0.9)


def _longest(match: re.Match[str], is_valid: Callable[[str], bool]) -> Iterator[RuleMatch]:
    """Yield the longest valid part of a match, in whole groups from its beginning, if there is one."""
    for group in reversed(list(_ALNUM.finditer(match.group()))):
        part = match.group()[: group.end()]
        if _FEWEST_TAX_DIGITS <= sum(map(str.isdigit, part)) <= _MOST_TAX_DIGITS and is_valid(part):
            yield RuleMatch("TAX_ID", match.start(), match.start() + len(part), Strength.PROVEN, 0.98)
            return


def _end_of(text: str, start: int, length: int) -> int | None:
    """Find the end of `length` letters and digits from a place, in one or more pieces; None if they are not there."""
    found = _of_length(length).match(text, start)
    return found.end() if found else None


def _end_of_groups(text: str, end: int) -> int:
    """Find the end of the groups of capitals and digits that follow a place and each have a digit."""
    last = end
    for _ in range(8):
        group = _GROUP.match(text, end)
        if group is None or not any(map(str.isdigit, group.group())):
            break
        last = end = group.end()
    return last


@cache
def _of_length(length: int) -> re.Pattern[str]:
    return re.compile(rf"[A-Z](?:{_BREAK_OR_MARK}[A-Z0-9]){{{length - 1}}}(?:(?![A-Za-z0-9])|(?=[A-Z][A-Za-z]{{2}}))")


@cache
def _scheme(country: str, name: str) -> Any:
    return get_cc_module(country, name)


_PERCENT = re.compile(
    r"(?<![\w.,/%-])(?:[-−+] ?)?[0-9]{1,3}(?:[.,][0-9]{1,6})?"
    r"(?:[ \u00a0\u202f]?[%％٪]"
    r"|[ \u00a0](?:percent|per cent|pct|prozent|pour cent|por ciento|por cento|per cento|procent|prosent)[^\W\d_]{0,4})"
    r"(?![\w%])|(?<![^\s(])%[0-9]{1,3}(?:[.,][0-9]{1,6})?(?![\w%.,])",
    re.IGNORECASE,
)
_PERCENT_SIGN = re.compile(r"[0-9%](?:(?<=%)|[ \u00a0\u202f]?[%％٪]|[ \u00a0][pP])")


def percentages(text: str, context: DocumentContext) -> Iterator[RuleMatch]:
    """Yield numbers with a sign or a word for a hundredth."""
    for match in scan(_PERCENT, text, _PERCENT_SIGN):
        yield RuleMatch("PERCENT", match.start(), match.end(), Strength.LIKELY, 0.95)
