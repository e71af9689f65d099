"""Payment: what was paid, what is left to pay, and discounts for an early payment."""

from __future__ import annotations

import time

import pytest

from service.core.fields.amount_keywords import amount_keywords
from service.core.fields.lines import TextLines
from service.core.fields.mentions import Mention, amount
from service.core.fields.payment import early_payment_discount, left_to_pay, settle_payment
from tests.core.fields.test_taxes import sums_of
from tests.support.mentions import mention


def payment(text: str, total: str | None) -> dict[str, str]:
    """Role → its number, and whether its checks hold."""
    mentions = sums_of(text)
    keywords = amount_keywords(mentions, TextLines(text))
    chosen = next((each for each in mentions if each.text == total), None)
    choices, checks = settle_payment(mentions, keywords, chosen)
    found = {role.lower(): str(amount(choice.best)) for role, choice in choices.items()}
    return found | {check.rule: str(check.holds) for check in checks}


@pytest.mark.parametrize(
    ("text", "total", "found"),
    [
        (
            "Gesamtbetrag\t14.728,80\nabzgl. Anzahlung\t-6.000,00\nNoch zu zahlen\t8.728,80", "14.728,80",
            {"amount_due": "8728.80", "paid_amount": "6000.00", "total_amount - paid_amount = amount_due": "True"},
        ),
        (
            "Total\t1,200.00\nDeposit paid\t300.00\nPayments received\t200.00\nBalance due\t700.00", "1,200.00",
            {"amount_due": "700.00", "paid_amount": "500.00",
             "total_amount - paid_amount - paid_amount = amount_due": "True"},
        ),
        (
            "Total charges\t£390.68\nBalance brought forward\t£61.20\nAmount due\t£451.88", "£390.68",
            {"amount_due": "451.88", "total_amount + brought_forward = amount_due": "True"},
        ),
        (
            "Totale fattura\t366,00\nRitenuta d'acconto 20%\t60,00\nNetto a pagare\t306,00", "366,00",
            {"amount_due": "306.00", "total_amount - withholding = amount_due": "True"},
        ),
        ("Total TTC\t120,00\nAcompte versé\t20,00\nReste dû\t100,00", "120,00",
         {"amount_due": "100.00", "paid_amount": "20.00", "total_amount - paid_amount = amount_due": "True"}),
        ("Total\t120.00\nTotal due\t120.00", "120.00", {"amount_due": "120.00"}),
        ("Total due\t120.00", "120.00", {"amount_due": "120.00"}),
        ("Amount due\t120.00\nAmount due\t90.00", None, {"amount_due": "90.00"}),
        ("Total\t43.20\nVISA\t43.20", "43.20", {"paid_amount": "43.20"}),
        ("Total\t26.71\nCash\t30.00\nChange\t3.29", "26.71", {}),
        ("Total\t120.00\nPaid\t0.00\nBalance due\t120.00", "120.00", {"paid_amount": "0.00", "amount_due": "120.00"}),
        ("Total\t120.00\nDeposit\t10.00\nDeposit\t20.00", "120.00", {}),
        (
            "Total\t119.00\nAmount paid\t50.00\nBalance due\t77.00", "119.00",
            {"amount_due": "77.00", "paid_amount": "50.00", "total_amount - paid_amount = amount_due": "False"},
        ),
        (
            "Total\t119.00\nAmount paid\t42.00\nBalance due\t77.00", "119.00",
            {"amount_due": "77.00", "paid_amount": "42.00", "total_amount - paid_amount = amount_due": "True"},
        ),
        ("Total\t119.00\nCash\t150.00\nBalance due\t77.00", "119.00", {"amount_due": "77.00"}),
        ("Total à votre crédit\t-790,80", "-790,80", {}),
        ("Total\t120.00", "120.00", {}),
    ],
)  # fmt: skip
def test_payments_and_what_is_left_of_the_total(text: str, total: str | None, found: dict[str, str]) -> None:
    assert payment(text, total) == found


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Gesamtbetrag\t14.728,80\nAnzahlung\t-6.000,00\nRestbetrag\t8.728,80", ["8728.80"]),
        ("Total due\t100.00\nDeposit\t40.00\nBalance due\t60.00", ["60.00"]),
        ("Total\t100.00\nBalance due\t60.00", []),
        ("Total due\t100.00\nTip\t5.00", []),
    ],
)
def test_only_what_follows_from_a_sum_is_left_to_pay(text: str, left: list[str]) -> None:
    mentions = sums_of(text)
    assert sorted(map(str, left_to_pay(mentions, amount_keywords(mentions, TextLines(text))))) == left


