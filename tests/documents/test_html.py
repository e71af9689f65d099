from __future__ import annotations

import pytest

from service.core.errors import DocumentTooLarge
from service.documents.html import read_html
from service.documents.limits import DocumentLimits


def text_of(html: str | bytes, charset: str | None = None) -> str:
    data = html.encode() if isinstance(html, str) else html
    return read_html(data, charset=charset, limits=DocumentLimits()).text


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a<p>b", "a\nb"),
        ("<div>a<div>b</div>c</div>", "a\nb\nc"),
        ("a <b>bold</b>\n  word", "a bold word"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("<ul><li>a</li>\n<li>b</li></ul>", "a\nb"),
        ("<pre>a  b\n c</pre>d", "a  b\n c\nd"),
        ("caf&eacute; &amp; &#8364;&#x20;5 &lt;", "café & € 5 <"),
        ("<table><tr><td>a</td><td><p>b</p></td></tr>\n<tr><th>c<th>d</table>e", "a\tb\nc\td\ne"),
        ("<table><tr><td>a<table><tr><td>b<td>c</table><td>d</table>", "a\nb\tc\td"),
        ("a<!-- not -->b", "ab"),
    ],
)
def test_markup_becomes_the_lines_that_a_browser_shows(html: str, expected: str) -> None:
    assert text_of(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        "<html><head><title>no</title></head><body>yes</body></html>",
        "<script>no</script>yes<style>no</style>",
        "<template><p>no</p></template>yes",
        "<noscript>no</noscript>yes",
        "yes<div hidden>no<div>no</div><br>no<img>no</div>",
        '<p style="color:red; DISPLAY : none">no</p>yes',
        "<textarea>no</textarea>yes",
    ],
)
def test_what_a_browser_hides_is_left_out(html: str) -> None:
    assert text_of(html) == "yes"


@pytest.mark.parametrize(
    ("html", "charset"),
    [
        ("é".encode("utf-16"), None),
        (b'<meta charset="cp1250">' + "é".encode("cp1250"), None),
        (b'<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">\xe9', None),
        (b"\xe9", "latin-1"),
        (b"<meta charset=utf-8>\xe9", "latin-1"),
        ('<?xml version="1.0" encoding="koi8-r"?><html><body>é</body></html>'.encode(), None),
    ],
)
def test_the_encoding_is_found(html: bytes, charset: str | None) -> None:
    assert text_of(html, charset) == "é"


def test_deep_nesting_costs_no_stack_and_loses_nothing() -> None:
    depth = 50_000
    assert text_of("<div>" * depth + "deep" + "</div>" * depth + "after") == "deep\nafter"


def test_too_many_characters_are_refused() -> None:
    with pytest.raises(DocumentTooLarge, match="characters"):
        read_html(b"<p>" + b"word " * 100, limits=DocumentLimits(max_characters=99))


def test_no_zeros_or_lone_surrogates_come_through() -> None:
    assert text_of("a&#0;&#xD800;b").replace("\ufffd", "") == "ab"
