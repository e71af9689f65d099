"""A PDF is read as a viewer shows it: fields and notes that it draws itself, without layers that are off."""

from __future__ import annotations

from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, String

from service.core.errors import UnreadableDocument
from service.documents.limits import DocumentLimits
from service.documents.pdf.as_shown import as_shown
from service.documents.pdf.reader import read_pdf
from tests.support.odd_pdfs import PAGE, form_xobject, helvetica, new_pdf, saved, text_annotation
from tests.support.redacted_pdfs import left_of, redacted

PRINTED = b"BT /F1 12 Tf 60 740 Td (Printed) Tj ET"


def read(file: pikepdf.Pdf) -> list[str]:
    return read_pdf(saved(file), limits=DocumentLimits()).text.split("\n")


def form_of(*fields: Dictionary, **more: Any) -> pikepdf.Pdf:
    """A page with a form of these fields, in boxes below each other."""
    file = new_pdf(PRINTED)
    made = []
    for row, field in enumerate(fields):
        each = Dictionary(
            Type=Name.Annot, Subtype=Name.Widget, Rect=Array([60, 680 - 40 * row, 360, 698 - 40 * row]), F=4,
            T=String(f"f{row}"), DA=String("/Helv 11 Tf 0 g"),
        )  # fmt: skip
        each.update(field)
        made.append(file.make_indirect(each))
    file.pages[0].obj["/Annots"] = Array(made)
    fonts = Dictionary(Font=Dictionary(Helv=helvetica()))
    file.Root["/AcroForm"] = Dictionary(Fields=Array(made), DR=fonts, DA=String("/Helv 11 Tf 0 g"), **more)
    return file


def text_field(value: str, **more: Any) -> Dictionary:
    return Dictionary(FT=Name.Tx, V=String(value), **more)


def drop_down(chosen: str, *options: Any) -> Dictionary:
    return Dictionary(FT=Name.Ch, Ff=1 << 17, V=String(chosen), Opt=Array(options))


SHOWN_BY_NAME = (Array([String("de"), String("Germany")]), Array([String("at"), String("Austria")]))


@pytest.mark.parametrize(
    ("field", "shown"),
    [
        (text_field("AT-2025-0093"), ["AT-2025-0093"]),
        (text_field("Zoë Müller, Łódź"), ["Zoë Müller, Łódź"]),
        (text_field("Счёт № 17, Αθήνα"), ["Счёт № 17, Αθήνα"]),
        (text_field("請求書 令和7年"), ["請求書 令和7年"]),
        (text_field("Ulica Długa 5\rŁódź", Ff=1 << 12, Rect=Array([60, 600, 360, 698])), ["Ulica Długa 5", "Łódź"]),
        (text_field("Łódź Łódź " * 12, Ff=1 << 12, Rect=Array([60, 500, 160, 698])), ["Łódź Łódź Łódź"] * 8),
        (drop_down("pl", Array([String("pl"), String("Łódź")])), ["Łódź"]),
        (text_field("hasło", Ff=1 << 13), ["*****"]),
        (text_field("12345678", Ff=1 << 24, MaxLen=8), ["12345678"]),
        (text_field("1 High Street\rBerlin", Ff=1 << 12, Rect=Array([60, 600, 360, 698])), ["1 High Street", "Berlin"]),
        (drop_down("at", *SHOWN_BY_NAME), ["Austria"]),
        (drop_down("Austria", String("Germany"), String("Austria")), ["Austria"]),
        (Dictionary(FT=Name.Btn, V=Name.Yes, AS=Name.Yes), ["✔"]),
        (Dictionary(FT=Name.Btn, V=Name.Yes, MK=Dictionary(CA=String("8"))), ["✘"]),
        (Dictionary(FT=Name.Btn, Ff=1 << 15, AS=Name.a), ["●"]),
        (Dictionary(FT=Name.Btn, Ff=1 << 15, V=Name.b, AS=Name.Off), []),
        (Dictionary(FT=Name.Btn, V=Name.Off), []),
        (text_field("for nobody", F=2), []),
        (text_field("for paper only", F=36), []),
        (text_field(""), []),
    ],
)  # fmt: skip
def test_fields_without_an_appearance_read_as_a_viewer_draws_them(field: Dictionary, shown: list[str]) -> None:
    assert read(form_of(field)) == ["Printed", *shown]


