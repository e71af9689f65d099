"""Reading simulates a file reader: it makes lines in reading order, text and spans of a page.

A PDF is read in the service's own order of words; a test draws pages and compares. HTML and DOCX give the drawing
order, with tabs between cells; layout-keeping text gives the lines with runs of spaces. A PDF alone has boxes.
"""

from collections.abc import Sequence
from enum import StrEnum
from itertools import accumulate, groupby
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from model_store.builtin.training.pages.sheet import Fragment, Part, width_of
from service.documents.document import Document, Layout, Page
from service.documents.pdf.reading_order import order_lines
from service.documents.pdf.words import NEAR_COLUMNS, Word, are_numbers
from service.evaluation.labelled_documents import LabelledSpan

Line = list[Fragment]
LabelledRun = tuple[int, int, str, object]
"""Start, end, label, and the entity's key; None: interrupted."""

POINTS_A_CHARACTER, POINTS_A_LINE, POINTS_HIGH = 6.0, 12.0, 10.51
"""Points of Courier at size 10: the advance, a usual leading, ascent to descent."""
_TAB = 2.0 * POINTS_HIGH / POINTS_A_CHARACTER
_NEAR = NEAR_COLUMNS * POINTS_HIGH / POINTS_A_CHARACTER
_NUMERIC = frozenset("0123456789.,:;-+/%$()#*'€£¥")


class Medium(StrEnum):
    """A form of file from which a page's text is read."""

    PDF = "pdf"
    MARKUP = "markup"
    SPACED = "spaced"


class Transcript(NamedTuple):
    """Text and entities of a page, and each fragment with the place in the text where it begins."""

    text: str
    spans: tuple[LabelledSpan, ...]
    places: tuple[tuple[int, Fragment], ...]


def transcribed(fragments: Sequence[Fragment], medium: Medium = Medium.PDF) -> Transcript:
    """Read a page. An entity that other text interrupts has a span for each part."""
    text: list[str] = []
    spans: list[LabelledRun] = []
    places: list[tuple[int, Fragment]] = []
    position = 0
    for number, line in enumerate(_lines(fragments, medium)):
        before: Fragment | None = None
        for fragment in line:
            gap = _separator(before, fragment, medium) if before else "\n" * bool(number)
            text.append(gap)
            position += len(gap)
            places.append((position, fragment))
            for part in fragment.parts:
                if part.label and (bare := part.text.strip()):
                    start = position + part.text.index(bare)
                    _add(spans, (start, start + len(bare), part.label, part.key))
                else:
                    _interrupt(spans, part.text)
                text.append(part.text)
                position += len(part.text)
            before = fragment
    labelled = tuple(LabelledSpan(start, end, label) for start, end, label, _ in spans)
    return Transcript("".join(text), labelled, tuple(places))


MARGIN_POINTS: Final = (18.0, 72.0)
"""Least and greatest margin of a page, in points."""
SHEET: Final = (595.0, 842.0)
"""Least width and height of a sheet, in points; longer texts have a larger sheet."""


ASCENT, SMALL, DESCENT = 6.2, 4.4, 1.6
"""Points of Courier's ink at size 10: of tall and small letters above the line, and of some below it."""
_SMALL_LETTERS, _LOW_LETTERS = frozenset("acegmnopqrsuvwxyz"), frozenset("gjpqy,;()[]")


def placed(read: Transcript, margins: tuple[float, float], *, is_sheet: bool, is_inked: bool) -> Document:
    """Make the document of a page that was read as a PDF, with the boxes of its characters in Courier.

    Args:
        margins: to the left and at the top.
        is_sheet: the paper has at least the size of a sheet, and is not cut to its text.
        is_inked: boxes are around the ink, as in a PDF; else they are as high as a line, as some OCR gives them.
    """
    left, top = margins
    shift = np.array([left, top, left, top])
    boxes = np.full((len(read.text), 4), np.nan, dtype=np.float32)
    for start, fragment in read.places:
        boxes[start : start + len(fragment.text)] = _character_boxes(fragment, is_inked=is_inked) + shift
    boxes[[each.isspace() for each in read.text]] = np.nan
    wide, high = (float(np.nanmax(boxes[:, edge], initial=0.0)) for edge in (2, 3))
    width, height = wide + left, high + top
    if is_sheet:
        width = max(width, SHEET[0])
        height = max(height, width * SHEET[1] / SHEET[0])
    return placed_text(read.text, boxes, width, height)


