"""Currencies by their signs and names, as countries write them beside amounts.

The rule: a sign that several currencies share is the currency that the document is about (`shared_signs`); where
nothing tells, the likeliest one, or none.
"""

from __future__ import annotations

import re

from babel.numbers import get_territory_currencies

from service.text.values import names
from service.text.values.context import DocumentContext
from service.text.values.normalization import key
from service.text.values.shared_signs import currencies_of_sign

_NAMED = {
    "AOA": "kz", "AUD": "a$ au$ aus$", "AZN": "₼", "BBD": "bds$", "BDT": "৳ tk taka", "BGN": "лв",
    "BHD": "bd د.ب", "BRL": "r$ reais real", "BYN": "byn", "BZD": "bz$", "CAD": "ca$ can$ $ca $can",
    "CHF": "sfr franken chf", "CNY": "rmb 人民币 yuan", "COP": "col$", "CRC": "₡", "CZK": "kc", "DOP": "rd$",
    "DZD": "da د.ج", "EGP": "ج.م le e£", "EUR": "€ euro euros", "GEL": "₾", "GHS": "gh₵ ghc ₵", "GTQ": "q",
    "HKD": "hk$", "HNL": "lps lempiras", "HUF": "ft", "IDR": "rp", "ILS": "₪", "INR": "₹ रुपये",
    "IQD": "ع.د د.ع", "JMD": "j$", "JOD": "jd", "JPY": "円 円也 yen", "KES": "ksh kshs", "KHR": "៛",
    "KRW": "₩ 原 원", "KWD": "kd د.ك", "KZT": "₸", "LAK": "₭", "LBP": "l£ ل.ل", "LYD": "ld ل.د د.ل", "MAD": "د.م",
    "MNT": "₮", "MXN": "mx$ mex$", "MYR": "rm", "MZN": "mt mtn meticais", "NAD": "n$", "NGN": "₦", "NZD": "nz$",
    "OMR": "ro ر.ع", "PAB": "b/ b/. balboas", "PEN": "s/ s/.", "PHP": "₱", "PLN": "zl zlotych zloty zlote",
    "PYG": "₲ gs", "QAR": "qr ر.ق", "RON": "ron", "RSD": "din дин", "RUB": "₽ руб р рублей",
    "SAR": "sr ريال ر.س", "SGD": "s$ sg$", "THB": "฿ บาท baht", "TND": "dt د.ت", "TRY": "₺ tl", "TTD": "tt$",
    "TWD": "nt$", "TZS": "tsh tshs", "UAH": "₴ грн", "UGX": "ush", "USD": "us$ $us u$s", "UYU": "$u",
    "VND": "₫ đ", "XCD": "ec$", "ZAR": "rand",
}  # fmt: skip
_SIGNS = {key(name).replace(".", ""): code for code, listed in _NAMED.items() for name in listed.split()}
"""Key of a sign or name without points → ISO 4217; those of one currency only."""
_FAMILIES: dict[str, tuple[str, str | None]] = {
    "$": ("USD CAD AUD NZD MXN SGD HKD TWD CLP COP ARS UYU", "USD"),
    "c$": ("CAD NIO", "CAD"),
    "esc": ("CVE PTE", None),
    "bs": ("BOB VES", None),
    "dollar": ("USD CAD AUD NZD SGD HKD", "USD"),
    "dollars": ("USD CAD AUD NZD SGD HKD", "USD"),
    "£": ("GBP EGP LBP SDG", "GBP"),
    "pound": ("GBP EGP", "GBP"),
    "pounds": ("GBP EGP", "GBP"),
    "¥": ("JPY CNY", "JPY"),
    "元": ("CNY TWD HKD", "CNY"),
    "kr": ("SEK DKK NOK ISK", None),
    "kronor": ("SEK", "SEK"),
    "kroner": ("DKK NOK", None),
    "fr": ("CHF XOF XAF", None),
    "fcfa": ("XOF XAF", None),
    "cfa": ("XOF XAF", None),
    "lei": ("RON MDL", "RON"),
    "rs": ("INR PKR LKR NPR MUR", None),
    "r": ("ZAR", None),
    "peso": ("MXN ARS CLP COP PHP", None),
    "pesos": ("MXN ARS CLP COP PHP", None),
    "dh": ("AED MAD", None),
    "dhs": ("AED MAD", None),
    "دا": ("AED JOD", "AED"),
    "درهم": ("AED MAD", "AED"),
    "دينار": ("KWD BHD JOD TND DZD LYD IQD", None),
    "dinar": ("KWD BHD JOD TND DZD LYD IQD RSD", None),
    "dinars": ("KWD BHD JOD TND DZD LYD IQD RSD", None),
}
"""Sign or name that several currencies share → these currencies, and the one that counts where nothing tells."""
SIGNS = "$€£¥₹₽₺₩₪₫₴฿₱₡₦₵₲₸₼₾₮៛₭৳"
"""Signs of currencies, each a character of its own."""
_WORD = re.compile(rf"[^\W\d_]*\$|(?:[^\W\d_]|[\u0900-\u097f])+|[{SIGNS}]")
_OTHER_MARKS = re.compile(r"[^\s.,:;*/'’=+-]")


