"""Payslips: gross is the sum of the earnings, net is gross less the deductions."""

from decimal import Decimal
from random import Random
from typing import Final

from model_store.builtin.training.pages import blocks, names, parties
from model_store.builtin.training.pages.facts import Party, new_party
from model_store.builtin.training.pages.grammar import Axes, Template
from model_store.builtin.training.pages.lexicon import Lexicon
from model_store.builtin.training.pages.sheet import EMPTY, Box, Piece, Row, grid, lines, row, side_by_side, stack
from model_store.builtin.training.pages.writing import WritingStyle, choose_style, some_day

AXES: Final[Axes] = {
    "employer": ("head", "sender_line", "keyed", "foot"),
    "employee": ("block", "keyed"),
    "data": blocks.WAYS,
    "pay": ("one_table", "two_tables", "beside", "list", "with_rates"),
    "sums": ("below", "in_table", "beside", "first"),
    "headers_footers": blocks.HEADERS_FOOTERS,
}


def payslip(rng: Random, lexicon: Lexicon, template: Template) -> Box:
    style = choose_style(rng, lexicon)
    employer, employee = new_party(rng, lexicon), new_party(rng, lexicon, person_share=1)
    earned = _shares(rng, style, "pay_items", rng.randint(1, 3), 200_000, 600_000)
    taken = _shares(rng, style, "deductions", rng.randint(1, 4), 1_000, 40_000)
    gross, less = (sum((amount for _, amount in part), Decimal(0)) for part in (earned, taken))
    title = lines([row(lexicon.say(rng, "payslip"))])
    top, foot = _parties(rng, template, employer, employee)
    sums = _sums(rng, style, gross, gross - less)
    pay = _pay(rng, style, template, earned, taken, sums)
    total = blocks.arranged(rng, rng.choice(("colon", "columns", "apart")), sums)
    boxes = [top, title, _data(rng, style, template, employer, employee), pay]
    match template["sums"]:
        case "first":
            boxes.insert(2, total)
        case "beside":
            boxes[-1] = side_by_side(pay, total, gap=8)
        case "below":
            boxes.append(total)
    boxes.append(_transfer(rng, style, employee, gross - less) if rng.random() < 0.5 else EMPTY)
    return blocks.with_headers_footers(rng, template["headers_footers"], lexicon, [*boxes, foot])


def _shares(rng: Random, style: WritingStyle, key: str, count: int, least: int, most: int) -> list[tuple[str, Decimal]]:
    """Different items and their amounts."""
    words = style.lexicon.words[key]
    scale = 100 if style.decimals else Decimal("0.1")
    chosen = rng.sample(words, min(count, len(words)))
    return [(word, style.rounded(Decimal(rng.randint(least, most)) / scale)) for word in chosen]


def _parties(rng: Random, template: Template, employer: Party, employee: Party) -> tuple[Box, Box]:
    match template["employer"]:
        case "head":
            top = parties.head(rng, employer, "EMPLOYER")
        case "sender_line":
            top = parties.sender_line(rng, employer, "EMPLOYER")
        case _:
            top = EMPTY
    if template["employee"] == "block":
        top = stack(top, lines(parties.block(rng, employee, "PERSON")), gap=1)
    return top, parties.foot(rng, employer, "EMPLOYER") if template["employer"] == "foot" else EMPTY


def _data(rng: Random, style: WritingStyle, template: Template, employer: Party, employee: Party) -> Box:
    lexicon = style.lexicon
    say, day = lexicon.say, some_day(rng)
    found: list[blocks.Pair] = [
        (say(rng, "period"), row(Piece(style.month(rng, day), "DATE"))),
        (say(rng, "personnel"), row(Piece(names.number_of(rng), "ID_NUMBER"))),
    ]
    if template["employer"] == "keyed":
        found.append((say(rng, "employer"), row(employer.entity("EMPLOYER"))))
    if template["employee"] == "keyed":
        found.append((say(rng, "employee"), row(employee.entity("PERSON"))))
    if rng.random() < 0.5:
        found.append((say(rng, "position"), row(Piece(say(rng, "jobs"), "JOB_TITLE"))))
    if rng.random() < 0.4:
        found.append((say(rng, "birth"), row(Piece(style.day(some_day(rng, 1955, 2005)), "DATE"))))
    if rng.random() < 0.4:
        found.append((say(rng, "pay_date"), row(Piece(style.day(day), "DATE"))))
    rng.shuffle(found)
    return blocks.arranged(rng, template["data"], found)


def _pay(
    rng: Random,
    style: WritingStyle,
    template: Template,
    earned: list[tuple[str, Decimal]],
    taken: list[tuple[str, Decimal]],
    sums: list[blocks.Pair],
) -> Box:
    how, right = template["pay"], frozenset({1, 2})
    plus, minus = ([_line(rng, style, how, item) for item in part] for part in (earned, taken))
    ends = [[row(word), *((row(""),) if how == "with_rates" else ()), value] for word, value in sums]
    if template["sums"] != "in_table":
        ends = []
    match how:
        case "beside":
            return stack(
                side_by_side(grid(plus, gap=3, right=right), grid(minus, gap=3, right=right), gap=8), grid(ends)
            )
        case "two_tables":
            return stack(grid(plus, gap=4, right=right), grid([*minus, *ends], gap=4, right=right), gap=1)
        case "list":
            return lines([(*word, Piece(" "), *value) for word, value in [*plus, *minus, *ends]])
    return grid([*plus, *minus, *ends], gap=rng.choice((3, 8)), right=right)


def _line(rng: Random, style: WritingStyle, how: str, item: tuple[str, Decimal]) -> list[Row]:
    word, amount = item
    value = row(Piece(style.money(amount, in_table=True), "MONEY"))
    if how != "with_rates":
        return [row(word), value]
    return [row(word), row(Piece(style.rate(Decimal(rng.randint(10, 250)) / 10), "PERCENT")), value]


def _sums(rng: Random, style: WritingStyle, gross: Decimal, net: Decimal) -> list[blocks.Pair]:
    """Gross and net pay, which are plain money, as neither is an invoice's total."""
    say = style.lexicon.say
    sums = (("gross", gross), ("net_pay", net))
    return [(say(rng, key), row(Piece(style.money(value), "MONEY"))) for key, value in sums]


def _transfer(rng: Random, style: WritingStyle, employee: Party, net: Decimal) -> Box:
    bank = Piece(employee.bank, "ORGANIZATION")
    return lines([row(bank, "  ", employee.account, "  ", Piece(style.money(net, in_table=True), "MONEY"))])