def test_a_value_is_inherited_from_the_field_above() -> None:
    file = form_of(Dictionary(FT=Name.Tx))
    [widget] = file.pages[0].obj["/Annots"]
    above = file.make_indirect(text_field("AT-2025-0093", T=String("above"), Kids=Array([widget])))
    widget["/Parent"] = above
    file.Root["/AcroForm"]["/Fields"] = Array([above])
    assert read(file) == ["Printed", "AT-2025-0093"]


@pytest.mark.parametrize(
    ("drawn", "is_anew", "shown"), [(b"", True, "new"), (b"BT /F1 9 Tf 2 4 Td (old) Tj ET", True, "new"),
                                    (b"BT /F1 9 Tf 2 4 Td (old) Tj ET", False, "old")],
)  # fmt: skip
def test_an_appearance_counts_unless_the_form_asks_for_new_ones(drawn: bytes, is_anew: bool, shown: str) -> None:
    file = form_of(text_field("new"), NeedAppearances=is_anew)
    [field] = file.pages[0].obj["/Annots"]
    field["/AP"] = Dictionary(N=form_xobject(file, drawn))
    field["/AP"]["/N"]["/BBox"] = Array([0, 0, 200, 20])
    assert read(file) == ["Printed", shown]


@pytest.mark.parametrize("text", ["Total GBP 576.00", "Zoë Müller, Łódź", "1 High Street\rBerlin", "Счёт\rΑθήνα"])
def test_free_text_without_an_appearance_is_read(text: str) -> None:
    file = new_pdf(PRINTED)
    note = Dictionary(Type=Name.Annot, Subtype=Name.FreeText, Rect=Array([60, 500, 360, 560]), Contents=String(text))
    file.pages[0].obj["/Annots"] = Array([note])
    assert read(file) == ["Printed", *text.split("\r")]


def test_a_note_that_is_only_a_sign_on_the_page_is_no_text() -> None:
    file = new_pdf(PRINTED)
    note = Dictionary(Type=Name.Annot, Subtype=Name.Text, Rect=Array([60, 500, 80, 520]), Contents=String("a remark"))
    file.pages[0].obj["/Annots"] = Array([note])
    assert read(file) == ["Printed"]


@pytest.mark.parametrize("is_anew", [True, False])
def test_new_appearances_have_letters_of_any_script(is_anew: bool) -> None:
    file = form_of(text_field("Łódź"), NeedAppearances=is_anew)
    if is_anew:
        file.pages[0].obj["/Annots"][0]["/AP"] = Dictionary(N=form_xobject(file, b"BT /F1 9 Tf 2 4 Td (old) Tj ET"))
    assert read(file) == ["Printed", "Łódź"]


@pytest.mark.parametrize("name", ["Łucja Źdźbło", "Иван Петров"])
def test_letters_of_any_script_in_a_field_are_redacted(name: str) -> None:
    file = form_of(text_field(f"Ordered by {name}"), text_field("Kraków, Łódź"))
    data = redacted(saved(file), name).data
    assert left_of(data, name) == {}
    assert read_pdf(data, limits=DocumentLimits()).text.split("\n") == ["Printed", "Ordered by", "Kraków, Łódź"]


def test_what_a_viewer_draws_is_redacted() -> None:
    file = form_of(text_field("Ordered by Jane Doe"))
    note = Dictionary(
        Type=Name.Annot, Subtype=Name.FreeText, Rect=Array([60, 500, 360, 560]), Contents=String("Call Jane Doe")
    )
    file.pages[0].obj["/Annots"].append(file.make_indirect(note))
    assert left_of(redacted(saved(file), "Jane Doe").data, "Jane Doe") == {}


SECRET = b"BT /F1 12 Tf 60 700 Td (Draft 999.00) Tj ET"


