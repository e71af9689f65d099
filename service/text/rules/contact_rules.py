"""E-mail addresses, web addresses and telephone numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import phonenumbers

from service.text.rules.rule_matches import LONGEST_CHARACTERS, RuleMatch, Strength, is_named, scan
from service.text.values.context import DocumentContext
from service.text.values.identifiers import parse_phone

_DOMAIN = re.compile(r"@(?:localhost|(?:\w[\w-]{0,62}\.){1,6}[^\W\d_]{2,24})(?![\w@]|-\w|\.\w)")
_MAILBOX = re.compile(r"(?<![\w.+%'@-])[\w+%-][\w.+%'-]{0,63}\Z")
"""The part of an address before its @; `_DOMAIN` is the rest."""
_LONGEST_MAILBOX = 64
_URL = re.compile(
    r"(?<![\w@.-])(?:(?P<scheme>(?:https?|ftp)://|www\d?\.(?=\w))[^\s<>\"|{}\\^`\[\]]{2,2000}"
    r"|(?:[a-z0-9][a-z0-9-]{1,62}\.){1,4}(?P<end>[a-z]{2,8})(?![\w@-]|\.\w)"
    r"(?P<path>/[^\s<>\"|{}\\^`\[\]]{0,500})?)",
    re.IGNORECASE,
)
_URL_SIGN = re.compile(r"[.wW:](?:(?<=\.)[^\W\d_]{2}|(?<=[wW])\d?\.\w|(?<=:)//)")
_LONGEST_HOST = 256
_HOST_BEGIN = re.compile(rf"(?<![\w@.-])[\w@.-]{{0,{_LONGEST_HOST}}}\Z")
"""Beginning of the run of characters that a sign is in or follows: its address can begin only there."""
_AFTER_URL = ".,;:!?'\"»”’*"
_GENERIC = frozenset("com org net edu gov int info biz io dev app eu".split())
_COUNTRIES = frozenset(
    "ac at au be bg br ca ch cl cn co cy cz de dk ee es fi fr gr hk hr hu ie in it jp kr li lt lu lv mt mx my nl no nz"
    " pl pt ro ru se sg si sk tr tw ua uk us za".split()
)
_PHONE = re.compile(
    r"(?<![\w.+/€$£%-])(?<![0-9],)(?:\(?\+ ?|\()?\(?[0-9](?:(?:[ ./()–-]{0,3}|-\n {0,3})[0-9]){5,16}"
    r"(?: ?(?:ext\.?|x) ?[0-9]{1,6})?"
    r"(?![\w%€$£]|[.,:/-][0-9])"
)
_PHONE_SIGN = re.compile(r"[0-9](?:[ ./()–-]{0,3}[0-9]){5}")
_PHONE_NAMES = re.compile(
    r"(?:(?:phone|phones|telefon|telefono|telefone|teléfono|fax|téléphone|mobil|mobile)"
    r"|(?<!\w)(?:tel|tél|fono|mob|cell|cel|handy|gsm|call|desk|direct|hotline|durchwahl|festnetz|office|puh|tlf)"
    r"|(?<!\w)(?:тел|факс)|電話|电话|手机|携帯|전화|휴대폰|هاتف|فاكس|फ़ोन|फोन|☎|✆)"
    r"[^\W\d_]{0,6}(?:[.:#)-]|\s|no|nr|№|number|nummer|\([^()\n\d]{1,14}\)){0,8}$"
    r"|(?<!\w)(?:t|m|f|p|ph)\s?[.:]\s{0,2}$",
    re.IGNORECASE,
)
"""Words before a telephone number."""
_PHONE_USES = re.compile(r"[ -]{0,2}\(?(?:office|fax|mobile|home|work|cell|desk)(?!\w)", re.IGNORECASE)
"""Words after a telephone number."""
_DATE_LIKE = re.compile(
    r"\(?(?:[0-9]{1,2}[./-][0-9]{1,2}[./-](?:[0-9]{4}|[0-9]{2})|[0-9]{4}[./-][0-9]{1,2}[./-][0-9]{1,2}"
    r"|[0-9]{4} ?[–-] ?[0-9]{4})"
)
_MOST_DIGITS = 15
"""Most digits of a telephone number (E.164); two more may be dialled before it."""


def emails(text: str, context: DocumentContext) -> Iterator[RuleMatch]:
    """Yield addresses whose domain has a top level, and those on localhost."""
    for domain in scan(_DOMAIN, text):
        mailbox = _MAILBOX.search(text, max(0, domain.start() - _LONGEST_MAILBOX), domain.start())
        if mailbox is not None:
            yield RuleMatch("EMAIL", mailbox.start(), domain.end(), Strength.PROVEN, 0.99)


def urls(text: str, context: DocumentContext) -> Iterator[RuleMatch]:
    """Yield addresses with a scheme or `www`; mere names of hosts where their top level is no word."""
    for match in _addresses(text):
        end = _without_marks(text, match.start(), match.end())
        if match["scheme"]:
            yield RuleMatch("URL", match.start(), end, Strength.PROVEN, 0.99)
        elif _is_host(match):
            strength = Strength.PROVEN if match["path"] else Strength.LIKELY
            yield RuleMatch("URL", match.start(), end, strength, 0.9)


def phones(text: str, context: DocumentContext) -> Iterator[RuleMatch]:
    """Yield numbers with a calling code, with a word for them, or in a country's own form."""
    for match in scan(_PHONE, text, _PHONE_SIGN):
        written = match.group()
        digits = sum(map(str.isdigit, written))
        if not 7 <= digits <= _MOST_DIGITS + 2 or _DATE_LIKE.fullmatch(written):
            continue
        start, end = _balanced(text, match.start(), match.end())
        international = text[start:end].startswith(("+", "(+"))
        named = is_named(_PHONE_NAMES, text, start) or _PHONE_USES.match(text, end) is not None
        if not (international or named or _has_groups(written)):
            continue
        number = parse_phone(text[start:end].lstrip("("), context)
        valid = number is not None and phonenumbers.is_valid_number(number)
        if international and valid:
            yield RuleMatch("PHONE", start, end, Strength.PROVEN, 0.98)
        elif named or (international and number is not None and phonenumbers.is_possible_number(number)):
            yield RuleMatch("PHONE", start, end, Strength.LIKELY, 0.9)
        elif number is not None and valid and _is_national(number, text[start:end]):
            yield RuleMatch("PHONE", start, end, Strength.LIKELY, 0.7)
        else:
            yield RuleMatch("PHONE", start, end, Strength.BOUNDS, 0.0)


