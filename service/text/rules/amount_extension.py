"""Amount extension makes each of the model's amounts one number, with its sign and the currency beside it.

The rules, in this order:
- A currency's word alone is no amount: it is joined with the number behind it in its cell, else left out.
- An amount takes the sign, the leading point, the mark `CR` or `DR`, brackets in a row of an account, and the currency
  that stand beside it.
- Several amounts are divided, and so are a quantity and its price. Only the quantity is left out.
- A number with decimals or groups beside a currency is an amount, where the model has nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from service.core.decoding.entities import Entity
from service.core.decoding.value import ValueKind
from service.core.fields.amount_keywords import classify_key
from service.core.fields.roles import AMOUNTS, TAX
from service.text.rules.rule_matches import RuleMatch, Strength, scan
from service.text.values import names
from service.text.values.amounts import is_quantity_and_price, may_group_by_space
from service.text.values.context import DocumentContext
from service.text.values.currencies import SIGNS, currencies_in, is_code
from service.text.values.normalization import plain
from service.text.values.reading import read_value

_AROUND_CHARACTERS = 30
"""Characters around an entity that are searched for the rest of it."""
_SIGN_BEFORE = re.compile(r"(?:(?<![\w.,)%-])[-‒–—−－▲△] ?[$€£¥￥]?)?(?:(?<![\w/.,])[.,])?\Z")
_SIGN_AFTER = re.compile(
    r"(?:[-‒–—−－](?![\w-])|\s?[€$£] ?[-‒–—−－](?![\w-])|[ \u00a0]?(?:CR|DR|Cr|Dr|DB)(?!\w)\.?)(?!\s?[0-9])"
)
"""Sign, point or side of an account beside the rest of an amount."""
_SPACED_MINUS = re.compile(r"[ \u00a0][-‒–—−－](?=[ \t]*(?:$|\n))")
_DECIMALS = re.compile(r"[0-9][.,][0-9]{2}(?![0-9])")
"""Amounts of a line, by their two decimals."""
_SIGN = rf"[{SIGNS}]|[A-Z]{{2}}?\$|{'|'.join(sorted(names.currency_codes()))}|zł|Kč|kr\.?"
_IN_BRACKETS = re.compile(
    rf"(?:(?P<before>{_SIGN})[ \u00a0]?)?\([ ]?(?P<inner>(?:{_SIGN})?[ \u00a0]?)[0-9](?:[0-9.,'’ \u00a0]*[0-9])?"
    rf"(?P<unit>[ \u00a0]?(?:{_SIGN})?)[ ]?\)(?:[ \u00a0]?(?P<after>{_SIGN})(?!\w))?"
)
_ROW_BEFORE = re.compile(r"(?:\A|[:=\t]|[.,]\d\d\)?|[ \u00a0]{3})[ \u00a0]*\Z")
_ROW_BEHIND = re.compile(r"[ \u00a0]*(?:\Z|\t|[ \u00a0]{2}|[(0-9$€£-])")
_INCLUDED = re.compile(r"(?:%\s*\Z|incl|inkl|davon|darin|enth|includ|inclu|dont|thereof|di cui|waarvan|varav)", re.I)
_CURRENCY = (
    r"(?:[A-Z]{1,3}\$|U\$S|[A-Z]{3}(?![A-Za-z$])|(?:[Kk]r|KR|R[sp]|[Ss]?Fr|D[Hh]s?|DHS|Lps?|Gs|Tk|Bs|K[Ss]h|[TU]Sh"
    r"|[SQ]\.?R|[KBJL]\.?D|R\.?O|L\.?E|лв|грн|руб|din|дин|ر\.?س|ر\.?ق|ر\.?ع|د\.?إ|د\.?ك|د\.?ب|د\.?ت|د\.?ج|د\.?م|ج\.?م)\.?"
    rf"|RM|R|D[ATH]|GH₵|S/\.?|B/\.|zł|Kč|Ft|lei|TL|đ|円|元|원|บาท|ريال|درهم|دينار|[{SIGNS}])"
)
"""Codes and signs as they stand beside amounts; elsewhere some are other words."""
_CURRENCY_BEFORE = re.compile(rf"(?<![\w$.])({_CURRENCY})[ \u00a0\u202f]?\Z")
_CURRENCY_AFTER = re.compile(
    rf"(?::[0-9]{{2}}(?=[ \u00a0]?(?:kr|SEK)))?[ \u00a0\u202f]?({_CURRENCY})(?![\w$]|[ \u00a0\u202f]?[0-9])"
)
_CODED_NUMBER = (
    r"[0-9]{1,3}(?:(?:[.,'’ \u00a0][0-9]{2,3}){0,4}[.,][0-9]{2,3}|[ \u00a0][0-9]{3}(?:[ \u00a0][0-9]{3}){0,3})"
    r"(?![\w%]|[.,/-][0-9]|[ \u00a0][0-9]{3}(?![0-9]))"
)
_CODED = re.compile(
    rf"(?<![\w$.-])(?:(?P<before>[A-Z]{{3}}|RM|Rp|S/\.?|[A-Z]{{0,2}}\$|[{SIGNS}])[ \u00a0]?{_CODED_NUMBER}"
    rf"|{_CODED_NUMBER}[ \u00a0]?(?P<after>[A-Z]{{3}}|F ?CFA|zł|Kč|[{SIGNS[1:]}])(?![\w$]))"
)
"""Amounts with a currency; behind a number `$` may as well be that of the next cell of a form."""
_COLON_DECIMALS = re.compile(r":[0-9]{2}[ \u00a0]?(?:kr|SEK)\Z")
_CURRENCY_CHARACTERS = 8
_WORDS_IN_CAPITALS = frozenset("ALL AMD ANG BAM BOB CAD COP CUP GEL LAK MAD MOP PEN RON SAR SOS TOP TRY".split())
"""Codes that are words of texts in capitals: currencies only behind words for a sum, or at the beginning of a cell."""
_CELL_START = re.compile(r"(?:\A|[:(\t]| {2})[ \u00a0]*\Z")
_NUMBER_BESIDE = re.compile(r"[:.]?[ \u00a0]?(?P<number>[-−]?[0-9](?:[0-9.,'’]{0,15}[0-9])?)(?![\w%]|[.,/-][0-9])")
_PIECE = r"[-−]?[0-9](?:[0-9.,'’]{0,20}[0-9])?"
_SPACED_PIECE = rf"(?:[-−]?[0-9]{{1,3}}(?: [0-9]{{3}}){{1,3}}(?![0-9])(?:[.,][0-9]{{2,3}})?|{_PIECE})"
_DIVISIONS = {
    (spaced, first): re.compile(
        rf"(?:{_CURRENCY}[ \u00a0]?)?{piece}" if first else rf"{piece}(?:[ \u00a0]?{_CURRENCY}(?![\w$]))?"
    )
    for spaced, piece in ((False, _PIECE), (True, _SPACED_PIECE))
    for first in (False, True)
}
"""Whether spaces group digits, whether currencies stand before numbers → an amount among several."""
_SHORT = re.compile(r"[0-9]{1,3}")
_MOST_PIECES = 8
"""Most amounts into which an entity is divided; one with more is prose."""


def whole_amounts(text: str, entities: list[Entity], context: DocumentContext) -> list[Entity]:
    """Join, extend and divide the amounts among a text's entities, which are in order and do not overlap."""
    result: list[Entity] = []
    waiting = entities[::-1]
    while waiting:
        entity = waiting.pop()
        if entity.label not in AMOUNTS:
            result.append(entity)
        elif not any(map(str.isdigit, entity.text)) and _is_currency(entity.text, context):
            if (joined := _joined(text, entity, waiting)) is not None:
                waiting.append(joined)
        else:
            if waiting and _COLON_DECIMALS.match(text, entity.end, waiting[-1].end):
                entity = _part(text, entity, entity.start, waiting.pop().end)
            floor, ceiling = result[-1].end if result else 0, waiting[-1].start if waiting else len(text)
            entity = _part(text, entity, *_with_signs(text, entity, floor, ceiling))
            entity = _part(text, entity, *_with_currency(text, entity, floor, ceiling, context))
            result += _divided(text, entity, context)
    return result


