from __future__ import annotations

import pytest

from service.core.errors import DocumentTooLarge
from service.documents import html_style
from service.documents.document import PartlyRead, UnreadReason
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
        ("GBP 3&#822;0\u03360&#x336; 240, e\u0301\u0336a x", "GBP  240, a x"),
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
        r"<style>.md\:a, .\32 b, .w-1\/2{display:none}</style><p class=md:a>no<p class=2b>no<p class='w-1/2'>no</p>yes",
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


WITHOUT_INK = [
    '<p style="color:#fff">no</p>',
    '<p style="COLOR: White">no</p>',
    '<p style="color:rgb(255 255 255)">no</p>',
    '<p style="color:hsl(0,0%,99%)">no</p>',
    '<p style="color:#fffffe">no</p>',
    '<p style="color:rgba(0,0,0,0.02)">no</p>',
    '<p style="color:#00000005">no</p>',
    '<p style="color:transparent">no</p>',
    '<p style="-webkit-text-fill-color:transparent">no</p>',
    '<p style="opacity:.01">no</p>',
    '<p style="opacity:1%">no</p>',
    '<div style="opacity:.2"><div style="opacity:.2">no</div></div>',
    '<p style="font-size:1px">no</p>',
    '<p style="font-size:1pt">no</p>',
    '<p style="font-size:calc(1px)">no</p>',
    '<p style="font-size:clamp(1px,1vw,2px)">no</p>',
    '<p style="font:1px/1 Arial">no</p>',
    '<p style="font:bold .1em Arial">no</p>',
    '<p style="font-size:0.1rem">no</p>',
    '<p style="font-size:10%">no</p>',
    '<div style="font-size:.3em"><b style="font-size:.3em">no</b></div>',
    "<font color=white>no</font>",
    '<font color="ffffff">no</font>',
    "<body bgcolor=navy text=#000080>no</body>",
    "<table bgcolor=red><tr><td><font color=#ff0000>no</font></table>",
    '<table><td style="background:#036;color:#003366">no</table>',
    '<div style="background:linear-gradient(red,blue);background:#fff;color:white">no</div>',
    "<style>.x{color:#fff}</style><p class=x>no</p>",
    "<style>body{background-color:black;color:black}</style><body>no",
    "<style>.a{background:#eee}.a td{color:#efefef}</style><table class=a><tr><td>no</table>",
    '<p style="background:currentcolor">no</p>',
    '<img src=x><div style="position:relative;color:#fff">no</div>',
    '<b style="position:absolute"></b><p style="position:relative;color:#fff">no</p>',
    "<style>@import url(//fonts.googleapis.com/css?x);</style><p class=a style='color:#fff'>no</p>",
    '<link rel=stylesheet href=a.css><p style="color:#fff">no</p>',
    "<style>.h::before{content:'';color:#123}.h{color:#fff}</style><p class=h>no</p>",
    "<style media=print>p{background:#123}</style><p style='color:#fff'>no</p>",
    "<style>p{color:#fff ! important}</style><p style='color:#000'>no</p>",
    '<p style="color-scheme:light dark;color:#fff">no</p>',
    '<p style="background:#fff;background-clip:text;color:transparent">no</p>',
    '<p style="color:/*x*/white">no</p>',
    '<p style="color:w\\68ite">no</p>',
    '<p style="color:#fff;color:nonsense">no</p>',
    '<p style="filter:opacity(0)">no</p>',
    '<input value=no style="color:white">',
    '<p style="color:#fff;text-shadow:none">no</p>',
    '<p style="color:#fff;-webkit-text-stroke:0px black">no</p>',
    '<p style="color:#fff;text-shadow:0 0 1px #fff">no</p>',
    '<p style="color:white;position:absolute">no</p>',
    '<div style="color:#fff"><p>no<span> no</span></p></div>',
    '<link rel=stylesheet href="https://fonts.googleapis.com/css?x"><p class=a style="color:#fff">no</p>',
    '<html style="font-size:62.5%"><p style="font-size:.2rem">no</p>',
    '<!doctype html><div style="color:#fff"><table><tr><td>no</table></div>',
    '<body style="background:#fff url()"><div style="background:white"><p style="color:white">no</div>',
    '<p style="font-size:2px">no</p><svg><text>no</text></svg>',
    '<div style="mix-blend-mode:normal;background:#abcdef"><span style="color:#abcdef">no</span></div>',
]
STRUCK = [
    "<del>no</del>",
    "<s>no</s>",
    "<strike>no</strike>",
    '<p style="text-decoration:line-through">no</p>',
    '<p style="text-decoration:red wavy line-through">no</p>',
    '<p style="text-decoration-line:underline line-through">no</p>',
    '<style>.o{text-decoration:line-through}</style><i class=o>no<b style="text-decoration:none">no</b></i>',
]
NOT_LAID_OUT = [
    '<p style="margin-left:-9999px">no</p>',
    '<p style="position:absolute;right:-9999px">no</p>',
    '<p style="position:absolute;left:-100vw">no</p>',
    '<p style="transform:translateX(-9999px)">no</p>',
    '<p style="clip-path:circle(0)">no</p>',
    '<p style="clip-path:polygon(0 0, 0px 0px, 0% 0)">no</p>',
    '<p style="position:relative;left:-9999px">no</p>',
    '<p style="top:-9999px;position:relative">no</p>',
    '<p style="scale:0">no</p>',
    '<p style="scale:.01">no</p>',
    '<p style="zoom:.01">no</p>',
    '<p style="zoom:1%">no</p>',
    '<p style="transform:scale(0)">no</p>',
    '<p style="width:0;overflow:hidden">no</p>',
    '<p style="display:none;color:#fff">no</p>',
    '<div style="font-size:1px;color:#fff;max-height:0;overflow:hidden">no</div>',
    '<p style="visibility:hidden;color:#fff">no</p>',
]
SHOWN = [
    '<p style="margin-left:-9999px;padding-left:9999px">yes</p>',
    '<p style="opacity:0;animation:appear 1s forwards">yes</p>',
    '<table bgcolor="#22222"><tr><td style="color:white">yes</table>',
    '<link rel="stylesheet" href="dark.css"><body style="color:#fff">yes</body>',
    '<td style="background:#036;color:#fff">yes</td>',
    "<style>th{background:var(--x);color:white}</style><table><th>yes</table>",
    '<div style="background:url(x.png);color:#fff">yes</div>',
    '<div style="background-image:linear-gradient(#000,#333);color:#fff"><p>yes</p></div>',
    '<div style="background:linear-gradient(90deg,red,blue);-webkit-background-clip:text;color:transparent">yes</div>',
    '<h1 style="background:url(a.png);background-clip:text;-webkit-text-fill-color:transparent">yes</h1>',
    '<p style="color:#ccc">yes</p>',
    '<p style="color:#999;font-size:8px">yes</p>',
    '<p style="font-size:6pt">yes</p>',
    '<td style="font-size:0"><span style="font-size:12px">yes</span></td>',
    "<body bgcolor=black text=white>yes</body>",
    "<body background=x.jpg text=white>yes</body>",
    "<table bgcolor=#003366><tr><td><font color=white>yes</font></table>",
    "<style>tr:first-child{background:#036}th{color:#fff}</style><table><tr><th>yes</th></table>",
    "<style>tr + tr{background:#036}.w{color:#fff}</style><table><tr><tr><td class=w>yes</table>",
    "<style>:root{--a:#000}body{background:#111;color:#eee}</style><body>yes",
    "<style>:root{background:#111;color:#fff}</style><body>yes",
    '<div style="color:#fff"><a href=x>yes</a></div>',
    '<div style="color:#fff"><mark>yes</mark></div>',
    '<img src=x><div style="position:absolute;color:#fff">yes</div>',
    '<link rel=stylesheet href=a.css><div class=hero style="color:#fff">yes</div>',
    '<p style="color:white;text-shadow:1px 1px 2px #000">yes</p>',
    '<p style="color:white;text-shadow:0 0 2px #000">yes</p>',
    '<p style="color:white;-webkit-text-stroke:1px #333">yes</p>',
    '<p style="-webkit-text-fill-color:transparent;-webkit-text-stroke:1px">yes</p>',
    '<p style="color:rgba(0,0,0,.4)">yes</p>',
    '<p style="opacity:.5">yes</p>',
    '<p style="color:var(--ink)">yes</p>',
    '<p style="color:oklch(20% .1 20)">yes</p>',
    '<p style="color:red;background:green">yes</p>',
    '<p style="color:yellow">yes</p>',
    '<del style="text-decoration:none">yes</del>',
    '<s><span style="display:inline-block">yes</span></s>',
    '<p style="text-decoration:underline">yes</p>',
    '<p style="text-decoration:line-through transparent">yes</p>',
    '<p style="height:0;padding-bottom:56%;overflow:hidden">yes</p>',
    '<p style="width:0;flex:1;overflow:hidden">yes</p>',
    '<p style="width:100%;overflow:hidden">yes</p>',
    '<p style="clip-path:polygon(0 0, 100% 0, 100% 100%)">yes</p>',
    '<p style="scale:0.9;zoom:50%;position:relative;left:-12px">yes</p>',
    '<p style="scale:1.05;zoom:0">yes</p>',
    '<p style="left:-9999px">yes</p>',
    '<button style="color:white">yes</button>',
    '<div style="color:#fff"><input value=yes></div>',
    '<div style="color:#fff"><table><tr><td>yes</table></div>',
    '<html style="font-size:62.5%"><p style="font-size:1.2rem">yes</p>',
    '<p style="font-size:clamp(1px,2vw,3rem)">yes</p>',
    '<p style="font-size:calc(1px + 1vw)">yes</p>',
    '<p style="font-size:x-small">yes</p>',
    "<style>@media (min-width:600px){.h{background:#036}}.h{color:#fff}</style><p class=h>yes",
    "<style>@media print{.h{background:#fff}}.h{color:#fff;background:#036}</style><p class=h>yes",
    '<div style="background:rgba(0,0,0,.6);color:#fff">yes</div>',
    "<style>a:hover{color:#fff}</style><a href=x>yes</a>",
    *[
        f"<style>{selector}{{background-color:#111}} .w{{color:#fff}}</style><body><main><p class='{name} w'>yes"
        for selector, name in (
            (r".bg-\[\#0f172a\]", "bg-[#0f172a]"),
            (r".bg-black\/80", "bg-black/80"),
            (r".\32xl\:dark", "2xl:dark"),
            (r".bg-\[rgb\(1\,2\,3\)\]", "bg-[rgb(1,2,3)]"),
            (r"main>.md\:dark:first-child", "md:dark"),
            ("p:nth-child(2n+1)", ""),
            ('p[class~="a"]', "a"),
            ("[class]", ""),
            ("main:has(> .b + p) ~ p", ""),
            ("p:not(:nth-child(9)):not(:is(.b, .c), .d)", ""),
            ("p:is(h1, p:not(.b, :is(.c)), h2)", ""),
            ("*:lang(en)", ""),
            ("nav + main p", ""),
            (":is(.prose h1, " + "x" * 600 + ") p", ""),
        )
    ],
    '<img style="position:absolute"><div style="position:relative;z-index:1;color:#fff">yes</div>',
    '<video style="position:fixed"></video><h1 style="position:relative;color:#fff">yes</h1>',
    '<p style="position:absolute;background:#111"></p><h1 style="position:sticky;color:#fff"><b>yes</b></h1>',
    "<style>@import url(theme.css);</style><p class=a style='color:#fff'>yes</p>",
    '<link rel="StyleSheet" href=a.css><div id=hero style="color:#fff">yes</div>',
    '<link rel=stylesheet href=a.css><body><header style="color:#fff"><p>yes</p></header>',
    '<link rel=stylesheet href=a.css><table><tr><th style="color:#fff">yes</table>',
    "<style>.h::before{position:absolute;background:#123;z-index:-1}.h{color:#fff}</style><p class=h><b>yes</b></p>",
    "<style>p:after{background-color:#123}.h{color:#fff}</style><p class=h>yes</p>",
    "<style media='screen and (min-width:1px)'>p{background:#123}</style><p style='color:#fff'>yes</p>",
    "<style>p{background:#000 ! important;color:#fff !\nimportant}</style><p style='background:#fff'>yes</p>",
    '<p style="background:highlight;color:#fff">yes</p>',
    '<p style="color:WindowText">yes</p>',
    '<html style="color-scheme:dark"><p style="color:#fff">yes</p>',
    '<p style="background:#fff;background-clip:text;color:#000">yes</p>',
    "<style>.c{background:#111; .t{top:0} & .u{top:0}} .w{color:#fff}</style><p class=c><b class=w>yes</b></p>",
    "<style>.c{& .u{background:#111}} .w{color:#fff}</style><p class=c><b class=u><i class=w>yes</i></b></p>",
    "<style>a:link{background:#111;color:#fff}</style><a href=x>yes</a>",
]


