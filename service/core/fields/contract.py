"""Contract fields: the parties with what the contract calls them, dates, periods, law, court and amounts.

The rules:
- A party is called by a name of `ROLES`, or by a part of its own ("Halverson"): behind its name, in quotation marks,
  brackets or dashes ("the Supplier"), or as the key of its name on a line ("Landlord: …"). The first name behind
  "between", "on behalf of" or the party before it is meant, else the first of the paragraph; of names joined by "and"
  the last one, or all that are called so "together". A key may have several.
- Words directly before a date, a period or an amount, on its line or the one above, say what it is. "(the "Effective
  Date")" may follow. A date of "the agreement dated …" is another contract's, a period of probation no notice period.
  Of several amounts of one role the first counts, others are alternatives.
- Law and court are words of a sentence, or stand behind their key.
- What no words name is not answered. Nothing here is fitted: a value has the score of its entity, one that is no entity
  `BY_WORDS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from service.core.decoding.value import Value, ValueKind
from service.core.fields.lines import TextLines
from service.core.fields.mentions import DERIVED, MOST_ALTERNATIVES, Choice, Mention, Reason
from service.core.fields.vocabulary import contract_words as words

BY_WORDS = 0.5
"""Score of a value that words alone name."""
SEARCHED_CHARACTERS = 200_000
PREAMBLE_CHARACTERS = 6_000
"""Characters of a contract's beginning that introduce its parties."""
_NAME_CHARACTERS = 400
"""Most characters between a party's name and what the contract calls it."""
_BEFORE = 120
"""Characters before a value that are searched for its words."""
_NAMES = frozenset(("PARTY", "ORGANIZATION", "PERSON", "SUPPLIER_NAME", "RECEIVER_NAME", "EMPLOYER"))


class Party(NamedTuple):
    """A party: its name, and what the contract calls it, if it does."""

    name: Mention
    called: Mention | None


class ContractFields(NamedTuple):
    """The fields of a contract; roles without a value are left out."""

    parties: tuple[Party, ...]
    roles: dict[str, Choice]


CONTRACT_ROLES = (*words.DATES, *words.PERIODS, "governing_law", "jurisdiction", *filter(None, words.AMOUNTS))
"""Roles of a contract."""

