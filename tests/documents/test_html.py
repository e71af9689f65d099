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
        ("<p>A <input value='x y'> b", "A x y b"),
        ("<input type=checkbox checked>yes<input type=radio>no<input type=hidden value=no>", "☒ yes ☐ no"),
        ("Name:<input type=text value='Jane'><input type=password value=no><input>", "Name: Jane"),
        ("Currency: <select><option>USD<option selected>CHF</select> Total", "Currency: CHF Total"),
        ("In<select><option>EUR</option><option>CHF</option></select>paid", "In EUR paid"),
        ("<select multiple><option selected>a<option>b<option selected>c</select>", "a, c"),
        ("Note:<textarea>to pay</textarea>now", "Note: to pay now"),
        ("DE89&#8203;3704 maria.&shy;kestler&#x2060;@a.example&#xfeff;", "DE893704 maria.kestler@a.example"),
    ],
)
def test_markup_becomes_the_lines_that_a_browser_shows(html: str, expected: str) -> None:
    assert text_of(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<div style="display:flex"><span>Date</span><span>12 May</span></div>', "Date\t12 May"),
        ('<p style="DISPLAY: grid"><b>Net</b> <b>5</b></p><p>a</p>', "Net\t5\na"),
        ("<style>.row{display:flex}</style><p class='x row'>a<i>b</i>c</p>", "a\tb\tc"),
        ("<style>#r{display:inline-flex}</style>t<p id=r><b>a</b><b>b</b></p>", "t\na\tb"),
        ('<div style="display:flex"><div>a</div><div>b</div></div>', "a\nb"),
        ('<b style="display:inline-block">a</b><b style="display:inline-block">b</b>c', "a b c"),
        ("<style>b{display:table-cell}</style><b>Total</b><b>5</b>", "Total\t5"),
        ('Total<b style="float: right">5 €</b>', "Total 5 €"),
        ("<button>Pay</button><button>Cancel</button>", "Pay Cancel"),
        ('<span style="display:block">a</span><span style="display:block">b</span>', "a\nb"),
        ('<b style="display:inline">a</b><b>b</b><span>c</span>', "abc"),
    ],
)
def test_boxes_side_by_side_are_separated(html: str, expected: str) -> None:
    assert text_of(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("€ 25<sup>90</sup>", "€ 25.90"),
        ("<b>25</b><sup><small>90</small></sup> EUR", "25.90 EUR"),
        ("$12<span style='vertical-align:super'>95</span> each", "$12.95 each"),
        ("25<sup>90</sup>&nbsp;&euro; net<sup>a</sup>", "25.90 € neta"),
        ("<td>1,250.00<sup>1</sup><td>b", "1,250.00 1\nb"),
        ("12<sup>1)</sup> of", "12 1) of"),
        ("1<sup>er</sup> mai, 20 m<sup>2</sup>, ACME<sup>®</sup>", "1er mai, 20 m2, ACME®"),
    ],
)
def test_raised_cents_and_notes_stay_apart_from_their_number(html: str, expected: str) -> None:
    assert text_of(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        "<style>.a{display:none}</style><p class='b a'>no</p>yes",
        "<style>p.a, .b { color:red; visibility : hidden }</style><p class=a>no</p><i class=b>no</i>yes",
        "<style>#a{display:none!important}</style><p id=a>no</p>yes",
        "<style><!-- .a{display:block} .a{display:none} --></style><p class=a>no</p>yes",
        "<head><style>/* { */ .a{display:none}</style></head><p class=a>no</p>yes",
        '<div style="visibility:hidden">no<b>no</b><p>no</div>yes',
        '<div style="visibility:hidden">no<b style="visibility:visible">yes</b></div>',
        '<div style="font-size:0px">no<b>no</b></div>yes',
        '<table><tr><td style="font-size:0">no<div style="font-size:13px">yes</div></table>',
        '<div style="max-height:0;overflow:hidden;opacity:1">no</div>yes',
        '<div style="opacity:0.0">no</div>yes',
        "<dialog>no</dialog><datalist><option>no</datalist>yes",
        "<input type=checkbox hidden>yes",
        "<style>.x .a{display:none}</style><div class=x><p><i class=a>no</i>yes</p></div>",
        "<style>#x > p, ul>li{display:none}</style><div id=x><p>no</p><div><p>yes</p></div></div><ul><li>no</ul>",
        "<style>div.x.y > * .a{visibility:hidden}</style><div class='y x'><p><i class=a>no</i></p>yes</div>",
        "<style>.x > .y .a{opacity:0}</style><b class=x><b class=y><b class=y><i class=a>no</i></b></b></b>yes",
        "<style>table.m td{display:none}</style><table class=m><tr><td>no</table><table><tr><td>yes</table>",
        "<style>@media screen{@supports (top:0){.a{display:none}}}</style><p class=a>no</p>yes",
        "<style>.a{display:none!important} #b{display:block}</style><p class=a id=b style='display:block'>no</p>yes",
        "<style>.sr{position:absolute;width:1px;height:1px;overflow:hidden}</style><b class=sr>no</b>yes",
        '<b style="position:absolute; clip:rect(0 0 0 0)">no</b><b style="position:fixed;left:-9999px">no</b>yes',
        '<a style="text-indent:-9999px">no</a>yes',
        "<style>.a{display:none} .b{left:0} .c{display:block} .a{display:none}</style><p class='a c'>no</p>yes",
        "<style>.a{display:none} .c{display:block} .c{display:none}</style><p class='c a'>no</p>yes",
        "<style>p:not(.b,.c),.a,(.d{display:none}</style><p class=a>no</p>yes",
        "<b style='opacity:0.00'>no</b><b style='opacity:.0'>no</b><b style='opacity:00'>no</b>yes",
        # controls: these show
        "<style>.a{display:none;opacity:1} .b{display:block} .a{opacity:1;left:0}</style><p class='b a'>yes</p>",
        "<style>.x > .a, #x .a, .a .a, p.a.b{display:none}</style><b class=x><i id=y><u class=a>yes</u></i></b>",
        "<style media=print>.a{display:none}</style><style media='(width<9px)'>p{opacity:0}</style><p class=a>yes</p>",
        "<style>p:not(.b, .a, .c){display:none}</style><p class=a>yes</p>",
        "<style>.x .a{display:block} .a{display:none}</style><div class=x><p class=a>yes</p></div>",
        "<style>@keyframes k{from{opacity:0}} @supports not (top:0){p{opacity:0}}</style><p>yes</p>",
        '<p style="position:relative;left:-1000px;text-indent:-12px">yes</p>',
        '<p aria-hidden="true">yes</p>',
        "<style>@media print{.a{display:none}} @media (max-width:9px){p{opacity:0}}</style><p class=a>yes</p>",
        "<style>.x .a{display:none} .a:hover{display:none} .a+.a{opacity:0}</style><p class=a>yes</p>",
        "<style>.a{display:none} .a{display:block}</style><p class=a>yes</p>",
        "<style>p{display:none} .a{display:block}</style><p class=a>yes</p>",
        '<style>.a{display:none}</style><p class=a style="display:block">yes</p>',
        '<p style="opacity:0.5; font-size:0.9em; max-height:0">yes</p>',
        "<style>.a{display:none</style><p class=b>yes</p>",
        "<dialog open>yes</dialog>",
    ],
)
def test_one_rule_says_what_styles_hide(html: str) -> None:
    assert text_of(html) == "yes"