@pytest.mark.parametrize("html", WITHOUT_INK)
def test_text_that_nobody_sees_is_left_out_and_counted(html: str) -> None:
    document = read_html(f"{html}&nbsp;".encode(), limits=DocumentLimits())
    assert document.text == ""
    assert document.partly_read[0].reason is UnreadReason.HIDDEN
    assert document.partly_read[0].characters in (2, 4)


def test_characters_with_a_long_stroke_are_counted_as_struck() -> None:
    document = read_html("<p>5\u03360\u0336 <s>40</s> 30</p>".encode(), limits=DocumentLimits())
    assert document.text.strip() == "30"
    assert document.partly_read == (PartlyRead(None, UnreadReason.STRUCK, (), 4),)


def test_a_long_colour_is_read_and_not_kept() -> None:
    blanks, letters = " " * 300, "a" * 300
    assert text_of(f"<font color='white{blanks}'>no</font><font color={letters}>yes</font>") == "yes"
    assert text_of(f"<p style='color:#fff;color:{letters}'>no</p><p style='font-size:1{letters}'>yes</p>") == "yes"


@pytest.mark.parametrize("html", STRUCK)
def test_struck_text_is_left_out_and_counted_apart(html: str) -> None:
    document = read_html(html.encode(), limits=DocumentLimits())
    assert document.text == ""
    assert document.partly_read == (PartlyRead(None, UnreadReason.STRUCK, (), 2 * html.count("no<")),)