def missed_amounts(text: str, entities: Sequence[Entity], context: DocumentContext) -> list[RuleMatch]:
    """Find numbers with decimals or groups beside a currency's code or sign, where the model has no entity."""
    found: list[RuleMatch] = []
    places = [entity.start for entity in entities]
    for match in scan(_CODED, text):
        code = match["before"] or match["after"]
        if len(code) == len("EUR") and code.isalpha() and not is_code(code):
            continue
        following = bisect_left(places, match.end())
        if following and entities[following - 1].end > match.start():
            continue
        before = text[max(0, match.start() - _AROUND_CHARACTERS) : match.start()]
        if code in _WORDS_IN_CAPITALS and not _is_before_sum(before.rpartition("\n")[2]):
            continue
        if read_value("MONEY", match.group(), context).unit is not None:
            found.append(RuleMatch("MONEY", *match.span(), Strength.LIKELY, 0.9))
    return found


def _part(text: str, entity: Entity, start: int, end: int) -> Entity:
    return entity._replace(text=text[start:end], start=start, end=end)


def _is_currency(words: str, context: DocumentContext) -> bool:
    has_word = any(character.isalpha() or character in SIGNS for character in words)
    return has_word and len(words) <= _AROUND_CHARACTERS and currencies_in(plain(words), context) is not None


def _joined(text: str, word: Entity, waiting: list[Entity]) -> Entity | None:
    """Join a currency's word with the number behind it, which may be the next entity; None if there is none."""
    beside = _NUMBER_BESIDE.match(text, word.end)
    following = waiting[-1] if waiting else None
    if beside is None or (following is not None and following.start < beside.start("number")):
        return None
    if following is None or following.start >= beside.end():
        return _part(text, word, word.start, beside.end())
    if following.label not in AMOUNTS:
        return None
    waiting.pop()
    named = word if following.label == "MONEY" else following
    return _part(text, named, word.start, following.end)