def layered(content: bytes, properties: Any = None, config: Any = None) -> tuple[pikepdf.Pdf, Any, Any]:
    """A page with this content, and two layers: one that is on (`/On`), one that is off (`/Off`)."""
    file = new_pdf(PRINTED + b"\n" + content + b"\nBT /F1 12 Tf 60 660 Td (Total) Tj ET")
    on, off = (file.make_indirect(Dictionary(Type=Name.OCG, Name=String(name))) for name in ("On", "Off"))
    config = Dictionary(OFF=Array([off])) if config is None else config(on, off)
    file.Root["/OCProperties"] = Dictionary(OCGs=Array([on, off]), D=config)
    named = Dictionary(On=on, Off=off)
    for name, membership in (properties(on, off) if properties else {}).items():
        named[f"/{name}"] = file.make_indirect(membership)
    file.pages[0].obj["/Resources"]["/Properties"] = named
    return file, on, off


def members(on: Any, off: Any) -> dict[str, Dictionary]:
    both = Array([on, off])
    return {
        "Any": Dictionary(Type=Name.OCMD, OCGs=both),
        "All": Dictionary(Type=Name.OCMD, OCGs=both, P=Name.AllOn),
        "AnyOff": Dictionary(Type=Name.OCMD, OCGs=both, P=Name.AnyOff),
        "AllOff": Dictionary(Type=Name.OCMD, OCGs=both, P=Name.AllOff),
        "One": Dictionary(Type=Name.OCMD, OCGs=off),
        "None": Dictionary(Type=Name.OCMD),
        "Not": Dictionary(Type=Name.OCMD, VE=Array([Name.Not, on])),
        "Or": Dictionary(Type=Name.OCMD, VE=Array([Name.Or, off, Array([Name.Not, off])])),
        "And": Dictionary(Type=Name.OCMD, VE=Array([Name.And, on, off])),
    }


@pytest.mark.parametrize(
    ("name", "is_shown"),
    [
        ("On", True), ("Off", False), ("Any", True), ("All", False), ("AnyOff", True), ("AllOff", False),
        ("One", False), ("None", True), ("Not", False), ("Or", True), ("And", False), ("Unknown", True),
    ],
)  # fmt: skip
def test_content_of_a_layer_is_text_if_the_layer_is_on(name: str, is_shown: bool) -> None:
    file, _, _ = layered(f"/OC /{name} BDC ".encode() + SECRET + b" EMC", members)
    assert read(file) == ["Printed", *["Draft 999.00"] * is_shown, "Total"]


@pytest.mark.parametrize(
    ("config", "is_shown"),
    [
        (lambda on, off: Dictionary(BaseState=Name.OFF, ON=Array([on])), False),
        (lambda on, off: Dictionary(BaseState=Name.OFF, ON=Array([on, off])), True),
        (lambda on, off: Dictionary(), True),
        (lambda on, off: Dictionary(AS=Array([Dictionary(Event=Name.View, OCGs=Array([off]))])), True),
    ],
)
def test_the_default_configuration_says_which_layers_are_off(config: Any, is_shown: bool) -> None:
    file, _, _ = layered(b"/OC /Off BDC " + SECRET + b" EMC", config=config)
    assert ("Draft 999.00" in read(file)) == is_shown


def test_a_layer_that_is_off_for_viewing_is_left_out() -> None:
    usage = Dictionary(View=Dictionary(ViewState=Name.OFF))
    file, _, off = layered(
        b"/OC /Off BDC " + SECRET + b" EMC",
        config=lambda on, off: Dictionary(AS=Array([Dictionary(Event=Name.View, OCGs=Array([off]))])),
    )
    off["/Usage"] = usage
    assert read(file) == ["Printed", "Total"]


