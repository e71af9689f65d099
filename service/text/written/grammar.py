"""What is written like an amount, a day, an identifier or a count: spans of a text, whatever they are there for.

Every pattern begins where a run of its characters begins and has bounded repetitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from service.core.decoding.value import ValueKind
from service.text.rules.borders import date_spans
from service.text.values.context import DocumentContext
from service.text.values.reading import read_value

Span = tuple[int, int]
"""The code points `[start, end)`."""

_CURRENCY = r"(?<![^\W\d_])(?:[A-Z]{3}|RM|Rp|R\$|US\$|[€$£¥￥₹₽₺₩₪₫₴฿₱])"
_SPACE = "[ \u00a0\u202f]"
_DIGITS = (
    r"(?:[0-9]{1,2}(?:,[0-9]{2}){1,4},[0-9]{3}(?:\.[0-9]{2})?"
    r"|[0-9]{1,3}(?:[.,'’][0-9]{3}){1,4}(?:[.,][0-9]{2})?"
    r"|[0-9]{1,3}(?:[ \u00a0\u202f][0-9]{3}){1,4},[0-9]{2}"
    r"|[0-9]{1,9}[.,](?:[0-9]{4}|[0-9]{2})"
    r"|[0-9]{1,9})"
)
_AMOUNT = re.compile(
    rf"(?<![0-9.,/-])(?<![0-9]:)(?P<before>{_CURRENCY}{_SPACE}?)?"
    rf"(?P<number>(?:(?<![\w.-])[-−(]{_SPACE}?)?(?:{_CURRENCY}{_SPACE}?)?{_DIGITS}"
    r"(?![0-9]|[.,/:-][0-9]|\s?[%％])(?:(?<=[.,][0-9]{2})-(?![\w-])|\))?)"
    rf"(?P<after>{_SPACE}?(?:[€£$¥₹₽₺₩]|[A-Z]{3}(?![A-Za-z])|(?:kr|TL|Ft)(?!\w)|zł|Kč|円|元|원|руб|лв))?"
)
_WHOLE = re.compile(r"[^.,'’]*")
"""A number without decimals and groups."""
_IDENTIFIER = re.compile(r"(?<![\w.,/-])(?=[\w/.-]{0,29}[0-9])[^\W_][\w/.-]{1,28}[^\W_](?![\w/-])")
_COUNT = re.compile(r"(?<![\w.,/-])[0-9]{1,5}(?:[.,][0-9]{1,3})?(?![\w%]|[.,/:-][0-9]|\s?[%％])")
_UNIT = re.compile(r"\s?[^\W\d_]{1,8}(?:\(s\))?\.?")
_DAY_CHARACTERS = len("2026-03-12")


def amounts(context: DocumentContext, text: str) -> Iterator[Span]:
    """Amounts with decimals, groups or a currency beside them, which belongs to them."""
    for match in _AMOUNT.finditer(text):
        is_whole = _WHOLE.fullmatch(match["number"]) is not None
        start, end = match.span("number")
        if text[start] == "(" and text[end - 1] != ")":
            start += 1
        elif text[end - 1] == ")" and text[start] != "(":
            end -= 1
        beside = match["before"] is not None or match["after"] is not None
        for span in (match.span(), (match.start(), end), (start, end)) if beside else ((start, end),):
            value = read_value("MONEY", text[slice(*span)], context)
            if value.kind is ValueKind.MONEY and (value.unit or not is_whole):
                yield span
                break


def days(context: DocumentContext, text: str) -> Iterator[Span]:
    """Dates with a day."""
    for start, end in date_spans(text):
        value = read_value("DATE", text[start:end], context)
        readings = value.ambiguous or (value.text,)
        if value.kind is ValueKind.DATE and all(len(each) == _DAY_CHARACTERS for each in readings):
            yield start, end


def identifiers(text: str) -> Iterator[Span]:
    """Runs of letters and marks with a digit among them."""
    return (match.span() for match in _IDENTIFIER.finditer(text))


def counts(context: DocumentContext, text: str, within: Span) -> Iterator[Span]:
    """Numbers, with their unit where one is known."""
    for match in _COUNT.finditer(text, *within):
        start, end = match.span()
        unit = _UNIT.match(text, end, within[1])
        if unit is not None and read_value("QUANTITY", text[start : unit.end()], context).unit is not None:
            end = unit.end()
        yield start, end
