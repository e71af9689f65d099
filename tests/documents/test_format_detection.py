from __future__ import annotations

import pytest

from service.core.errors import UnreadableDocument, UnsupportedFormat
from service.documents.format_detection import Format, detect_format, picture_kind
from service.documents.limits import DocumentLimits
from service.documents.reader import read_document
from tests.support import document_files

DOCX_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
MAIL = b"From: a@a.example\nSubject: =?utf-8?Q?F=C3=BCr?=\nMIME-Version: 1.0\nContent-Type: text/plain\n\n=20"
QUOTED = (
    b"Dear Ms =C3=85kesson, thank you for your letter of the third of May, in whi=\r\nch you ask for 2 =3D 1+1.\r\n"
)
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


@pytest.mark.parametrize(
    ("data", "media_type", "name", "expected"),
    [
        (b"%PDF-1.7", None, None, Format.PDF),
        (b"%PDF-1.7", "text/plain", "a.txt", Format.PDF),
        (b"junk %PDF-1.7", "application/pdf", None, Format.PDF),
        (b"The header is %PDF-1.7", "text/plain", None, Format.TEXT),
        (b"hello", "text/plain; charset=utf-8", None, Format.TEXT),
        (b"# hello", "text/markdown", None, Format.TEXT),
        (b"a,b", "text/csv", None, Format.CSV),
        (b"hello", "TEXT/HTML;charset=latin-1", None, Format.HTML),
        (b"hello", "application/xhtml+xml", None, Format.HTML),
        (b"hello", None, "A.HTM", Format.HTML),
        (b"hello", "application/octet-stream", "a.md", Format.TEXT),
        (b"hello", None, None, Format.TEXT),
        (b"hello", None, "no-ending", Format.TEXT),
        (b"hello", None, "msg", Format.TEXT),
        (b"hello", None, "ICS", Format.TEXT),
        (b"\n<!DOCTYPE html><p>hello", "application/octet-stream", None, Format.HTML),
        (b"<!-- a --><HTML lang=en>", None, None, Format.HTML),
        ("<html>".encode("utf-16"), None, None, Format.HTML),
    ],
)
def test_the_format_follows_content_then_type_then_name(
    data: bytes, media_type: str | None, name: str | None, expected: Format
) -> None:
    assert detect_format(data, media_type=media_type, name=name) is expected


@pytest.mark.parametrize(
    ("data", "name", "types", "expected"),
    [
        (b"Kuura,20.00", "a.csv", ("text/csv", "application/vnd.ms-excel", "text/plain"), Format.CSV),
        (b"Kuura\t20.00", "A.TSV", ("text/tab-separated-values", "text/plain"), Format.CSV),
        (b"<html><table><tr><td>Kuura, 20.00", "a.csv", ("text/csv", "application/vnd.ms-excel"), Format.HTML),
        (b"Kuura,20.00", "a.txt", ("text/plain", "text/csv"), Format.TEXT),
        (b"<p>Kuura", "a.html", ("text/html", "text/plain"), Format.HTML),
        (b"total: 20.00", "a.yaml", ("application/x-yaml", "text/yaml", "application/yaml"), Format.TEXT),
        (b"<total>20.00</total>", "a.xml", ("text/xml", "application/xml"), Format.TEXT),
        (b"From: Jane\nTo: John\n\nHello", "a.eml", ("message/rfc822", "text/plain"), "A mail"),
        (b'{"total": 20}', "a.json", ("application/json", "text/plain", "text/json"), "A JSON file"),
        (b'{"text": "a"}\n{"text": "b"}', "a.JSONL", ("application/x-ndjson", "application/jsonl"), "A JSON file"),
        (b"Kuura", "a.ics", ("text/calendar", "text/plain"), "A file of calendars"),
    ],
)
def test_a_file_is_the_same_by_whatever_type_it_is_sent(
    data: bytes, name: str, types: tuple[str, ...], expected: Format | str
) -> None:
    for media_type in (None, "", "application/octet-stream", *types):
        if isinstance(expected, Format):
            assert detect_format(data, media_type=media_type, name=name) is expected
        else:
            with pytest.raises(UnsupportedFormat, match=rf"{expected}.* Send its text"):
                detect_format(data, media_type=media_type, name=name)


@pytest.mark.parametrize(
    ("media_type", "expected"),
    [
        ("text/csv; header=present", Format.CSV),
        ("application/csv", Format.CSV),
        ("message/rfc822", None),
        ("application/json", None),
        ("application/x-yaml", None),
    ],
)
def test_without_a_name_the_type_decides(media_type: str, expected: Format | None) -> None:
    if expected is not None:
        assert detect_format(b"a,b", media_type=media_type) is expected
    else:
        with pytest.raises(UnsupportedFormat):
            detect_format(b"a,b", media_type=media_type)


FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("data", "media_type", "word"),
    [
        (b'{"text": "Jane Doe"}', FORM, "JSON request"),
        (b' \n{"documents": [{"text": "a"}], "labels": ["PERSON"]}', "text/plain;charset=UTF-8", "JSON request"),
        (b'{"fields": true, "text": "a"}', None, "JSON request"),
        (b'{"text": "a"}', "application/octet-stream", "JSON request"),
        (b"text=Jane+Doe&labels=PERSON", FORM, "curl -d"),
        (b"Jane Doe", FORM, "curl -d"),
        (b"text=Jane Doe\r\nAcme GmbH\r\n", "text/plain", "a form"),
        (b"labels=PERSON\r\nmin_score=\r\ntext=Jane Doe\r\n", "text/plain; charset=utf-8", "a form"),
        (b"file=invoice.pdf\r\n", "text/plain", "a form"),
        (b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n%PDF-1.7', None, "a form"),
        (b'--x\r\ncontent-disposition:form-data; name="file"\r\n\r\nJane', "application/pdf", "a form"),
    ],
)
def test_a_request_without_its_type_is_not_read_as_a_text(data: bytes, media_type: str | None, word: str) -> None:
    with pytest.raises(UnsupportedFormat, match=word):
        detect_format(data, media_type=media_type)


@pytest.mark.parametrize(
    ("data", "media_type", "name"),
    [
        (b'{"text": "Jane Doe"}', "text/plain", "notes.txt"),
        (b'{"total": 12, "texts": ["a"]}', "text/plain", None),
        (b'{"text": 5}', "text/plain", None),
        (b'{"text": "cut', "text/plain", None),
        (b"{" * 100_000, "text/plain", None),
        (b"[1]", None, None),
        (b"Jane Doe", FORM, "a.txt"),
        (b"text=Jane Doe\n", "text/plain", None),
        (b"text=Jane Doe\r\n", "text/plain", "a.ini"),
        (b"host=db\r\nuser=Jane\r\n", "text/plain", None),
        (b"Jane wrote text=1\r\n", "text/plain", None),
    ],
)
def test_other_texts_that_look_like_json_are_texts(data: bytes, media_type: str | None, name: str | None) -> None:
    assert detect_format(data, media_type=media_type, name=name) is Format.TEXT


def test_a_docx_is_known_by_its_content() -> None:
    assert detect_format(document_files.word_body(""), media_type=None, name="unnamed") is Format.DOCX


def test_a_truncated_docx_is_still_known() -> None:
    assert detect_format(document_files.word_body("")[:120], media_type=DOCX_TYPE) is Format.DOCX