def is_code(word: str) -> bool:
    """True if a word in capitals is an ISO 4217 code, of today or former."""
    return word in names.currency_codes() or word in names.former_currency_codes()


def is_currency(word: str) -> bool:
    """True if a word in capitals, or a sign, names a currency."""
    return word.isupper() and (is_code(word) or key(word) in _SIGNS or key(word) == "r")


def currencies_in(words: str, context: DocumentContext) -> set[str] | None:
    """Find the currencies in the words around a number; None if there are other words."""
    name = key(words.strip(" .,:;*=+"))
    whole = names.currency_names().get(name) or _SIGNS.get(re.sub(r"[\s.]", "", name))
    if whole is not None:
        return {whole}
    known, code = _currency(re.sub(r"[\s.]", "", name), context) if name else (False, None)
    if known:
        return {code} if code else set()
    found: dict[str, str | None] = {}
    for word in _WORD.findall(words):
        known, code = _currency(word, context)
        if not known:
            return None
        found[word.upper()] = code
    if _OTHER_MARKS.search(_WORD.sub(" ", words)):
        return None
    explicit = {word for word in found if word in names.currency_codes()}
    if len(explicit) == 1:
        (code,) = explicit
        shared = all(code in _FAMILIES[key(word)][0].split() for word in found if key(word) in _FAMILIES)
        if shared and all(word == code or key(word) in _FAMILIES for word in found):
            return {code}
    return {code for code in found.values() if code is not None}


def currency_of_word(word: str, context: DocumentContext) -> str | None:
    """Find the currency that a code or a sign means in a document; None for other words, and where nothing tells."""
    if len(word) == 3 and word.isupper() and word not in names.currency_codes():
        return None
    found = currencies_in(word, context)
    return next(iter(found)) if found is not None and len(found) == 1 else None


def home_currency(context: DocumentContext) -> str | None:
    """Find the currency of the countries that a text has signs of; None without signs, and if they are several."""
    found = {code for region in context.regions for code in get_territory_currencies(region)}
    return next(iter(found)) if len(found) == 1 else None


def possible_currencies(words: str, context: DocumentContext) -> tuple[str, ...]:
    """List the currencies that the words around a number may mean, where the document names several of one sign."""
    families = (_FAMILIES[bare][0] for word in _WORD.findall(words) if (bare := key(word)) in _FAMILIES)
    return next((found for family in families if len(found := currencies_of_sign(family, context)) > 1), ())


def _currency(word: str, context: DocumentContext) -> tuple[bool, str | None]:
    """Tell whether a word names a currency, and which one, where that is known."""
    code = word.upper().removesuffix("$")
    if len(code) == 3 and (code in names.currency_codes() or (word == code and is_code(code))):
        return True, code
    bare = key(word)
    if bare in _SIGNS:
        return True, _SIGNS[bare]
    if bare in _FAMILIES:
        codes, default = _FAMILIES[bare]
        found = currencies_of_sign(codes, context) or (default,)
        return True, found[0] if len(found) == 1 else None
    name = names.currency_names().get(bare)
    return name is not None, name
