"""Net, tax and total: settled where amounts add up, checked where all three are known."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.fields.amount_keywords import AmountKeyword
from service.core.fields.checks import SumCheck
from service.core.fields.mentions import Choice, Mention, Reason, amount
from service.core.fields.tax_rows import Tax
from service.core.fields.totals import settle_totals
from tests.support.mentions import mention


def amounts(*found: tuple[str, str, float]) -> list[Mention]:
    return [mention(i, label, text, 20 * i, score) for i, (label, text, score) in enumerate(found)]


def texts(choices: dict[str, Choice]) -> dict[str, tuple[str, str]]:
    return {label: (choice.best.text, choice.reason.value) for label, choice in choices.items()}


def test_amounts_that_add_up_are_checked() -> None:
    found = amounts(("NET_AMOUNT", "100.00", 0.9), ("TAX_AMOUNT", "19.00", 0.9), ("TOTAL_AMOUNT", "119.00", 0.9))
    choices, checks = settle_totals(found)
    assert {choice.reason for choice in choices.values()} == {Reason.LABEL}
    assert checks == (SumCheck("net_amount + tax_amount = total_amount", True, Decimal("0.00")),)


def test_the_sum_overrules_a_better_score() -> None:
    """The tax of one rate has the better score; that of all rates adds up."""
    found = amounts(
        ("NET_AMOUNT", "177.49", 0.9),
        ("TAX_AMOUNT", "7.91", 0.95),
        ("TAX_AMOUNT", "20.16", 0.8),
        ("TOTAL_AMOUNT", "197.65", 0.9),
    )
    choices, checks = settle_totals(found)
    assert texts(choices)["TAX_AMOUNT"] == ("20.16", "sum")
    assert choices["TAX_AMOUNT"].alternatives[0].text == "7.91"
    assert checks[0].holds


def test_money_without_a_role_gets_one_by_the_sum() -> None:
    found = amounts(("MONEY", "100.00", 0.9), ("TAX_AMOUNT", "19.00", 0.9), ("TOTAL_AMOUNT", "119.00", 0.9))
    choices, checks = settle_totals(found)
    assert texts(choices)["NET_AMOUNT"] == ("100.00", "sum")
    assert texts(choices)["TOTAL_AMOUNT"] == ("119.00", "label")
    assert checks[0].holds


def test_amounts_that_do_not_add_up_are_kept_and_said() -> None:
    found = amounts(("NET_AMOUNT", "100.00", 0.9), ("TAX_AMOUNT", "19.00", 0.9), ("TOTAL_AMOUNT", "120.00", 0.9))
    choices, checks = settle_totals(found)
    assert texts(choices)["TOTAL_AMOUNT"] == ("120.00", "label")
    assert checks == (SumCheck("net_amount + tax_amount = total_amount", False, Decimal("-1.00")),)


def test_what_adds_up_by_chance_does_not_replace_what_the_model_is_sure_of() -> None:
    found = amounts(
        ("TOTAL_AMOUNT", "120.00", 0.95), ("MONEY", "1.00", 0.5), ("MONEY", "2.00", 0.5), ("MONEY", "3.00", 0.5)
    )
    choices, checks = settle_totals(found)
    assert texts(choices) == {"TOTAL_AMOUNT": ("120.00", "label")}
    assert checks == ()


@pytest.mark.parametrize(
    "rows",
    [
        ("120.00", "300.00"),
        ("100.00", "19.00"),
        ("60.00", "120.00", "60.00"),
        ("3.20", "2.80"),
        ("5.00", "0.30"),
        ("-120.00", "-300.00"),
    ],
)
def test_rows_that_add_up_to_the_total_are_no_net_and_tax(rows: tuple[str, ...]) -> None:
    total = f"{sum(map(Decimal, rows)):.2f}"
    found = amounts(*(("MONEY", row, 0.97) for row in rows), ("TOTAL_AMOUNT", total, 0.6))
    assert settle_totals(found) == ({"TOTAL_AMOUNT": Choice(found[-1], Reason.LABEL)}, ())
    assert settled(found, *(None for _ in rows), AmountKeyword.TOTAL) == {"TOTAL_AMOUNT": (total, "label")}


@pytest.mark.parametrize(("label", "word"), [("TAX_AMOUNT", None), ("MONEY", AmountKeyword.TAX)])
def test_a_row_and_its_tax_are_net_and_tax(label: str, word: AmountKeyword | None) -> None:
    found = amounts(("MONEY", "300.00", 0.97), (label, "57.00", 0.3), ("TOTAL_AMOUNT", "357.00", 0.6))
    assert {role: text for role, (text, _) in settled(found, None, word, None).items()} == {
        "NET_AMOUNT": "300.00",
        "TAX_AMOUNT": "57.00",
        "TOTAL_AMOUNT": "357.00",
    }


def test_net_equal_to_total_is_no_proof_of_a_tax_of_nothing() -> None:
    found = amounts(("MONEY", "0.00", 0.9), ("NET_AMOUNT", "80.90", 0.6), ("TOTAL_AMOUNT", "80.90", 0.6))
    assert "TAX_AMOUNT" not in settle_totals(found)[0]
    with_tax = [*found, mention(9, "TAX_AMOUNT", "0.00", 99, 0.6)]
    assert settle_totals(with_tax)[1][0].holds


def test_an_amount_in_words_takes_no_part() -> None:
    found = amounts(("NET_AMOUNT", "five", 0.9), ("TAX_AMOUNT", "19.00", 0.9), ("TOTAL_AMOUNT", "119.00", 0.9))
    choices, checks = settle_totals(found)
    assert "NET_AMOUNT" not in choices
    assert checks == ()
    assert settle_totals([]) == ({}, ())


def test_a_net_and_a_tax_in_another_currency_are_not_the_bills() -> None:
    found = amounts(
        ("NET_AMOUNT", "USD 1,200.05", 0.9), ("TAX_AMOUNT", "GBP 0.00", 0.9), ("TOTAL_AMOUNT", "EUR 1,104.00", 0.99)
    )
    choices, checks = settle_totals([*found, mention(9, "TOTAL_AMOUNT", "USD 1,200.05", 99)])
    assert texts(choices) == {"TOTAL_AMOUNT": ("EUR 1,104.00", "label")}
    assert checks == ()


cents = st.integers(1, 10_000_000).map(lambda number: Decimal(number) / 100)


@given(cents, cents, st.lists(cents, max_size=6))
def test_whatever_stands_around_roles_that_add_up_are_kept(net: Decimal, tax: Decimal, others: list[Decimal]) -> None:
    tax, net = sorted((net, tax))
    sure = [("NET_AMOUNT", net), ("TAX_AMOUNT", tax), ("TOTAL_AMOUNT", net + tax)]
    found = amounts(
        *((label, f"{value:.2f}", 0.99) for label, value in sure), *(("MONEY", f"{o:.2f}", 0.99) for o in others)
    )
    choices, checks = settle_totals(found)
    assert {label: Decimal(choice.best.text) for label, choice in choices.items()} == dict(sure)
    assert checks[0].holds


def settled(found: list[Mention], *words: AmountKeyword | None) -> dict[str, tuple[str, str]]:
    """The choices where these words stand before the amounts, one for each."""
    said = {mention.entity: word for mention, word in zip(found, words, strict=True) if word is not None}
    return texts(settle_totals(found, said)[0])


def test_words_give_an_amount_a_role_that_the_model_gave_none() -> None:
    found = amounts(("MONEY", "8.00", 0.9), ("MONEY", "9.00", 0.9), ("MONEY", "1.50", 0.9))
    assert settled(found, None, AmountKeyword.TOTAL, AmountKeyword.TAX) == {
        "TAX_AMOUNT": ("1.50", "context"),
        "TOTAL_AMOUNT": ("9.00", "context"),
    }


def test_an_amount_that_the_model_is_sure_of_goes_before_words() -> None:
    found = amounts(("TOTAL_AMOUNT", "9.00", 0.9), ("MONEY", "8.00", 0.9))
    assert settled(found, None, AmountKeyword.TOTAL) == {"TOTAL_AMOUNT": ("9.00", "label")}


def test_words_go_before_an_amount_that_they_contradict() -> None:
    found = amounts(("TOTAL_AMOUNT", "10.00", 0.9), ("MONEY", "9.00", 0.9))
    assert settled(found, AmountKeyword.PAID, AmountKeyword.TOTAL)["TOTAL_AMOUNT"] == ("9.00", "context")
    assert settled(found[:1], AmountKeyword.PAID) == {"TOTAL_AMOUNT": ("10.00", "label")}


def test_the_stronger_word_counts() -> None:
    found = amounts(("MONEY", "9.02", 0.9), ("MONEY", "9.00", 0.9))
    assert settled(found, AmountKeyword.TOTAL, AmountKeyword.ROUNDED)["TOTAL_AMOUNT"][0] == "9.00"
    assert settled(found, AmountKeyword.GROSS, AmountKeyword.TOTAL)["TOTAL_AMOUNT"][0] == "9.02"


def test_what_was_paid_less_the_change_is_the_total() -> None:
    found = amounts(*(("MONEY", text, 0.9) for text in ("9.02", "9.00", "10.00", "1.00")))
    words = (AmountKeyword.GROSS, AmountKeyword.TOTAL, AmountKeyword.PAID)
    assert settled(found, *words, AmountKeyword.CHANGE)["TOTAL_AMOUNT"][0] == "9.00"
    assert settled(found, *words, None)["TOTAL_AMOUNT"][0] == "9.02"


def test_money_that_was_handed_over_proves_no_sum() -> None:
    found = amounts(("MONEY", "9.00", 0.9), ("MONEY", "1.00", 0.9), ("TOTAL_AMOUNT", "10.00", 0.4))
    words = (AmountKeyword.TOTAL, AmountKeyword.CHANGE, AmountKeyword.PAID)
    assert settled(found, *words) == {"TOTAL_AMOUNT": ("9.00", "context")}


def test_a_word_for_a_tax_makes_a_tax_of_nothing_proof() -> None:
    found = amounts(("MONEY", "80.90", 0.9), ("MONEY", "0.00", 0.9), ("MONEY", "80.90", 0.9))
    choices = settled(found, AmountKeyword.NET_OR_TOTAL, AmountKeyword.TAX, AmountKeyword.TOTAL)
    assert {label: text for label, (text, _) in choices.items()} == {
        "NET_AMOUNT": "80.90",
        "TAX_AMOUNT": "0.00",
        "TOTAL_AMOUNT": "80.90",
    }


def test_a_total_stated_by_the_payment_is_what_was_paid_less_change() -> None:
    found = amounts(*(("MONEY", text, 0.9) for text in ("9.02", "9.00", "10.00", "1.00")))
    words = (AmountKeyword.GROSS, AmountKeyword.ROUNDING, AmountKeyword.PAID)
    assert settled(found, *words, AmountKeyword.CHANGE)["TOTAL_AMOUNT"] == ("9.00", "context")
    assert settled(found, *words, None)["TOTAL_AMOUNT"] == ("9.02", "context")
    assert settled(found, None, None, AmountKeyword.PAID, None)["TOTAL_AMOUNT"] == ("10.00", "context")
    assert settled(found, None, None, AmountKeyword.PAID, AmountKeyword.CHANGE) == {}


def test_a_total_goes_before_a_part_that_was_paid() -> None:
    found = amounts(("MONEY", "9.00", 0.9), ("MONEY", "5.00", 0.9))
    assert settled(found, AmountKeyword.TOTAL, AmountKeyword.PAID)["TOTAL_AMOUNT"] == ("9.00", "context")


RATES = (
    ("MONEY", "20.67", 0.9),
    ("MONEY", "69.36", 0.9),
    ("MONEY", "4.16", 0.9),
    ("MONEY", "73.52", 0.9),
    ("TOTAL_AMOUNT", "94.19", 0.7),
)
RATE_WORDS = {
    0: AmountKeyword.TOTAL,
    1: AmountKeyword.NET,
    2: AmountKeyword.TAX,
    3: AmountKeyword.GROSS,
    4: AmountKeyword.TO_PAY,
}
"""A bill of some supplies without tax and some with it, whose own net, tax and total add up."""


def test_with_two_tax_rates_the_amount_to_pay_is_the_total() -> None:
    choices, checks = settle_totals(amounts(*RATES), RATE_WORDS)
    assert {label: text for label, (text, _) in texts(choices).items()} == {
        "TAX_AMOUNT": "4.16",
        "TOTAL_AMOUNT": "94.19",
    }
    assert checks == ()


def test_of_two_rates_with_a_tax_each_neither_tax_is_the_bill_s() -> None:
    found, words = amounts(*RATES, ("MONEY", "1.17", 0.9)), {**RATE_WORDS, 5: AmountKeyword.TAX}
    assert {label: text for label, (text, _) in texts(settle_totals(found, words)[0]).items()} == {
        "TOTAL_AMOUNT": "94.19"
    }


def test_what_is_to_be_paid_beside_an_older_debt_is_not_the_total() -> None:
    words = {**RATE_WORDS, 0: AmountKeyword.PAID}
    choices, checks = settle_totals(amounts(*RATES), words)
    assert texts(choices)["TOTAL_AMOUNT"] == ("73.52", "sum")
    assert checks[0].holds


@pytest.mark.parametrize(
    ("total", "paid", "chosen"),
    [
        ("45.34", "45.35", "45.35"),
        ("12.38", "12.40", "12.40"),
        ("20.02", "20.00", "20.00"),
        ("45.34", "46.00", "45.34"),
    ],
)
def test_a_sum_rounded_for_payment_is_the_total(total: str, paid: str, chosen: str) -> None:
    found = amounts(("TOTAL_AMOUNT", total, 0.5), ("MONEY", paid, 0.9), ("MONEY", paid, 0.9))
    words = (AmountKeyword.GROSS, AmountKeyword.ROUNDING, AmountKeyword.PAID)
    assert settled(found, *words)["TOTAL_AMOUNT"][0] == chosen


def page(*lines: str) -> list[Mention]:
    """Mentions of a page of one `LABEL value LABEL value …` a line, eight characters apart."""
    words = [
        (*each, 100 * row + 8 * column) for row, line in enumerate(lines) for column, each in enumerate(_cells(line))
    ]
    return [mention(index, label, text, at, 0.5) for index, (label, text, at) in enumerate(words)]


def _cells(line: str) -> list[tuple[str, str]]:
    parts = line.split()
    return list(zip(parts[::2], parts[1::2], strict=True))


def roles(found: list[Mention], *words: AmountKeyword | None, taxes: Sequence[Tax] = ()) -> dict[str, str]:
    """Role → the amount chosen, where these words stand before the mentions; a number behind `=` stands nowhere."""
    said = {mention.entity: word for mention, word in zip(found, words, strict=False) if word is not None}
    choices, _ = settle_totals(found, said, taxes)
    return {label: choice.best.text or f"={amount(choice.best)}" for label, choice in choices.items()}


def test_a_percentage_of_the_net_is_a_tax_that_nothing_calls_one() -> None:
    found = page("MONEY 300.00", "PERCENT 19% MONEY 57.00", "MONEY 357.00")
    unnamed = [Tax(found[1], amount=found[2], is_named=False)]
    assert roles(found, None, None, None, AmountKeyword.TOTAL, taxes=unnamed) == {
        "NET_AMOUNT": "300.00",
        "TAX_AMOUNT": "57.00",
        "TOTAL_AMOUNT": "357.00",
    }
    other = page("MONEY 300.00", "PERCENT 18% MONEY 57.00", "MONEY 357.00")
    unnamed = [Tax(other[1], amount=other[2], is_named=False)]
    assert roles(other, None, None, None, AmountKeyword.TOTAL, taxes=unnamed) == {"TOTAL_AMOUNT": "357.00"}


def test_what_was_bought_at_a_rate_is_no_tax() -> None:
    found = page("PERCENT 19% TAX_AMOUNT 5.13 TAX_AMOUNT 0.97", "TAX_AMOUNT 6.10")
    row = [Tax(found[0], found[1], found[2])]
    assert roles(found, None, None, None, AmountKeyword.TOTAL, taxes=row) == {
        "NET_AMOUNT": "5.13",
        "TAX_AMOUNT": "0.97",
        "TOTAL_AMOUNT": "6.10",
    }


TAXES = ("PERCENT 7% TAX_AMOUNT 14.00", "PERCENT 19% TAX_AMOUNT 57.00")


def taxes_of(found: list[Mention], first: int) -> list[Tax]:
    return [Tax(found[at], amount=found[at + 1]) for at in (first, first + 2)]


def test_the_tax_of_two_rates_is_their_sum_where_that_is_proved() -> None:
    found = page("NET_AMOUNT 500.00", *TAXES, "TOTAL_AMOUNT 571.00")
    assert roles(found, taxes=taxes_of(found, 1)) == {
        "NET_AMOUNT": "500.00",
        "TAX_AMOUNT": "=71.00",
        "TOTAL_AMOUNT": "571.00",
    }
    with_both = page("NET_AMOUNT 500.00", *TAXES, "TAX_AMOUNT 71.00", "TOTAL_AMOUNT 571.00")
    assert roles(with_both, taxes=taxes_of(with_both, 1))["TAX_AMOUNT"] == "71.00"
    unproved = page("NET_AMOUNT 500.00", *TAXES, "TOTAL_AMOUNT 600.00")
    assert roles(unproved, taxes=taxes_of(unproved, 1)) == {"NET_AMOUNT": "500.00", "TOTAL_AMOUNT": "600.00"}


def test_the_net_of_two_rates_is_the_sum_of_their_bases() -> None:
    found = page("PERCENT 7% MONEY 200.00 TAX_AMOUNT 14.00", "PERCENT 19% MONEY 300.00 TAX_AMOUNT 57.00")
    found += [mention(9, "TOTAL_AMOUNT", "571.00", 900)]
    rows = [Tax(found[0], found[1], found[2]), Tax(found[3], found[4], found[5])]
    assert roles(found, taxes=rows) == {
        "NET_AMOUNT": "=500.00",
        "TAX_AMOUNT": "=71.00",
        "TOTAL_AMOUNT": "571.00",
    }
    assert roles(found[:-1], taxes=rows) == {}


def test_net_tax_and_gross_of_a_rate_are_not_those_of_the_bill() -> None:
    found = page(
        "MONEY 9.50",
        "PERCENT 19% TAX_AMOUNT 0.97 NET_AMOUNT 5.13 MONEY 6.10",
        "PERCENT 7% TAX_AMOUNT 0.22 NET_AMOUNT 3.18 TOTAL_AMOUNT 3.40",
    )
    rows = [Tax(found[1], found[3], found[2], found[4]), Tax(found[5], found[7], found[6], found[8])]
    words = (AmountKeyword.GROSS, None, None, None, AmountKeyword.GROSS)
    assert roles(found, *words, taxes=rows) == {
        "NET_AMOUNT": "=8.31",
        "TAX_AMOUNT": "=1.19",
        "TOTAL_AMOUNT": "9.50",
    }


def test_sums_over_two_rows_that_are_the_total_count_whatever_they_weigh() -> None:
    found = page(
        "NET_AMOUNT 804.35",
        "PERCENT 19% MONEY 804.35 TAX_AMOUNT 152.83",
        "PERCENT 19% MONEY 4.99 TAX_AMOUNT 0.95",
        "TOTAL_AMOUNT 963.12",
    )
    found = [each._replace(score=0.2) for each in found]
    rows = [Tax(found[1], found[2], found[3]), Tax(found[4], found[5], found[6])]
    words = (AmountKeyword.NET, None, None, AmountKeyword.TAX, None, None, AmountKeyword.TAX, AmountKeyword.TOTAL)
    assert roles(found, *words, taxes=rows) == {
        "NET_AMOUNT": "=809.34",
        "TAX_AMOUNT": "=153.78",
        "TOTAL_AMOUNT": "963.12",
    }


def test_a_tax_of_0_is_not_the_bills_beside_others() -> None:
    rated = ("PERCENT 0% MONEY 60.00 MONEY 0.00", "PERCENT 20% MONEY 11.00 MONEY 2.20")
    found = page("MONEY 60.00", *rated, "MONEY 73.90")
    words = (AmountKeyword.NET_OR_TOTAL, *(None, None, AmountKeyword.TAX) * 2, AmountKeyword.TO_PAY)
    rows = [Tax(found[1], found[2], found[3]), Tax(found[4], found[5], found[6])]
    assert roles(found, *words, taxes=rows)["TOTAL_AMOUNT"] == "73.90"
    alone = [found[0], *found[1:4], found[7]]
    assert roles(alone, *words[:4], taxes=rows[:1])["TAX_AMOUNT"] == "0.00"


def test_of_two_taxes_that_add_up_to_nothing_the_one_that_does_is_the_tax() -> None:
    found = page(
        "NET_AMOUNT 300.00", "PERCENT 22% TAX_AMOUNT 66.00", "PERCENT 20% TAX_AMOUNT 60.00", "TOTAL_AMOUNT 366.00"
    )
    assert roles(found, taxes=taxes_of(found, 1))["TAX_AMOUNT"] == "66.00"


@pytest.mark.parametrize(
    ("line", "word", "check"),
    [
        ("21.00", AmountKeyword.UNTAXED, "net_amount + tax_amount + untaxed = total_amount"),
        ("21.00", AmountKeyword.TIP, "net_amount + tax_amount + tip = total_amount"),
        ("21.00", AmountKeyword.SHIPPING, "net_amount + tax_amount + shipping = total_amount"),
        ("-0.38", AmountKeyword.ROUNDING, "net_amount + tax_amount + rounding = total_amount"),
    ],
)
def test_a_named_line_between_net_and_total_is_part_of_the_total(line: str, word: AmountKeyword, check: str) -> None:
    total = f"{Decimal('354.00') + Decimal(line):.2f}"
    found = page("MONEY 354.00", "NET_AMOUNT 321.82", "TAX_AMOUNT 32.18", f"MONEY {line}", f"TOTAL_AMOUNT {total}")
    words = {3: word, 4: AmountKeyword.TOTAL}
    choices, checks = settle_totals(found, words)
    assert {label: text for label, (text, _) in texts(choices).items()} == {
        "NET_AMOUNT": "321.82",
        "TAX_AMOUNT": "32.18",
        "TOTAL_AMOUNT": total,
    }
    assert [(each.rule, each.holds) for each in checks] == [(check, True)]


def test_taxes_contained_in_sums_that_are_the_total_are_the_tax_together() -> None:
    found = page("PERCENT 8% MONEY 426 MONEY 31", "PERCENT 10% MONEY 398 MONEY 36", "TOTAL_AMOUNT 824")
    rows = [Tax(found[0], None, found[2], found[1]), Tax(found[3], None, found[5], found[4])]
    assert roles(found, taxes=rows) == {"TAX_AMOUNT": "=67", "TOTAL_AMOUNT": "824"}
    assert roles(found, taxes=rows[:1]) == {"TOTAL_AMOUNT": "824"}
    one = page("PERCENT 8% MONEY 824 MONEY 61", "TOTAL_AMOUNT 824")
    assert roles(one, taxes=[Tax(one[0], None, one[2], one[1])]) == {"TOTAL_AMOUNT": "824"}


def test_the_bases_of_two_rates_are_no_net_and_tax() -> None:
    found = amounts(("NET_AMOUNT", "7500", 0.5), ("TAX_AMOUNT", "229800", 0.5), ("TOTAL_AMOUNT", "237300", 0.5))
    assert "sum" not in {reason for _, reason in texts(settle_totals(found)[0]).values()}


def test_a_net_that_equals_the_total_contains_the_tax() -> None:
    found = page("NET_AMOUNT 440.00", "TAX_AMOUNT 40.00", "TOTAL_AMOUNT 440.00")
    assert roles(found) == {"TAX_AMOUNT": "40.00", "TOTAL_AMOUNT": "440.00"}


def test_what_is_left_to_pay_after_a_deposit_is_not_the_total() -> None:
    found = page("MONEY 1200.00", "MONEY -500.00", "TOTAL_AMOUNT 700.00")
    assert roles(found, AmountKeyword.TOTAL, AmountKeyword.PREPAID, AmountKeyword.TO_PAY)["TOTAL_AMOUNT"] == "1200.00"
    assert roles(found, AmountKeyword.TOTAL, None, AmountKeyword.TO_PAY)["TOTAL_AMOUNT"] == "700.00"


def test_a_total_with_withheld_tax_keeps_its_own_tax() -> None:
    found = page(
        "NET_AMOUNT 300.00", "PERCENT 22% TAX_AMOUNT 66.00", "TOTAL_AMOUNT 366.00", "PERCENT 20% TAX_AMOUNT 60.00"
    )
    assert roles(found, *[None] * 6)["TAX_AMOUNT"] == "66.00"


@pytest.mark.parametrize("word", [None, AmountKeyword.TIP])
@pytest.mark.parametrize(("last", "chosen"), [(AmountKeyword.TOTAL, "44.00"), (AmountKeyword.TO_PAY, None)])
def test_a_total_with_a_tip_is_the_later_one(
    word: AmountKeyword | None, last: AmountKeyword, chosen: str | None
) -> None:
    found = page("MONEY 40.00", "MONEY 4.00", "MONEY 44.00", "NET_AMOUNT 36.36 PERCENT 10% TAX_AMOUNT 3.64")
    given = roles(found, AmountKeyword.TOTAL, word, last, AmountKeyword.NET, None, AmountKeyword.TAX)
    assert given["TOTAL_AMOUNT"] == (chosen or ("44.00" if word else "40.00"))
    cheaper = page("MONEY 44.00", "MONEY 4.00", "MONEY 40.00", "NET_AMOUNT 36.36 PERCENT 10% TAX_AMOUNT 3.64")
    given = roles(cheaper, AmountKeyword.TOTAL, word, last, AmountKeyword.NET, None, AmountKeyword.TAX)
    assert given["TOTAL_AMOUNT"] == "40.00"


def test_one_amount_is_not_net_and_total() -> None:
    found = page("NET_AMOUNT 54.00", "TAX_AMOUNT 9.00")
    assert roles(found, AmountKeyword.TOTAL, AmountKeyword.TAX) == {"TAX_AMOUNT": "9.00", "TOTAL_AMOUNT": "54.00"}


def test_a_subtotal_is_the_total_only_without_another() -> None:
    found = amounts(("MONEY", "800.00", 0.97), ("NET_AMOUNT", "800.00", 0.85), ("MONEY", "845.00", 0.25))
    assert roles(found, None, AmountKeyword.SUBTOTAL, AmountKeyword.TOTAL)["TOTAL_AMOUNT"] == "845.00"
    assert roles(found, None, AmountKeyword.SUBTOTAL, None)["TOTAL_AMOUNT"] == "800.00"


LABELS = st.sampled_from(("NET_AMOUNT", "TAX_AMOUNT", "TOTAL_AMOUNT", "MONEY", "PERCENT"))
FEW = st.sampled_from(("0.00", "1.00", "5.00", "6.00", "19.00", "100.00", "119.00", "-5.00", "five"))


@given(st.lists(st.tuples(LABELS, FEW, st.sampled_from((None, *AmountKeyword))), max_size=9))
def test_any_page_is_settled(cells: list[tuple[str, str, AmountKeyword | None]]) -> None:
    found = [
        mention(at, label, "19%" if label == "PERCENT" else text, 9 * at, 0.5)
        for at, (label, text, _) in enumerate(cells)
    ]
    words = {at: word for at, (label, _, word) in enumerate(cells) if word is not None and label != "PERCENT"}
    choices, checks = settle_totals(found, words)
    assert all(choice.best.label != "PERCENT" for choice in choices.values())
    assert len(checks) <= 1


@pytest.mark.parametrize(("second", "tax"), [("125.00", None), ("130.00", "125.00")])
def test_taxes_that_share_what_the_total_has_beyond_the_net_are_parts(second: str, tax: str | None) -> None:
    found = amounts(
        ("NET_AMOUNT", "5000.00", 0.9),
        ("TAX_AMOUNT", "125.00", 0.9),
        ("TAX_AMOUNT", second, 0.8),
        ("TOTAL_AMOUNT", "5250.00", 0.9),
    )
    choices, _ = settle_totals(found)
    assert choices["TOTAL_AMOUNT"].best.text == "5250.00"
    assert (choices["TAX_AMOUNT"].best.text if "TAX_AMOUNT" in choices else None) == tax
