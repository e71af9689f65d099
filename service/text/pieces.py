"""The pieces of a long text: where it may be cut so that the pieces' tokens are those of the whole text.

A tokenizer first normalizes a text, then splits it into pre-tokens (words, marks, runs of blanks), and its model sees
one pre-token at a time. So a cut changes nothing where normalization is local and a pre-token ends whatever stands
around it: at white space between two letters, and for many tokenizers between two marks or two ideographs. Such a place
is a *seam*; which seams a tokenizer has is tried out when it is loaded (`TextTokenizer`).

The rule: no piece is longer than `LONGEST_CHARACTERS`, whatever the text holds. Where a text has no seam between
`SHORTEST_CHARACTERS` and that, it is cut there all the same: only a word (for some tokenizers a line) of more than
`LONGEST_CHARACTERS - SHORTEST_CHARACTERS` characters has other tokens than the tokenizer itself would give, at the cut.

Pure: knows no tokenizer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

SHORTEST_CHARACTERS = 16_384
"""Shortest piece of a long text, but for the last."""
LONGEST_CHARACTERS = 65_536
"""Longest piece: some 0.1 s of a core without the GIL, 0.02 s with it, and 30 MB."""

_LETTER = r"[^\W\d_]"
_MARK = r"[-!#$%&*+,./:;=?@^~]"
"""Marks of ASCII without brackets, which special tokens begin and end with (`[SEP]`, `<mask>`, `<|end|>`)."""
_IDEOGRAPH = r"[\u4e00-\u9fff]"


class Separator(Enum):
    """Where a seam's white space goes."""

    WITH_NEXT = "it begins the next piece"
    WITH_PREVIOUS = "it ends the piece before"
    WITH_NEITHER = "it belongs to no piece"


@dataclass(frozen=True, slots=True)
class SeamKind:
    """A kind of place in a text. `probe`: a text with many of them, among what may stand around them."""

    pattern: re.Pattern[str]
    probe: str


@dataclass(frozen=True, slots=True)
class Seam:
    """A kind of place where one tokenizer's texts may be cut, and where the white space there goes."""

    kind: SeamKind
    separator: Separator

    def find(self, text: str, start: int, stop: int) -> tuple[int, int] | None:
        """The first seam in `[start, stop)`: the end of the piece before it, and the start of the next."""
        found = self.kind.pattern.search(text, start, stop)
        if found is None:
            return None
        end = found.end() if self.separator is Separator.WITH_PREVIOUS else found.start()
        return end, found.start() if self.separator is Separator.WITH_NEXT else found.end()


def _between(context: str, separator: str) -> re.Pattern[str]:
    return re.compile(f"(?<={context}){separator}(?={context})")


_WORDS = "one{0}two three{0}Four. 5, six{0}eighty nine{0}ïn\u0301 ÉA{0}ten"
_MARKS = "one -{0}- two--{0}--,{0},.{0}. 3 -{0}-.{0}. 's-{0}-'s =={0}== a.{0}.b"
SEAM_KINDS = (
    SeamKind(_between(_LETTER, r"\n"), _WORDS.format("\n")),
    SeamKind(_between(_LETTER, " "), _WORDS.format(" ")),
    SeamKind(_between(_MARK, r"\n"), _MARKS.format("\n")),
    SeamKind(_between(_MARK, " "), _MARKS.format(" ")),
    SeamKind(_between(_IDEOGRAPH, ""), "一二三 四五\n六七八，九十a中文字"),
    SeamKind(_between(_MARK, ""), "--- ,.- ==a... ::&&.-;;/**+,,??!!#$%%@@^^~~ -=*=-b--"),
)
"""From the place that is best to cut at to the least."""


def _word_seam(separators: str) -> SeamKind:
    """One of `separators` between what may end a word and what may begin one."""
    blank = f"[{separators}]"
    ends = "one{0}two three,{0}Four.{0}5,{0}six:{0}(seven){0}8%;{0}1{0}000{0}ten{0}5%{0}"
    probe = ends + "n\u0303o{0}ïe\u0301{0}ÉA{0}. .{0}b{0}一二{0}三 -{0}- ten{0}"
    return SeamKind(
        re.compile(rf"{blank}(?<=[^\W_]{blank}|[,.:;)%]{blank})(?=[^\W_]|\()"),
        "".join(probe.format(each) for each in separators),
    )


WORD_SEAM_KINDS = (_word_seam(" \n"), _word_seam(" "))
"""Where the words begin whose tokens are looked up: after blanks and line ends, or for some tokenizers after blanks."""


def pieces(
    text: str,
    seams: Sequence[Seam],
    *,
    shortest: int = SHORTEST_CHARACTERS,
    longest: int = LONGEST_CHARACTERS,
) -> Iterator[tuple[int, int]]:
    """The pieces `[start, end)` of a text, all but the last of `shortest` to `longest` characters.

    White space between two pieces that belongs to neither is left out.
    """
    start = 0
    while len(text) - start > shortest:
        cut = _cut(text, seams, start + shortest, min(start + longest, len(text)))
        if cut is None:
            break
        yield start, cut[0]
        start = cut[1]
    yield start, len(text)


def _cut(text: str, seams: Sequence[Seam], start: int, stop: int) -> tuple[int, int] | None:
    """The first place of the best seam in `[start, stop)`; `stop` itself without one, unless the text ends there."""
    for seam in seams:
        if found := seam.find(text, start, stop):
            return found
    return None if stop == len(text) else (stop, stop)
