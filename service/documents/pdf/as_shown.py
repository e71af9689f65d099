"""Prepares a PDF so that pdfium reads what a viewer shows when it opens the file.

    layers that are off → taken out          free text and checked boxes without an appearance → given one
    fields that show on paper only → out     a cover in the place of the document (XFA, portfolio) → refused

Text fields without an appearance are drawn by pdfium itself, in fonts that it brings: these have the letters of Western
Europe. Other texts get an appearance that says what its characters are, since a parser has no font to draw them with.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from textwrap import wrap
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name, String

from service.core.errors import UnreadableDocument
from service.documents.pdf.layers import drop_hidden_layers

_SIGNS = (b"/OCProperties", b"/Collection", b"/AcroForm", b"/FreeText", b"/ObjStm")
"""Bytes of which each file with work to do has some; the last marks compressed parts, which may hold the others."""
_HIDDEN, _NO_VIEW = 1 << 1, 1 << 5  # flags of annotations
_MULTILINE, _PASSWORD, _RADIO, _PUSH, _COMB = 1 << 12, 1 << 13, 1 << 15, 1 << 16, 1 << 24  # flags of fields
_DEEPEST = 32
_TEXT_SIZE, _ADVANCE = 11.0, 0.5
"""Points of a text that is drawn here, and the width of its characters, in sizes."""
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
        elif not _is_western(text := _text_of(each)):
            each["/AP"] = Dictionary(N=_text_appearance(pdf, each, text))
            each["/Subtype"] = Name.Stamp  # Of a field pdfium would draw the appearance anew.
        elif each["/Subtype"] == "/FreeText":
            if "/AP" in each or not str(each.get("/Contents", "")).strip():
                continue
            _make_field(pdf, each)
        elif inherited(each, "/FT") == "/Btn":
            if "/AP" in each or not _is_checked(each):
                continue
            each["/AP"] = Dictionary(N=_mark(pdf, each))
        elif _flag(each, _COMB):
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


def _text_of(annotation: Dictionary) -> str:
    """The text that a note, a text field or a drop-down shows; empty for others, and for passwords."""
    if annotation["/Subtype"] == "/FreeText":
        return "" if "/AP" in annotation else str(annotation.get("/Contents", ""))
    kind, value = inherited(annotation, "/FT"), inherited(annotation, "/V")
    if kind not in ("/Tx", "/Ch") or not isinstance(value, String) or _flag(annotation, _PASSWORD):
        return ""
    options = inherited(annotation, "/Opt") if kind == "/Ch" else None
    names = [each for each in options if isinstance(each, Array)] if isinstance(options, Array) else []
    return next((str(each[1]) for each in names if len(each) > 1 and each[0] == value), str(value))


def _flag(field: Dictionary, flag: int) -> bool:
    return bool(int(inherited(field, "/Ff") or 0) & flag)


def _is_western(text: str) -> bool:
    try:
        text.encode("cp1252")
    except UnicodeEncodeError:
        return False
    return True


def _text_appearance(pdf: pikepdf.Pdf, annotation: Dictionary, text: str) -> pikepdf.Stream:
    """An appearance with a text of any script; a map to Unicode says what its codes are (ISO 32000-1, 9.10.3)."""
    wide, high = _sides(annotation)
    lines = text.splitlines()
    if annotation["/Subtype"] == "/FreeText" or _flag(annotation, _MULTILINE):
        lines = [part for line in lines for part in wrap(line, max(1, int(wide / (_ADVANCE * _TEXT_SIZE)))) or [""]]
    longest = max(map(len, lines), default=1) or 1
    size = max(min(_TEXT_SIZE, high / (1.2 * len(lines)), wide / (_ADVANCE * longest)), 0.5)
    codes = {character: number for number, character in enumerate(sorted(set(text)), 1)}
    shown = ["".join(f"{codes[each]:04x}" for each in line) for line in lines]
    content = "".join(f"<{line}> Tj 0 -{1.2 * size:.3f} Td\n" for line in shown)
    stream = pikepdf.Stream(pdf, f"BT /U {size:.3f} Tf 0 {high - size:.3f} Td\n{content}ET".encode())
    stream.update(Dictionary(Type=Name.XObject, Subtype=Name.Form, BBox=Array([0, 0, wide, high])))
    pairs = "".join(f"<{code:04x}> <{each.encode('utf-16-be', 'replace').hex()}>\n" for each, code in codes.items())
    table = f"1 begincodespacerange <0000> <ffff> endcodespacerange\n{len(codes)} beginbfchar\n{pairs}endbfchar\n"
    system = Dictionary(Registry=String("Adobe"), Ordering=String("Identity"), Supplement=0)
    descendant = Dictionary(
        Type=Name.Font, Subtype=Name.CIDFontType2, BaseFont=Name.Helvetica, CIDSystemInfo=system, DW=1000 * _ADVANCE
    )
    font = Dictionary(
        Type=Name.Font, Subtype=Name.Type0, BaseFont=Name.Helvetica, Encoding=Name("/Identity-H"),
        DescendantFonts=Array([descendant]), ToUnicode=pikepdf.Stream(pdf, table.encode()),
    )  # fmt: skip
    stream["/Resources"] = Dictionary(Font=Dictionary(U=font))
    return pdf.make_indirect(stream)


def _sides(annotation: Dictionary) -> tuple[float, float]:
    """Width and height of an annotation, in points."""
    left, bottom, right, top = map(float, annotation["/Rect"])
    return abs(right - left), abs(top - bottom)


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
    """True if a check box or a radio button is on; a button to press is not."""
    if _flag(button, _PUSH):
        return False
    state = button.get("/AS")
    if state is None:
        state = None if _flag(button, _RADIO) else inherited(button, "/V")
    return isinstance(state, Name) and state != "/Off"


def _mark(pdf: pikepdf.Pdf, button: Dictionary) -> pikepdf.Stream:
    """The appearance of a checked button: its sign in the font of signs, as high as its box."""
    wide, high = _sides(button)
    is_radio = _flag(button, _RADIO)
    sign = str(button.get("/MK", Dictionary()).get("/CA", "l" if is_radio else "4"))[:1]
    sign = sign if sign.isalnum() else "4"
    size = max(min(wide, high), 1.0)
    font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.ZapfDingbats)
    stream = pikepdf.Stream(pdf, f"BT /ZaDb {size:.2f} Tf 0 {size * 0.15:.2f} Td ({sign}) Tj ET".encode())
    stream.update(Dictionary(Type=Name.XObject, Subtype=Name.Form, BBox=Array([0, 0, wide, high])))
    stream["/Resources"] = Dictionary(Font=Dictionary(ZaDb=font))
    return pdf.make_indirect(stream)
