"""Tagged tokens: turns BIO and its relatives, and CoNLL files of them, into text and spans.

Schemes: BIO with or without B- at every beginning (IOB2, IOB1), BIOES, BILOU, BMEWO, and labels without a prefix (IO).
An entity ends where a tag of another label, or one that begins an entity, or O stands.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

Span = tuple[int, int, str]
"""Start, end (exclusive) and label, in tokens or characters."""

_TAG = re.compile(r"([BIESLUMW])[-_](.+)")
_OUTSIDE = frozenset({"O", "o", "-", "_", ""})
_BEGINS, _ENDS = "BSUW", "ESLUW"
_DOCUMENT = "-DOCSTART-"
_NO_SPACE_BEFORE = re.compile(r"[.,;:!?%)\]}…»”’]+|['’](s|t|re|ve|ll|d|m)|n['’]t|[、。，；：！？）」』】]+")
_NO_SPACE_AFTER = frozenset("([{«“‘（「『【")
_NO_SPACE_AFTER_TOKEN = "SpaceAfter=No"
"""What a last column says of a token that the next one follows without a space, as in CoNLL-U."""
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""Characters of scripts without spaces: Thai, Lao, Khmer, kana, Han."""


class BadTokens(ValueError):
    """Tokens and tags do not match."""


def token_spans(tags: Sequence[str]) -> list[Span]:
    """Find the entities as runs of tokens."""
    found: list[Span] = []
    start, label, ended = 0, "", True
    for number, tag in enumerate([*tags, "O"]):
        prefix, name = _parts(tag)
        goes_on = name == label and not ended and prefix not in _BEGINS
        if label and not goes_on:
            found.append((start, number, label))
        if not goes_on:
            start, label = number, name
        ended = prefix in _ENDS
    return found


def _parts(tag: str) -> tuple[str, str]:
    """Divide a tag into prefix (I without one) and label ("" outside)."""
    if tag in _OUTSIDE:
        return "O", ""
    found = _TAG.fullmatch(tag)
    return (found[1], found[2]) if found else ("I", tag)


def text_of(tokens: Sequence[str], glued: Collection[int] | None = None) -> tuple[str, list[tuple[int, int]]]:
    """Join tokens to a text, with the place of each: one space between two, none before a full stop or between Han.

    `glued`: the tokens behind which there is no space, where a file says it; all others then have one.
    """
    text, places = "", list[tuple[int, int]]()
    for number, token in enumerate(tokens):
        if glued is not None:
            text += " " if text and number - 1 not in glued else ""
        elif text and not (
            _NO_SPACE_BEFORE.fullmatch(token)
            or text[-1] in _NO_SPACE_AFTER
            or (_UNSPACED.match(text[-1]) and token and _UNSPACED.match(token[0]))
        ):
            text += " "
        places.append((len(text), len(text) + len(token)))
        text += token
    return text, places


def note_spaces(tokens: Sequence[str], notes: Counter[str]) -> None:
    """Note the spaces beside marks, of which tokens do not say whether they were in the text: `P - 101`."""
    guessed = [
        (one, other)
        for one, other in pairwise(tokens)
        if " " in text_of([one, other])[0].strip()
        and (
            (_is_mark(one) and not _NO_SPACE_BEFORE.fullmatch(one))
            or (_is_mark(other) and other not in _NO_SPACE_AFTER)
        )
    ]
    if guessed:
        sample = next((key for key in notes if key.startswith(_GUESSED)), f"{_GUESSED}, as in {' '.join(guessed[0])!r}")
        notes[sample] += len(guessed)


_GUESSED = "spaces beside marks are guessed, since tokens do not say them (`SpaceAfter=No` in a last column does)"


def _is_mark(token: str) -> bool:
    return bool(token) and not any(map(str.isalnum, token))


def sentence(
    tokens: Sequence[str], tags: Sequence[str], glued: Collection[int] | None = None
) -> tuple[str, list[Span]]:
    """Read one sentence's text, and entities by character. Raises BadTokens if the lists differ in length."""
    if len(tokens) != len(tags):
        raise BadTokens(f"there are {len(tokens)} tokens and {len(tags)} tags")
    text, places = text_of(tokens, glued)
    return text, [(places[start][0], places[end - 1][1], label) for start, end, label in token_spans(tags)]


def joined(sentences: Iterable[tuple[str, list[Span]]]) -> tuple[str, list[Span]]:
    """Join sentences to one text, a line each."""
    texts: list[str] = []
    spans: list[Span] = []
    length = 0
    for text, found in sentences:
        spans += [(start + length, end + length, label) for start, end, label in found]
        texts.append(text)
        length += len(text) + 1
    return "\n".join(texts), spans


