"""Words of bills: the data is sound, and phrases are found as its notation says."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from service.core.fields.amount_keywords import (
    AmountKeyword,
    classify_key,
)
from service.core.fields.vocabulary.phrases import LANGUAGES, PhraseTable, any_of, folded, written_span
from service.core.fields.vocabulary.words import BillWords

FAMILIES = (
    (*(word.value for word in AmountKeyword), "sums", "including", "excluding"),
    ("due", "dated", "supply", "discount_until", "another_day", "another_bill"),
    (
        "another_bill",
        "another_number",
        "bill",
        "bill_number",
        "credit",
        "correction",
        "order",
        "your_order",
        "reference",
    ),
    ("deposit",),
    ("carried",),
    ("seller", "buyer"),
    ("debit", "transfer"),
    ("tax_number", "other_number"),
    ("tax_base",),
    ("exempt",),
    ("early_payment",),
)
"""Kinds that are looked for together: a phrase must be of one of them."""


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: str(family[0]))
def test_no_phrase_is_of_two_kinds_that_are_looked_for_together(family: tuple[str, ...]) -> None:
    found: dict[str, set[str]] = {}
    for kind in family:
        for words in LANGUAGES.values():
            for phrase in getattr(words, kind).split():
                found.setdefault(folded(phrase), set()).add(kind)
    assert {phrase: kinds for phrase, kinds in found.items() if len(kinds) > 1} == {}


def test_every_kind_of_word_is_in_a_family() -> None:
    apart = {"number", "to", "by", "currency", "your", "representative"}
    assert {kind for family in FAMILIES for kind in family} | apart == {field.name for field in fields(BillWords)}


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_language_has_words_for_a_total_and_what_it_is_paid_for(language: str) -> None:
    words = LANGUAGES[language]
    assert words.total
    assert words.tax
    assert words.bill
    for phrase in words.total.split():
        assert classify_key(phrase.replace("_", " ").replace("*", "")) in (AmountKeyword.TOTAL, AmountKeyword.GROSS)


@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ("Grand-Total", ["gross"]),
        ("GRAND  TOTAL", ["gross"]),
        ("Subtotal, total", ["subtotal", "total"]),
        ("Totality of the grandtotals", []),
        ("MUSTER-TOTAL", []),
        ("TOTAL9.00", ["total"]),
        ("ＴＯＴＡＬ", ["total"]),
        ("NET À PAYER", ["to_pay"]),
        ("net a payer", ["to_pay"]),
        ("本日の合計金額", ["total"]),
        ("총 합계", ["total"]),
        ("ODEME TOPLAM", ["total"]),
        ("Итого к оплате", ["to_pay"]),
        ("الإجمالي", ["total"]),
        ("कुल राशि", ["total"]),
    ],
)
def test_phrases_are_found_whatever_their_form(line: str, kinds: list[str]) -> None:
    table = PhraseTable("gross", "subtotal", "to_pay", "total")
    assert [found.kind for found in table.find(folded(line))] == kinds


def test_a_phrase_stands_where_it_was_found() -> None:
    line = folded("Rechnungsbetrag, USt")
    assert [line[each.start : each.end] for each in PhraseTable("total", "tax").find(line)] == [
        "rechnungsbetrag",
        "ust",
    ]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Sales tax", "Sales tax"),
        ("Straße 5: SALES TAX, 7 %", "SALES TAX"),
        ("Cafe\u0301 sales tax", "sales tax"),
        ("ﬁne Sales-Tax", "Sales-Tax"),
        ("각 sáles tax", "sáles tax"),
    ],
)
def test_a_phrase_stands_in_the_text_as_written(text: str, written: str) -> None:
    (found,) = PhraseTable("tax").find(folded(text))
    assert text[slice(*written_span(text, found.start, found.end))] == written


def test_an_expression_may_be_the_beginning_or_the_end_of_a_word() -> None:
    assert re.search(any_of("bill", ends=False), folded("Rechnungsnummer"))
    assert not re.search(any_of("bill"), folded("Rechnungsnummer"))
    assert re.search(any_of("number", starts=False), folded("Rechnungsnummer"))
    assert not re.search(any_of("number"), folded("Rechnungsnummer"))


def test_a_long_phrase_is_found_again_though_its_kind_is_not_kept() -> None:
    table, written = PhraseTable("bill"), "x" * 60 + "rechnung"
    assert [match.kind for match in table.find(f"{written} {written}")] == ["bill", "bill"]
