"""The account to pay to: by its checksum and the words beside it, and never the payer's own."""

from __future__ import annotations

import pytest

from service.core.fields.accounts import choose_accounts
from service.core.fields.lines import TextLines
from tests.support.mentions import mentions_in

OURS, THEIRS, WRONG = "DE89 3704 0044 0532 0130 00", "GB82 WEST 1234 5698 7654 32", "DE88 3704 0044 0532 0130 00"


def chosen(text: str) -> list[str]:
    """The account's and the bank's texts, with the accounts that are answered beside."""
    parts = [(label, part) for label, part in MARKED if part in text]
    choices = choose_accounts(
        mentions_in(text, *sorted(parts, key=lambda part: text.index(part[1]))), TextLines(text)
    ).values()
    return [each.text for choice in choices for each in (choice.best, *choice.alternatives)]


MARKED = (
    *(("IBAN", each) for each in (OURS, THEIRS, WRONG, "FR76 XXXX XXXX 739", "ABN")),
    *(("BIC", each) for each in ("COBADEFFXXX", "WESTGB2L", "BIC")),
)


@pytest.mark.parametrize(
    "words",
    [
        "We will debit your account {}.",
        "The amount will be collected by Direct Debit from {} on 14 May.",
        "Wir buchen den Betrag per SEPA-Lastschrift von Ihrem Konto {} ab.",
        "Mandatsreferenz M-1, Konto {}",
        "Von {} abgebucht am 1.4.2026",
        "Prélèvement automatique sur votre compte\n{}",
        "Se cargará en su cuenta {}",
        "Addebito diretto SDD sul conto {}",
        "Wij schrijven het bedrag af van uw rekening {}",
        "Betalas via autogiro från {}",
        "Kwotę pobierzemy poleceniem zapłaty z {}",
        "Débito direto na sua conta {}",
        "Inkasem z účtu {}",
        "口座振替 {}",
    ],
)
def test_an_account_that_will_be_debited_is_the_payers(words: str) -> None:
    assert chosen(words.format(OURS)) == []
    assert chosen(f"{words.format(THEIRS)}\nIBAN {OURS}") == [OURS]


@pytest.mark.parametrize(
    "words",
    [
        "IBAN {}",
        "Please transfer to our account {}",
        "Ohne Lastschrift überweisen Sie bitte auf {}",
        "Pas de prélèvement : virement sur {}",
        "We collect by direct debit.\nIBAN {}",
        "Gläubiger-ID DE98ZZZ09999999999, IBAN {}",
        "Niet per automatische incasso: overmaken op rekening {}",
    ],
)
def test_an_account_that_is_paid_to_is_the_bills(words: str) -> None:
    assert chosen(words.format(OURS)) == [OURS]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"IBAN {OURS}\nIBAN {THEIRS}", [OURS, THEIRS]),
        (f"IBAN {WRONG}\nIBAN {OURS}", [OURS, WRONG]),
        (f"IBAN {WRONG}", [WRONG]),
        ("IBAN FR76 XXXX XXXX 739, Bank ABN", []),
        (f"IBAN {OURS} BIC COBADEFFXXX\nIBAN {THEIRS} BIC WESTGB2L", [OURS, THEIRS, "COBADEFFXXX", "WESTGB2L"]),
        (f"BIC WESTGB2L\nIBAN {OURS} BIC COBADEFFXXX", [OURS, "COBADEFFXXX", "WESTGB2L"]),
        ("COBADEFFXXX", ["COBADEFFXXX"]),
        (f"BIC IBAN {OURS}", [OURS]),
        ("", []),
    ],
)
def test_the_first_sound_account_and_its_bank_are_chosen(text: str, expected: list[str]) -> None:
    assert chosen(text) == expected