@pytest.mark.parametrize("name", ["a.pdf", "a.docx"])
def test_text_declared_as_another_format_is_unreadable(name: str) -> None:
    with pytest.raises(UnreadableDocument, match=r"was sent as (PDF|DOCX), but has no"):
        detect_format(b"only text", media_type=None, name=name)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\x89PNG\r\n\x1a\n", "A PNG image"),
        (b"\xff\xd8\xff\xe0", "A JPEG image"),
        (b"II*\x00", "A TIFF image"),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 ", "A WebP image"),
        (b"BM\x36\x00\x0c\x00\x00\x00\x00\x00\x36", "A BMP image"),
        (b"BMW is a brand", None),
        (b"RIFF\x10\x00\x00\x00WAVEfmt ", None),
    ],
)
def test_pictures_are_known_by_their_first_bytes(data: bytes, what: str | None) -> None:
    assert picture_kind(data) == what
    assert (detect_format(data, media_type="image/png" if what else None) is Format.PICTURE) == bool(what)
    if what:
        with pytest.raises(UnsupportedFormat, match=f"{what} is read by recognizing its text"):
            read_document(data, limits=DocumentLimits())


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"{\\rtf1 hello}", "RTF"),
        (OLE + "WordDocument".encode("utf-16-le"), r"\.doc"),
        (OLE, "old Office"),
        (b"PK\x03\x04" + bytes(26) + b"mimetypeapplication/vnd.oasis.opendocument.text", "OpenDocument"),
        (b"PK\x03\x04" + bytes(26) + b"xl/workbook.xml", "Excel"),
        (b"PK\x03\x04" + bytes(26) + b"photo.jpg", "zip archive"),
        (b"PK\x03\x04" + bytes(26) + b"a.pdf%PDF-1.7 ...", "zip archive"),
        (b"\x00\x00\x00\x18ftypheic\x00\x00", "HEIC"),
        (MAIL, "mail or web archive"),
        (MAIL.replace(b"\n", b"\r\n"), "mail or web archive"),
        (b"Return-Path: <a@a.example>\nReceived: from b\n\tby c\nSubject: Invoice\n\nText", "mail or web archive"),
        (b"From a@a.example Mon Jun  2\n" + MAIL, "mail or web archive"),
        (b"From: <Saved by Blink>\nSubject: page\nMIME-Version: 1.0\n\n------", "mail or web archive"),
        (b"--b1\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\nTQ==", "mail or web archive"),
        (b"------=_Part_1\nContent-Type: text/plain\nContent-Transfer-Encoding: 8bit\n\nDear", "mail or web archive"),
        (b"Received: by a.example\nDKIM-Signature: v=1\nSubject: Invoice\n\nText", "mail or web archive"),
        (b"dn: uid=jane,\n dc=acme\nobjectClass: person\n", "calendars, contacts"),
        (b"BEGIN:VCALENDAR\r\nSUMMARY:Payment\r\n", "calendars, contacts"),
        (b"\xef\xbb\xbf\nbegin:vcard\nVERSION:2.1\n", "calendars, contacts"),
        ("BEGIN:VCARD\nVERSION:4.0\n".encode("utf-16"), "calendars, contacts"),
        (b"# exported\nversion: 1\n\ndn: cn=Jane Doe,dc=acme\ncn:: SmFuZQ==\n", "calendars, contacts"),
        (QUOTED, "quoted-printable"),
        (
            b'<html lang=3D"de"><p class=3D"address and a few more words so that it goes o=\nn">M=C3=BCller',
            "quoted-printable",
        ),
    ],
)
def test_other_formats_are_named_with_the_supported_ones_and_a_way(data: bytes, word: str) -> None:
    with pytest.raises(UnsupportedFormat, match=rf"{word}.*supported are PDF, DOCX, HTML.* (Save it as|Send) .*\.$"):
        detect_format(data, media_type=None, name=None)


@pytest.mark.parametrize(
    "data",
    [
        b"From: Jane Doe\nTo: ACME\nDate: 1 March\nSubject: Invoice\n\nDear all",
        b"Invoice: 5\nMessage-Id: 7\n",
        b"We quote:\n" + MAIL,
        b"BMW invoice 5",
        b"The file says\nBEGIN:VCARD\n",
        b"BEGIN:VARIOUS=1\n",
        b"dn: the word is short\n",
        b"---\ntitle: Notes\n---\nDear all",
        b"---\ntitle: Invoice\nreceived: 2025-03-01\namount: 5\n\nDear all",
        b"Sender: Jane\nReceived: 1 March\nInvoice: 5\n\nDear all",
        b"Content-Transfer-Encoding: explained\n\nIt says how",
        b"Content-Transfer-Encoding: base64\nis a field of mails",
        b"DN: a=5 cm\nPN: 16 bar\n",
        b"BEGIN:VERSE one\nTWO: lines\n",
        b"BEGIN:VCARD is a line of vCard\n",
        b"Heading of a long section, underlined as Markdown has it =20, equals signs =\n====\n",
        b"A=\nB=3D\n",
    ],
)
def test_letters_that_look_like_mails_are_text(data: bytes) -> None:
    assert detect_format(data) is Format.TEXT


@pytest.mark.parametrize(
    ("data", "media_type", "name"),
    [
        (MAIL, "text/plain", "a.txt"),
        (QUOTED, "text/plain", "a.txt"),
        (b"BEGIN:VCARD\nVERSION:3.0\n", "text/plain", "a.txt"),
        (b"Payment", "text/calendar", None),
        (b"Jane", "text/x-vcard; charset=utf-8", "jane"),
        (b"Payment", None, "a.ics"),
        (b"From: a\nTo: b\n\nHi", "application/octet-stream", "A.EML"),
    ],
)
def test_a_mail_or_calendar_sent_as_text_is_refused(data: bytes, media_type: str | None, name: str | None) -> None:
    with pytest.raises(UnsupportedFormat):
        detect_format(data, media_type=media_type, name=name)


def test_an_unknown_media_type_is_refused() -> None:
    with pytest.raises(UnsupportedFormat, match="application/json"):
        detect_format(b"{}", media_type="application/json")


def test_an_encrypted_docx_is_unreadable() -> None:
    with pytest.raises(UnreadableDocument, match="password"):
        detect_format(OLE + "EncryptedPackage".encode("utf-16-le"), media_type=DOCX_TYPE)


@pytest.mark.timeout(10)
def test_a_thousand_comments_are_sniffed_at_once() -> None:
    assert detect_format(b"<!---->" * 580 + b"x") is Format.TEXT