def _with_signs(text: str, entity: Entity, floor: int, ceiling: int) -> tuple[int, int]:
    """Find the borders of an amount with the sign, the point, the brackets and the side of an account beside it.

    A minus after a space counts at a line's end, behind the only amount of the line: others stand for empty cells.
    Brackets are a minus in a row of an account, not in a sentence: `_bracketed`.
    """
    floor = max(floor, entity.start - _AROUND_CHARACTERS)
    before = _SIGN_BEFORE.search(text, max(floor, entity.start - 4), entity.start)
    if before is not None and not text[entity.start].isdigit():
        before = None if text[entity.start] not in "$€£¥￥" or before.group()[-1:] in ".," else before
    after = _SIGN_AFTER.match(text, entity.end, min(len(text), ceiling + 1))
    if after is None and (spaced := _SPACED_MINUS.match(text, entity.end)) is not None:
        line = text[max(floor, text.rfind("\n", 0, entity.start) + 1) : entity.end]
        after = spaced if len(_DECIMALS.findall(line)) == 1 else None
    start = before.start() if before is not None else entity.start
    end = after.end() if after is not None and after.end() <= ceiling else entity.end
    return _bracketed(text, entity, floor, ceiling) or (start, end)


def _bracketed(text: str, entity: Entity, floor: int, ceiling: int) -> tuple[int, int] | None:
    """Find the borders of an amount with brackets around it that make it negative; None without such.

    They do if its currency stands beside them, if the amount fills a cell, and at the end of a line that does not say
    that the amount is included in another one; not in a sentence ("the fee (EUR 500) is due").
    """
    first = max(floor, text.rfind("\n", 0, entity.start) + 1)
    last = end if (end := text.find("\n", entity.end)) >= 0 else len(text)
    area = max(first, entity.start - _AROUND_CHARACTERS), min(last, ceiling, entity.end + _AROUND_CHARACTERS)
    for match in _IN_BRACKETS.finditer(text, *area):
        if match.start() > entity.start or entity.end > match.end():
            continue
        before, behind = text[first : match.start()], text[match.end() : last]
        fills_cell = _ROW_BEFORE.search(before) is not None and _ROW_BEHIND.match(behind) is not None
        ends_line = not behind.strip() and not match["inner"] and not match["unit"].strip()
        is_part = entity.label == TAX or _INCLUDED.search(before) is not None
        if match["before"] or match["after"] or fills_cell or (ends_line and not is_part):
            return match.span()
    return None


def _with_currency(text: str, entity: Entity, floor: int, ceiling: int, context: DocumentContext) -> tuple[int, int]:
    """Find the borders of an amount with the currency before it, else behind it; its own if it has one already."""
    stated = read_value(entity.label, entity.text, context)
    if stated.kind is not ValueKind.MONEY or stated.unit is not None:
        return entity.start, entity.end
    before = _CURRENCY_BEFORE.search(text, max(floor, entity.start - _CURRENCY_CHARACTERS), entity.start)
    after = _CURRENCY_AFTER.match(text, entity.end)
    key = text[max(floor, text.rfind("\n", 0, entity.start) + 1) : before.start() if before else entity.start]
    for match, start, end in (
        (before, before.start() if before else 0, entity.end),
        (after, entity.start, after.end() if after else 0),
    ):
        if match is None or end > ceiling or (match[1] in _WORDS_IN_CAPITALS and not _is_before_sum(key)):
            continue
        found = read_value(entity.label, text[start:end], context)
        if found.unit is not None or (found.kind is ValueKind.MONEY and match[1] != "R"):
            return start, end
    return entity.start, entity.end


def _is_before_sum(key: str) -> bool:
    return _CELL_START.search(key) is not None or classify_key(key) is not None


def _divided(text: str, entity: Entity, context: DocumentContext) -> Iterator[Entity]:
    """Yield the amounts in an entity; the entity itself if it is one, or something else."""
    behind = text[entity.end : entity.end + _AROUND_CHARACTERS].partition("\n")[0]
    if is_quantity_and_price(entity.text, behind, context):
        yield _part(text, entity, entity.start + entity.text.index(" ") + 1, entity.end)
        return
    stated = read_value(entity.label, entity.text, context)
    if stated.number is not None or "\n" in entity.text:
        yield entity
        return
    pattern = _DIVISIONS[may_group_by_space(context), not entity.text[0].isdigit()]
    pieces = list(pattern.finditer(entity.text))
    if stated.ambiguous or not 1 < len(pieces) <= _MOST_PIECES or pattern.sub("", entity.text).strip():
        yield entity
        return
    pieces = pieces[1:] if _SHORT.fullmatch(pieces[0].group()) else pieces
    parts = [_part(text, entity, entity.start + piece.start(), entity.start + piece.end()) for piece in pieces]
    yield from parts if all(_is_amount(part, context) for part in parts) else [entity]


def _is_amount(part: Entity, context: DocumentContext) -> bool:
    """True if a part is an amount with a currency or with decimals."""
    found = read_value(part.label, part.text, context)
    return found.number is not None and (found.unit is not None or not part.text.isdigit())
