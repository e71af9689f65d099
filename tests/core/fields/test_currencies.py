"""Currency of a bill: in words, beside amounts, in keys and captions, or that of the country."""

from __future__ import annotations

import pytest

from service.core.fields.currencies import NO_READER, CurrencyReader, choose_currency, named_currency
from service.core.fields.lines import TextLines
from tests.support.mentions import mentions_in

READER = CurrencyReader({"€": "EUR", "EUR": "EUR", "CHF": "CHF", "₹": "INR", "ALL": "ALL", "kr": "SEK", "$": "USD"}.get)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Währung: EUR\n12,00 USD", "EUR"),
        ("Rechnungswährung : GBP\nWährung der Umsatzsteuerbuchung : EUR", "GBP"),
        ("All amounts in CHF", "CHF"),
        ("Devise EUR", "EUR"),
        ("通貨：JPY", "JPY"),
        ("Waluta PLN", "PLN"),
        ("VAT amount in local currency GBP 0.00", None),
        ("Tax currency: GBP\nCurrency: EUR", "EUR"),
        ("Steuerwährung GBP", None),
        ("All prices net, in local Currency: GBP or USD", None),
        ("USD prices; currency: EUR, currency: USD", "USD"),
        ("Tax currency USD, currency USD", "USD"),
        ("tax currency USD " * 700, None),
        ("Currency: all prices are OUR own", None),
        ("Prices in our shop; VAT", None),
        ("12,00 USD", None),
    ],
)
def test_words_name_the_currency(text: str, code: str | None) -> None:
    assert named_currency(TextLines(text)) == code


@pytest.mark.parametrize(
    ("text", "amounts", "code"),
    [
        ("Total CHF\t9.00", ("9.00",), "CHF"),
        ("Amount due (CHF): 9.00", ("9.00",), "CHF"),
        ("Total (CHF)\n9.00", ("9.00",), "CHF"),
        ("Total DKK inkl. moms 9.00", ("9.00",), None),
        ("Total EUR inkl. moms 9.00", ("9.00",), "EUR"),
        ("Totale fattura €\t9.00", ("9.00",), "EUR"),
        ("Invoice total (₹)\n9.00", ("9.00",), "INR"),
        ("Att betala kr\t9.00", ("9.00",), "SEK"),
        ("SUBTOTAL $\t9.00", ("9.00",), "USD"),
        ("TOTAL OF ALL GOODS\t9.00", ("9.00",), None),
        ("Total VAT 9.00", ("9.00",), None),
        ("Total CHF\t9.00 EUR", ("9.00 EUR",), "EUR"),
        ("Fee\t5.00 EUR\nTotal CHF 9.00", ("5.00 EUR", "9.00"), "EUR"),
        ("Item\tPrice EUR\tAmount EUR\nMount\t5.00\t5.00", ("5.00", "5.00"), "EUR"),
        ("Date\tText\tVAT\tEUR\n1.1.\tRoom\t9 %\t5.00", ("5.00",), "EUR"),
        ("Item\tPrice EUR\tAmount CHF\nMount\t5.00\t5.00", ("5.00", "5.00"), None),
        ("Amounts EUR\nMount 5.00", ("5.00",), None),
    ],
)
def test_keys_and_captions_name_the_currency(text: str, amounts: tuple[str, ...], code: str | None) -> None:
    found = mentions_in(text, *(("MONEY", each) for each in amounts))
    total = found[-1] if "Total CHF\t" in text else None
    assert choose_currency(TextLines(text), found, total, READER) == code


def test_the_country_s_currency_is_the_last_that_counts() -> None:
    text = "Total 9.00"
    found = mentions_in(text, ("MONEY", "9.00"))
    assert choose_currency(TextLines(text), found, found[0], CurrencyReader(READER.read, "AUD")) == "AUD"
    assert choose_currency(TextLines(text), found, found[0], NO_READER) is None
