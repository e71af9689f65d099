"""Headings of papers: the cells of a text that name the paper they stand on.

The rules:
- A heading is a cell that begins with a paper's name ("Credit note", "AVOIR N° 9", "2. Mahnung"), at most two words
  before it. With more than `MOST_OTHER_LETTERS` letters beside the names, or in small letters without a number, it is
  prose. A sum or a day ("Invoice total"), a party ("Bill to"), another bill ("original invoice") and a denial ("not an
  invoice") are none.
- A paper that is no bill is found before the bill's name in it ("Auftragsbestätigung", "Proforma-Rechnung").
  Of several names in one cell the first counts, but "Lieferschein / Rechnung" is a bill in any order, "Faktura pro
  forma" is pro forma, and a reminder's name at the end counts ("Invoice 7 – second reminder").
- A cell with an amount, or before cells of amounts alone, is a table's row; one of several heads of columns is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

from service.core.fields.cells import cell_spans
from service.core.fields.kinds import BILL_KINDS, PaperKind
from service.core.fields.lines import LONGEST_LINE
from service.core.fields.vocabulary.bill_names import BILLS, KEYS, NO_NAMES, SPECIAL_BILLS
from service.core.fields.vocabulary.paper_names import ALONE, PAPERS, PaperName
from service.core.fields.vocabulary.paper_sentences import NO_BILL, SENTENCES
from service.core.fields.vocabulary.phrases import PhraseMatch, PhraseTable, any_of, count_letters, folded

MOST_OTHER_LETTERS = 20
"""Most letters of a heading beside the papers' names; a cell with more is prose."""
MOST_LETTERS_BEHIND = 32
"""Most letters behind a name that begins the heading of a paper that is no bill: "Angebot Nr. 5 über …"."""
LONGEST_HEADING = 80
HEADING_CHARACTERS = 12_000
"""Characters of a paper's beginning that are searched for its heading."""
COLUMN_HEADS = 2
"""Fewest other cells of words on a line that make it the head of a table."""

_NAMES = {str(number): name for number, name in enumerate((*PAPERS, *KEYS, *SPECIAL_BILLS, *BILLS))}
_TABLES = tuple(
    PhraseTable(phrases={key: name.phrases for key, name in _NAMES.items() if name in rows})
    for rows in (PAPERS, KEYS, SPECIAL_BILLS, BILLS)
)
"""Tables of names, in order of precedence: a "Stornorechnung" is also a "*rechnung"."""
_ANY_NAME = PhraseTable(phrases={key: name.phrases for key, name in _NAMES.items()})
"""All names: one search tells the cells that have none, nearly all."""
_ALONE = {folded(phrase): name for name in ALONE for phrase in name.phrases.split()}
_OF_ANOTHER = re.compile(any_of("another_bill", "buyer", "seller", "to"))
_SUM = re.compile(any_of("total", "gross", "to_pay", "net", "net_or_total", "subtotal", "no_sum"))
_OTHER_KEY = re.compile(any_of("total", "net_or_total", "sums", "tax", "no_sum", "dated", "due"))
_HEAD = re.compile(any_of("dated", "sums", "total", "net", "subtotal", "tax", "due"))
_KEY = rf"[\W_]*(?:(?:{any_of('number', 'dated', starts=False)})(?![^\W\d_])|#)[\W_]*"
_ONLY_KEY = re.compile(_KEY)
_OWN_NUMBER = re.compile(rf"[\W_]*(?P<key>{_KEY})?(?:[^\W\d_]{{1,6}}[\W_]{{0,3}})?\d")
_SUBJECT = re.compile(
    r"(?:subject|re|betreff|betr\.?|betreft|onderwerp|objet|asunto|oggetto|assunto|ref|amne|arende|emne|vedr\.?|"
    r"subiect|dotyczy|temat|predmet|vec|тема|konu|aihe|asia|件名|主题|主旨|제목|الموضوع|विषय|perkara|perihal) ?[:：] ?",
)
_DENIED = PhraseTable(phrases={NO_BILL: f"{SENTENCES[NO_BILL]} {NO_NAMES}"})
_SPACED = re.compile(
    r"(?:[^\W\d_\u1100-\u11ff]|[\u1100-\u11ff]{1,3})(?: (?:[^\W\d_\u1100-\u11ff]|[\u1100-\u11ff]{1,3})){2,}"
)
_SURNAME = re.compile(r" [^\W\d_]{2,20}$")
_ZERO = re.compile(r"(?<=[^\W\d_]{2})0(?![0-9])")
_BEFORE = re.compile(
    r"\W{0,8}(?:\d{1,2}(?:\W{1,3}|[^\W\d_]{1,3}\s))?(?:[^\W\d_]{1,20}[\s/-]{1,3}){0,2}"
    "[\u1100-\u11ff\u2e80-\u9fff]{0,18}"
)
_OF = re.compile(
    r"(?:^|\s)(?:of|de|del|da|do|di|du|des|der|van|von|av|af|for|per|to|zu|zur|pour|para|z|к|по|на|для)\W*$"
)
_JOINED = re.compile(r"\W*(?:and|und|et|y|e|en|og|och|i|ve|ja|si|dan|cum|valant|兼|及び|及|및|겸)?\W*")
_NO_HEADING = re.compile(
    r"[0-9][.,][0-9]{2}(?![0-9.,%])|[@!?]|\b(?:please|bitte|veuillez|merci de|por favor|si prega|prosim|prosze|"
    r"gelieve|vanligen|vennligst|lutfen|пожалуйста|harap|sila)\b"
)
"""What no heading holds: an amount, an address, a request."""
_MONEY_ALONE = re.compile(r"\W{0,3}(?:[A-Z]{2,3}\s?)?[-+−(]?[0-9][0-9.,'’ ]*[.,][0-9]{2}\W{0,3}(?:[A-Z]{1,3})?")
_NUMBER_ALONE = re.compile(r"\W{0,2}[^\W\d_]{0,5}[\W_]{0,2}\d[\w./-]*")
_TERM = re.compile(r" (?:after|upon|on|at|nach|bei|bij|na|ved|vid|efter|etter|a la|alla|al|ao|po|при|после) [^\W\d_]")
"""Words behind a name that say when it comes: "Rechnung nach Lieferung"."""
_PARTICLE = re.compile("[\u3041-\u3093]")
_COLUMN_HEAD = re.compile(r"[^\d:]{0,10}[^\W\d_][^\d:]{0,20}")


