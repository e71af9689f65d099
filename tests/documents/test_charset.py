"""The charset of a text file: byte order mark, declaration, UTF-8, then detection."""

from __future__ import annotations

import encodings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.errors import UnsupportedFormat
from service.documents.charset import charset_of, decode_text

FRENCH = "L'été était très chaud, l'élève a payé 15 € à la caisse."
POLISH = "Zażółć gęślą jaźń, faktura została zapłacona w całości przez klienta."
RUSSIAN = "Счёт за услуги связи от первого марта, оплата в течение десяти дней."
JAPANESE = "請求書は東京で発行されました。お支払いは十日以内にお願いします。"
CHINESE = "发票在北京开具，请在十天内付款。谢谢您的合作。"
KOREAN = "청구서는 서울에서 발행되었습니다. 열흘 안에 지불해 주십시오."


@pytest.mark.parametrize(
    ("text", "encoding", "declared"),
    [
        (FRENCH, "utf-8", None),
        (FRENCH, "utf-8-sig", None),
        (FRENCH, "utf-16", None),
        (FRENCH, "utf-32", None),
        (FRENCH, "utf-16-le", None),
        (FRENCH, "utf-16-be", None),
        (FRENCH, "utf-32-le", None),
        (FRENCH, "utf-32-be", None),
        (FRENCH, "cp1252", None),
        (FRENCH, "cp1252", "iso-8859-1"),
        (FRENCH, "utf-8", "us-ascii-nonsense"),
        (FRENCH, "cp1252", "utf-8"),
        (POLISH, "cp1250", None),
        (POLISH, "iso8859-2", "iso-8859-2"),
        (RUSSIAN, "cp1251", None),
        (RUSSIAN, "koi8-r", None),
        (JAPANESE, "shift_jis", None),
        (JAPANESE, "euc_jp", None),
        (CHINESE, "gb18030", None),
        (KOREAN, "euc_kr", None),
    ],
)
def test_text_comes_back_from_its_encoding(text: str, encoding: str, declared: str | None) -> None:
    assert decode_text(text.encode(encoding), declared) == text


def test_a_declared_charset_that_is_no_text_encoding_is_passed_over() -> None:
    assert decode_text(b"hello", "base64") == "hello"


def test_zeros_and_lone_surrogates_are_dropped() -> None:
    assert decode_text(b"a" * 200 + b"\x00b", None) == "a" * 200 + "b"
    assert decode_text("\ufeffa\ud800b".encode("utf-16-le", "surrogatepass"), None).replace("\ufffd", "") == "ab"


@pytest.mark.parametrize("data", [bytes(100), bytes(range(256)), b"\x00\x01\x02abc" * 20])
def test_binary_content_is_refused(data: bytes) -> None:
    with pytest.raises(UnsupportedFormat, match="Binary content"):
        decode_text(data, None)


@pytest.mark.parametrize(
    ("media_type", "expected"),
    [
        ("text/html; charset=UTF-8", "UTF-8"),
        ('text/html;charset="koi8-r"', "koi8-r"),
        ("text/html", None),
        (None, None),
    ],
)
def test_the_charset_is_read_from_the_media_type(media_type: str | None, expected: str | None) -> None:
    assert charset_of(media_type) == expected


@given(
    st.binary(max_size=300), st.sampled_from([None, "utf-8", "utf-16", "idna", "undefined", "rot13", "\x00", "x" * 99])
)
def test_any_bytes_become_clean_text_or_a_refusal(data: bytes, declared: str | None) -> None:
    try:
        text = decode_text(data, declared)
    except UnsupportedFormat:
        return
    assert "\x00" not in text
    text.encode()


def test_names_of_charsets_are_not_remembered() -> None:
    """Python keeps every name that it has looked up, known or not: a client could fill its memory with them."""
    decode_text(b"a", "utf-8")
    before = len(encodings._cache)
    for number in range(200):
        assert decode_text("ä".encode(), f"made-up-{number}") == "ä"
        assert decode_text("ä".encode(), "utf" + "-" * number + "8") == "ä"
    assert len(encodings._cache) == before


def test_a_charset_is_found_in_time_that_grows_with_the_header() -> None:
    """Blanks after the sign of equality took time that grew with their square: ten seconds in a header of 50 KB."""
    assert charset_of("text/plain; charset=" + " " * 1_000_000) is None
    assert charset_of("text/plain; charset = ' utf-8'") == "utf-8"
