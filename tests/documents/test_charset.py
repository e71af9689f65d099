"""The charset of a text file: byte order mark, declaration, UTF-8, then detection by letters."""

from __future__ import annotations

import encodings

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.core.errors import UnsupportedFormat
from service.documents import charset as charsets
from service.documents.charset import charset_of, read_plain
from service.documents.document import CharsetSource
from service.documents.limits import DocumentLimits
from service.documents.reader import read_document

LIMITS = DocumentLimits()
FRENCH = "L'été était très chaud, l'élève a payé 15 € à la caisse."
POLISH = "Zażółć gęślą jaźń, faktura została zapłacona w całości przez klienta."
RUSSIAN = "Счёт за услуги связи от первого марта, оплата в течение десяти дней."
JAPANESE = "請求書は東京で発行されました。お支払いは十日以内にお願いします。"
CHINESE = "发票在北京开具，请在十天内付款。谢谢您的合作。"
KOREAN = "청구서는 서울에서 발행되었습니다. 열흘 안에 지불해 주십시오."


def decode_text(data: bytes, declared: str | None) -> str:
    return charsets.decode_text(data, declared)[0]


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
        (JAPANESE, "iso2022_jp", None),
        (KOREAN, "iso2022_kr", None),
        ("Zakład Usługowy Żółw, razem 1 287,00 zł", "cp1250", None),
        ("Zakład Usługowy Żółw, należność 1 287,00 zł", "iso8859-2", None),
        ("Číslo faktury 118, splatnost třiceti dní", "cp1250", None),
        ("Vyřizuje Šárka Žižková, částka k úhradě", "iso8859-2", None),
        ("Számla: Szűcs Győző, fizetendő összeg", "cp1250", None),
        ("Račun za čišćenje, Željko Đurić, Šibenik", "cp1250", None),
        ("Müşteri: Gökhan Yıldız, ödeme tutarı", "cp1254", None),
        ("Sąskaita faktūra, mokėti iki birželio", "cp1257", None),
        ("Τιμολόγιο αριθμός 5, σύνολο 15 €", "cp1253", None),
        ("חשבונית מספר 5 לתשלום עד סוף החודש", "cp1255", None),
        ("فاتورة رقم 5 المبلغ الإجمالي", "cp1256", None),
        ("ใบแจ้งหนี้เลขที่ 5 ยอดรวมทั้งหมด", "cp874", None),
        ("СЧЁТ НА ОПЛАТУ № 5", "cp1251", None),
        ("Итого к оплате: 500 руб.", "koi8-r", None),
        ("Итого к оплате: 500 руб.", "cp866", None),
        ("Summe 15,00 € für Müller", "iso8859-15", None),
        ("Rechnung für Jürgen Müller, Königstraße 5", "cp850", None),
        ("Rechnung für Jürgen Müller, Königstraße 5", "mac-roman", None),
        ("㈱みどり工業 ①", "cp932", None),
        ("㈱みどり工業 ①", "cp932", "shift_jis"),
        ("合计金额：1,200元", "gb18030", None),
        ("發票在台北開立，請在十天內付款", "big5", None),
        ("Factura 5: señor Núñez, año 2025", "cp1252", None),
        ("Total: £4.90 – “thank you”, 20 m² at 21 °C", "cp1252", None),
        ("Perché è così, città di Forlì", "cp1252", None),
        ("Fatura nº 5, São João, manutenção", "cp1252", None),
    ],
)
def test_text_comes_back_from_its_encoding(text: str, encoding: str, declared: str | None) -> None:
    assert decode_text(text.encode(encoding), declared) == text