def looks_tagged(text: str) -> bool:
    """True when each of the first lines has a token and a tag with a prefix; plain labels do not count."""
    rows = [line.split() for line in text.splitlines()[:400] if line.strip() and not line.startswith("#")]
    rows = [row for row in rows if row[0] != _DOCUMENT]
    rows = [row[:-1] for row in rows] if any(_NO_SPACE_AFTER_TOKEN in row[-1] for row in rows) else rows
    return bool(rows) and all(len(row) >= 2 and (row[-1] == "O" or _TAG.fullmatch(row[-1])) for row in rows)


@dataclass(frozen=True, slots=True)
class TaggedDocument:
    """One document of a CoNLL file, and the number of its first line."""

    line: int
    text: str
    spans: list[Span]


def read_conll(text: str, notes: Counter[str], column: int | None = None) -> Iterator[TaggedDocument]:
    """Read the documents of a CoNLL file, divided by `-DOCSTART-`; in a file without, each sentence is one.

    Columns are separated by tabs or, where a line has none, by white space. The token is the first column, or the
    second if the first counts the tokens. The tag is `column`, counted from 1, else the last, or the first with
    labels of the last: the outer ones of nested entities.

    Raises:
        BadTokens: a line has fewer columns.
    """
    rows = [(number, _columns(line)) for number, line in enumerate(text.splitlines(), 1)]
    usual = Counter(len(row) for _, row in rows if row).most_common(1)
    width = usual[0][0] if usual else 0
    says_spaces = any(row and _NO_SPACE_AFTER_TOKEN in row[-1] for _, row in rows)
    rows = [(number, row) for number, row in rows if not (row and row[0].startswith("#") and _is_comment(row, width))]
    has_documents = any(row[:1] == [_DOCUMENT] for _, row in rows)
    blocks = [list(block) for filled, block in groupby(rows, key=lambda each: bool(each[1])) if filled]
    token = 1 if width > 2 and blocks and all(_counts_tokens(block) for block in blocks) else 0
    tagged = width - says_spaces
    tag = column - 1 if column else _tag_column([row[:tagged] for _, row in rows if len(row) == width], tagged, notes)
    document: list[tuple[str, list[Span]]] = []
    first_line = 0
    tags: list[str] = []
    for block in blocks:
        for starts, part in groupby(block, key=lambda each: each[1][0] == _DOCUMENT):
            if document and (starts or not has_documents):
                yield TaggedDocument(first_line, *joined(document))
                document = []
            if not starts:
                lines = [*part]
                tokens, of_block = _block(lines, token, tag)
                first_line = first_line if document else block[0][0]
                glued = {number for number, (_, row) in enumerate(lines) if _NO_SPACE_AFTER_TOKEN in row[-1]}
                document.append(sentence(tokens, of_block, glued if says_spaces else None))
                if not says_spaces:
                    note_spaces(tokens, notes)
                tags += ["O", *of_block]
    if document:
        yield TaggedDocument(first_line, *joined(document))
    note_schemes(tags, notes)


def _columns(line: str) -> list[str]:
    return [part.strip() for part in line.strip("\r\n").split("\t")] if "\t" in line.strip() else line.split()


def _is_comment(row: Sequence[str], width: int) -> bool:
    return len(row) != width or not (row[-1] in _OUTSIDE or _TAG.fullmatch(row[-1]))


def _counts_tokens(block: Sequence[tuple[int, list[str]]]) -> bool:
    rows = [row[0] for _, row in block if row[0] != _DOCUMENT]
    return rows == [str(number) for number in range(1, len(rows) + 1)]


def _tag_column(rows: Sequence[Sequence[str]], width: int, notes: Counter[str]) -> int:
    labels = [{found[2] for row in rows if (found := _TAG.fullmatch(row[number]))} for number in range(width)]
    outer = next((number for number in range(1, width) if labels[number] & labels[-1]), width - 1)
    if outer < width - 1:
        inner = sum(bool(_TAG.fullmatch(row[-1])) for row in rows)
        notes[f"tags of nested entities, which were not read: --column {width} reads them instead"] += inner
    return outer


def _block(lines: Sequence[tuple[int, list[str]]], token: int, tag: int) -> tuple[list[str], list[str]]:
    for number, row in lines:
        if len(row) <= max(token, tag):
            raise BadTokens(f"line {number}: a token and its tag are wanted, not {' '.join(row)[:40]!r}")
    return [row[token] for _, row in lines], [row[tag] for _, row in lines]


def note_schemes(tags: Sequence[str], notes: Counter[str]) -> None:
    """Note ambiguous schemes: labels without a prefix, and entities that begin with I- beside others with B-."""
    begun: Counter[str] = Counter()
    before = ""
    for tag in tags:
        prefix, label = _parts(tag)
        if label and label != before:
            begun[prefix if _TAG.fullmatch(tag) else "none"] += 1
        before = label
    if begun["none"]:
        notes["entities whose tags have no B- or I-: neighbours with one label are one entity"] += begun["none"]
    if begun["I"] and begun["B"]:
        notes["entities that begin with I- although others begin with B-"] += begun["I"]