def placed_text(text: str, boxes: npt.NDArray[np.float32], width: float, height: float) -> Document:
    """Make a document of one page from the boxes of its characters, `[characters, 4]`, NaN for white space."""
    starts = [0, *(place + 1 for place, each in enumerate(text) if each == "\n")]
    return Document(text, (Page(1, 0, len(text), width, height),), Layout(boxes, np.array(starts, dtype=np.int32)))


def _character_boxes(fragment: Fragment, *, is_inked: bool) -> npt.NDArray[np.float64]:
    """Compute the boxes of a fragment's characters in points, `[characters, 4]`."""
    edges = np.array([*accumulate(map(width_of, fragment.text), initial=0)], dtype=np.float64) + fragment.x
    above = [SMALL if is_inked and each in _SMALL_LETTERS else ASCENT for each in fragment.text]
    below = [DESCENT if not is_inked or each in _LOW_LETTERS else 0.0 for each in fragment.text]
    base, lefts = POINTS_A_LINE * (fragment.y + 1), POINTS_A_CHARACTER * edges
    return np.column_stack([lefts[:-1], base - np.array(above), lefts[1:], base + np.array(below)])


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
    is_near = medium is Medium.PDF and gap > _NEAR and are_numbers(before.text, fragment.text)
    return "\t" if is_near or gap > _TAB or medium is Medium.MARKUP else " "


def _lines(fragments: Sequence[Fragment], medium: Medium) -> list[Line]:
    match medium:
        case Medium.PDF:
            return _as_the_service(fragments)
        case Medium.SPACED:
            by_height = sorted(fragments, key=lambda fragment: (fragment.y, fragment.x))
            return [_in_line(list(line)) for _, line in groupby(by_height, key=lambda fragment: fragment.y)]
    lines: list[Line] = []
    for fragment in fragments:
        if lines and lines[-1][-1].y == fragment.y:
            lines[-1].append(fragment)
        else:
            lines.append([fragment])
    return lines


def _as_the_service(fragments: Sequence[Fragment]) -> list[Line]:
    """The lines of a page in Courier; fragments of which a line holds all words in their order are whole."""
    shown = [_shown(fragment) for fragment in fragments]
    owners = [(number, word) for number, words in enumerate(shown) for word in words]
    lines: list[Line] = []
    for line in order_lines([_word(word, start) for start, (_, word) in enumerate(owners)]):
        lines.append([])
        for number, group in groupby((owners[word.start] for word in line), key=lambda owner: owner[0]):
            words = [word for _, word in group]
            is_whole = words == shown[number] and not is_rtl(fragments[number].text)
            lines[-1] += [fragments[number]] if is_whole else words
    return lines


def _word(word: Fragment, start: int) -> Word:
    left, top, text = POINTS_A_CHARACTER * word.x, POINTS_A_LINE * word.y, word.text
    right, bottom = left + POINTS_A_CHARACTER * word.width, top + POINTS_HIGH
    return Word(
        left, top, right, bottom, start, start + len(text), True, _is_number(text), text[-1] in ":：", is_rtl(text)
    )


def _is_number(word: str) -> bool:
    return 2 * sum(letter in _NUMERIC for letter in word) >= len(word)


def _in_line(line: Line) -> Line:
    """A line's fragments from left to right; one of mostly right-to-left words reversed, but for left-to-right runs.

    A line that has any such word is taken word by word: their places tell more than their fragments.
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
    """A text's words where a page shows them; runs of left-to-right words keep their order (UAX 9, much simplified)."""
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
