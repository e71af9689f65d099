"""Reading simulates a file reader: it makes lines in reading order, text and spans of a page.

A PDF is read as the service reads one, by a recursive XY-cut over the places and the drawing order (the paper is
named in `service/documents/pdf/reading_order.py`); a test draws pages and compares. HTML and DOCX give the drawing
order, with tabs between cells; layout-keeping text gives the lines with runs of spaces.
"""

from collections.abc import Sequence
from enum import StrEnum
from itertools import groupby, pairwise

from model_store.builtin.training.pages.sheet import Fragment, Part, width_of
from service.evaluation.labelled_documents import LabelledSpan

Line = list[Fragment]
LabelledRun = tuple[int, int, str, object]
"""Start, end, label, and the entity's key; None: interrupted."""
Gap = tuple[float, float]

POINTS_A_CHARACTER, POINTS_A_LINE, POINTS_HIGH = 6.0, 12.0, 10.51
"""Of Courier at 10 points: the advance, a usual leading, ascent to descent."""
_GUTTER = 0.8 * POINTS_HIGH / POINTS_A_CHARACTER
_TAB = 2.0 * POINTS_HIGH / POINTS_A_CHARACTER
_PARAGRAPH = (1.4 * POINTS_HIGH) / POINTS_A_LINE
_MARGIN = (2.2 * POINTS_HIGH) / POINTS_A_LINE
_MOST_GUTTERS, _DEEPEST = 8, 12
_NUMERIC = frozenset("0123456789.,:;-+/%$()#*'€£¥")


class Medium(StrEnum):
    """A form of file from which a page's text is read."""

    PDF = "pdf"
    MARKUP = "markup"
    SPACED = "spaced"


def transcribed(fragments: Sequence[Fragment], medium: Medium = Medium.PDF) -> tuple[str, tuple[LabelledSpan, ...]]:
    """Text and spans. An entity that other text interrupts has a span for each part."""
    text: list[str] = []
    spans: list[LabelledRun] = []
    position = 0
    for number, line in enumerate(_lines(fragments, medium)):
        before: Fragment | None = None
        for fragment in line:
            gap = _separator(before, fragment, medium) if before else "\n" * bool(number)
            text.append(gap)
            position += len(gap)
            for part in fragment.parts:
                if part.label and (bare := part.text.strip()):
                    start = position + part.text.index(bare)
                    _add(spans, (start, start + len(bare), part.label, part.key))
                else:
                    _interrupt(spans, part.text)
                text.append(part.text)
                position += len(part.text)
            before = fragment
    return "".join(text), tuple(LabelledSpan(start, end, label) for start, end, label, _ in spans)


def _add(spans: list[LabelledRun], span: LabelledRun) -> None:
    if spans and spans[-1][2:] == span[2:]:
        spans[-1] = (spans[-1][0], *span[1:])
    else:
        spans.append(span)


def _interrupt(spans: list[LabelledRun], text: str) -> None:
    """Text without a label follows the last span: nothing joins that any more."""
    if spans and text.strip():
        spans[-1] = (*spans[-1][:3], None)


def _separator(before: Fragment, fragment: Fragment, medium: Medium) -> str:
    gap = max(fragment.x - before.x - before.width, before.x - fragment.x - fragment.width)
    if medium is Medium.SPACED:
        return " " * max(1, round(gap))
    return "\t" if gap > _TAB or medium is Medium.MARKUP else " "


def _lines(fragments: Sequence[Fragment], medium: Medium) -> list[Line]:
    match medium:
        case Medium.PDF:
            return _ordered(list(enumerate(fragments)), 0)
        case Medium.SPACED:
            return [_in_line([f for _, f in line]) for line in _by_height(list(enumerate(fragments)))]
    lines: list[Line] = []
    for fragment in fragments:
        if lines and lines[-1][-1].y == fragment.y:
            lines[-1].append(fragment)
        else:
            lines.append([fragment])
    return lines


DrawOrder = tuple[int, Fragment]


def _by_height(drawn: list[DrawOrder]) -> list[list[DrawOrder]]:
    drawn = sorted(drawn, key=lambda item: (item[1].y, item[1].x))
    return [list(group) for _, group in groupby(drawn, key=lambda item: item[1].y)]


def _ordered(drawn: list[DrawOrder], depth: int) -> list[Line]:
    lines = _by_height(drawn)
    if depth >= _DEEPEST or len(lines) < 2:
        return [_in_line([f for _, f in line]) for line in lines]
    return [line for stretch, gaps in _stretches(lines) for line in _read(stretch, gaps, depth)]