REFERRED = frozenset(
    (
        PaperKind.PRO_FORMA,
        PaperKind.ORDER,
        PaperKind.ORDER_CONFIRMATION,
        PaperKind.INQUIRY,
        PaperKind.OFFER,
        PaperKind.DELIVERY_NOTE,
        PaperKind.WAYBILL,
        PaperKind.TIMESHEET,
        PaperKind.WORK_REPORT,
        PaperKind.CUSTOMS_DECLARATION,
        PaperKind.VOUCHER,
        PaperKind.PRICE_LIST,
        PaperKind.CONTRACT,
        PaperKind.RETURN_SLIP,
    )
)
"""Kinds of papers that a bill refers to, with their numbers or as "your order"."""
_WITH_BILL = (REFERRED - {PaperKind.PRO_FORMA}) | {PaperKind.STATEMENT, PaperKind.RECEIPT}
"""Kinds that are a bill if a bill's name is joined to theirs."""


class HeadingForm(IntEnum):
    """Form of a heading, the clearest last."""

    LABEL = 1
    """A key of the paper's number or day, its value elsewhere: "Invoice no.", "Delivery note no.: 7"."""
    EXTENDED = 2
    """A name with a number or a few words: "Rechnung Nr. 5", "Invoice for May"."""
    TITLE = 3
    """Nothing but names: "INVOICE", "Rechnung / Lieferschein"."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A cell `[start, end)` that names a paper; `code`: what it says in UNTDID 1001."""

    kind: PaperKind
    start: int
    end: int
    code: str | None
    form: HeadingForm


def find_headings(text: str, start: int, end: int) -> Iterator[Heading]:
    """Yield the headings in a part of a text, in order."""
    end = min(end, len(text))
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        if stop - start <= LONGEST_LINE:
            yield from _line_headings([(text[left:right], left) for left, right in cell_spans(text, start, stop)])
        start = stop + 1


def _line_headings(cells: Sequence[tuple[str, int]]) -> Iterator[Heading]:
    """Yield the headings among the cells of one line."""
    row_end = max((number for number, (cell, _) in enumerate(cells) if _MONEY_ALONE.fullmatch(cell)), default=0)
    for number, (cell, start) in enumerate(cells[row_end:], start=row_end):
        if len(cell) > LONGEST_HEADING or (read := _read(cell)) is None:
            continue
        name, form = read
        behind = [other for other, _ in cells[number + 1 :]]
        if _is_in_table([other for place, (other, _) in enumerate(cells) if place != number]):
            continue
        if behind and _NUMBER_ALONE.fullmatch(behind[0]):
            form = min(form, HeadingForm.EXTENDED)
        yield Heading(name.kind, start, start + len(cell), name.code, form)


def _is_in_table(others: Sequence[str]) -> bool:
    """True if the other cells of a line show that it is the head of a table's columns."""
    words = [folded(other) for other in others if _COLUMN_HEAD.fullmatch(other)]
    return len(words) >= COLUMN_HEADS or any(map(_HEAD.fullmatch, words))