@pytest.mark.timeout(20)
def test_many_rules_and_styles_cost_linear_time() -> None:
    rules = "".join(f".a{number}{{display:none}}" for number in range(50_000))
    elements = "".join(f"<p class='b{number} a'>" for number in range(50_000))
    assert text_of(f"<style>{rules}</style>{elements}yes") == "yes"
    rules = "".join(f".x .a.c{number} , p > .a{{opacity:{number}}}" for number in range(20_000))
    classes = " ".join(f"c{number}" for number in range(50))
    assert text_of(f"<style>{rules}</style>" + f"<p class='a {classes}'>" * 20_000 + "yes") == "yes"
    assert text_of("<style>" + "/*" * 500_000 + "</style>yes") == "yes"
    assert text_of("<style>" + "{" * 500_000 + "</style>yes") == "yes"
    assert text_of("<style>" + "a," * 500_000 + "b{opacity:0}</style>yes") == "yes"
    assert text_of(f"<style media='{' ' * 500_000}x'>p{{opacity:0}}</style><p>yes") == "yes"
    assert text_of(f"<p style='opacity:{'0' * 500_000}!'>yes") == "yes"


@pytest.mark.parametrize(
    "html",
    [
        "<html><head><title>no</title></head><body>yes</body></html>",
        "<script>no</script>yes<style>no</style>",
        "<template><p>no</p></template>yes",
        "<noscript>no</noscript>yes",
        "yes<div hidden>no<div>no</div><br>no<img>no</div>",
        '<p style="color:red; DISPLAY : none">no</p>yes',
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
        (b'<?xml version="1.0" encoding="cp1250"?>' + "é".encode("cp1250"), None),
        ("<meta charset=iso-8859-1>é".encode(), None),
        ("<meta charset=utf-16>é".encode(), "windows-1252"),
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
