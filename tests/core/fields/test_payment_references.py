"""References of payments: their forms and checksums."""

from __future__ import annotations

import time

import pytest

from service.core.fields.payment_references import (
    has_valid_check_digit,
    has_valid_checksum,
    reference_spans,
    whole_reference,
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("RF18 5390 0754 7034", ["RF18 5390 0754 7034"]),
        ("ref RF18539007547034 EUR", ["RF18539007547034"]),
        ("RF18 5390 0754 7034 EUR 12", ["RF18 5390 0754 7034"]),
        ("RF19 5390 0754 7034", []),
        ("Referenz 21 00000 00003 13947 14300 09017", ["21 00000 00003 13947 14300 09017"]),
        ("210000000003139471430009017", ["210000000003139471430009017"]),
        ("21 00000 00003 13947 14300 09018", []),
        ("00 00000 00000 00000 00000 00000", []),
        ("+++090/9337/55493+++", ["+++090/9337/55493+++"]),
        ("*** 090/9337/55493 ***", ["*** 090/9337/55493 ***"]),
        ("+++000/0000/09797+++", ["+++000/0000/09797+++"]),
        ("+++090/9337/55494+++", []),
        ("+71<123456789012345+12345678<", ["+71<123456789012345+12345678<"]),
        ("Sklic: SI12 1234567890123", ["SI12 1234567890123"]),
        ("Model i poziv na broj: HR01 2026-118", ["HR01 2026-118"]),
        ("IBAN SI56 1910 0000 0123 438", []),
        ("BPAY Biller Code 88124 Ref 1093300471", ["1093300471"]),
        ("acc 62044187213, ref KB2291", ["KB2291"]),
        ("Konto 12 345, Referenz: RE-2026-17", ["RE-2026-17"]),
        ("IBAN DE89 3704, Referenz: RF18 5390 0754 7034", ["RF18 5390 0754 7034"]),
        ("IBAN DE89 3704, Referenz: RF19 5390 0754 7034", ["RF19 5390 0754 7034"]),
        ("our ref KB2291, bank holiday", []),
        ("Bank: please refer to us, ref none", []),
        ("Invoice 2026-118", []),
    ],
)
def test_a_reference_is_told_by_its_form(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in reference_spans(text)] == found


@pytest.mark.parametrize(
    ("text", "first", "whole"),
    [
        ("1234 56789 total", "1234", "1234 56789"),
        ("1234 56789 12.50", "1234", "1234 56789"),
        ("RE-2026 17", "RE-2026", "RE-2026"),
        ("2026", "2026", "2026"),
    ],
)
def test_a_reference_behind_its_words_has_all_its_groups(text: str, first: str, whole: str) -> None:
    start, end = whole_reference(text, 0, len(first))
    assert text[start:end] == whole


@pytest.mark.parametrize(
    ("reference", "valid"),
    [("RF18539007547034", True), ("RF19539007547034", False), ("2026-118", None), ("+++090/9337/55494+++", False)],
)
def test_some_forms_have_a_checksum(reference: str, *, valid: bool | None) -> None:
    assert has_valid_checksum(reference) is valid


@pytest.mark.parametrize(
    "words",
    ["RF12 ABCD ", "21 00000 ", "model ", "+++123/", "1", "sklic: si12 ", "+71< ", "RF12AAAA", "bank ref ", "acc "],
)
def test_references_are_searched_in_linear_time(words: str) -> None:
    text = words * (100_000 // len(words))
    began = time.thread_time()
    assert not list(reference_spans(text))
    assert time.thread_time() - began < 2


@pytest.mark.parametrize(
    ("key", "reference", "valid"),
    [
        ("kid:", "30219001", False),
        ("kid:", "0 123 457 6", False),
        ("kid-nummer", "1234567897", True),
        ("kid", "12345678903", True),
        ("kid", "00006-", True),
        ("kid", "00005-", False),
        ("kid", "AB-17", None),
        ("viitenumero:", "12 32 8", True),
        ("viitenumero:", "1232 4", False),
        ("viite", "1234561", True),
        ("viite", "1234562", False),
        ("ocr-nummer:", "1234567897", True),
        ("ocr", "204618", False),
        ("ocr", "20461", None),
        ("ocr", "F-20461", None),
        ("kidney", "12345678", None),
        ("verwendungszweck", "12345678", None),
    ],
)
def test_the_key_of_one_country_tells_the_check_digit(key: str, reference: str, valid: bool | None) -> None:
    assert has_valid_check_digit(key, reference, "20461") is valid
