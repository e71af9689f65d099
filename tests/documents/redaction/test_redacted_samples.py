"""Forty PDFs made of the two samples in the ways of different producers: no reader finds what was redacted."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import pikepdf
import pypdfium2
import pytest
from pikepdf import Array, Dictionary, Name, Operator, String
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

from service.documents.docx import read_docx
from service.documents.redaction.shown_text import read_page_text
from tests.support.document_files import column, drawn, pdf
from tests.support.odd_pdfs import form_xobject, helvetica, saved
from tests.support.redacted_pdfs import LIMITS, left_of, readings, redacted
from tests.support.source_tree import ROOT

SAMPLES = ROOT / "loadtest" / "samples"
BASES: dict[str, tuple[str, ...]] = {
    "invoice": ("Katrin Vogel", "DE89 3704 0044 0532 0130 00", "billing@northwind-optics.example", "NO-2026-00417"),
    "resume": ("Maria Delgado", "maria.delgado@mail.example", "+34 612 345 678", "Castell Software"),
}
KEPT = {"invoice": "Telescope", "resume": "streaming"}
Change = Callable[[pikepdf.Pdf, tuple[str, ...]], None]
CHANGES: dict[str, Change] = {}


def change(function: Change) -> Change:
    CHANGES[function.__name__] = function
    return function


def base(name: str) -> pikepdf.Pdf:
    """A sample as a PDF of one page."""
    if name == "invoice":
        return pikepdf.open(SAMPLES / "invoice.pdf")
    text = read_docx((SAMPLES / "resume.docx").read_bytes(), limits=LIMITS).text
    return pikepdf.open(io.BytesIO(pdf(column(50, 50, text.splitlines()))))


def content(file: pikepdf.Pdf) -> bytes:
    page = file.pages[0]
    page.contents_coalesce()
    return bytes(page.obj["/Contents"].read_bytes())


def put(file: pikepdf.Pdf, data: bytes) -> None:
    file.pages[0].obj["/Contents"] = pikepdf.Stream(file, data)


def add(file: pikepdf.Pdf, data: bytes) -> None:
    """More content, in Helvetica as `/FH`."""
    file.pages[0].obj["/Resources"]["/Font"]["/FH"] = file.make_indirect(helvetica())
    put(file, b"q\n" + content(file) + b"\nQ\n" + data)


def line(text: str, x: float, y: float, before: bytes = b"") -> bytes:
    return b"BT %s /FH 10 Tf %.2f %.2f Td <%s> Tj ET\n" % (before, x, y, text.encode("cp1252").hex().encode())


def as_form(file: pikepdf.Pdf, data: bytes) -> Any:
    form = form_xobject(file, data)
    form["/Resources"] = file.pages[0].obj["/Resources"]
    return form


def paint(file: pikepdf.Pdf, form: Any, data: bytes) -> None:
    file.pages[0].obj["/Resources"] = Dictionary(XObject=Dictionary(Whole=form))
    put(file, data)


def widget(file: pikepdf.Pdf, value: str, y: float, **more: Any) -> Any:
    return file.make_indirect(
        Dictionary(Type=Name.Annot, Subtype=Name.Widget, FT=Name.Tx, T=String(f"f{y}"), V=String(value), F=4,
                   TU=String(value), Rect=Array([60, y, 400, y + 18]), DA=String("/FH 10 Tf 0 g"), **more)
    )  # fmt: skip


def with_fields(file: pikepdf.Pdf, fields: list[Any], **more: Any) -> None:
    file.pages[0].obj["/Annots"] = Array(fields)
    file.Root["/AcroForm"] = Dictionary(
        Fields=Array(fields), DR=Dictionary(Font=Dictionary(FH=file.make_indirect(helvetica()))), **more
    )


@change
def as_it_is(file: pikepdf.Pdf, secrets: tuple[str, ...]) -> None:
    """Nothing is changed."""


@change
def invisible_layer(file: pikepdf.Pdf, secrets: tuple[str, ...]) -> None:
    put(file, b"q %s Q q 3 Tr 1 0 0 1 0.4 0.3 cm %s Q" % (content(file), content(file)))


@change
def overprint(file: pikepdf.Pdf, secrets: tuple[str, ...]) -> None:
    put(file, b"q %s Q q 1 0 0 1 0.3 0 cm %s Q" % (content(file), content(file)))


@change
def turned_right(file: pikepdf.Pdf, secrets: tuple[str, ...]) -> None:
    file.pages[0].obj["/Rotate"] = 90


@change
def upside_down(file: pikepdf.Pdf, secrets: tuple[str, ...]) -> None:
    file.pages[0].obj["/Rotate"] = 180


@change
def turned_content(file: pikepdf.Pdf, secrets: tuple[str, ...]) -> None:
    put(file, b"q 0 1 -1 0 850 0 cm %s Q" % content(file))
    file.pages[0].obj["/MediaBox"] = Array([0, 0, 850, 850])


@change
def small(file: pikepdf.Pdf, secrets: tuple[str, ...]) -> None:
    put(file, b"q 0.5 0 0 0.6 20 30 cm %s Q" % content(file))


@change
def one_form(file: pikepdf.Pdf, secrets: tuple[str, ...]) -> None:
    paint(file, as_form(file, content(file)), b"/Whole Do")


@change
def two_paintings_of_a_form(file: pikepdf.Pdf, secrets: tuple[str, ...]) -> None:
    outer = form_xobject(file, b"/Whole Do")
    outer["/Resources"] = Dictionary(XObject=Dictionary(Whole=as_form(file, content(file))))
    paint(file, outer, b"q 0.5 0 0 0.5 0 0 cm /Whole Do Q q 0.5 0 0 0.5 0 420 cm /Whole Do Q")


@change
def letters_with_places(file: pikepdf.Pdf, secrets: tuple[str, ...]) -> None:
    with pypdfium2.PdfDocument(saved(file)) as document:
        text = read_page_text(document, 1)
    letters = [(chr(text.codes[i]), *text.origin(i)) for i in text.inked()]
    put(file, b"")
    add(file, b"".join(line(letter, x, y) for letter, x, y in letters if ord(letter) < 256))


@change
def letters_kerned(file: pikepdf.Pdf, secrets: tuple[str, ...]) -> None:
    made = []
    for each in pikepdf.parse_content_stream(file.pages[0]):
        if str(each.operator) == "Tj":
            letters = [part for byte in bytes(each.operands[0]) for part in (String(bytes((byte,))), 3)]
            made.append(([Array(letters)], Operator("TJ")))
        else:
            made.append(each)
    put(file, pikepdf.unparse_content_stream(made))


@change
def comb_boxes(file: pikepdf.Pdf, secrets: tuple[str, ...]) -> None:
    for row, secret in enumerate(secrets):
        y, letters = 100 - 22 * row, secret.replace(" ", "")
        boxes = b"".join(b"%d %d 14 16 re S\n" % (50 + 14 * i, y - 4) for i in range(len(letters)))
        add(file, boxes + b"".join(line(letter, 54 + 14 * i, y) for i, letter in enumerate(letters)))


@change
def fields_with_appearance(file: pikepdf.Pdf, secrets: tuple[str, ...]) -> None:
    fields = []
    for row, secret in enumerate(secrets):
        shown = form_xobject(file, b"/Tx BMC q " + line(secret, 2, 5).replace(b"/FH", b"/F1") + b" Q EMC")
        shown["/BBox"] = Array([0, 0, 340, 18])
        fields.append(widget(file, secret, 30 + 20 * row, AP=Dictionary(N=shown)))
    with_fields(file, fields)


@change
def fields_without_appearance(file: pikepdf.Pdf, secrets: tuple[str, ...]) -> None:
    with_fields(file, [widget(file, each, 30 + 20 * row) for row, each in enumerate(secrets)], NeedAppearances=True)


@change
def fields_of_nested_forms(file: pikepdf.Pdf, secrets: tuple[str, ...]) -> None:
    fields = []
    for row, secret in enumerate(secrets):
        inner = form_xobject(file, line(secret, 2, 5).replace(b"/FH", b"/F1"))
        outer = form_xobject(file, b"q /FRM Do Q")
        outer["/BBox"] = Array([0, 0, 340, 18])
        outer["/Resources"] = Dictionary(XObject=Dictionary(FRM=inner))
        fields.append(widget(file, secret, 30 + 20 * row, AP=Dictionary(N=outer, D=outer)))
    with_fields(file, fields)


@change
def layer_that_is_off(file: pikepdf.Pdf, secrets: tuple[str, ...]) -> None:
    group = file.make_indirect(Dictionary(Type=Name.OCG, Name=String(f"Draft for {secrets[0]}")))
    file.Root["/OCProperties"] = Dictionary(OCGs=Array([group]), D=Dictionary(OFF=Array([group])))
    file.pages[0].obj["/Resources"]["/Properties"] = Dictionary(L=group)
    add(file, b"/OC /L BDC " + b"".join(line(each, 60, 60 + 12 * row) for row, each in enumerate(secrets)) + b"EMC")


@change
def cropped(file: pikepdf.Pdf, secrets: tuple[str, ...]) -> None:
    box = [float(each) for each in file.pages[0].mediabox]
    file.pages[0].obj["/CropBox"] = Array([box[0], box[1] + 40, box[2], box[3]])
    add(file, b"".join(line(each, 60 + 120 * row, 20) for row, each in enumerate(secrets)))


@change
def beside_the_pages(file: pikepdf.Pdf, secrets: tuple[str, ...]) -> None:
    file.docinfo["/Title"] = secrets[0]
    file.attachments["note.txt"] = secrets[1].encode()
    with file.open_outline() as outline:
        outline.root += [pikepdf.OutlineItem(each.replace(" ", "_") + ".pdf", 0) for each in secrets]
    file.Root["/StructTreeRoot"] = Dictionary(Type=Name.StructTreeRoot, K=Dictionary(Alt=String(secrets[2])))


@change
def truetype_and_broken_lines(file: pikepdf.Pdf, secrets: tuple[str, ...]) -> None:
    """Each in a font whose codes say nothing, divided at its middle over two lines."""
    pdfmetrics.registerFont(TTFont("DejaVu", Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"))

    def draw(canvas: Any) -> None:
        canvas.setFont("DejaVu", 9)
        for row, each in enumerate(secrets):
            first, last = each.rsplit(" ", 1) if " " in each else (each, "")
            canvas.drawString(60, 140 - 30 * row, f"Ж {first}")
            canvas.drawString(60, 130 - 30 * row, last)
        canvas.drawString(60, 10, "Ж")

    with pikepdf.open(io.BytesIO(drawn(draw))) as other:
        file.pages[0].add_overlay(other.pages[0], pikepdf.Rectangle(0, 0, 600, 800))


@change
def under_a_white_box(file: pikepdf.Pdf, secrets: tuple[str, ...]) -> None:
    add(file, b"".join(line(each, 60, 60 + 12 * row) for row, each in enumerate(secrets)))
    add(file, b"1 g 50 50 400 80 re f 0 g " + line("Corrected", 60, 60))


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("way", CHANGES)
def test_no_reader_finds_what_was_redacted_in(way: str, name: str) -> None:
    secrets = BASES[name]
    with base(name) as file:
        CHANGES[way](file, secrets)
        data = saved(file)
    assert any(len(found) >= len(secrets) - 1 for found in left_of(data, *secrets).values()), "they are there"
    made = redacted(data, *secrets)
    assert left_of(made.data, *secrets) == {}
    if all(page.method == "rewritten" for page in made.pages):
        assert KEPT[name] in "".join(readings(made.data)["pdftotext"].split())
