"""Prepares a PDF so that pdfium reads what a viewer shows when it opens the file.

    layers that are off → taken out          free text and checked boxes without an appearance → given one
    fields that show on paper only → out     a cover in the place of the document (XFA, portfolio) → refused

Text fields without an appearance are drawn by pdfium itself.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name, String

from service.core.errors import UnreadableDocument
from service.documents.pdf.layers import drop_hidden_layers

_SIGNS = (b"/OCProperties", b"/Collection", b"/AcroForm", b"/FreeText", b"/ObjStm")
"""One of these stands in every file for which there is something to do; in the last, what is compressed may stand."""
_HIDDEN, _NO_VIEW = 1 << 1, 1 << 5  # flags of annotations
_MULTILINE, _RADIO, _PUSH, _COMB = 1 << 12, 1 << 15, 1 << 16, 1 << 24  # flags of fields
_DEEPEST = 32
_HELVETICA = "/Helv 11 Tf 0 g"


def as_shown(data: bytes) -> bytes:
    """The file as a viewer shows it; the same bytes where that makes no difference, or the file is damaged.

    Raises:
        UnreadableDocument: its pages are a notice that a viewer replaces, or the cover of other files.
    """
    if not any(sign in data for sign in _SIGNS):
        return data
    try:
        with pikepdf.open(io.BytesIO(data)) as pdf:
            _refuse_covers(pdf)
            changed = drop_hidden_layers(pdf)
            changed |= _draw_annotations(pdf)
            if not changed:
                return data
            return _saved(pdf)
    except (pikepdf.PdfError, TypeError, ValueError, KeyError, AttributeError):
        return data  # pdfium repairs more than qpdf does, and says what is wrong.


def _saved(pdf: pikepdf.Pdf) -> bytes:
    written = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fields that the form does not list: it need not
        pdf.save(written)
    return written.getvalue()


def _refuse_covers(pdf: pikepdf.Pdf) -> None:
    root = pdf.Root
    if "/Collection" in root and (count := len(pdf.attachments)):
        raise UnreadableDocument(
            f"The PDF is a portfolio: its page is a cover, and the files in it ({count}) are not read; "
            "send each by itself."
        )
    form = root.get("/AcroForm")
    if isinstance(form, Dictionary) and "/XFA" in form:
        is_dynamic = root.get("/NeedsRendering") is True
        if is_dynamic or not (len(form.get("/Fields", ())) or any(_annotations(pdf, "/Widget"))):
            raise UnreadableDocument(
                "The PDF is a dynamic XFA form: its pages hold a notice only, in place of the form that some viewers "
                "show; print it to a PDF, and send that."
            )


def _annotations(pdf: pikepdf.Pdf, *kinds: str) -> Iterator[Dictionary]:
    """The annotations that a viewer shows, of these kinds."""
    for page in pdf.pages:
        annotations = page.obj.get("/Annots")
        for each in annotations if isinstance(annotations, Array) else ():
            if isinstance(each, Dictionary) and each.get("/Subtype") in kinds and not _flags(each) & _HIDDEN:
                yield each


def _flags(annotation: Dictionary) -> int:
    return int(annotation.get("/F", 0))


def _draw_annotations(pdf: pikepdf.Pdf) -> bool:
    """Have annotations show that a viewer draws by itself; whether there were any."""
    form = pdf.Root.get("/AcroForm")
    are_drawn_anew = isinstance(form, Dictionary) and form.get("/NeedAppearances") is True
    changed = False
    for each in list(_annotations(pdf, "/Widget", "/FreeText")):
        if _flags(each) & _NO_VIEW:
            each["/F"] = _flags(each) | _HIDDEN
        elif "/AP" in each and not are_drawn_anew:
            continue
        elif each["/Subtype"] == "/FreeText":
            if "/AP" in each or not str(each.get("/Contents", "")).strip():
                continue
            _make_field(pdf, each)
        elif inherited(each, "/FT") == "/Btn":
            if "/AP" in each or not _is_checked(each):
                continue
            each["/AP"] = Dictionary(N=_mark(pdf, each))
        elif int(inherited(each, "/Ff") or 0) & _COMB:
            each["/Ff"] = int(inherited(each, "/Ff")) & ~_COMB  # Characters in boxes would read as so many words.
        else:
            continue
        changed = True
    return changed


def inherited(node: Any, key: str, deepest: int = _DEEPEST) -> Any:
    """The value of a field or a page, or that of the nearest node above it, of at most `deepest`, that has one."""
    for _ in range(deepest):
        if not isinstance(node, Dictionary):
            break
        if key in node:
            return node[key]
        node = node.get("/Parent")
    return None


def _make_field(pdf: pikepdf.Pdf, note: Dictionary) -> None:
    """Make free text a text field of several lines, which pdfium draws."""
    if "/AcroForm" not in pdf.Root:
        helvetica = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica)
        pdf.Root["/AcroForm"] = Dictionary(Fields=Array(), DR=Dictionary(Font=Dictionary(Helv=helvetica)))
    note["/Subtype"], note["/FT"], note["/Ff"] = Name.Widget, Name.Tx, _MULTILINE
    note["/V"] = note["/Contents"]
    note["/T"] = String("note")  # pdfium draws no field without a name
    if "/DA" not in note:
        note["/DA"] = String(_HELVETICA)


def _is_checked(button: Dictionary) -> bool:
    """Whether a check box or a radio button is on; a button to press is not."""
    if int(inherited(button, "/Ff") or 0) & _PUSH:
        return False
    state = button.get("/AS")
    if state is None:
        state = None if int(inherited(button, "/Ff") or 0) & _RADIO else inherited(button, "/V")
    return isinstance(state, Name) and state != "/Off"


def _mark(pdf: pikepdf.Pdf, button: Dictionary) -> pikepdf.Stream:
    """The appearance of a checked button: its sign in the font of signs, as high as its box."""
    left, bottom, right, top = map(float, button["/Rect"])
    wide, high = abs(right - left), abs(top - bottom)
    is_radio = int(inherited(button, "/Ff") or 0) & _RADIO
    sign = str(button.get("/MK", Dictionary()).get("/CA", "l" if is_radio else "4"))[:1]
    sign = sign if sign.isalnum() else "4"
    size = max(min(wide, high), 1.0)
    font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.ZapfDingbats)
    stream = pikepdf.Stream(pdf, f"BT /ZaDb {size:.2f} Tf 0 {size * 0.15:.2f} Td ({sign}) Tj ET".encode())
    stream.update(Dictionary(Type=Name.XObject, Subtype=Name.Form, BBox=Array([0, 0, wide, high])))
    stream["/Resources"] = Dictionary(Font=Dictionary(ZaDb=font))
    return pdf.make_indirect(stream)