@pytest.mark.parametrize(
    "content",
    [
        b"/OC /Off BDC /Span BMC " + SECRET + b" EMC EMC",
        b"/OC /Off BDC /OC /On BDC " + SECRET + b" EMC EMC",
        b"/OC /Off BDC BT /F1 12 Tf 14 TL 60 714 Td (Draft 999.00) ' ET EMC",
        b'/OC /Off BDC BT /F1 12 Tf 14 TL 60 714 Td 0 0 (Draft 999.00) " ET EMC',
        b"/OC /Off BDC BT /F1 12 Tf 60 700 Td [(Draft) -300 (999.00)] TJ ET EMC",
        b"/OC /Off BDC /Fm Do EMC",
        b"/Hidden Do",
        b"/Inside Do",
    ],
)
def test_hidden_content_is_left_out_in_all_nestings(content: bytes) -> None:
    file, _, off = layered(content)
    inside = form_xobject(file, b"/OC /P1 BDC " + SECRET + b" EMC")
    inside["/Resources"]["/Properties"] = Dictionary(P1=off)
    forms = Dictionary(Fm=form_xobject(file, SECRET), Hidden=form_xobject(file, SECRET, OC=off), Inside=inside)
    file.pages[0].obj["/Resources"]["/XObject"] = forms
    assert read(file) == ["Printed", "Total"]
    assert left_of(redacted(saved(file), "Printed").data, "Draft 999.00") == {}


def test_a_picture_of_a_hidden_layer_goes_from_the_file() -> None:
    file, _, off = layered(b"/Picture Do")
    picture = pikepdf.Stream(file, b"secret pixels")
    picture.update(Dictionary(Type=Name.XObject, Subtype=Name.Image, Width=13, Height=1, BitsPerComponent=8, OC=off))
    picture["/ColorSpace"] = Name.DeviceGray
    file.pages[0].obj["/Resources"]["/XObject"] = Dictionary(Picture=picture)
    shown = as_shown(saved(file))
    assert b"secret pixels" in saved(file, compress_streams=False)
    assert b"secret pixels" not in shown
    assert read_pdf(shown, limits=DocumentLimits()).text == "Printed\nTotal"


def test_an_annotation_of_a_hidden_layer_is_left_out() -> None:
    file, _, off = layered(b"")
    for layer in (None, off):
        note = text_annotation(file, "Seen" if layer is None else "Unseen")
        if layer is not None:
            note["/OC"] = layer
        file.pages[0].obj["/Annots"] = Array([*file.pages[0].obj.get("/Annots", ()), note])
    lines = read(file)
    assert "Seen" in " ".join(lines)
    assert "Unseen" not in " ".join(lines)


def xfa(**more: Any) -> pikepdf.Pdf:
    file = new_pdf(PRINTED)
    file.Root["/AcroForm"] = Dictionary(Fields=Array(), XFA=pikepdf.Stream(file, b"<xdp:xdp/>"))
    file.Root.update(Dictionary(**more))
    return file


@pytest.mark.parametrize("file", [xfa(), xfa(NeedsRendering=True)])
def test_a_dynamic_form_is_refused(file: pikepdf.Pdf) -> None:
    with pytest.raises(UnreadableDocument, match="dynamic XFA form"):
        read(file)


def test_a_static_xfa_form_is_read() -> None:
    file = form_of(text_field("AT-2025-0093"), XFA=String("<xdp:xdp/>"))
    assert read(file) == ["Printed", "AT-2025-0093"]


@pytest.mark.parametrize(("has_files", "is_cover"), [(True, True), (True, False), (False, True)])
def test_a_portfolio_is_refused_and_a_file_with_attachments_is_not(has_files: bool, is_cover: bool) -> None:
    file = new_pdf(PRINTED)
    if has_files:
        file.attachments["invoice.xml"] = b"<invoice/>"
    if is_cover:
        file.Root["/Collection"] = Dictionary(View=Name.D)
    if has_files and is_cover:
        with pytest.raises(UnreadableDocument, match=r"portfolio.*\(1\)"):
            read(file)
    else:
        assert read(file) == ["Printed"]


@pytest.mark.parametrize("data", [b"%PDF-1.7 /AcroForm", b"/ObjStm", saved(new_pdf(PRINTED))])
def test_damaged_files_and_those_without_such_parts_stay_as_they_are(data: bytes) -> None:
    assert as_shown(data) is data


def test_odd_values_of_a_form_do_not_stop_the_reader() -> None:
    file = form_of(text_field("a"), Dictionary(FT=Name.Btn, AS=Name.Yes, Rect=Array([])), Dictionary(F=String("x")))
    file.pages.append(pikepdf.Page(Dictionary(Type=Name.Page, MediaBox=Array(PAGE), Annots=Array([1]))))
    assert "Printed" in read(file)
