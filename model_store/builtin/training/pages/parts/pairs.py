"""Words and their values: beside, above, apart, in tables and in lines."""

from collections.abc import Sequence
from random import Random
from typing import Final

from model_store.builtin.training.generator.canvas import Piece, Row, row
from model_store.builtin.training.pages.sheet import Box, beside, grid, lines, stack

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
    return beside(lines([row(key) for key, _ in pairs]), lines([value for _, value in pairs]), gap=rng.choice((3, 6)))


def joined(rows: Sequence[Row], separator: str) -> Row:
    """Rows on one line."""
    pieces: list[Piece] = []
    for number, line in enumerate(rows):
        pieces += [Piece(separator)] * bool(number) + list(line)
    return tuple(pieces)
