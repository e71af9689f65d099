"""What the text of a mention stands for: sums, currencies, numbers, and when two are one value."""

from __future__ import annotations

from decimal import Decimal

import pytest

from service.core.decoding.value import Value, ValueKind
from service.core.fields.document_fields import find_fields
from service.core.fields.mentions import (
    MOST_ALTERNATIVES,
    Mention,
    Reason,
    amount,
    choose,
    currency,
    is_sum,
    number,
    ranked,
    same_value,
)
from tests.support.mentions import mention


@pytest.mark.parametrize(
    ("text", "value", "code"),
    [
        ("EUR 1,200.00", "1200.00", "EUR"),
        ("1.234,56 €", "1234.56", "EUR"),
        ("-50.00", "-50.00", None),
        ("9.00", "9.00", None),
        ("5 million", "5000000", None),
    ],
)
def test_sums_and_currencies(text: str, value: str | None, code: str | None) -> None:
    found = mention(0, "MONEY", text, 0)
    assert amount(found) == (None if value is None else Decimal(value))
    assert currency(found) == code


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("EUR 12.03", True),
        ("12.345", True),
        ("12.5000", True),
        ("12.50 CR", True),
        ("1.0870", False),
        ("EUR", False),
        ("five", False),
    ],
)
def test_a_sum_has_a_number_with_no_more_decimals_than_money_has(text: str, is_one: bool) -> None:
    assert is_sum(mention(0, "TOTAL_AMOUNT", text, 0)) is is_one


@pytest.mark.parametrize("value", ["NaN", "sNaN", "Infinity", "-Infinity"])
def test_a_number_that_is_not_finite_is_none(value: str) -> None:
    read = Value(ValueKind.MONEY, "x", number=Decimal(value))
    found = Mention(0, "TOTAL_AMOUNT", "x", 0, 1, 0.9, read)
    assert (amount(found), number(found), is_sum(found), same_value(found)) == (None, None, True, "x")
    assert find_fields("INVOICE 5\nTotal 9.00", [found]) is not None


def test_only_sums_of_money_name_a_currency() -> None:
    assert currency(mention(0, "QUANTITY", "EUR 2.00", 0)) is None


@pytest.mark.parametrize(("text", "value"), [("3 m²", "3"), ("2,5 h", "2.5"), ("a dozen", None), ("1,2,3 x", None)])
def test_the_number_of_a_quantity(text: str, value: str | None) -> None:
    assert number(mention(0, "QUANTITY", text, 0)) == (None if value is None else Decimal(value))


@pytest.mark.parametrize(
    ("label", "one", "other", "same"),
    [
        ("TOTAL_AMOUNT", "1.200,00", "EUR 1,200.0", True),
        ("MONEY", "12.00", "12.01", False),
        ("MONEY", "five", "six", False),
        ("SUPPLIER_NAME", "ACME GmbH.", "Acme  GmbH", True),
        ("PERSON", "…", "...", False),
        ("INVOICE_DATE", "12 March 2026", "2026-03-12", True),
        ("PAYMENT_REFERENCE", "202 61188", "20261188", True),
        ("SKILL", "Python", "python", True),
        ("SKILL", "C", "C++", False),
    ],
)
def test_two_mentions_of_one_value(label: str, one: str, other: str, same: bool) -> None:
    assert (same_value(mention(0, label, one, 0)) == same_value(mention(0, label, other, 0))) is same


def named(*found: tuple[str, float]) -> list[Mention]:
    return [mention(i, "SKILL", text, 10 * i, score) for i, (text, score) in enumerate(found)]


def weight(mention: Mention) -> float:
    return mention.score


def test_values_are_ranked_by_their_best_mention_then_by_place() -> None:
    mentions = named(("b", 0.5), ("a", 0.7), ("B", 0.8), ("c", 0.7), ("d", 0.0))
    assert [each.text for each, _ in ranked(mentions, weight)] == ["B", "a", "c"]


def test_a_value_that_is_repeated_wins_a_close_race() -> None:
    assert [each.text for each, _ in ranked(named(("a", 0.7), ("b", 0.68), ("b", 0.6)), weight)] == ["b", "a"]
    assert [each.text for each, _ in ranked(named(("a", 0.9), ("b", 0.6), ("b", 0.6)), weight)] == ["a", "b"]


def test_a_choice_has_the_next_ones_as_alternatives() -> None:
    mentions = named(*((f"v{i}", 0.9 - i / 10) for i in range(9)))
    choice = choose(ranked(mentions, weight))
    assert choice is not None
    assert (choice.best, choice.reason) == (mentions[0], Reason.LABEL)
    assert choice.alternatives == tuple(mentions[1 : MOST_ALTERNATIVES + 1])
