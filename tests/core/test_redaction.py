"""Redaction of a text: which ranges go, what replaces them, and where the same words stand again."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.redaction import (
    HASH_DIGITS,
    RedactedSpan,
    RedactionMode,
    Repeats,
    hashed,
    replaced_text,
    replacer,
    spans_to_redact,
    unify_lookalikes,
)
from service.text.values.context import DocumentContext
from service.text.values.reading import read_value


@pytest.mark.parametrize(
    ("wanted", "text", "found"),
    [
        ("Jane Doe", "JANE\n  doe, jane doe.", ["JANE\n  doe", "jane doe"]),
        ("Anna", "Annabel, Susanna, Anna's", ["Anna"]),
        ("jane@acme.example", "<jane@acme.example>", ["jane@acme.example"]),
        ("2026", "12026 and 2026", ["2026"]),
        ("Doe", "Doe", []),
        ("Jane Doe", "Jane", []),
        ("Jane Doe", "", []),
        ("Acme GmbH", "AcmeGmbH, acme_gmbh.pdf, Acme-\nGmbH", ["AcmeGmbH", "acme_gmbh", "Acme-\nGmbH"]),
        ("Acme GmbH", "Acme\u200bGmbH Ac\u00adme\u2060 Gm\ufeffbH", ["Acme\u200bGmbH", "Ac\u00adme\u2060 Gm\ufeffbH"]),
        ("Anna", "Anna\u00adbel", []),
        ("jane.doe@x.example", "jane.\u00addoe@x.example", ["jane.\u00addoe@x.example"]),
        ("J\u00fcrgen M\u00fcller", "Ju\u0308rgen Mu\u0308ller", ["Ju\u0308rgen Mu\u0308ller"]),
        ("DE89 3704 0044 0532 0130 00", "DE89370400440532013000", ["DE89370400440532013000"]),
        ("+49 171 2223344", "0 49171/2223344", ["49171/2223344"]),
        ("12.50", "1250 125.0 12.50 1 2.50", ["12.50", "1 2.50"]),
        ("(A. B.)", "ab", []),
        ("----", "----", []),
        ("\u7530\u4e2d\u592a\u90ce", "\u79c1\u306f\u7530\u4e2d\u592a\u90ce\u3067\u3059", ["\u7530\u4e2d\u592a\u90ce"]),
    ],
)
def test_whole_words_are_found_in_any_case_and_over_line_breaks(wanted: str, text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in Repeats([wanted]).find(text)] == found


def test_what_recognition_mixes_up_is_alike_in_words_with_other_characters() -> None:
    assert unify_lookalikes("DE8l O5, Ill OO") == "DE81 05, Ill OO"


def test_the_longest_of_several_texts_is_found() -> None:
    text = "Jane Doe Smith and Jane Roe"
    assert [text[a:b] for a, b in Repeats(["Jane", "Jane Doe Smith", "Jane Doe"]).find(text)] == [
        "Jane Doe Smith",
        "Jane",
    ]


def test_equal_digits_are_found_by_their_own_separators() -> None:
    text = "12.50 1250 12-50"
    assert [text[a:b] for a, b in Repeats(["12.50", "1250"]).find(text)] == ["12.50", "1250"]
    assert [text[a:b] for a, b in Repeats(["12.50", "12-50"]).find(text)] == ["12.50", "12-50"]


@pytest.mark.parametrize(
    ("texts", "name", "is_named"),
    [
        (["Li"], "https://x.example/li/cv", True),
        (["Li"], "https://x.example/list", False),
        (["Ann-Marie O'Neil"], "https://x.example/annmarieoneil1970", True),
        (["Jane Doe"], "?q=%254Aane%2520Doe", True),
        (["Jane Doe"], "%2525252525", False),
        (["Acme GmbH"], "InvoiceAcmeGmbHfinal.docx", True),
        (["INV-20931"], "INV20931", True),
        (["12"], "Chapter 12", False),
        (["12.50"], "1250", False),
        (["12.50"], "for 12.50", True),
        (["\u2026"], "https://x.example", False),
        ([], "https://x.example", False),
    ],
)
def test_names_of_things_tell_a_text_as_any_part(texts: list[str], name: str, is_named: bool) -> None:
    assert Repeats(texts).are_named_in(name) == is_named


def test_many_texts_that_begin_alike_are_found_in_linear_time() -> None:
    """Half a second; a comparison with each text takes hours."""
    words = [f"info@firm{number}.example" for number in range(20_000)]
    text, watched = " ".join(words), list[int]()
    spans, at = list[RedactedSpan](), 0
    for word in words:
        spans.append(RedactedSpan("EMAIL", at, at + len(word), 0.9))
        at += len(word) + 1
    assert spans_to_redact(text, spans, repeats=True, watch=lambda: watched.append(1)) == spans
    assert len(watched) > 10


def test_a_search_ends_when_its_watch_raises() -> None:
    def watch() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        list(Repeats(["Jane Doe"], watch).find("Jane Doe"))


def test_short_texts_are_not_looked_for() -> None:
    assert not Repeats(["12", "a b c"])
    assert not Repeats(["12"]).are_in("12")
    assert Repeats(["a b c d"])


def test_what_is_found_can_be_replaced() -> None:
    repeats = Repeats(["Jane Doe"])
    assert repeats.replaced("by Jane Doe, to Jane  Doe", "[x]") == "by [x], to [x]"
    assert repeats.are_in("Jane Doe")
    assert not repeats.are_in("John Doe")


@given(st.lists(st.text(alphabet="ab ,\n", min_size=4), max_size=4), st.text(alphabet="ab ,\n"))
def test_what_is_found_is_in_order_and_nothing_is_left(texts: list[str], text: str) -> None:
    repeats = Repeats(texts)
    places = list(repeats.find(text))
    assert all(a < b for a, b in places)
    assert all(first[1] <= second[0] for first, second in pairwise(places))
    assert not repeats.are_in(repeats.replaced(text, "XX"))


TEXT = "Jane Doe met Doe. JANE DOE left."


def found(label: str, words: str, score: float = 0.9) -> RedactedSpan:
    start = TEXT.index(words)
    return RedactedSpan(label, start, start + len(words), score)


def test_only_what_was_found_goes_without_repeats() -> None:
    spans = spans_to_redact(TEXT, [found("PERSON", "Jane Doe")], repeats=False)
    assert spans == [RedactedSpan("PERSON", 0, 8, 0.9)]
    assert not spans[0].is_repeat


def test_a_repeat_has_the_label_of_what_it_repeats_and_no_score() -> None:
    spans = spans_to_redact(TEXT, [found("PERSON", "Jane Doe")], repeats=True)
    assert spans == [RedactedSpan("PERSON", 0, 8, 0.9), RedactedSpan("PERSON", 18, 26, None)]
    assert spans[1].is_repeat


def test_what_overlaps_goes_as_one_under_the_label_of_the_longest() -> None:
    chosen = [RedactedSpan("LAST", 5, 8, 0.4), RedactedSpan("PERSON", 0, 8, 0.9), RedactedSpan("EVENT", 7, 12, 0.5)]
    assert spans_to_redact(TEXT, chosen, repeats=False) == [RedactedSpan("PERSON", 0, 12, 0.9)]


def test_a_repeat_around_an_entity_takes_all_of_it() -> None:
    chosen = [RedactedSpan("PERSON", 0, 8, 0.9), RedactedSpan("LAST", 23, 26, 0.5)]
    assert spans_to_redact(TEXT, chosen, repeats=True)[1] == RedactedSpan("PERSON", 18, 26, 0.5)


def test_nothing_goes_of_nothing() -> None:
    assert spans_to_redact(TEXT, [], repeats=True) == []
    assert spans_to_redact(TEXT, [RedactedSpan("X", 3, 3, 0.1)], repeats=False) == []


REPLACED_TEXT = "Jane Doe pays Jane\nDoe 5 €."
SPANS = [RedactedSpan("PERSON", 0, 8, 0.9), RedactedSpan("PERSON", 14, 22, None)]
KEY = b"of the service"


def value_of(label: str, text: str) -> str:
    return read_value(label, text, DocumentContext(REPLACED_TEXT)).text


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (RedactionMode.REPLACE, "<PERSON> pays <PERSON> 5 €."),
        (RedactionMode.MASK, "******** pays ****\n*** 5 €."),
    ],
)
def test_each_mode(mode: RedactionMode, expected: str) -> None:
    assert replaced_text(REPLACED_TEXT, SPANS, replacer(mode, KEY, value_of))[0] == expected


def test_offsets_of_both_texts_lead_to_what_went_and_what_came() -> None:
    new, made = replaced_text(REPLACED_TEXT, SPANS, replacer(RedactionMode.REPLACE, KEY, value_of))
    assert [REPLACED_TEXT[each.span.start : each.span.end] for each in made] == ["Jane Doe", "Jane\nDoe"]
    assert [new[each.new_start : each.new_end] for each in made] == ["<PERSON>", "<PERSON>"]


def test_equal_values_have_equal_hashes_under_one_key_only() -> None:
    new, made = replaced_text(REPLACED_TEXT, SPANS, replacer(RedactionMode.HASH, KEY, value_of))
    assert made[0].replacement == made[1].replacement
    assert made[0].replacement == f"<PERSON:{hashed(KEY, 'jane doe')}>"
    assert len(made[0].replacement) == len("<PERSON:>") + HASH_DIGITS
    assert "Jane" not in new
    assert hashed(KEY, "Jane Doe") != hashed(b"another", "Jane Doe")
    assert hashed(KEY, "Jane Doe") != hashed(KEY, "John Doe")


def test_amounts_are_hashed_by_what_they_are_worth() -> None:
    replace = replacer(RedactionMode.HASH, KEY, value_of)
    assert replace("TOTAL_AMOUNT", "EUR 1,200.00") == replace("TOTAL_AMOUNT", "1.200,00 €")


def test_a_text_from_which_nothing_goes_stays() -> None:
    assert replaced_text(REPLACED_TEXT, [], replacer(RedactionMode.MASK, KEY, value_of)) == (REPLACED_TEXT, [])


@pytest.mark.parametrize(
    ("texts", "text", "found"),
    [
        (["1.5 %", "Jane Doe"], "1.5 % of 15 to JaneDoe and jane-doe, 15", ["1.5", "JaneDoe", "jane-doe"]),
        (["Ann 1"], "ann1 ann 12 Ann-1", ["ann1", "Ann-1"]),
        (["Jane Doe", "Jane Doe Ltd"], "Jane Doe Ltd, Jane Doe Limited", ["Jane Doe Ltd", "Jane Doe"]),
        (["Élan"], "elan ELAN Elani Ela n", ["elan", "ELAN", "Ela n"]),
        (["Jane"], "Janet " * 5_000 + "Jane", ["Jane"]),
    ],
)
def test_words_that_begin_alike_are_compared_whole(texts: list[str], text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in Repeats(texts).find(text)] == found


NAMES = (
    "Acme GmbH",
    "Jane Doe",
    "INV-20931",
    "DE89 3704 0044 0532 0130 00",
    "Müller & Söhne",
    "Schneider",
    "4711 0815",
)
ESCAPED = [
    "see /c/{Acme%20GmbH}/x",
    "{Acme%2520GmbH}",
    "q={Acme+GmbH}&x",
    "x={Acme%C2%A0GmbH}",
    "u={Jane%20Doe}&v=1",
    "{M%C3%BCller%20%26%20S%C3%B6hne}",
    "{Acme&nbsp;GmbH} and {Jane&#32;Doe}",
    "{M&uuml;ller &amp; S&ouml;hne}",
    r'{"n":"{Acme\u0020GmbH}"}',
    r'"{Acme\nGmbH}"',
    r"{M\u00fcller \u0026 S\u00F6hne}",
    r"{Jane\x20Doe}",
    "{INV%2D20931}",
    "{DE89%203704%200044%200532%200130%2000}",
    "class {AcmeGmbH}Client",
    "{JaneDoe}Signed.pdf",
    "get{AcmeGmbH}Id",
    "{acmegmbh}client.example",
    "mail.{acmegmbh}.example",
    "my{acmegmbh}_2026",
    "{janedoe}2026",
    "{Jane_Doe}_signed",
    "#{JANEDOE}",
    "{Schneider}Rechnung",
    "scan{INV20931}.pdf",
    "X{DE89370400440532013000}Y",
    "IBAN{DE89370400440532013000}",
    "tel{47110815}x",
    "{Ac\u00adme\u00a0GmbH}",
    "{Müller&Söhne}Brief",
    "{Mu\u0308llerSo\u0308hne}Brief",
]


@pytest.mark.parametrize("text", ESCAPED)
def test_a_repeat_is_found_escaped_and_joined(text: str) -> None:
    plain = text.replace("{", "").replace("}", "") if '"n"' not in text else text
    marked = [each.partition("}")[0] for each in text.split("{")[1:] if not each.startswith('"n"')]
    found = [plain[start:end] for start, end in Repeats(NAMES).find(plain)]
    assert found == marked


@pytest.mark.parametrize(
    "text",
    [
        "Schneiderei und Zuschneiderin",
        "INV-209312 and XINV209315",
        "147110815, 471108159",
        "DE893704004405320130001",
        "Acme GmbHs",
        "Jane Does",
        "janedoes",
        r"C:\new\file",
        "100%25 of it",
    ],
)
def test_ordinary_words_and_other_numbers_stay(text: str) -> None:
    assert list(Repeats(NAMES).find(text)) == []


@pytest.mark.parametrize(("name", "text"), [("Java", "JavaScript"), ("Open", "OpenAI"), ("Anna", "Annabell Annas")])
def test_short_names_are_found_as_whole_words_alone(name: str, text: str) -> None:
    assert list(Repeats([name]).find(text)) == []


def test_only_whole_words_are_found_as_they_are_written() -> None:
    text = "Acme%20GmbH AcmeGmbHClient acme_gmbh AcmeGmbH"
    found = [text[start:end] for start, end in Repeats(NAMES).find(text, as_written=True)]
    assert found == ["acme_gmbh", "AcmeGmbH"]


def test_what_looks_like_an_escape_hides_nothing() -> None:
    text = r"C:\Nadine\Roth, D:\nadine_roth, /Nadine%20Roth%20GmbH/"
    found = [text[start:end] for start, end in Repeats(["Nadine Roth", "Roth GmbH"]).find(text)]
    assert found == [r"Nadine\Roth", "nadine_roth", "Nadine%20Roth"]


def test_an_escaped_repeat_has_its_label() -> None:
    text = "Acme GmbH: /Acme%20GmbH/, AcmeGmbHClient"
    spans = spans_to_redact(text, [RedactedSpan("ORG", 0, 9, 0.9)], repeats=True)
    assert [(each.label, text[each.start : each.end]) for each in spans] == [
        ("ORG", "Acme GmbH"), ("ORG", "Acme%20GmbH"), ("ORG", "AcmeGmbH")
    ]  # fmt: skip
