"""PDFs written operator by operator, for what reportlab does not write."""

from __future__ import annotations

import io
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name, String

PAGE = [0, 0, 600, 800]


def helvetica(**more: Any) -> Dictionary:
    """The standard font, without widths."""
    return Dictionary(
        Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica, Encoding=Name.WinAnsiEncoding, **more
    )


def new_pdf(*contents: bytes, font: Any = None, resources: dict[str, Any] | None = None) -> pikepdf.Pdf:
    """A PDF of pages with these contents; the font is `/F1`."""
    pdf = pikepdf.new()
    for content in contents:
        own = Dictionary(Font=Dictionary(F1=pdf.make_indirect(font or helvetica())), **(resources or {}))
        page = Dictionary(Type=Name.Page, MediaBox=Array(PAGE), Resources=own, Contents=pikepdf.Stream(pdf, content))
        pdf.pages.append(pikepdf.Page(page))
    return pdf


def saved(pdf: pikepdf.Pdf, **options: Any) -> bytes:
    """The bytes of a PDF."""
    file = io.BytesIO()
    pdf.save(file, **options)
    return file.getvalue()


def odd_pdf(content: bytes, **more: Any) -> bytes:
    """A PDF of one page with this content."""
    return saved(new_pdf(content, **more))


def form_xobject(pdf: pikepdf.Pdf, content: bytes, **more: Any) -> Any:
    """A form of the page's size, with the font `/F1`."""
    stream = pikepdf.Stream(pdf, content)
    stream.update(Dictionary(Type=Name.XObject, Subtype=Name.Form, BBox=Array(PAGE), **more))
    stream["/Resources"] = Dictionary(Font=Dictionary(F1=helvetica()))
    return pdf.make_indirect(stream)


def ligature_font(pdf: pikepdf.Pdf) -> Dictionary:
    """A font whose code 1 is the ligature of f and i, drawn by a Type 3 glyph; all others are squares too."""
    square = pikepdf.Stream(pdf, b"600 0 0 0 500 700 d1 0 0 500 700 re f")
    names = {1: "/f_i", **{code: f"/c{code}" for code in range(32, 127)}}
    differences = [each for code, name in names.items() for each in (code, Name(name))]
    codes = [(1, "00660069"), *((code, f"{code:04X}") for code in range(32, 127))]
    lines = "\n".join(f"<{code:02X}> <{text}>" for code, text in codes)
    to_unicode = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /x def /CMapType 2 def\n"
        f"1 begincodespacerange <00> <FF> endcodespacerange\n{len(codes)} beginbfchar\n{lines}\nendbfchar\n"
        "endcmap CMapName currentdict /CMap defineresource pop end end"
    )
    return Dictionary(
        Type=Name.Font,
        Subtype=Name.Type3,
        FontBBox=Array([0, 0, 600, 700]),
        FontMatrix=Array([0.001, 0, 0, 0.001, 0, 0]),
        CharProcs=Dictionary({name: pdf.make_indirect(square) for name in names.values()}),
        Encoding=Dictionary(Type=Name.Encoding, Differences=Array(differences)),
        FirstChar=1,
        LastChar=126,
        Widths=Array([600] * 126),
        ToUnicode=pikepdf.Stream(pdf, to_unicode.encode()),
    )


def text_annotation(pdf: pikepdf.Pdf, text: str) -> Any:
    """A free-text annotation that shows a text and holds it in three more places."""
    shown = form_xobject(pdf, b"BT /F1 10 Tf 2 5 Td (%s) Tj ET" % text.encode())
    shown["/BBox"] = Array([0, 0, 200, 20])
    return pdf.make_indirect(
        Dictionary(
            Type=Name.Annot,
            Subtype=Name.FreeText,
            Rect=Array([50, 400, 250, 420]),
            Contents=String(text),
            T=String(text),
            RC=String(f"<body>{text}</body>"),
            F=4,
            AP=Dictionary(N=shown),
        )
    )