@pytest.mark.parametrize(
    ("text", "discount"),
    [
        ("Zahlbar in 30 Tagen netto, bei Zahlung bis 12.03.2026 2 % Skonto.", "2"),
        ("2% Skonto innerhalb 10 Tagen", "2"),
        ("Skonto: 10 Tage 3,5 %", "3.5"),
        ("Terms: 2/10 net 30", "2"),
        ("Terms 1.5/15, n/45", "1.5"),
        ("3% discount if paid within 8 days", "3"),
        ("Escompte de 1 % pour règlement sous 8 jours", "1"),
        ("Pas d'escompte pour paiement anticipé. Pénalités de retard : 12 %", None),
        ("Escompte : néant", None),
        ("2 % korting bij betaling binnen 8 dagen", "2"),
        ("Kassarabatt 2 % vid betalning inom 10 dagar", "2"),
        ("Descuento por pronto pago 2%", "2"),
        ("Sconto cassa 2 % a 10 giorni", "2"),
        ("Skonto 1 % do 7 dnů", "1"),
        ("Interest of 2% a month if paid late", None),
        ("5 % Rabatt", None),
        ("Skonto of a firm that has nothing to do with the rate at the end of this long line, which is 19 %", None),
        ("Date 12/10 net weight 30", None),
        ("Terms: 2/10 NET 30 days from invoice date", "2"),
        ("Terms\t2% / 10, net 30\tDue", "2"),
        ("Terms: 2/10 n/30 EOM", "2"),
        ("Butter 1/2 net 250 g", None),
        ("Screws 3/4 net 500", None),
        ("Nuts 1/2 n 10", None),
        ("Oil 2/10 net 30 kg", None),
        ("Terms: 2/30 net 10", None),
        ("Terms: 2/10 net 300", None),
        ("Nuts 1/8 net 10\n2 % Skonto innerhalb 10 Tagen", "2"),
    ],
)
def test_a_discount_stands_near_words_for_an_early_payment(text: str, discount: str | None) -> None:
    found = early_payment_discount(TextLines(text), [])
    assert (found and found.best.value.text) == discount


@pytest.mark.parametrize(
    ("text", "discounts"),
    [
        ("3 % Skonto innerhalb 7 Tagen, 2 % innerhalb 14 Tagen", ["3", "2"]),
        ("3 % Skonto in 7 Tagen\n2 % Skonto in 14 Tagen\n3 % Skonto in 7 Tagen", ["3", "2"]),
        ("Escompte 2 %\nTerms 1/10 net 30", ["2", "1"]),
        ("2 % Skonto", ["2"]),
    ],
)
def test_other_discounts_are_alternatives(text: str, discounts: list[str]) -> None:
    found = early_payment_discount(TextLines(text), [])
    assert found is not None
    assert [each.value.text for each in (found.best, *found.alternatives)] == discounts


@pytest.mark.parametrize(
    ("text", "due", "others", "is_doubtful"),
    [
        ("Total\t119.00\nBalance due\t50.00\nBalance due\t70.00", "70.00", ["50.00"], True),
        ("Gesamt\t119,00\nNoch zu zahlen\t50,00\nNoch zu zahlen\t70,00\nAnzahlung\t69,00", "50,00", ["70,00"], False),
        ("Total\t119.00\nAmount due\t50.00\nAmount due\t119.00", "119.00", ["50.00"], False),
        ("Total\t119.00\nBalance due\t70.00\nBalance due\t70.00", "70.00", [], False),
    ],
)
def test_of_several_amounts_due_one_that_follows_from_nothing_is_doubtful(
    text: str, due: str, others: list[str], is_doubtful: bool
) -> None:
    mentions = sums_of(text)
    choices, _ = settle_payment(mentions, amount_keywords(mentions, TextLines(text)), mentions[0])
    choice = choices["AMOUNT_DUE"]
    assert (choice.best.text, [each.text for each in choice.alternatives]) == (due, others)
    assert choice.is_doubtful is is_doubtful


def test_a_payment_that_explains_nothing_is_doubtful() -> None:
    mentions = sums_of(text := "Total\t119.00\nAmount paid\t50.00\nBalance due\t77.00")
    choices, _ = settle_payment(mentions, amount_keywords(mentions, TextLines(text)), mentions[0])
    assert choices["PAID_AMOUNT"].is_doubtful


def test_an_amount_behind_words_for_a_discount_stands_on_their_line() -> None:
    text = "Skonto\n1.50 1.50"
    assert early_payment_discount(TextLines(text), sums_of(text)) is None
    assert early_payment_discount(TextLines("Skonto"), []) is None


def test_a_discount_may_be_an_entity_or_an_amount() -> None:
    text = "Rechnung\nSkonto 2 %"
    known = mention(4, "PERCENT", "2 %", text.index("2"))
    found = early_payment_discount(TextLines(text), [known])
    assert found is not None
    assert found.best == known
    text = "Große Straße, Skontobetrag 23,80"
    stated: list[Mention] = sums_of(text)
    found = early_payment_discount(TextLines(text), stated)
    assert found is not None
    assert found.best.text == "23,80"


def test_hostile_texts_take_linear_time() -> None:
    began = time.process_time()
    many = [mention(at, "MONEY", "1.50", 100_000 + 5 * at) for at in range(10_000)]
    early_payment_discount(TextLines("Skonto\n" * 14_000), many)
    for part in ("2", "2/1", "skonto ", "2 % ", "2,", "%", " ", "2 %skonto"):
        early_payment_discount(TextLines(part * (100_000 // len(part))), [])
    assert time.process_time() - began < 8
