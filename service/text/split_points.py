"""Split points of a text: places where a long text may be cut into chunks whose tokens are those of the whole text.

A tokenizer first normalizes a text, then splits it into pre-tokens (words, marks, runs of blanks), and its model sees
one pre-token at a time. So a cut changes nothing where normalization is local and a pre-token ends whatever stands
around it: at white space between two letters, and for many tokenizers between two marks or two ideographs. Which of
these places a tokenizer splits at is tried out on probe texts when it is loaded.

The rule: no chunk is longer than `LONGEST_CHARACTERS`, whatever the text holds. Where a text has no split point between
`SHORTEST_CHARACTERS` and that, it is cut there all the same: only a word (for some tokenizers a line) of more than
`LONGEST_CHARACTERS - SHORTEST_CHARACTERS` characters has other tokens than the tokenizer itself would give, at the cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from tokenizers import AddedToken, Tokenizer

SHORTEST_CHARACTERS = 16_384
"""Shortest chunk of a long text, but for the last."""
LONGEST_CHARACTERS = 65_536
"""Longest chunk: some 0.1 s of a core without the GIL, 0.02 s with it, and 30 MB."""

_LETTER = r"[^\W\d_]"
_MARK = r"[-!#$%&*+,./:;=?@^~]"
"""Marks of ASCII without brackets, which special tokens begin and end with (`[SEP]`, `<mask>`, `<|end|>`)."""
_IDEOGRAPH = r"[\u4e00-\u9fff]"


class Separator(Enum):
    """The place of a split point's white space."""

    WITH_NEXT = "it begins the next chunk"
    WITH_PREVIOUS = "it ends the chunk before"
    WITH_NEITHER = "it belongs to no chunk"


@dataclass(frozen=True, slots=True)
class SplitKind:
    """A kind of place in a text. `probe`: a text with many of them, among what may stand around them."""

    pattern: re.Pattern[str]
    probe: str


@dataclass(frozen=True, slots=True)
class SplitPoint:
    """A kind of place where one tokenizer's texts may be cut, and where the white space there goes."""

    kind: SplitKind
    separator: Separator

    def find(self, text: str, start: int, stop: int) -> tuple[int, int] | None:
        """The first split point in `[start, stop)`: the end of the chunk before it, and the start of the next."""
        found = self.kind.pattern.search(text, start, stop)
        if found is None:
            return None
        end = found.end() if self.separator is Separator.WITH_PREVIOUS else found.start()
        return end, found.start() if self.separator is Separator.WITH_NEXT else found.end()


def _between(context: str, separator: str) -> re.Pattern[str]:
    return re.compile(f"(?<={context}){separator}(?={context})")


_WORDS = "one{0}two three{0}Four. 5, six{0}eighty nine{0}ïn\u0301 ÉA{0}ten"
_MARKS = "one -{0}- two--{0}--,{0},.{0}. 3 -{0}-.{0}. 's-{0}-'s =={0}== a.{0}.b"
SPLIT_KINDS = (
    SplitKind(_between(_LETTER, r"\n"), _WORDS.format("\n")),
    SplitKind(_between(_LETTER, " "), _WORDS.format(" ")),
    SplitKind(_between(_MARK, r"\n"), _MARKS.format("\n")),
    SplitKind(_between(_MARK, " "), _MARKS.format(" ")),
    SplitKind(_between(_IDEOGRAPH, ""), "一二三 四五\n六七八，九十a中文字"),
    SplitKind(_between(_MARK, ""), "--- ,.- ==a... ::&&.-;;/**+,,??!!#$%%@@^^~~ -=*=-b--"),
)
"""From the place that is best to cut at to the least."""


def _word_split(separators: str) -> SplitKind:
    """One of `separators` between what may end a word and what may begin one."""
    blank = f"[{separators}]"
    ends = "one{0}two three,{0}Four.{0}5,{0}six:{0}(seven){0}8%;{0}1{0}000{0}ten{0}5%{0}"
    probe = ends + "n\u0303o{0}ïe\u0301{0}ÉA{0}. .{0}b{0}一二{0}三 -{0}- ten{0}"
    return SplitKind(
        re.compile(rf"{blank}(?<=[^\W_]{blank}|[,.:;)%]{blank})(?=[^\W_]|\()"),
        "".join(probe.format(each) for each in separators),
    )


