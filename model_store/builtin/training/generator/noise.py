"""Layout noise, as scanners, PDF extractors and people add it to a page.

Rows in, rows out; labels stay with their text.
"""

from collections.abc import Callable
from random import Random
from typing import Final

from model_store.builtin.training.generator.canvas import Block, Piece, Row, row, text_of
from model_store.builtin.training.generator.locales import Locale, say

_WRAPPABLE: Final = frozenset(
    {"ADDRESS", "LINE_ITEM", "SUPPLIER_NAME", "RECEIVER_NAME", "SKILL", "SCHOOL", "EMPLOYER", "PARTY", "DEGREE"}
)


def roughen(rng: Random, rows: Block, locale: Locale) -> Block:
    """Some of the operations, each with its own chance."""
    for chance, operation in _OPERATIONS:
        if rng.random() < chance:
            rows = operation(rng, rows, locale)
    return [line for line in rows if text_of(line).strip()] if rng.random() < 0.7 else rows


def _upper_some(rng: Random, rows: Block, _: Locale) -> Block:
    share = rng.choice((0.1, 0.3, 1.0))
    return [_upper(line) if rng.random() < share else line for line in rows]


def _upper(line: Row) -> Row:
    return tuple(piece if piece.label in {"EMAIL", "URL"} else Piece(piece.text.upper(), piece.label) for piece in line)


def _wrap_entities(rng: Random, rows: Block, _: Locale) -> Block:
    def wrapped(piece: Piece) -> Piece:
        spaces = [position for position, letter in enumerate(piece.text) if letter == " "]
        if piece.label not in _WRAPPABLE or not spaces or rng.random() < 0.6:
            return piece
        at = rng.choice(spaces)
        return Piece(piece.text[:at] + rng.choice(("\n", " \n")) + piece.text[at + 1 :], piece.label)

    return [tuple(wrapped(piece) for piece in line) for line in rows]


def _drop_rows(rng: Random, rows: Block, _: Locale) -> Block:
    kept = [line for line in rows if rng.random() > 0.08]
    return kept or rows


def _blank_rows(rng: Random, rows: Block, _: Locale) -> Block:
    return [extra for line in rows for extra in ((line, row("")) if rng.random() < 0.25 else (line,))]


def _trailing_spaces(rng: Random, rows: Block, _: Locale) -> Block:
    return [(*line, Piece(" ")) if rng.random() < 0.5 else line for line in rows]


def _page_marks(rng: Random, rows: Block, locale: Locale) -> Block:
    pages = rng.randint(1, 9)
    mark = row(say(rng, locale, "invoice", "page").format(n=rng.randint(1, pages), m=pages))
    at = rng.choice((0, len(rows), rng.randint(0, len(rows))))
    return [*rows[:at], mark, *rows[at:]]


def _join_rows(rng: Random, rows: Block, _: Locale) -> Block:
    """Neighbouring rows printed as one line."""
    joint = rng.choice((" ", "  "))
    merged: Block = []
    for line in rows:
        if merged and rng.random() < 0.15:
            merged[-1] = (*merged[-1], Piece(joint), *line)
        else:
            merged.append(line)
    return merged


def _swap_rows(rng: Random, rows: Block, _: Locale) -> Block:
    rows = list(rows)
    for _number in range(rng.randint(1, 3)):
        if len(rows) > 1:
            at = rng.randrange(len(rows) - 1)
            rows[at], rows[at + 1] = rows[at + 1], rows[at]
    return rows


def _distractors(rng: Random, rows: Block, _: Locale) -> Block:
    """Rows of bare numbers and codes that mean nothing."""
    for _number in range(rng.randint(1, 3)):
        junk = (
            str(rng.randint(0, 10 ** rng.randint(1, 12))),
            f"({rng.randint(1, 99)})",
            "*" * rng.randint(2, 30),
            "_" * 20,
            f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}",
            "x",
            "-",
            f"Rev. {rng.randint(1, 9)}.{rng.randint(0, 9)}",
        )
        at = rng.randint(0, len(rows))
        rows = [*rows[:at], row(rng.choice(junk)), *rows[at:]]
    return rows


def _ruled(rng: Random, rows: Block, _: Locale) -> Block:
    """Lines drawn with one mark, as receipts and mail have them."""
    mark, length = rng.choice("=-_*.─#"), rng.randint(4, 70)
    for _number in range(rng.randint(1, 5)):
        at = rng.randint(0, len(rows))
        rows = [*rows[:at], row(mark * length), *rows[at:]]
    return rows


_OPERATIONS: Final[tuple[tuple[float, Callable[[Random, Block, Locale], Block]], ...]] = (
    (0.15, _drop_rows),
    (0.12, _swap_rows),
    (0.15, _distractors),
    (0.12, _ruled),
    (0.25, _page_marks),
    (0.15, _join_rows),
    (0.25, _wrap_entities),
    (0.12, _upper_some),
    (0.2, _blank_rows),
    (0.2, _trailing_spaces),
)
