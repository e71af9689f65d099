"""Checks: what adds up, what explains a difference, and what is left open."""

from __future__ import annotations

from decimal import Decimal

import pytest

from service.core.fields.amount_keywords import AmountKeyword
from service.core.fields.checks import ADDED, SIGNS, Explanations, Term, check_due, check_rows, check_sum, terms_of
from service.core.fields.line_items import LineItem
from service.core.fields.mentions import Mention
from tests.support.mentions import mention

Lines = dict[str, str]
"""Class of a line → its amount."""


def terms(lines: Lines) -> tuple[Term, ...]:
    found = [mention(at, "MONEY", value, 20 * at) for at, value in enumerate(lines.values())]
    return terms_of(found, dict(enumerate(map(AmountKeyword, lines))), SIGNS)


def number(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


@pytest.mark.parametrize(
    ("net", "tax", "total", "lines", "rule", "left"),
    [
        ("100.00", "19.00", "119.00", {}, "net_amount + tax_amount = total_amount", "0.00"),
        ("100.00", "19.00", "119.02", {}, "net_amount + tax_amount = total_amount", "-0.02"),
        ("100.00", "19.00", "120.00", {}, "net_amount + tax_amount = total_amount", "-1.00"),
        ("40.00", "3.20", "51.20", {"tip": "8.00"}, "net_amount + tax_amount + tip = total_amount", "0.00"),
        ("40.00", "3.20", "51.20", {"tip": "7.00"}, "net_amount + tax_amount = total_amount", "-8.00"),
        (
            "13995.50", "3498.88", "17494.00", {"rounding": "-0.38"},
            "net_amount + tax_amount + rounding = total_amount", "0.00",
        ),
        (
            "300.00", "66.00", "306.00", {"withholding": "60.00"},
            "net_amount + tax_amount - withholding = total_amount", "0.00",
        ),
        (
            "48.68", "4.80", "61.48", {"shipping": "1.50", "service_charge": "2.00", "tip": "4.50"},
            "net_amount + tax_amount + shipping + service_charge + tip = total_amount", "0.00",
        ),
        ("5460.00", "982.80", "5555.00", {"shipping": "95.00"}, "net_amount + shipping = total_amount", "0.00"),
    ],
)  # fmt: skip
def test_net_and_tax_add_up_with_the_lines_between(
    net: str, tax: str, total: str, lines: Lines, rule: str, left: str
) -> None:
    (check,) = check_sum(Decimal(net), Decimal(tax), Decimal(total), terms(lines))
    assert (check.rule, check.difference) == (rule, Decimal(left))
    assert check.holds is (Decimal(left) == 0)


def test_the_lines_of_a_check_have_the_sign_with_which_they_are_added() -> None:
    (check,) = check_due(Decimal("119.00"), Decimal("49.00"), terms({"prepaid": "70.00"}))
    assert (check.rule, check.lines) == (
        *("total_amount - paid_amount = amount_due", (("paid_amount", Decimal("-70.00")),)),
    )


@pytest.mark.parametrize("unknown", range(3))
def test_a_sum_with_an_unknown_part_is_not_checked(unknown: int) -> None:
    parts = [None if at == unknown else Decimal(1) for at in range(3)]
    assert check_sum(parts[0], parts[1], parts[2]) == ()


@pytest.mark.parametrize(
    ("total", "due", "lines", "rule", "holds"),
    [
        ("14728.80", "8728.80", {"prepaid": "-6000.00"}, "total_amount - paid_amount = amount_due", True),
        ("1200.00", "0.00", {"paid": "1200.00"}, "total_amount - paid_amount = amount_due", True),
        ("390.68", "451.88", {"brought_forward": "61.20"}, "total_amount + brought_forward = amount_due", True),
        ("366.00", "306.00", {"withholding": "60.00"}, "total_amount - withholding = amount_due", True),
        ("100.00", "60.00", {"prepaid": "30.00"}, "total_amount - paid_amount = amount_due", False),
        ("100.00", "60.00", {"paid": "30.00"}, "total_amount - paid_amount = amount_due", False),
        ("119.00", "77.00", {"paid": "50.00"}, "total_amount - paid_amount = amount_due", False),
        ("100.00", "60.00", {"paid": "100.00"}, None, True),
        ("100.00", "60.00", {"paid": "120.00"}, None, True),
        ("100.00", "100.00", {"prepaid": "30.00"}, None, True),
        ("100.00", "60.00", {}, None, True),
        (None, "60.00", {}, None, True),
        ("60.00", None, {}, None, True),
    ],
)
def test_the_amount_due_follows_from_the_total(
    total: str | None, due: str | None, lines: Lines, rule: str | None, holds: bool
) -> None:
    checks = check_due(number(total), number(due), terms(lines))
    assert [(check.rule, check.holds) for check in checks] == ([] if rule is None else [(rule, holds)])


def row(amount: str | None, quantity: str | None = None, price: str | None = None) -> LineItem:
    def stated(label: str, text: str | None) -> Mention | None:
        return None if text is None else mention(1, label, text, 9)

    name = mention(0, "LINE_ITEM", "Chair", 0)
    return LineItem(name, stated("QUANTITY", quantity), stated("MONEY", price), stated("MONEY", amount))


@pytest.mark.parametrize(
    ("amounts", "net", "total", "lines", "is_taxed", "rule", "holds"),
    [
        ("50.00 50.00", "100.00", "119.00", {}, True, "sum of line_items = net_amount", True),
        ("59.50 59.50", "100.00", "119.00", {}, True, "sum of line_items = total_amount", True),
        ("50.01 50.02", "100.00", "119.00", {}, True, "sum of line_items = net_amount", False),
        ("33.34 33.34 33.34", "100.00", "119.00", {}, True, "sum of line_items = net_amount", True),
        ("50.00 40.00", "100.00", "119.00", {}, True, "sum of line_items = net_amount", False),
        ("50.00 50.00", "95.00", None, {"discount": "-5.00"}, True, "sum of line_items - discount = net_amount", True),
        ("50.00 50.00", "105.00", None, {"shipping": "5.00"}, True, "sum of line_items + shipping = net_amount", True),
        ("354.00", "321.82", "375.00", {"untaxed": "21.00"}, True, "sum of line_items + untaxed = total_amount", True),
        ("100.00", "100.00", "119.00", {}, True, "sum of line_items = net_amount", True),
        ("90.00", "100.00", "119.00", {}, True, None, True),
        ("50.00 -", "100.00", "119.00", {}, True, None, True),
        ("-", "100.00", "119.00", {}, True, None, True),
        ("50.00 40.00", None, "119.00", {}, True, None, True),
        ("50.00 40.00", None, "119.00", {}, False, "sum of line_items = total_amount", False),
        ("50.00 40.00", None, None, {}, False, None, True),
    ],
)  # fmt: skip
def test_rows_add_up_to_the_net_or_to_the_total(
    amounts: str, net: str | None, total: str | None, lines: Lines, is_taxed: bool, rule: str | None, holds: bool
) -> None:
    rows = [row(None if each == "-" else each) for each in amounts.split()]
    checks = check_rows(rows, number(net), number(total), terms(lines), is_taxed=is_taxed)
    assert [(check.rule, check.holds) for check in checks] == ([] if rule is None else [(rule, holds)])


@pytest.mark.parametrize(
    ("rows", "count", "net", "holds"),
    [
        ("1.00 1 1.00", 60, "60.50", False),
        ("1.00 - -", 60, "60.50", False),
        ("1.00 - -", 60, "60.02", True),
        ("0.83 0.33 2.50", 60, "50.00", False),
        ("0.83 0.33 2.50", 60, "49.70", True),
        ("0.83 0.33 2.50", 60, "49.90", True),
        ("0.83 0.33 2.50", 60, "49.91", False),
        ("10.00 3 3.33", 4, "39.98", True),
        ("10.00 3 3.33", 4, "39.97", False),
        ("9.00 1 10.00", 10, "90.05", False),
        ("9.00 1 -", 10, "90.05", False),
    ],
)
def test_many_rows_differ_by_more_where_their_amounts_are_rounded(rows: str, count: int, net: str, holds: bool) -> None:
    parts = [None if each == "-" else each for each in rows.split()]
    (check,) = check_rows([row(*parts)] * count, Decimal(net), None, (), is_taxed=True)
    assert check.holds is holds


def test_a_line_counts_by_its_class_and_once() -> None:
    found = [mention(at, "MONEY", text, 20 * at) for at, text in enumerate(("8.00", "8.00", "0.00", "9.00", "5.00"))]
    words = {0: AmountKeyword.TIP, 1: AmountKeyword.TIP, 2: AmountKeyword.TIP, 3: AmountKeyword.DISCOUNT}
    assert [(str(term), term.value) for term in terms_of(found, words, ADDED)] == [("+ tip", Decimal("8.00"))]
    assert [str(term) for term in terms_of(found, words, SIGNS)] == ["+ tip", "- discount"]


def test_a_difference_needs_lines_that_explain_it() -> None:
    explanations = Explanations(terms({"tip": "8.00", "shipping": "1.00", "untaxed": "9.00"}))
    assert explanations.of(Decimal("0.01")) == ()
    assert [str(term) for term in explanations.of(Decimal("9.01")) or ()] == ["+ untaxed"]
    assert [str(term) for term in explanations.of(Decimal("18.00")) or ()] == ["+ tip", "+ shipping", "+ untaxed"]
    assert explanations.of(Decimal("2.00")) is None
    assert Explanations(()).of(Decimal("2.00")) is None
