"""Payslips: gross is the sum of the earnings, net is gross less the deductions."""

from decimal import Decimal
from random import Random
from typing import Final

from model_store.builtin.training.generator.canvas import Piece, Row, row
from model_store.builtin.training.pages import names
from model_store.builtin.training.pages.facts import Party, new_party
from model_store.builtin.training.pages.grammar import Axes, Template
from model_store.builtin.training.pages.lexicon import Lexicon
from model_store.builtin.training.pages.parts import furniture, pairs, parties
from model_store.builtin.training.pages.sheet import EMPTY, Box, beside, grid, lines, stack
from model_store.builtin.training.pages.writing import Hand, choose_hand, some_day

AXES: Final[Axes] = {
    "employer": ("head", "sender_line", "keyed", "foot"),
    "employee": ("block", "keyed"),
    "data": pairs.WAYS,
    "pay": ("one_table", "two_tables", "beside", "list", "with_rates"),
    "sums": ("below", "in_table", "beside", "first"),
    "furniture": furniture.FURNITURE,
}


def payslip(rng: Random, lexicon: Lexicon, template: Template) -> Box:
    """A payslip's page."""
    hand = choose_hand(rng, lexicon)
    employer, employee = new_party(rng, lexicon), new_party(rng, lexicon, person_share=1)
    earned = _shares(rng, hand, "pay_items", rng.randint(1, 3), 200_000, 600_000)
    taken = _shares(rng, hand, "deductions", rng.randint(1, 4), 1_000, 40_000)
    gross, less = (sum((amount for _, amount in part), Decimal(0)) for part in (earned, taken))
    title = lines([row(lexicon.say(rng, "payslip"))])
    top, foot = _parties(rng, template, employer, employee)
    sums = _sums(rng, hand, gross, gross - less)
    pay = _pay(rng, hand, template, earned, taken, sums)
    total = pairs.arranged(rng, rng.choice(("colon", "columns", "apart")), sums)
    boxes = [top, title, _data(rng, hand, template, employer, employee), pay]
    match template["sums"]:
        case "first":
            boxes.insert(2, total)
        case "beside":
            boxes[-1] = beside(pay, total, gap=8)
        case "below":
            boxes.append(total)
    boxes.append(_transfer(rng, hand, employee, gross - less) if rng.random() < 0.5 else EMPTY)
    return furniture.furnished(rng, template["furniture"], lexicon, [*boxes, foot])


def _shares(rng: Random, hand: Hand, key: str, count: int, least: int, most: int) -> list[tuple[str, Decimal]]:
    """Different items and their amounts."""
    words = hand.lexicon.words[key]
    scale = 100 if hand.decimals else Decimal("0.1")
    chosen = rng.sample(words, min(count, len(words)))
    return [(word, hand.rounded(Decimal(rng.randint(least, most)) / scale)) for word in chosen]


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


def _data(rng: Random, hand: Hand, template: Template, employer: Party, employee: Party) -> Box:
    lexicon = hand.lexicon
    say, day = lexicon.say, some_day(rng)
    found: list[pairs.Pair] = [
        (say(rng, "period"), row(Piece(hand.month(rng, day), "DATE"))),
        (say(rng, "personnel"), row(Piece(names.number_of(rng), "ID_NUMBER"))),
    ]
    if template["employer"] == "keyed":
        found.append((say(rng, "employer"), row(employer.entity("EMPLOYER"))))
    if template["employee"] == "keyed":
        found.append((say(rng, "employee"), row(employee.entity("PERSON"))))
    if rng.random() < 0.5:
        found.append((say(rng, "position"), row(Piece(say(rng, "jobs"), "JOB_TITLE"))))
    if rng.random() < 0.4:
        found.append((say(rng, "birth"), row(Piece(hand.day(some_day(rng, 1955, 2005)), "DATE"))))
    if rng.random() < 0.4:
        found.append((say(rng, "pay_date"), row(Piece(hand.day(day), "DATE"))))
    rng.shuffle(found)
    return pairs.arranged(rng, template["data"], found)


def _pay(
    rng: Random,
    hand: Hand,
    template: Template,
    earned: list[tuple[str, Decimal]],
    taken: list[tuple[str, Decimal]],
    sums: list[pairs.Pair],
) -> Box:
    how, right = template["pay"], frozenset({1, 2})
    plus, minus = ([_line(rng, hand, how, item) for item in part] for part in (earned, taken))
    ends = [[row(word), *((row(""),) if how == "with_rates" else ()), value] for word, value in sums]
    if template["sums"] != "in_table":
        ends = []
    match how:
        case "beside":
            return stack(beside(grid(plus, gap=3, right=right), grid(minus, gap=3, right=right), gap=8), grid(ends))
        case "two_tables":
            return stack(grid(plus, gap=4, right=right), grid([*minus, *ends], gap=4, right=right), gap=1)
        case "list":
            return lines([(*word, Piece(" "), *value) for word, value in [*plus, *minus, *ends]])
    return grid([*plus, *minus, *ends], gap=rng.choice((3, 8)), right=right)


def _line(rng: Random, hand: Hand, how: str, item: tuple[str, Decimal]) -> list[Row]:
    word, amount = item
    value = row(Piece(hand.money(amount, in_table=True), "MONEY"))
    if how != "with_rates":
        return [row(word), value]
    return [row(word), row(Piece(hand.rate(Decimal(rng.randint(10, 250)) / 10), "PERCENT")), value]


def _sums(rng: Random, hand: Hand, gross: Decimal, net: Decimal) -> list[pairs.Pair]:
    """Neither is an invoice's total, so both are plain money."""
    say = hand.lexicon.say
    found = (("gross", gross), ("net_pay", net))
    return [(say(rng, key), row(Piece(hand.money(value), "MONEY"))) for key, value in found]


def _transfer(rng: Random, hand: Hand, employee: Party, net: Decimal) -> Box:
    bank = Piece(employee.bank, "ORGANIZATION")
    return lines([row(bank, "  ", employee.account, "  ", Piece(hand.money(net, in_table=True), "MONEY"))])