def _addresses(text: str) -> Iterator[re.Match[str]]:
    """Yield all matches of `_URL`, found by their signs."""
    sign_start = end = 0
    for sign in scan(_URL_SIGN, text):
        begin = _HOST_BEGIN.search(text, max(sign_start, end, sign.start() - _LONGEST_HOST), sign.start())
        sign_start = sign.start()
        match = _URL.match(text, begin.start(), sign_start + LONGEST_CHARACTERS) if begin is not None else None
        if match is not None:
            end = match.end()
            yield match


def _without_marks(text: str, start: int, end: int) -> int:
    """Find the end of an address without marks of the sentence around it."""
    while end > start:
        last = text[end - 1]
        if last in _AFTER_URL or (last == ")" and text.count("(", start, end) < text.count(")", start, end)):
            end -= 1
        else:
            return end
    return end


def _is_host(match: re.Match[str]) -> bool:
    """True if a name with points is a host's: in lower case, with a top level that ends no sentence."""
    top, name = match["end"].lower(), match.group()
    if top in _GENERIC:
        return name[0].isalnum() and len(name) > len(top) + 3
    return top in _COUNTRIES and (bool(match["path"]) or (name.islower() and len(name) > len(top) + 4))


def _balanced(text: str, start: int, end: int) -> tuple[int, int]:
    """Leave out a bracket that opens before a number and closes after it."""
    if text[start] == "(" and ")" not in text[start:end]:
        start += 1
    return start, end


def _has_groups(written: str) -> bool:
    return written.startswith("(") or sum(not character.isdigit() for character in written) >= 2


def _is_national(number: phonenumbers.PhoneNumber, written: str) -> bool:
    """True if a number has its country's digit groups and brackets."""
    national = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.NATIONAL)
    return _groups(national) == _groups(written) and ("(" in written or len(_groups(written)) > 2)


def _groups(written: str) -> list[str]:
    return re.findall(r"[0-9]+", written)