_OPEN, _CLOSE = "[\"“”„«‘']", "[\"“”»’']"
_ARTICLE = rf"(?:(?:{words.ARTICLES}) ?)?"
_ROLE = rf"(?P<role>(?:{words.ROLES})s?)"
_CALLED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_OPEN} ?{_ARTICLE}{_ROLE},? ?{_CLOSE}",
        rf"\({_ARTICLE}{_ROLE}\)",
        rf"[–—-] ?{_ARTICLE}{_ROLE} ?(?:genannt ?)?[–—-]",
        rf"\b(?P<word>{words.CALLED})\b[^\n.;()]{{0,30}}?[ \"“„«‘']{_ARTICLE}{_ROLE}\b",
        rf"\((?:{words.ARTICLES}|{words.CALLED})?,? ?{_OPEN} ?(?P<own>(?P<role>"
        rf"[^\W\d_][^\n()\"“”„«»]{{1,30}}?)) ?{_CLOSE}\)",
    )
)
"""Ways in which a contract calls a party, behind its name; `own`: perhaps by a part of it."""
_ENDS_AS_ROLE = re.compile(rf"\b(?:{words.ROLES})s?$", re.IGNORECASE)
_TOGETHER = re.compile(rf"\b(?:{words.TOGETHER})\b", re.IGNORECASE)
_JOINED = re.compile(rf",?\s(?:{words.AND}|&)\s(?:(?:{words.TITLES})\b\.?\s)?", re.IGNORECASE)
_FOR = re.compile(rf"\b(?:{words.FOR})\s", re.IGNORECASE)
"""Words before the party that a person acts for."""
_MEANS = re.compile(rf"{_CLOSE}? ?(?:{words.MEANS})\b", re.IGNORECASE)
_KEY = re.compile(
    rf"^[ \t]*(?:\(?[\d][.)] ?)?(?:name (?:of (?:the )?)?|the )?{_ROLE}(?: ?\([^)\n]{{0,30}}\))?[ \t]*"
    rf"(?:\t|:[ \t]*\n?|:?[ \t]*\n(?:{words.NAME_KEYS})[ \t]*[:\t])[ \t]*"
    r"(?P<name>[^\s\W_][^\n:_]{2,90}|[\"“„«][^\n:_]{2,90})$",
    re.IGNORECASE | re.MULTILINE,
)
_BETWEEN = re.compile(rf"\b(?:{words.BETWEEN})\b", re.IGNORECASE)
_LEAD = re.compile(rf"(?:[\W\d_]|(?:{words.LEAD})\b\.?)*", re.IGNORECASE)
_NAME_ENDS = re.compile(rf"[,;:(\n\t“”„\"]|\s[–—-]\s|\s{{2}}| (?:{words.BEHIND_NAMES})\b")
_FORM = re.compile(rf",?\s(?:{words.LEGAL_FORMS})\b(?:\.?\sLtd\b)?\.?", re.IGNORECASE)
"""A firm's legal form behind its name, with a comma before it."""
_SENTENCE = re.compile(r"\b(?!corp|bros)[^\W\d_]{4,}\.$", re.IGNORECASE)
_REST = re.compile(r"[^()\n]{0,40}\)")
"""Rest of the brackets in which a party is called something."""
_NO_NAME = re.compile(rf"(?:{words.NO_NAME})\b", re.IGNORECASE)
_NO_PARTY = re.compile(rf"{_ARTICLE}(?:{words.ROLES}|part(?:y|ies|ei(?:en)?|ies?|e|i))", re.IGNORECASE)
"""What a contract calls a party, which is no name."""
_OTHER_CONTRACT = re.compile(words.OTHER_CONTRACT, re.IGNORECASE)
"""Words before the date of another contract: "the Lease dated"."""
_AND = re.compile(rf"\b(?:{words.AND})\b\W*(?:\(?[2b]\)?\W*)?$", re.IGNORECASE)
_DATED = {
    role: re.compile(rf"(?<!\w)(?:{pattern})[\s:,]*(?:(?:{words.BEFORE_DATES})\s)?$", re.IGNORECASE)
    for role, pattern in words.DATES.items()
}
_CALLED_EFFECTIVE = re.compile(rf"\s?[(\"“„«]\W{{0,2}}(?:the |le |la )?\W?(?:{words.EFFECTIVE_DATE})", re.IGNORECASE)
_UNTIL = re.compile(rf"\b(?:{words.UNTIL})\s$", re.IGNORECASE)
_TERM = re.compile(rf"\b(?:{words.TERM})\b", re.IGNORECASE)
_DURATION = re.compile(rf"(?<![\w.,]){words.DURATION}(?!\w)", re.IGNORECASE)
_PERIODS = {
    role: re.compile(rf"(?<!\w)(?:{pattern})[\s:]*{words.LEAST}\s?$", re.IGNORECASE)
    for role, pattern in words.PERIODS.items()
}
_NO_TERM = re.compile(rf"{words.NO_TERM}|{words.PROBATION}", re.IGNORECASE)
_PROBATION = re.compile(rf"(?<!after )(?<!after the )(?<!nach der )(?<!nach )(?:{words.PROBATION})", re.IGNORECASE)
_NOTICE = re.compile(words.NOTICE_BEHIND, re.IGNORECASE)
_BEFORE_NOTICE = re.compile(rf"(?:{words.NOTICE_BEFORE})\s?$", re.IGNORECASE)
_ENDS = re.compile(words.ENDS, re.IGNORECASE)
_LAWS = tuple(re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in words.LAWS)
_COURTS = tuple(re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in words.COURTS)
_CLAUSE_ENDS = re.compile(rf"\s*(?:,|\b(?:{words.CLAUSE_ENDS})\b).*", re.IGNORECASE | re.DOTALL)
_OPEN_END = re.compile(rf"(?:^|\s(?:{words.OPEN_ENDS}))$", re.IGNORECASE)
"""End of words that name no law or place."""
_AMOUNTS = re.compile(
    "|".join(rf"(?P<{role or 'other'}>\b(?:{pattern})\b)" for role, pattern in words.AMOUNTS.items()), re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[.;](?=\s+[^\W\d_a-zà-ÿ])|\n\s*\n")
_WRAP = re.compile(r"(?<!\n)\n(?!\s*(?:\n|[\d–•(§-]|[A-ZÄÖÜ]{3}))")


def find_contract(lines: TextLines, mentions: Sequence[Mention]) -> ContractFields:
    """Choose the fields of a contract; `mentions`: its entities, in order."""
    text = lines.text[:SEARCHED_CHARACTERS]
    prose = _WRAP.sub(" ", text)
    found: dict[str, list[Mention]] = {}
    for role, mention in (
        *_dates(prose, mentions), *_periods(text, prose), *_clauses(text, prose, mentions), *_amounts(prose, mentions)
    ):  # fmt: skip
        found.setdefault(role, []).append(mention)
    roles = {role: _chosen(found[role]) for role in CONTRACT_ROLES if role in found}
    return ContractFields(tuple(_parties(text, prose, mentions)), roles)


def _chosen(found: Sequence[Mention]) -> Choice:
    """Choose the first value; other values are alternatives."""
    best = found[0]
    others = {mention.value.text: mention for mention in reversed(found) if mention.value.text != best.value.text}
    return Choice(best, Reason.CONTEXT, tuple(reversed(others.values()))[:MOST_ALTERNATIVES], score=best.score)


def _by_words(label: str, text: str, start: int, end: int) -> Mention:
    words_of = " ".join(text[start:end].split())
    return Mention(DERIVED, label, text[start:end], start, end, BY_WORDS, Value(ValueKind.TEXT, words_of))


def _sentence_before(prose: str, start: int) -> str:
    """Return the words before a place in its sentence."""
    before = prose[max(start - _BEFORE, 0) : start]
    return before[max((end.end() for end in _SENTENCE_END.finditer(before)), default=0) :]


def _dates(prose: str, mentions: Sequence[Mention]) -> Iterator[tuple[str, Mention]]:
    labelled = []
    for mention in mentions:
        if mention.value.kind is not ValueKind.DATE or mention.end > len(prose):
            continue
        before = _sentence_before(prose, mention.start)
        role = next((role for role, named in _DATED.items() if named.search(before)), None)
        if _OTHER_CONTRACT.search(before):
            continue
        if "/" in mention.value.text:
            role = "term" if _TERM.search(before) and not _NO_TERM.search(before) else None
        elif _CALLED_EFFECTIVE.match(prose, mention.end):
            role = "effective_date"
        elif role is None and _UNTIL.search(before) and _TERM.search(before):
            role = "end_date"
        elif role is None and mention.label == "EFFECTIVE_DATE" and mention.score >= BY_WORDS:
            labelled.append(mention)
        if role:
            yield role, mention
    yield from (("effective_date", mention) for mention in labelled)


def _periods(text: str, prose: str) -> Iterator[tuple[str, Mention]]:
    for match in _DURATION.finditer(prose):
        before, behind = _sentence_before(prose, match.start()), prose[match.end() : match.end() + _BEFORE]
        around = before + _SENTENCE_END.split(behind)[0]
        role = next((role for role, named in _PERIODS.items() if named.search(before)), None)
        if _NOTICE.match(behind) or _BEFORE_NOTICE.search(before):
            role = "notice_period" if _ENDS.search(around) else None
        is_other = _NO_TERM.search(before) if role == "term" else _PROBATION.search(around)
        if role and not is_other:
            yield role, _by_words("DURATION", text, *match.span())


def _clauses(text: str, prose: str, mentions: Sequence[Mention]) -> Iterator[tuple[str, Mention]]:
    """Yield the law and the court that words state, else the law that the model found."""
    for role, label, patterns in (("governing_law", "GOVERNING_LAW", _LAWS), ("jurisdiction", "JURISDICTION", _COURTS)):
        on_lines = ((each, text if each.groupindex.keys() & {"key", "keys"} else prose) for each in patterns)
        matches = [match for each, searched in on_lines for match in each.finditer(searched)]
        for match in sorted(matches, key=lambda match: match.start()):
            start, end = match.span(str(match.lastgroup))
            said = _CLAUSE_ENDS.sub("", prose[start:end]).rstrip(' "”»’')
            if not _OPEN_END.search(said):
                yield role, _by_words(label, text, start, start + len(said))
        for mention in mentions if not matches else ():
            if mention.label == label and mention.score >= BY_WORDS:
                yield role, mention


def _amounts(prose: str, mentions: Sequence[Mention]) -> Iterator[tuple[str, Mention]]:
    for mention in mentions:
        if mention.value.kind is ValueKind.MONEY and mention.value.unit and mention.end <= len(prose):
            *_, named = [None, *_AMOUNTS.finditer(_sentence_before(prose, mention.start))]
            if named is not None and named.lastgroup != "other":
                yield str(named.lastgroup), mention


def _parties(text: str, prose: str, mentions: Sequence[Mention]) -> Iterator[Party]:
    """Yield the parties, each once, by what they are called; those of keys only where sentences name fewer than two."""
    names = [each for each in mentions if each.label in _NAMES and len(each.text) > 2 and not _is_called(each.text)]
    parties = _distinct(_called(text, prose[:PREAMBLE_CHARACTERS], names))
    if len(parties) < 2:
        parties = _distinct([*parties, *_by_key(text, names)])
    yield from parties or _between(prose[:PREAMBLE_CHARACTERS], names)


def _is_called(text: str) -> bool:
    return _NO_PARTY.fullmatch(text) is not None


def _distinct(parties: Sequence[Party] | Iterator[Party]) -> list[Party]:
    """Keep the first party of each name, and of each role."""
    kept: dict[str, Party] = {}
    places: dict[str, int] = {}
    for party in parties:
        role, place = (party.called.text.casefold(), party.called.start) if party.called else ("", 0)
        if places.setdefault(role, place) == place:
            kept.setdefault(party.name.value.text.casefold(), party)
    return list(kept.values())


def _called(text: str, prose: str, names: Sequence[Mention]) -> Iterator[Party]:
    """Yield the parties that a sentence names and calls something."""
    matches = sorted((match for each in _CALLED for match in each.finditer(prose)), key=lambda match: match.start())
    before = 0
    for match in matches:
        if match.start("role") < before or _is_weak(match) or _MEANS.match(prose, match.end()):
            continue
        starts = [each.end() for each in _BETWEEN.finditer(prose, 0, match.start())] or [
            prose.rfind("\n\n", 0, match.start()) + 1
        ]
        start = max(before, match.start() - _NAME_CHARACTERS, starts[-1])
        start = max((each.end() for each in _FOR.finditer(prose, start, match.start())), default=start)
        named = _joined(prose, [each for each in names if start <= each.start and each.end <= match.start()])
        if "own" in match.groupdict():
            if not (named and _is_part(match["own"], named[-1].text)):
                before = match.end() if named else before
                continue
        elif not named and (written := _written_name(text, prose, start, match.start())):
            named = [written]
        is_plural = _TOGETHER.search(prose, named[-1].end, match.start("role")) if named else None
        for name in named if is_plural or match["role"].endswith("s") else named[-1:]:
            yield Party(_with_form(name, text), _by_words("PARTY_ROLE", text, *match.span("role")))
        rest = _REST.match(prose, match.end())
        before = rest.end() if rest else match.end()


def _is_weak(match: re.Match[str]) -> bool:
    """True if words that often mean something else call a party in small letters: "as agent"."""
    word = match.groupdict().get("word") or "as"
    return match.re is not _CALLED[0] and not match["role"][0].isupper() and word.lower() in words.WEAK


def _joined(prose: str, names: Sequence[Mention]) -> list[Mention]:
    """Return the first name, and those that are joined to it by "and"."""
    joined = list(names[:1])
    for each in names[1:]:
        if not _JOINED.fullmatch(prose, joined[-1].end, each.start):
            break
        joined.append(each)
    return joined


def _is_part(called: str, name: str) -> bool:
    """True if a party is called by a word of its name, its initials, or a role ("General Contractor")."""
    words_of = [word.casefold() for word in re.findall(r"[^\W\d_]+", name)]
    initials = "".join(word[0] for word in words_of)
    return (_ENDS_AS_ROLE.search(called) is not None or initials.endswith(called.casefold())) or any(
        len(word) > 2 and word.casefold() in words_of for word in re.findall(r"[^\W\d_]+", called)
    )


def _written_name(text: str, prose: str, start: int, end: int) -> Mention | None:
    """Find the name that a part of a sentence begins with; None where it begins with none."""
    lead = _LEAD.match(prose, start, end)
    start = lead.end() if lead else start
    stop = _NAME_ENDS.search(prose, start, end)
    name = prose[start : stop.start() if stop else end].rstrip()
    is_name = (
        name[:1].isupper()
        and 2 < len(name) <= 80
        and not (_NO_NAME.match(name) or _is_called(name))
        and "_" not in name
    )
    return _with_form(_by_words("PARTY", text, start, start + len(name)), text) if is_name else None


def _with_form(name: Mention, text: str) -> Mention:
    """Extend a name over the legal form behind it."""
    form = _FORM.match(text, name.end)
    return _by_words(name.label, text, name.start, form.end())._replace(score=name.score) if form else name


def _by_key(text: str, names: Sequence[Mention]) -> Iterator[Party]:
    """Yield the parties whose names stand behind what they are called, as keys."""
    for match in _KEY.finditer(text):
        start = match.start("name")
        named = [each for each in names if start <= each.start < match.end()]
        named = _joined(text, named) if named and named[0].start == start else []
        if not named and (written := _written_name(text, text, start, match.end())):
            named = [written]
        for name in named:
            if not _is_called(name.text) and not _SENTENCE.search(name.text):
                yield Party(_with_form(name, text), _by_words("PARTY_ROLE", text, *match.span("role")))


def _between(prose: str, names: Sequence[Mention]) -> Iterator[Party]:
    """Yield two parties that a sentence names and calls nothing: "between … and …"."""
    for match in _BETWEEN.finditer(prose):
        first = next((each for each in names if match.end() <= each.start <= match.end() + 12), None)
        behind = [each for each in names if first and first.end < each.start < first.end + _NAME_CHARACTERS]
        second = next((each for each in behind if _AND.search(prose, max(each.start - 12, 0), each.start)), None)
        if first and second:
            yield from (Party(first, None), Party(second, None))
            return