@pytest.mark.parametrize(
    ("text", "encoding", "declared", "source"),
    [
        ("Müller", "utf-8", "iso-8859-1", CharsetSource.DETECTED),
        ("Total 5 €", "utf-8", "windows-1250", CharsetSource.DETECTED),
        (POLISH, "utf-8", "iso-8859-2", CharsetSource.DETECTED),
        (RUSSIAN, "utf-8", "windows-1251", CharsetSource.DETECTED),
        ("Счёт", "utf-8", "koi8-r", CharsetSource.DETECTED),
        (CHINESE, "utf-8", "gb2312", CharsetSource.DETECTED),
        (JAPANESE, "utf-8", "shift_jis", CharsetSource.DETECTED),
        (FRENCH, "utf-8", "utf-16", CharsetSource.DETECTED),
        ("Total", "ascii", "utf-16", CharsetSource.DETECTED),
        (POLISH, "cp1250", "utf-8", CharsetSource.GUESSED),
        (FRENCH, "cp1252", "utf-16", CharsetSource.GUESSED),
        (FRENCH, "utf-16-be", "utf-16", CharsetSource.DECLARED),
        (FRENCH, "utf-16-be", "utf-16-le", CharsetSource.DETECTED),
        (CHINESE, "utf-16-le", "utf-16-le", CharsetSource.DECLARED),
        ("发票", "utf-16-le", "utf-16", CharsetSource.DECLARED),
        ("LIBERTÉ»", "cp1252", "iso-8859-1", CharsetSource.DECLARED),
        ("Gruß»", "cp1252", "iso-8859-1", CharsetSource.DECLARED),
        ("10 °C ± 2 µm", "cp1252", "iso-8859-1", CharsetSource.DECLARED),
        ("猫", "gbk", "gbk", CharsetSource.DECLARED),
        ("ยินดี", "cp874", "tis-620", CharsetSource.DECLARED),
        ("เขต 5\n" * 9, "cp874", "windows-874", CharsetSource.DECLARED),
        ("名称,价格\n" + "bolt,10元\n" * 60, "gbk", "gb2312", CharsetSource.DECLARED),
        ("3호 12호 5호\n" * 20, "euc_kr", "euc-kr", CharsetSource.DECLARED),
        ("2000年\n1999年\n" * 20, "euc_jp", "euc-jp", CharsetSource.DECLARED),
        ("ﾃｰﾌﾞﾙ ﾃｰﾌﾟ\n" * 9, "shift_jis", "shift_jis", CharsetSource.DECLARED),
        ("«MARCHÉ» «CAFÉ» «DÉCÈDÉ»", "cp1252", "iso-8859-1", CharsetSource.DECLARED),
        ("Die Note „Ä“", "cp1252", "windows-1252", CharsetSource.DECLARED),
        ("10 kr för kött\n" * 20, "utf-8", "iso-8859-1", CharsetSource.DETECTED),
        ("发票金额：10元\n" * 20, "utf-8", "gbk", CharsetSource.DETECTED),
        ("청구서 3호\n" * 20, "utf-8", "euc-kr", CharsetSource.DETECTED),
        ("ยินดี", "utf-8", "tis-620", CharsetSource.DETECTED),
    ],
)
def test_a_declared_charset_counts_unless_the_bytes_contradict_it(
    text: str, encoding: str, declared: str, source: CharsetSource
) -> None:
    read, charset = charsets.decode_text(text.encode(encoding), declared)
    assert (read, charset.source) == (text, source)


def test_utf8_with_a_bad_byte_contradicts_a_declared_charset_less_surely() -> None:
    text, charset = charsets.decode_text("für Müller, ".encode() * 20 + b"\xfc", "iso-8859-1")
    assert text.endswith("für Müller, \ufffd")
    assert (charset.name, charset.source) == ("utf-8", CharsetSource.DETECTED)
    assert 0.9 < charset.confidence < 1


def test_of_several_declared_charsets_the_first_that_fits_counts() -> None:
    assert charsets.decode_text(POLISH.encode("cp1250"), "utf-8", None, "windows-1250")[0] == POLISH


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (CHINESE, "gb18030"),
        (KOREAN, "euc_kr"),
        (RUSSIAN, "cp1251"),
        (POLISH, "iso8859-2"),
        (FRENCH, "cp1252"),
    ],
)
def test_letters_after_a_megabyte_of_ascii_decide(text: str, encoding: str) -> None:
    text = "Invoice 2025-118, dated today\n" * 40_000 + text
    assert decode_text(text.encode(encoding), None) == text


