"""Puts a page's words into lines in reading order: columns one after the other, rows of tables and forms as rows.

The method is a recursive XY-cut that also uses the order of the content stream:

    1. group the words of the region into lines;
    2. group consecutive lines with a common free vertical strip (a *gutter*) into stretches;
    3. where a gutter separates columns, read the left column, then the right one, each by the same method;
    4. elsewhere apply the method to each paragraph of the stretch; a stretch of one paragraph is read as rows.

A gutter separates columns if each side is contiguous in the content stream (a table is written row by row), unless the
sides pair up as keys and values. In whatever order they are written, these are columns too, of lines without gaps:
sides whose lines stand at different heights, prose beside others, sides under keys of their own ("From:", "To:"),
addresses (some lines of words and numbers below a name), and keys with their values beside anything else.

XY-cut: Nagy and Seth, "Hierarchical representation of optically scanned documents", ICPR 1984.
"""

from __future__ import annotations

from itertools import pairwise

from service.documents.pdf.words import Line, Word, height, lines_of, typical_height

Gap = tuple[float, float]

_NARROWEST_GUTTER = 0.8  # in typical word heights
_MOST_GUTTERS = 8  # tried in one stretch, the widest first
_DEEPEST = 12  # cuts within cuts
_FEWEST_LINES = 2  # on each side of a gutter
_MOST_PAIRED = 0.75  # lines of the smaller side that stand at the height of one of the other side
_MOST_VALUES = 0.75  # of a side's lines are amounts: then it is a column of a table, not a block
_PARAGRAPH_GAP = 0.4  # in typical word heights; loose boxes of following lines touch or nearly so
_SOLID_GAP = 0.6  # between following lines of one block at most, in typical heights
_LEAST_BESIDE = 0.5  # of the taller side's height, at which the other side stands too
_FEWEST_PAIRED = 0.65  # lines of the smaller side at the height of one of the other side: with fewer they are no rows
_PROSE_LINES, _PROSE_WORDS, _PROSE_WIDTH = 3, 6, 0.75  # lines at least; words of one on average; of the widest line
_ADDRESS, _MOST_MIXED = range(3, 9), 0.6  # lines of an address; of these of words and numbers, where it is two lines
_FURTHEST_MARGIN = 1.2  # a first or last line further away than this, in typical heights, is a running head or foot


def order_lines(words: list[Word], depth: int = 0) -> list[Line]:
    """Lines in reading order that hold each word once."""
    lines = lines_of(words)
    if depth >= _DEEPEST or len(lines) < _FEWEST_LINES:
        return lines
    gutter = _NARROWEST_GUTTER * typical_height(words)
    return [line for stretch in _stretches(lines, gutter) for line in _read(*stretch, depth)]


def _read(lines: list[Line], gaps: list[Gap], depth: int) -> list[Line]:
    """The lines of one stretch: by columns; where no gutter separates any, by paragraphs; of one paragraph, as rows."""
    for _, right_edge in sorted(gaps, key=lambda gap: gap[0] - gap[1])[:_MOST_GUTTERS]:
        left_lines, right_lines = _sides(lines, right_edge - 0.01)
        left, right = ([word for line in side for word in line] for side in (left_lines, right_lines))
        if not (left and right):
            continue
        if _are_blocks(left_lines, right_lines) or (
            _switches(left, right) <= _most_switches(len(lines)) and _are_columns(left, right)
        ):
            return order_lines(left, depth + 1) + order_lines(right, depth + 1)
    paragraphs = _paragraphs(lines)
    if len(paragraphs) == 1:
        return lines
    return [line for words in paragraphs for line in order_lines(words, depth + 1)]


def _sides(lines: list[Line], edge: float) -> tuple[list[Line], list[Line]]:
    """The parts of lines on the left and on the right of an edge."""
    left = [part for line in lines if (part := [word for word in line if word.left < edge])]
    return left, [part for line in lines if (part := [word for word in line if word.left >= edge])]


