"""Positions as tables and lists, and sums in several places and ways."""

from decimal import Decimal
from random import Random
from typing import Final

from model_store.builtin.training.pages.blocks import joined
from model_store.builtin.training.pages.facts import Position, Trade
from model_store.builtin.training.pages.sheet import Box, Piece, Row, grid, indented, lines, row, side_by_side

TABLES: Final = ("ruled", "ragged", "wrapped", "quantity_first", "no_header", "list", "by_columns", "full")
SUMS: Final = ("left", "right", "inline", "above", "apart", "rate_in_brackets")

_COLUMNS: Final = {
    "ruled": ("pos", "description", "quantity", "price", "amount"),
    "ragged": ("description", "quantity", "price", "amount"),
    "wrapped": ("pos", "description", "quantity", "price", "amount"),
    "quantity_first": ("quantity", "description", "price", "amount"),
    "no_header": ("description", "quantity", "amount"),
    "list": ("description", "quantity", "price", "amount"),
    "by_columns": ("description", "price", "amount"),
    "full": ("pos", "code", "description", "quantity", "price", "rate", "amount"),
}
_FLUSH_RIGHT: Final = frozenset({"quantity", "price", "amount", "rate"})


def items(rng: Random, how: str, trade: Trade) -> Box:
    """The positions in one of the TABLES."""
    columns = _COLUMNS[how]
    with_unit = rng.random() < 0.4
    header = [row(trade.lexicon.say(rng, column)) for column in columns]
    cells = [
        [_cell(rng, trade, column, position, number, with_unit=with_unit) for column in columns]
        for number, position in enumerate(trade.positions, start=1)
    ]
    if how == "wrapped":
        at = columns.index("description")
        for line in cells:
            line[at] = _broken(rng, line[at], dense=trade.lexicon.is_dense)
    match how:
        case "ragged":
            return lines([joined(line, " ") for line in [header, *cells]])
        case "list":
            return lines([piece for line in cells for piece in (line[0], joined(line[1:], rng.choice((" x ", "  "))))])
        case "no_header":
            return grid(cells, gap=rng.choice((2, 5)), right=frozenset({1, 2}))
    right = frozenset(n for n, column in enumerate(columns) if column in _FLUSH_RIGHT)
    return grid(
        [header, *cells],
        gap=rng.choice((2, 3, 5)),
        right=right if rng.random() < 0.7 else frozenset(),
        by_columns=how == "by_columns",
    )


def _cell(rng: Random, trade: Trade, column: str, position: Position, number: int, *, with_unit: bool) -> Row:
    style = trade.style
    match column:
        case "pos":
            return row(str(number))
        case "code":
            return row(position.code)
        case "description":
            return row(Piece(position.name, "LINE_ITEM"))
        case "quantity":
            count = style.number(position.quantity)
            return row(Piece(f"{count} {position.unit}" if with_unit else count, "QUANTITY"))
        case "price":
            return row(Piece(style.money(position.price, in_table=True), "MONEY"))
        case "rate":
            return row(Piece(style.rate(trade.rate), "PERCENT"))
    return row(Piece(style.money(position.amount, in_table=True), "MONEY"))


def _broken(rng: Random, cell: Row, *, dense: bool) -> Row:
    """The description over two lines, at times with a note below that does not belong to it."""
    text = cell[0].text
    spaces = [n for n, letter in enumerate(text) if letter == " "]
    if spaces:
        at = rng.choice(spaces)
        text = f"{text[:at]}\n{text[at + 1 :]}"
    elif dense and len(text) > 4:
        at = rng.randint(2, len(text) - 2)
        text = f"{text[:at]}\n{text[at:]}"
    return row(Piece(text, "LINE_ITEM"))


def sums(rng: Random, how: str, trade: Trade) -> Box:
    """Net, tax and total, in one of the ways of SUMS, as far to the right as that way has it."""
    style, say = trade.style, trade.lexicon.say
    words: list[Row] = [row(say(rng, "net")), _tax_words(rng, how, trade), row(say(rng, "total"))]
    values: list[Row] = [
        row(Piece(style.money(trade.net), "NET_AMOUNT")),
        row(Piece(style.money(trade.tax), "TAX_AMOUNT")),
        row(Piece(style.money(trade.total), "TOTAL_AMOUNT")),
    ]
    if rng.random() < 0.15:
        words, values = words[2:], values[2:]
    elif rng.random() < 0.15:
        words, values = words[::-1], values[::-1]
    if rng.random() < 0.12:
        words.append(row(say(rng, "paid")))
        values.append(row(Piece(style.money(style.rounded(Decimal(0))), "MONEY")))
    mark = rng.choice(("", ":"))
    keyed = [(*word, Piece(mark)) for word in words]
    match how:
        case "left":
            return lines([(*k, Piece(" "), *v) for k, v in zip(keyed, values, strict=True)])
        case "inline":
            return lines([joined([(*k, Piece(" "), *v) for k, v in zip(keyed, values, strict=True)], "  ")])
        case "above":
            return grid([words, values], gap=4)
        case "apart":
            return indented(side_by_side(lines(words), lines(values), gap=4), rng.choice((0, 30)))
    table = grid([[k, v] for k, v in zip(keyed, values, strict=True)], gap=rng.choice((2, 6)), right=frozenset({1}))
    return indented(table, rng.choice((24, 40)))


def _tax_words(rng: Random, how: str, trade: Trade) -> Row:
    name = trade.lexicon.say(rng, "tax")
    rate = Piece(trade.style.rate(trade.rate), "PERCENT")
    if how == "rate_in_brackets":
        return row(name, " (", rate, ")")
    return rng.choice((row(name), row(name, " ", rate), row(rate, " ", name)))