@pytest.mark.parametrize(
    ("data", "declared", "expected"),
    [
        ("Müller".encode() + b"\nM\xfcller", None, "Müller\nM\ufffdller"),
        ("5 € für Müller".encode() + b"\xff\n", None, "5 € für Müller\ufffd\n"),
        ("für Müller".encode() + b"\xc3", None, "für Müller\ufffd"),
        ("Total 5 €".encode()[:-1], None, "Total 5 \ufffd"),
        ("für Müller".encode() + b"\xff", "utf-8", "für Müller\ufffd"),
        (("für Müller, " * 20).encode() + b"\xff\xff\xff", None, "für Müller, " * 20 + "\ufffd" * 3),
        (JAPANESE.encode("cp932") + b"\x81", "shift_jis", JAPANESE + "\ufffd"),
        (b"caf\xe9", None, "café"),
        (b"caf\xe9", "utf-8", "café"),
        (b"\x1b[1mbold\x1b[0m $ B", None, "\x1b[1mbold\x1b[0m $ B"),
    ],
)
def test_a_bad_or_cut_character_costs_no_other(data: bytes, declared: str | None, expected: str) -> None:
    assert decode_text(data, declared) == expected


@pytest.mark.parametrize(
    ("data", "declared", "name", "source"),
    [
        (b"plain", None, "utf-8", CharsetSource.DETECTED),
        ("é".encode("utf-16"), None, "utf-16-le", CharsetSource.DETECTED),
        (JAPANESE.encode("iso2022_jp"), None, "iso-2022-jp", CharsetSource.DETECTED),
        (FRENCH.encode("cp1252"), "latin-1", "windows-1252", CharsetSource.DECLARED),
        (POLISH.encode("iso8859-2"), "iso-8859-2", "iso-8859-2", CharsetSource.DECLARED),
        (POLISH.encode("cp1250"), None, "windows-1250", CharsetSource.GUESSED),
        (JAPANESE.encode("cp932"), None, "shift_jis", CharsetSource.GUESSED),
        ("Rechnung für Jürgen Müller".encode("cp850"), None, "ibm850", CharsetSource.GUESSED),
    ],
)
def test_the_charset_and_how_it_was_found_are_said(
    data: bytes, declared: str | None, name: str, source: CharsetSource
) -> None:
    charset = charsets.decode_text(data, declared)[1]
    assert (charset.name, charset.source) == (name, source)
    assert charset.confidence == 1 or source is CharsetSource.GUESSED


def test_a_guess_is_less_sure_where_two_encodings_fit() -> None:
    def confidence(data: bytes) -> float:
        return charsets.decode_text(data, None)[1].confidence

    assert confidence(b"wzgl\xeadem") <= 0.5 < confidence(POLISH.encode("cp1250")) <= 1
    assert confidence(b"\xac\xa6\xb5\xaf\xa8\xb8 \xff\xac") < 0.5


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


@given(
    st.text(st.sampled_from("aé\r\n\t \x01%{"), max_size=60).map(str.encode),
    st.sampled_from(["text/plain", "text/plain; charset=latin-1", "application/octet-stream", None]),
    st.sampled_from(["a.txt", "a.md"]),
)
@example("Grüße,\r\nAnna".encode(), "text/markdown; charset=utf-8", None)
@example("\ufeffa".encode(), None, "a.txt")
def test_small_plain_texts_are_read_as_a_parser_reads_them(data: bytes, media: str | None, name: str | None) -> None:
    found = read_plain(data, media_type=media, name=name, limits=LIMITS)
    assert found in (None, found and read_document(data, media_type=media, name=name, limits=LIMITS))
    if data.isalpha():
        assert found is not None


@pytest.mark.parametrize(
    ("data", "media_type", "name"),
    [
        (b"%PDF-1.7", None, "a.txt"),
        (b"<p>Anna</p>", "text/plain", "a.txt"),
        (b"Anna", None, "a"),
        (b"Anna", "text/html", "a.html"),
        (b"Anna" * 10_000, None, "a.txt"),
        ("Grüße".encode("latin-1"), None, "a.txt"),
        ("Anna".encode("utf-16-le"), None, "a.txt"),
        (b"\x1b$B@5\x1b(B", None, "a.txt"),
        (b'{"text": "Anna"}', "text/plain", None),
        (b" \n", None, "a.txt"),
        (b"", None, "a.txt"),
    ],
)
def test_what_is_not_surely_a_small_plain_text_is_left_to_a_parser(
    data: bytes, media_type: str | None, name: str | None
) -> None:
    assert read_plain(data, media_type=media_type, name=name, limits=LIMITS) is None


def test_a_plain_text_over_a_limit_is_left_to_the_parser_that_says_so() -> None:
    assert read_plain(b"Anna", media_type=None, name="a.txt", limits=DocumentLimits(max_characters=3)) is None


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
