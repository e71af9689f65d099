"""Forms of names: tell a name from an address, a heading and prose by its words alone.

The rules:
- A name has two letters or more, most of its characters are letters, and it begins with no small letter.
- A house number before a street, a postcode with its town, an e-mail address and prose are none, but with a legal form.
  A name ends with a number only where its place proves it.
- Words that no model marks are a name if they are two to `MOST_WORDS`, without digits, and all of them capitalized but
  for small words ("de", "und"); what names a paper, a number, a day or a sum is none.
"""

from __future__ import annotations

import re

from service.core.fields.vocabulary.phrases import any_of, count_letters, folded

LONGEST_NAME = 64
"""Most characters of a name."""
MOST_LOGO_WORDS, SHORTEST_LOGO = 4, 3
"""Most words and fewest characters of a logo that the model does not mark."""
MOST_WORDS = 6
"""Most words of a name that the model does not mark."""

_FORMS = re.compile(
    r"(?<!\w)(?:gmbh|mbh|ag|kg(?:aa)?|ohg|ug|gbr|eg|e\.? ?[kv]|e\.u|se|ltd|limited|ll[cp]|inc|corp|plc|pt[ey]|pvt|co|"
    r"dac|s\.? ?a\.? ?r\.? ?l|sasu?|s\.?p\.?a|s\.?[rn]\.?[lc]|s\.? ?[al]\.?(?: ?u)?|lt?da|b\.?v|n\.?v|ab|a\.?/?s|aps|"
    r"oyj?|sp\. ?z ?o\. ?o|spol\. s ?r\. ?o|s\. ?r\. ?o|"
    r"kft|zrt|nyrt|kkt|bt(?=\.)|(?:sdn\.? ?)?bhd|s/b|a\.ş|şti|ооо|[зпо]?ао|ип|(?:[αοε]|ε\.?π|ι\.?κ)\.?ε)"
    r"(?!\w)\.?|株式会社|有限公司|有限会社|주식회사|\(株\)|\(주\)"
)
"""Legal forms of firms, in a lower-case name."""
_COURTESY = re.compile(
    r"(?:(?:herrn?|frau|eheleute|familie|firma|an|mr\.?|mrs\.?|ms\.?|messrs\.?|monsieur|madame|mademoiselle|m\.|mme|mlle|"
    r"gent\.?(?:mo|ma|mi|le)|egr\.?|exmo?s?\.?(?:\(s\)\.?)?|sr\.?\(s\)\.?|sig\.?(?:ra)?|spett\.?le|sr\.?|"
    r"sra\.?|de heer|mevrouw|dhr\.?|mevr\.?|pan|pani|hr\.|fru|sayin|г-н|г-жа)(?:\s+|$)){1,3}"
)
_ATTENTION = re.compile(
    r"(?:attn|att|attention|fao|f\.a\.o|c/o|c/-|z\.? ?hd|zu handen|zuhanden|t\.?a\.?v|ter attentie van|"
    r"à l['’]attention de|all['’]attenzione di|a la atenci[oó]n de|v\.h\.a|do rąk|k rukám)\.?(?=[\s:])[\s:.]{0,3}",
    re.IGNORECASE,
)
_CODE_AND_TOWN = (
    r"(?:[A-Z]{1,2}[ -])?[0-9]{4,6}(?:[ -]?[A-Z]{2}|-[0-9]{3,4})?\s+['’]?[^\W\d_]{1,2}|"
    r"(?:[A-Z]{2} ?-? ?)?[0-9]{2,3}[ -][0-9]{2,3}\s+[^\W\d_]{2}|〒"
)
_POSTCODE = re.compile(
    rf"{_CODE_AND_TOWN}|.*\b[A-Z]{{2,3}},? [0-9]{{4,5}}(?:-[0-9]{{4}})?$|"
    r".*\b[A-Z]{1,2}[0-9][0-9A-Z]? [0-9][A-Z]{2}$"
)
_STREET = re.compile(
    r".*[^\W\d_].*\s[0-9]{1,5}\s?[a-zA-Z]?(?:\s?[-–/]\s?[0-9]{1,4})?$|[0-9]{1,5}[a-zA-Z]?,?\s+.*[^\W\d_]{3}|"
    r".*\b(?:P\.?O\.? ?Box|Postfach|Postbus|Apartado|Box|B\.?P\.?)\b"
)
_WITH_TOWN = re.compile(rf".*[0-9]\s(?:{_CODE_AND_TOWN})")
_REGISTER = re.compile(r"(?:HR[AB]|Amtsgericht|Handelsregister|Registergericht|RCS|SIRET|SIREN|KvK|KRS|REGON)\b")
_HOUSE_NUMBER = re.compile(r"[0-9]{1,5}(?:[a-zA-Z]|bis|ter)?,?\s")
_MARK = r"(?:,|\s[·•●|–-])\s"
_SENDER_LINE = re.compile(
    rf"[^\W\d_][^,·•●|]{{0,64}}?(?=(?:\s[·•●|–-]\s[^,·•●|0-9]{{2,40}}?)?{_MARK}[^,·•●|]{{0,64}}[0-9][^,·•●|]{{0,24}}?"
    rf"{_MARK}(?:{_CODE_AND_TOWN}))"
)
_SENTENCE = re.compile(r"(?:\S+ +)*(?:[^\W\d_A-Z]\S* +){3,}.*|.*[^\W\d_]{4,}[.。!]")
"""Prose: three words in a row without a capital, or a full stop behind a word."""
_SMALL_WORD = re.compile(
    r"(?:of|the|de|del|della|di|da|do|dos|du|des|der|den|van|von|zu|zum|zur|la|le|les|el|y|e|et|und|and|&)"
)
_KEYS = ("bill", "credit", "order", "dated", "due", "total", "tax", "tax_number", "paid", "representative")
_KEY = re.compile(rf"(?:{any_of(*_KEYS)})(?![^\W\d_])")
_CAPTION = re.compile(r"(?:discrimina[ct]|descri[pt]|beschreibung|bezeichnung|omschrijving|designation)[a-z]*(?= |$)")
"""Captions of the rows' descriptions, in a folded text."""
_TITLE = re.compile(
    rf"{_KEY.pattern}|(?:{any_of('representative', 'buyer', 'seller', 'number', 'to', 'by', 'change')})(?![^\W\d_])|"
    r"copy|kopie|original|duplicat|page|seite|thank|danke|merci|gracias|grazie|welcome|willkommen|bienvenue|help|back|"
    r"statement|receipt|bill|quote|table|tisch|cashier|kasse|date|time"
)