def _read(lines: list[list[DrawOrder]], gaps: list[Gap], depth: int) -> list[Line]:
    for _, edge in sorted(gaps, key=lambda gap: gap[0] - gap[1])[:_MOST_GUTTERS]:
        left = [item for line in lines for item in line if item[1].x < edge - 0.01]
        right = [item for line in lines for item in line if item[1].x >= edge - 0.01]
        if left and right and _switches(left, right) <= max(1, len(lines) // 4) and _are_columns(left, right):
            return _ordered(left, depth + 1) + _ordered(right, depth + 1)
    paragraphs: list[list[DrawOrder]] = [[]]
    for number, line in enumerate(lines):
        if number and line[0][1].y - lines[number - 1][0][1].y > _PARAGRAPH:
            paragraphs.append([])
        paragraphs[-1] += line
    if len(paragraphs) == 1:
        return [_in_line([f for _, f in line]) for line in lines]
    return [line for drawn in paragraphs for line in _ordered(drawn, depth + 1)]


def _stretches(lines: list[list[DrawOrder]]) -> list[tuple[list[list[DrawOrder]], list[Gap]]]:
    """Groups of lines that follow each other, with the gaps that they share."""
    left = min(f.x for line in lines for _, f in line)
    right = max(f.x + f.width for line in lines for _, f in line)
    last = len(lines) - 1
    margins = {n for n in (1, last) if lines[n][0][1].y - lines[n - 1][0][1].y > _MARGIN}
    stretches: list[tuple[list[list[DrawOrder]], list[Gap]]] = []
    for number, line in enumerate(lines):
        gaps = _gaps(line, left, right)
        common = _common(stretches[-1][1], gaps) if stretches and number not in margins else []
        if common:
            stretches[-1] = ([*stretches[-1][0], line], common)
        else:
            stretches.append(([line], gaps))
    return stretches


def _gaps(line: list[DrawOrder], left: float, right: float) -> list[Gap]:
    gaps, reached = [], left
    for _, fragment in line:
        if fragment.x - reached >= _GUTTER:
            gaps.append((reached, fragment.x))
        reached = max(reached, fragment.x + fragment.width)
    if right - reached >= _GUTTER:
        gaps.append((reached, right))
    return gaps


def _common(ours: list[Gap], theirs: list[Gap]) -> list[Gap]:
    pairs = ((max(a, c), min(b, d)) for a, b in ours for c, d in theirs)
    return [(start, end) for start, end in pairs if end - start >= _GUTTER]


def _are_columns(left: list[DrawOrder], right: list[DrawOrder]) -> bool:
    ours, theirs = _by_height(left), _by_height(right)
    fewest = min(len(ours), len(theirs))
    if fewest < 2 or _switches(left, right) > max(1, fewest // 4):
        return False
    few, many = sorted(([line[0][1].y for line in ours], [line[0][1].y for line in theirs]), key=len)
    paired = len(set(few) & set(many)) >= 0.75 * len(few)
    return not (paired and (_are_keys(ours) or _are_values(theirs)))


def _switches(left: list[DrawOrder], right: list[DrawOrder]) -> int:
    sides = sorted([(order, 0) for order, _ in left] + [(order, 1) for order, _ in right])
    return sum(a != b for (_, a), (_, b) in pairwise(sides))


def _are_keys(lines: list[list[DrawOrder]]) -> bool:
    return sum(line[-1][1].text.endswith((":", "：")) for line in lines) * 2 >= len(lines)


def _are_values(lines: list[list[DrawOrder]]) -> bool:
    return sum(_is_amounts([f for _, f in line]) for line in lines) >= 0.75 * len(lines)


def _is_amounts(line: Line) -> bool:
    words = [word for fragment in line for word in fragment.text.split()]
    return 2 * sum(map(_is_number, words)) >= len(words)


def _is_number(word: str) -> bool:
    return 2 * sum(letter in _NUMERIC for letter in word) >= len(word)


def _in_line(line: Line) -> Line:
    """From left to right; a line of mostly right-to-left words reversed, but for its left-to-right runs.

    A line that has any such word is taken word by word: where words stand tells more than which fragment they are of.
    Numbers belong to neither direction, and a wide gap ends a run (`service.documents.pdf.words`).
    """
    line = sorted(line, key=lambda fragment: fragment.x)
    if not any(is_rtl(fragment.text) for fragment in line):
        return line
    words = sorted((word for fragment in line for word in _shown(fragment)), key=lambda word: word.x)
    runs: list[Line] = []
    for word in words:
        before = runs[-1][-1] if runs else None
        if before and is_rtl(before.text) == is_rtl(word.text) and word.x - before.x - before.width <= _TAB:
            runs[-1].append(word)
        else:
            runs.append([word])
    ordered = [run[::-1] if is_rtl(run[0].text) else run for run in runs]
    from_right = sum(is_rtl(word.text) for word in words)
    from_left = sum(not is_rtl(word.text) and not _is_number(word.text) for word in words)
    if from_right > from_left or (from_right == from_left and is_rtl(words[-1].text)):
        ordered.reverse()
    return [word for run in ordered for word in run]


def _shown(fragment: Fragment) -> list[Fragment]:
    """Its words where a page shows them; runs of left-to-right words keep their order (UAX 9, much simplified)."""
    letters = [(letter, part.label, part.key) for part in fragment.parts for letter in part.text]
    words = [tuple(word) for is_gap, word in groupby(letters, key=lambda letter: letter[0] == " ") if not is_gap]
    x, shown = fragment.x, list[Fragment]()
    for number in shown_order(["".join(letter for letter, _, _ in word) for word in words]):
        runs = groupby(words[number], key=lambda letter: letter[1:])
        parts = tuple(Part("".join(letter for letter, _, _ in run), label, key) for (label, key), run in runs)
        shown.append(Fragment(x, fragment.y, parts, sum(width_of(part.text) for part in parts)))
        x += shown[-1].width + 1
    return shown


def is_rtl(text: str) -> bool:
    """Whether it has a letter of a script from right to left."""
    return any("\u0590" <= letter <= "\u08ff" for letter in text)


def shown_order(words: Sequence[str]) -> list[int]:
    """The words' numbers from left to right: text with right-to-left words is reversed, runs of other words in it not.

    Marks alone go with the text's own direction.
    """
    text_is_rtl = any(map(is_rtl, words))

    def runs_leftwards(number: int) -> bool:
        return is_rtl(words[number]) or (text_is_rtl and not any(map(str.isalnum, words[number])))

    runs = [(left, list(run)) for left, run in groupby(range(len(words)), key=runs_leftwards)]
    ordered = reversed(runs) if text_is_rtl else runs
    return [number for left, run in ordered for number in (reversed(run) if left else run)]
