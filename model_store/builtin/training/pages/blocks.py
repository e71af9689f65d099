"""Blocks of a page: words with their values in several arrangements, and headers, footers, rules and stray numbers."""

from collections.abc import Sequence
from random import Random
from typing import Final

from model_store.builtin.training.pages.identifiers import digits, letters
from model_store.builtin.training.pages.lexicon import Lexicon
from model_store.builtin.training.pages.sheet import Box, Piece, Row, grid, indented, lines, row, side_by_side, stack

Pair = tuple[str, Row]
WAYS: Final = ("colon", "columns", "above", "table", "inline", "apart")


def arranged(rng: Random, way: str, pairs: Sequence[Pair]) -> Box:
    """The pairs in one of the WAYS."""
    joint = rng.choice((": ", ": ", " ", " : ", "： " if any(not k.isascii() for k, _ in pairs) else ": "))
    match way:
        case "colon":
            return lines([row(key, joint, *value) for key, value in pairs])
        case "columns":
            mark = rng.choice(("", ":", ":"))
            return grid([[row(key + mark), value] for key, value in pairs], gap=rng.choice((2, 4, 8)))
        case "above":
            return lines([line for key, value in pairs for line in (row(key), value)])
        case "table":
            parts = [pairs[start : start + 4] for start in range(0, len(pairs), 4)]
            tables = [grid([[row(k) for k, _ in part], [v for _, v in part]], gap=3) for part in parts]
            return stack(*tables)
        case "inline":
            return lines([joined([row(key, joint, *value) for key, value in pairs], rng.choice((" | ", "   ", ", ")))])
    return side_by_side(
        lines([row(key) for key, _ in pairs]), lines([value for _, value in pairs]), gap=rng.choice((3, 6))
    )


def joined(rows: Sequence[Row], separator: str) -> Row:
    """Rows on one line."""
    pieces: list[Piece] = []
    for number, line in enumerate(rows):
        pieces += [Piece(separator)] * bool(number) + list(line)
    return tuple(pieces)


HEADERS_FOOTERS: Final = ("plain", "paged", "ruled", "marked", "slogan")


def with_headers_footers(rng: Random, how: str, lexicon: Lexicon, boxes: list[Box]) -> Box:
    """The boxes of a page one below another, with one of the kinds of HEADERS_FOOTERS among them."""
    gap = rng.choice((0, 0, 1, 2))
    boxes = [box for box in boxes if box.fragments]
    match how:
        case "paged":
            mark = lexicon.say(rng, "page").format(n=(n := rng.randint(1, 4)), m=rng.randint(n, 6))
            shifted = indented(lines([row(mark)]), rng.choice((0, 30, 60)))
            boxes.insert(rng.choice((0, len(boxes))), shifted)
        case "ruled":
            mark, width = rng.choice("=-_*.─#~+"), rng.randint(4, 80)
            for _ in range(rng.randint(1, 4)):
                boxes.insert(rng.randint(0, len(boxes)), lines([row(mark * width)]))
        case "marked":
            for _ in range(rng.randint(1, 3)):
                boxes.insert(rng.randint(0, len(boxes)), lines([_junk(rng)]))
        case "slogan":
            boxes.insert(rng.choice((0, 1, len(boxes))), lines([row(lexicon.say(rng, "filler"))]))
    return stack(*boxes, gap=gap)


def _junk(rng: Random) -> Row:
    return row(
        rng.choice(
            (
                f"{letters(rng, 2)}-{digits(rng, 2)}/{digits(rng, 2)}",
                f"({rng.randint(1, 99)})",
                f"Rev. {rng.randint(1, 9)}.{rng.randint(0, 9)}",
                f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}",
                "* * *",
                "[ ]",
                "|||| ||| |||| ||",
                "o" * rng.randint(3, 20),
            )
        )
    )
