"""Tax numbers of a bill: the party that each one belongs to, and the best one of each party.

The rules:
- A number is a party's where the words before it say so ("your VAT no."), where the party's name stands before it on
  its line, or where it stands in the party's block: below the name or the party's keyword, in its column, with no date,
  amount, number of the bill or row of goods between. A tax representative's number is neither's; all others are the
  supplier's, in doubt where there are two of one form.
- A number whose checksum holds comes before all others, then one for value added tax, then one with words for a tax
  number before it: a tax office's number names no firm outside its district.
- A number of another label is one where words for a tax number stand before it.
- A serial number, a bill's number, a masked one, and one with letters of both cases or over `MOST_DIGITS` is none.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from service.core.fields.lines import TextLines, key_above
from service.core.fields.mentions import Choice, Mention, choose, ranked, same_value
from service.core.fields.parties import HEADING_CHARACTERS, keyword_before
from service.core.fields.party_places import ENDS_BLOCK, firm, share_column
from service.core.fields.roles import (
    NAMES,
    NUMBERS,
    RECEIVER,
    RECEIVER_TAX_ID,
    SUPPLIER,
    TAX_ID,
    RoleGroup,
    labels_of,
)
from service.core.fields.vocabulary.phrases import any_of, folded

VALID_VAT, VALID, VAT, NAMED = 1.0, 0.5, 0.3, 0.2
"""Weights added to a number: for a checksum that holds, with a country's prefix or without; the prefix; words."""
UNLABELLED = 0.5
"""Factor of the score of a number under another label."""
MOST_NAMES_BEFORE = 20
"""Most mentions of the parties before a number among which its own is looked for."""
MOST_ENDS = 50
"""Most dates and amounts between a name and a number among which the end of the party's block is looked for."""
MOST_UNTOLD = 50
"""Most numbers of untold owners that are compared."""
NEITHER = "REPRESENTATIVE"
"""Owner of a number that is neither party's."""
MOST_DIGITS = 15
"""Most digits of a tax number; accounts and numbers of papers have more."""
LINES_OF_BLOCK = 6
"""Most lines between a party's name and its tax number."""

_LABELS = frozenset(labels_of(RoleGroup.TAX_NUMBER))
_CANDIDATES = _LABELS | NUMBERS | {"PHONE"}
_VAT = re.compile(r"[A-Z]{2,3}[A-Z0-9]?[0-9]{6,12}(?:[A-Z0-9]{1,3})?")
_MASKED = re.compile(r"[*•●]|X{3}")
_BEHIND = rf"[\s:.#°º/()-]{{0,4}}(?:(?:{any_of('number', starts=False)})[\s:.#°º)-]{{0,4}})?$"
_IS_TAX = re.compile(rf"(?:{any_of('tax_number')}){_BEHIND}")
_IS_OTHER = re.compile(rf"(?:{any_of('other_number')}){_BEHIND}")
_IS_BILL = re.compile(rf"(?:{any_of('bill', 'order')}){_BEHIND}")
_REPRESENTATIVE = re.compile(any_of("representative", ends=False))
_OF_PARTY = re.compile(
    rf"(?P<receiver>{any_of('buyer', ends=False)}|{any_of('your')})|(?P<supplier>{any_of('seller', ends=False)})"
)


def choose_tax_numbers(
    mentions: Sequence[Mention], lines: TextLines, parties: Mapping[str, Choice]
) -> dict[str, Choice]:
    """Choose the parties' tax numbers, by label; a role without a candidate is left out."""
    numbers = {each.entity: each for each in mentions if _is_candidate(each, lines)}
    firms = {firm(parties[label].best): label for label in (SUPPLIER, RECEIVER) if label in parties}
    named = [(each, firms[firm(each)]) for each in mentions if each.label in NAMES and firm(each) in firms]
    ends = [each.start for each in mentions if each.label in ENDS_BLOCK and each.entity not in numbers]
    told = {number: _owner(each, lines, named, ends) for number, each in numbers.items()}
    owners = {number: SUPPLIER if owner is None else owner for number, owner in told.items()}
    untold = [each for number, each in numbers.items() if told[number] is None][:MOST_UNTOLD]
    choices = {}
    for label, owner in ((TAX_ID, SUPPLIER), (RECEIVER_TAX_ID, RECEIVER)):
        own = (each for number, each in numbers.items() if owners[number] == owner)
        if choice := choose(ranked(own, partial(_weight, lines=lines))):
            choices[label] = replace(choice, is_doubtful=_is_doubtful(choice.best, untold))
    return choices


