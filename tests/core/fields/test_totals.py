"""Net, tax and total: settled where amounts add up, checked where all three are known."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from service.core.fields.choice import Choice, Reason
from service.core.fields.mention import Mention
from service.core.fields.totals import SumCheck, settle_totals
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


def test_net_equal_to_total_is_no_proof_of_a_tax_of_nothing() -> None:
    found = amounts(("MONEY", "0.00", 0.9), ("NET_AMOUNT", "80.90", 0.6), ("TOTAL_AMOUNT", "80.90", 0.6))
    assert "TAX_AMOUNT" not in settle_totals(found)[0]
    with_tax = [*found, mention(9, "TAX_AMOUNT", "0.00", 99, 0.6)]
    assert settle_totals(with_tax)[1][0].holds


def test_an_amount_in_words_takes_no_part() -> None:
    found = amounts(("NET_AMOUNT", "five", 0.9), ("TAX_AMOUNT", "19.00", 0.9), ("TOTAL_AMOUNT", "119.00", 0.9))
    choices, checks = settle_totals(found)
    assert texts(choices)["NET_AMOUNT"] == ("five", "label")
    assert checks == ()
    assert settle_totals([]) == ({}, ())


cents = st.integers(1, 10_000_000).map(lambda number: Decimal(number) / 100)


@given(cents, cents, st.lists(cents, max_size=6))
def test_whatever_stands_around_roles_that_add_up_are_kept(net: Decimal, tax: Decimal, others: list[Decimal]) -> None:
    sure = [("NET_AMOUNT", net), ("TAX_AMOUNT", tax), ("TOTAL_AMOUNT", net + tax)]
    found = amounts(
        *((label, f"{value:.2f}", 0.99) for label, value in sure), *(("MONEY", f"{o:.2f}", 0.99) for o in others)
    )
    choices, checks = settle_totals(found)
    assert {label: Decimal(choice.best.text) for label, choice in choices.items()} == dict(sure)
    assert checks[0].holds