@pytest.mark.parametrize("html", NOT_LAID_OUT)
def test_what_is_not_laid_out_is_left_out_and_not_counted(html: str) -> None:
    document = read_html(html.encode(), limits=DocumentLimits())
    assert (document.text, document.partly_read) == ("", ())


@pytest.mark.parametrize("html", SHOWN)
def test_text_that_a_person_can_see_stays(html: str) -> None:
    document = read_html(html.encode(), limits=DocumentLimits())
    assert (document.text, document.partly_read) == ("yes", ())


def test_where_too_many_rules_would_be_compared_text_in_any_colour_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_style, "_MOST_COMPARED", 100)
    styles = "<style>.inv td.h{background:#222} .inv td.n{display:none} .w{color:#fff}</style>"
    table = "<tr><td>1<td class='h w'>2" * 200
    assert text_of(f"{styles}<table class=inv>{table}</table>").split() == ["1", "2"] * 200


@pytest.mark.timeout(240)
def test_many_rules_and_styles_cost_linear_time() -> None:
    rules = "".join(f".a{number}{{display:none}}" for number in range(50_000))
    elements = "".join(f"<p class='b{number} a'>" for number in range(50_000))
    assert text_of(f"<style>{rules}</style>{elements}yes") == "yes"
    rules = "".join(f".x .a.c{number} , p > .a{{opacity:{number}}}" for number in range(20_000))
    classes = " ".join(f"c{number}" for number in range(50))
    assert text_of(f"<style>{rules}</style>" + f"<p class='a {classes}'>" * 20_000 + "yes") == "yes"
    for selector in ("a ", "(", ":is(", "[", "(a", "\\", "a+", ":is((a)", "[a]"):
        for end in ("{color:red}", " ,b{color:red}", "):hover{color:red}"):
            assert text_of(f"<style>{selector * 50_000}{end}</style>yes") == "yes"
    assert text_of("<style>" + "/*" * 500_000 + "</style>yes") == "yes"
    assert text_of("<style>" + "{" * 500_000 + "</style>yes") == "yes"
    assert text_of("<style>" + "a{b;" * 200_000 + "top:0}" * 200_000 + "</style>yes") == "yes"
    assert text_of("<style>" + "a," * 500_000 + "b{opacity:0}</style>yes") == "yes"
    assert text_of(f"<style media='{' ' * 500_000}x'>p{{opacity:0}}</style><p>yes") == "yes"
    assert text_of(f"<p style='opacity:{'0' * 500_000}!'>yes") == "yes"
    for value in ("color:rgb(" + "1," * 500_000, "background:" + "a(" * 500_000, "font:" + " 1" * 500_000):
        assert text_of(f"<p style='{value}'>yes") == "yes"
    assert text_of("<div style='color:#fff'>" * 50_000 + "no") == ""


@pytest.mark.parametrize(
    "html",
    [
        "<html><head><title>no</title></head><body>yes</body></html>",
        "<meta charset=utf-8><title>no</title><main>yes</main>",
        "<title>no</title><style>body{background:#111}</style><header style='color:#fff'>yes</header><p hidden>no",
        "<style>body{visibility:hidden}</style><nav>no</nav><figure style='visibility:visible'>yes</figure>",
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