WORD_SPLIT_KINDS = (_word_split(" \n"), _word_split(" "))
"""Where the words begin whose tokens are looked up: after blanks and line ends, or for some tokenizers after blanks."""


def chunks(
    text: str,
    split_points: Sequence[SplitPoint],
    *,
    shortest: int = SHORTEST_CHARACTERS,
    longest: int = LONGEST_CHARACTERS,
) -> Iterator[tuple[int, int]]:
    """The chunks `[start, end)` of a text, all but the last of `shortest` to `longest` characters.

    White space between two chunks that belongs to neither is left out.
    """
    start = 0
    while len(text) - start > shortest:
        cut = _cut(text, split_points, start + shortest, min(start + longest, len(text)))
        if cut is None:
            break
        yield start, cut[0]
        start = cut[1]
    yield start, len(text)


def _cut(text: str, split_points: Sequence[SplitPoint], start: int, stop: int) -> tuple[int, int] | None:
    """The first place of the best split point in `[start, stop)`; without one `stop`, unless the text ends there."""
    for split_point in split_points:
        if found := split_point.find(text, start, stop):
            return found
    return None if stop == len(text) else (stop, stop)


def find_split_points(tokenizer: Tokenizer, kinds: Sequence[SplitKind]) -> tuple[SplitPoint, ...]:
    """Those of the kinds of places where this tokenizer's texts may be cut."""
    added = list(tokenizer.get_added_tokens_decoder().values())
    if any(map(_reaches_out, added)):
        return ()
    whole = [kind for kind in kinds if not any(kind.pattern.search(f"a{each.content}a") for each in added)]
    found = (_unchanged_split(tokenizer, kind) for kind in whole if _splits_at(tokenizer, kind))
    return tuple(split_point for split_point in found if split_point is not None)


def find_word_split(tokenizer: Tokenizer) -> SplitPoint | None:
    """Where words begin whose tokens are the same in every text; None where their white space is not their own."""
    found = find_split_points(tokenizer, WORD_SPLIT_KINDS)
    return next((split_point for split_point in found if split_point.separator is Separator.WITH_NEXT), None)


def _splits_at(tokenizer: Tokenizer, kind: SplitKind) -> bool:
    """True if no pre-token of the kind's probe reaches across a place, whatever white space becomes."""
    normalizer, splitter = tokenizer.normalizer, tokenizer.pre_tokenizer
    if splitter is None:
        return False
    normal = str if normalizer is None else normalizer.normalize_str
    text = normal(kind.probe)
    spans = [span for _, span in splitter.pre_tokenize_str(text)]
    places = [
        (len(normal(kind.probe[: found.start()])), len(text) - len(normal(kind.probe[found.end() :])))
        for found in kind.pattern.finditer(kind.probe)
    ]
    return not any(start < left and end > right for start, end in spans for left, right in places)


def _unchanged_split(tokenizer: Tokenizer, kind: SplitKind) -> SplitPoint | None:
    """The way to cut at places of a kind that leaves its probe's tokens as they are, if there is one."""
    whole = tokenizer.encode(kind.probe, add_special_tokens=False)
    for split_point in (SplitPoint(kind, separator) for separator in Separator):
        parts = [
            (start, tokenizer.encode(kind.probe[start:end], add_special_tokens=False))
            for start, end in chunks(kind.probe, (split_point,), shortest=1)
        ]
        ids = [token for _, part in parts for token in part.ids]
        offsets = [(start + a, start + b) for start, part in parts for a, b in part.offsets]
        if ids == whole.ids and offsets == whole.offsets:
            return split_point
    return None


def _reaches_out(token: AddedToken) -> bool:
    """True for an added token that looks at what is around it, and is not kept from letters and marks by brackets."""
    looks = token.lstrip or token.rstrip or token.single_word
    return looks and not (token.content[:1] in "[<" and token.content[-1:] in "]>")