def starts_with_form(text: str) -> bool:
    """True if a text begins with a legal form, as behind the comma of "Acme, Inc."."""
    return _FORMS.match(text.casefold()) is not None


def has_legal_form(name: str) -> bool:
    """True if a name has the legal form of a firm."""
    return _FORMS.search(name.casefold()) is not None


def without_form(name: str) -> str:
    """Write a name in lower case without its legal form; empty for a mere form."""
    return _FORMS.sub("", name.casefold()).strip(" .,&")


def courtesy(text: str) -> str:
    """Return the form of address with which a text begins; empty without one."""
    found = _COURTESY.match(text.casefold())
    return text[: found.end()] if found else ""


def attention(text: str) -> str:
    """Return the words for the attention of somebody with which a text begins ("Attn: "); empty without them."""
    found = _ATTENTION.match(f"{text} ")
    return text[: found.end()] if found else ""


def is_postcode(line: str) -> bool:
    """True if a line of an address has a postcode and a town."""
    return _POSTCODE.match(line) is not None


def is_street(line: str) -> bool:
    """True if a line of an address has a street and a house number, or a post box."""
    return _STREET.match(line) is not None


def sender_in(line: str) -> str:
    """Return the name with which a sender's line begins, as above an address window; empty if it is none."""
    found = _SENDER_LINE.match(line)
    return found[0] if found else ""


def is_name(text: str, *, may_end_with_number: bool = False) -> bool:
    """True if a text could be a name."""
    letters = count_letters(text)
    return (
        2 <= letters <= LONGEST_NAME >= len(text)
        and not text[0].islower()
        and 2 * letters > len(text)
        and "@" not in text
        and (may_end_with_number or not any(map(str.isdigit, text[-4:])))
        and (has_legal_form(text) or not _is_no_name(text))
        and _REGISTER.match(text) is None
        and without_form(text) != ""
    )


def _is_no_name(text: str) -> bool:
    patterns = (_SENTENCE.fullmatch, _HOUSE_NUMBER.match, _POSTCODE.match, _WITH_TOWN.match)
    return any(match(text) is not None for match in patterns)


def is_no_party(text: str) -> bool:
    """True if what a model takes for a name is a postcode with its town, an attention line, a mere form or a key."""
    is_mere = (
        not without_form(text)
        or courtesy(text) == text
        or _CAPTION.match(folded(text)) is not None
        or _KEY.fullmatch(folded(text)) is not None
    )
    is_other = attention(text) != "" or _REGISTER.match(text) is not None
    return is_mere or is_other or (is_postcode(text) and not has_legal_form(text))


def is_letterhead(text: str) -> bool:
    """True if a line at the top of a page could be a logo: up to four words without digits, and no heading."""
    words = text.split()
    is_short = (
        1 <= len(words) <= MOST_LOGO_WORDS
        and len(text) >= SHORTEST_LOGO
        and not any(sign.isdigit() or sign in ":：" for sign in text)
    )
    return is_short and all(word[0].isupper() for word in words) and _TITLE.search(folded(text)) is None


def is_capitalized(text: str) -> bool:
    """True if words that no model marks are a name."""
    words = text.split()
    return (
        2 <= len(words) <= MOST_WORDS
        and not any(map(str.isdigit, text))
        and all(word[0].isupper() or _SMALL_WORD.fullmatch(word) for word in words)
        and _KEY.search(folded(text)) is None
    )