def _is_doubtful(number: Mention, untold: Sequence[Mention]) -> bool:
    """True if nothing tells whose a number is, and as little of another one of its form."""
    rivals = (each for each in untold if same_value(each) != same_value(number) and _form(each) == _form(number))
    return any(each.entity == number.entity for each in untold) and any(rivals)


def _form(number: Mention) -> str:
    """Write a number with 0 for each digit, without marks and spaces."""
    return "".join("0" if sign.isdigit() else sign for sign in number.text.upper() if sign.isalnum())


def _is_candidate(mention: Mention, lines: TextLines) -> bool:
    if mention.label not in _CANDIDATES or not _is_number(mention.text):
        return False
    before = _before(mention, lines)
    is_named = _IS_TAX.search(before) is not None
    if mention.label in _LABELS:
        return is_named or (_IS_OTHER.search(before) is None and _IS_BILL.search(before) is None)
    return is_named and _IS_BILL.search(before) is None


def _is_number(text: str) -> bool:
    """True if a text is not masked, and has letters of one case and few digits."""
    is_mixed = any(map(str.islower, text)) and any(map(str.isupper, text))
    return not is_mixed and sum(map(str.isdigit, text)) <= MOST_DIGITS and _MASKED.match(text) is None


def _before(number: Mention, lines: TextLines) -> str:
    """Return the words before a number in its cell, in the cell before it, or else in the one above it."""
    row = lines.row(lines.at(number.start))
    cell = row.at(number.start)
    own = lines.before(number.start, min(HEADING_CHARACTERS, number.start - cell.start) if cell else HEADING_CHARACTERS)
    left = [each for each in row.cells if cell and each.end <= cell.start][-1:]
    if left and not any(map(str.isalpha, own)):
        beside = lines.between(left[0].start, left[0].end)
        own = beside if not any(map(str.isdigit, beside)) else own
    return folded(own if any(map(str.isalpha, own)) else key_above(lines, number.start))


def _weight(number: Mention, lines: TextLines) -> float:
    is_vat = _VAT.fullmatch("".join(filter(str.isalnum, number.text))) is not None
    weight = number.score if number.label in _LABELS else UNLABELLED * number.score
    weight += (VAT if is_vat else 0.0) + (NAMED if _IS_TAX.search(_before(number, lines)) else 0.0)
    return weight + ((VALID_VAT if is_vat else VALID) if number.value.valid else 0.0)


def _owner(number: Mention, lines: TextLines, named: Sequence[tuple[Mention, str]], ends: Sequence[int]) -> str | None:
    """Find the label of the party that a number belongs to, `NEITHER` for another's; None if nothing tells it."""
    before = folded(lines.before(number.start, HEADING_CHARACTERS))
    if _REPRESENTATIVE.search(before):
        return NEITHER
    if said := [*_OF_PARTY.finditer(_before(number, lines))]:
        return RECEIVER if said[-1]["receiver"] else SUPPLIER
    line = lines.at(number.start)
    place = bisect_left(named, number.start, key=lambda pair: pair[0].start)
    for name, role in reversed(named[max(place - MOST_NAMES_BEFORE, 0) : place]):
        apart = line - lines.at(name.end - 1)
        if apart > LINES_OF_BLOCK:
            break
        if name.end > number.start:
            continue
        between = ends[bisect_left(ends, name.end) : bisect_left(ends, number.start)][-MOST_ENDS:]
        is_cut = bool(apart) and any(share_column(lines, end, number.start) for end in between)
        if not is_cut and share_column(lines, name.start, number.start):
            return role
    captioned, apart = keyword_before(lines, number)
    is_caption = not apart or not any(map(str.isdigit, lines.line(lines.start(line - apart))))
    return captioned if captioned and is_caption else None