def _read(cell: str) -> tuple[PaperName, HeadingForm] | None:
    """Find the paper that a cell names as a heading, and its form; None if it is none."""
    line = _written(cell)
    if alone := _ALONE.get(line.strip(" *-–:.")):
        return alone, HeadingForm.TITLE
    names = _names(line)
    if not names or _NO_HEADING.search(line) or _DENIED.find(line):
        return None
    begin, name, rest = line[: names[0].start], _decisive(line, names), _rest(line, names)
    if not _begins(line, names[0], name) or _is_prose(cell, name, begin, rest) or (form := _form(rest, name)) is None:
        return None
    if name in KEYS:
        return name, HeadingForm.LABEL
    if name.kind in REFERRED and any(map(str.isalpha, begin)):
        return (name, HeadingForm.EXTENDED) if form is HeadingForm.TITLE else None
    return name, form


def _written(cell: str) -> str:
    """Fold a cell, without words before a subject, spaces between all its letters, and zeros read for the letter O."""
    line = folded(cell)
    if _SPACED.fullmatch(line):
        line = line.replace(" ", "")
    subject = _SUBJECT.match(line)
    return _ZERO.sub("o", line[subject.end() :] if subject else line)


def _begins(line: str, first: PhraseMatch, name: PaperName) -> bool:
    """True if a folded cell begins with its first name, few words before it, and is about no other bill or party."""
    begin = line[: first.start]
    if not _BEFORE.fullmatch(begin) or _OF.search(begin) or _SUM.search(begin):
        return False
    if line[first.start : first.end] == "bill" and _SURNAME.match(line, first.end):
        return False
    is_another = any(part.start() <= first.start < part.end() for part in _OF_ANOTHER.finditer(line))
    return name not in BILLS or not is_another


def _is_prose(cell: str, name: PaperName, begin: str, rest: str) -> bool:
    """True if a cell has more words beside the names than a heading."""
    if _PARTICLE.match(rest):
        return True
    others = count_letters(begin) + count_letters(rest)
    is_title = name.kind not in BILL_KINDS and not begin and not cell.endswith((".", ",", ";"))
    if others > (MOST_LETTERS_BEHIND if is_title else MOST_OTHER_LETTERS):
        return True
    return cell[0].islower() and others > 0 and (name.kind not in BILL_KINDS or not any(map(str.isdigit, cell)))


def _names(line: str) -> list[PhraseMatch]:
    """Find the papers' names in a folded cell, in order; of two that overlap the first, or of the first table."""
    if not _ANY_NAME.has(line):
        return []
    found = [(match.start, number, match) for number, table in enumerate(_TABLES) for match in table.find(line)]
    names: list[PhraseMatch] = []
    for _, _, match in sorted(found):
        if not names or match.start >= names[-1].end:
            names.append(match)
    return names


def _decisive(line: str, names: Sequence[PhraseMatch]) -> PaperName:
    """Choose the name that says what the paper is."""
    first, last = _NAMES[names[0].kind], _NAMES[names[-1].kind]
    if last.kind is PaperKind.REMINDER and not any(map(str.isalpha, line[names[-1].end :])):
        return last
    for one, following in pairwise(names):
        if not _JOINED.fullmatch(line, one.end, following.start):
            break
        other = _NAMES[following.kind]
        if other.kind is PaperKind.PRO_FORMA or (other.kind is PaperKind.INVOICE and first.kind in _WITH_BILL):
            return other
    return first


def _rest(line: str, names: Sequence[PhraseMatch]) -> str:
    """Cut the first name of a folded cell, what stands before it, and all names joined to it."""
    end = names[0].end
    for following in names[1:]:
        if not _JOINED.fullmatch(line, end, following.start):
            break
        end = following.end
    return line[end:]


def _form(rest: str, name: PaperName) -> HeadingForm | None:
    """Tell a heading's form by what follows the names in its cell; None if it is the key of something else."""
    if not any(map(str.isalnum, rest)):
        is_key = ":" in rest and name.kind not in BILL_KINDS
        return (
            HeadingForm.LABEL if is_key else HeadingForm.EXTENDED if ":" in rest or "#" in rest else HeadingForm.TITLE
        )
    if rest.lstrip().startswith(":") and not any(map(str.isdigit, rest)):
        return HeadingForm.LABEL
    if own := _OWN_NUMBER.match(rest):
        is_key = own["key"] is not None and ":" in own[0] and name.kind not in BILL_KINDS
        return HeadingForm.LABEL if is_key else HeadingForm.EXTENDED
    if _ONLY_KEY.match(rest):
        return HeadingForm.LABEL
    return None if _OTHER_KEY.search(rest) or _TERM.match(rest) else HeadingForm.EXTENDED