def _paragraphs(lines: list[Line]) -> list[list[Word]]:
    """The words of each paragraph; paragraphs are separated by empty strips across the whole stretch."""
    tall = _PARAGRAPH_GAP * typical_height([line[0] for line in lines])
    paragraphs: list[list[Word]] = [[]]
    reached = _top(lines[0])
    for line in lines:
        if _top(line) - reached > tall:
            paragraphs.append([])
        paragraphs[-1] += line
        reached = max(reached, *(word.bottom for word in line))
    return paragraphs


def _stretches(lines: list[Line], gutter: float) -> list[tuple[list[Line], list[Gap]]]:
    """Groups of consecutive lines with the gaps that they share; a gap is at least `gutter` points wide."""
    left, right = min(word.left for line in lines for word in line), max(w.right for line in lines for w in line)
    stretches: list[tuple[list[Line], list[Gap]]] = []
    margins = _margin_borders(lines)
    for index, line in enumerate(lines):
        gaps = _gaps(line, left, right, gutter)
        common = _common(stretches[-1][1], gaps, gutter) if stretches and index not in margins else []
        if common:
            stretches[-1] = (stretches[-1][0], common)
            stretches[-1][0].append(line)
        else:
            stretches.append(([line], gaps))
    return stretches


def _margin_borders(lines: list[Line]) -> set[int]:
    """The index of the line after a running head, and that of a running foot, where there are any."""
    far = _FURTHEST_MARGIN * typical_height([line[0] for line in lines])
    last = len(lines) - 1
    return {i for i in (1, last) if _top(lines[i]) - max(word.bottom for word in lines[i - 1]) > far}


def _top(line: Line) -> float:
    return min(word.top for word in line)


def _gaps(line: Line, left: float, right: float, gutter: float) -> list[Gap]:
    """The free strips of a line between the region's edges, those at the edges included."""
    gaps, reached = [], left
    for word in sorted(line, key=lambda word: word.left):
        if word.left - reached >= gutter:
            gaps.append((reached, word.left))
        reached = max(reached, word.right)
    if right - reached >= gutter:
        gaps.append((reached, right))
    return gaps


def _common(ours: list[Gap], theirs: list[Gap], gutter: float) -> list[Gap]:
    pairs = ((max(a, c), min(b, d)) for a, b in ours for c, d in theirs)
    return [(start, end) for start, end in pairs if end - start >= gutter]


def _are_columns(left: list[Word], right: list[Word]) -> bool:
    left_lines, right_lines = lines_of(left), lines_of(right)
    fewest = min(len(left_lines), len(right_lines))
    if fewest < _FEWEST_LINES or _switches(left, right) > _most_switches(fewest):
        return False
    if _paired(left_lines, right_lines) < _MOST_PAIRED:
        return True
    are_values = _are_values(right_lines) and not _are_labelled(right_lines)
    return not (are_values or _are_keys(left_lines))


def _are_blocks(left: list[Line], right: list[Line]) -> bool:
    """True if what the sides look like says that they are read one after the other."""
    if min(len(left), len(right)) < _FEWEST_LINES or not (_are_solid(left) and _are_solid(right)):
        return False
    are_values = _are_values(right) or _are_numbers(right[1:])
    if _are_values(left) or _are_numbers(left[1:]) or (are_values and not _are_labelled(right)):
        return False
    if _common_height(left, right) < _LEAST_BESIDE:
        return False
    if _are_pairs(left) != _are_pairs(right) and not _are_keys(left):
        return True
    if _paired(left, right) <= _FEWEST_PAIRED:
        return True
    return not are_values and (
        _are_headed(left, right) or _are_prose(left, right) or (_is_address(left) and _is_address(right))
    )


def _common_height(left: list[Line], right: list[Line]) -> float:
    """The share of the taller side's height at which the other side stands too."""
    spans = [(_top(side[0]), max(word.bottom for word in side[-1])) for side in (left, right)]
    common = min(bottom for _, bottom in spans) - max(top for top, _ in spans)
    return common / max(bottom - top for top, bottom in spans)


def _are_pairs(lines: list[Line]) -> bool:
    """True if the lines have a key and its value each, nearly all of them."""
    return sum(
        any(word.is_key and word.end - word.start > 1 for word in line[:-1]) for line in lines
    ) >= _MOST_PAIRED * len(lines)


def _are_solid(lines: list[Line]) -> bool:
    """True if following lines nearly touch."""
    most = _SOLID_GAP * typical_height([line[0] for line in lines])
    return all(_top(lower) - max(word.bottom for word in upper) <= most for upper, lower in pairwise(lines))


def _are_headed(left: list[Line], right: list[Line]) -> bool:
    """True if both sides begin with a line that ends in a colon, and no other line does."""
    return all(side[0][-1].is_key and not any(line[-1].is_key for line in side[1:]) for side in (left, right))


def _is_address(lines: list[Line]) -> bool:
    """True if lines below the first, but not nearly all, are of words and numbers, as streets and towns are."""
    numbers = [sum(word.is_numeric for word in line) for line in lines]
    mixed = [count == 1 and len(line) > 1 for count, line in zip(numbers, lines, strict=True)]
    is_other = (
        sum(count > 1 for count in numbers) > 1 or mixed[0] or any(word.is_key for line in lines for word in line)
    )
    return len(lines) in _ADDRESS and not is_other and 0 < sum(mixed) <= max(2, _MOST_MIXED * len(lines))


def _are_prose(left: list[Line], right: list[Line]) -> bool:
    """True if one of the sides is running text: lines of many words, all but the last about as wide as the widest."""
    if min(len(left), len(right)) < _PROSE_LINES:
        return False
    for side in (left, right):
        gutter = _NARROWEST_GUTTER * typical_height([line[0] for line in side])
        edges = [(min(word.left for word in line), max(word.right for word in line)) for line in side]
        widths = [right_edge - left_edge for left_edge, right_edge in edges]
        whole = sum(not _gaps(line, *ends, gutter) for line, ends in zip(side, edges, strict=True))
        words = sum(not word.is_numeric for line in side for word in line)
        are_full = min(widths[:-1]) >= _PROSE_WIDTH * max(widths) and whole >= _MOST_PAIRED * len(side)
        if are_full and words >= _PROSE_WORDS * len(side):
            return True
    return False


def _most_switches(lines: int) -> int:
    return max(1, lines // 4)


def _switches(left: list[Word], right: list[Word]) -> int:
    """The number of times that the content stream changes sides."""
    sides = sorted([(word.start, 0) for word in left] + [(word.start, 1) for word in right])
    return sum(a != b for (_, a), (_, b) in pairwise(sides))


def _paired(left: list[Line], right: list[Line]) -> float:
    """The share of the shorter side's lines that stand at the height of one of the other side."""
    few, many = sorted((left, right), key=len)
    centres = [_centre(line) for line in many]
    near = 0.3 * typical_height([line[0] for line in many])
    paired = sum(any(abs(_centre(line) - centre) < near for centre in centres) for line in few)
    return paired / len(few)


def _centre(line: Line) -> float:
    tallest = max(line, key=height)
    return (tallest.top + tallest.bottom) / 2


def _are_keys(lines: list[Line]) -> bool:
    return sum(line[-1].is_key for line in lines) * 2 >= len(lines)


def _are_values(lines: list[Line]) -> bool:
    return sum(sum(word.is_numeric for word in line) * 2 >= len(line) for line in lines) >= _MOST_VALUES * len(lines)


def _are_numbers(lines: list[Line]) -> bool:
    """True if nothing else stands in most lines, as below the head of a column."""
    return sum(all(word.is_numeric for word in line) for line in lines) >= _MOST_VALUES * len(lines)


def _are_labelled(lines: list[Line]) -> bool:
    """True if values have names of their own on the same side, across a gap."""
    gutter = _NARROWEST_GUTTER * typical_height([line[0] for line in lines])
    gaps = sum(not line[0].is_numeric and line[-1].left - line[0].right >= gutter for line in lines)
    return gaps >= _MOST_VALUES * len(lines)
