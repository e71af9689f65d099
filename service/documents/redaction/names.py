"""Names in a PDF: those of fonts, inks and glyphs that say what must go become plain ones; keys of no use go.

The dictionaries that pages are painted with (fonts, graphics states, patterns, functions) keep the keys listed here.
A font keeps what a reader chooses a substitute by (`Bold`, `Italic`), and the tag of its subset; so it looks the same.
Standard fonts keep their names. Of embedded font programs the names inside go as well, if they say it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name

from service.core.redaction import Repeats
from service.documents.redaction.font_programs import without_names

_FONT_NAMES = ("/BaseFont", "/FontName", "/FontFamily", "/CMapName")
FONT_PROGRAMS = ("/FontFile", "/FontFile2", "/FontFile3")
_SUBSET = re.compile(r"[A-Z]{6}\+")
_STYLES = re.compile(r"Bold|Italic|Oblique|Narrow|Condensed|Light|Mono|Serif", re.IGNORECASE)
_STANDARD = re.compile(
    r"(Courier|Courier ?New|Times|Times ?New ?Roman|Helvetica|Arial|Symbol|ZapfDingbats)(PS)?(MT)?"
    r"([-,]?(Bold|Italic|Oblique|Roman|Regular))*(MT)?"
)
_INKS = frozenset("/All /None /Cyan /Magenta /Yellow /Black".split())
_DEVICE = {1: Name.DeviceGray, 3: Name.DeviceRGB, 4: Name.DeviceCMYK}
_CALIBRATED = ("/CalGray", "/CalRGB", "/Lab")
_PROFILE_SPACE, _D50 = slice(16, 20), (0.9642, 1, 0.8249)
_CALIBRATION = ("/WhitePoint", "/BlackPoint", "/Gamma", "/Matrix", "/Range")
_DEEPEST = 60


def _keys(names: str) -> frozenset[str]:
    return frozenset(f"/{name}" for name in (*names.split(), "Length", "Filter", "DecodeParms"))


_KEPT = {
    "/FontDescriptor": _keys(
        "Type FontName FontFamily FontStretch FontWeight Flags FontBBox ItalicAngle Ascent Descent Leading CapHeight"
        " XHeight StemV StemH AvgWidth MaxWidth MissingWidth FontFile FontFile2 FontFile3 CharSet CIDSet Style"
    ),
    "/Font": _keys(
        "Type Subtype BaseFont FirstChar LastChar Widths FontDescriptor Encoding ToUnicode DescendantFonts"
        " CIDSystemInfo DW W DW2 W2 CIDToGIDMap FontBBox FontMatrix CharProcs Resources Name"
    ),
    "/OCG": _keys("Type Name Usage"),
    "/FunctionType": _keys("FunctionType Domain Range Size BitsPerSample Order Encode Decode C0 C1 N Functions Bounds"),
    "/ShadingType": _keys(
        "ShadingType ColorSpace Background BBox AntiAlias Coords Domain Function Extend Matrix BitsPerCoordinate"
        " BitsPerComponent BitsPerFlag Decode VerticesPerRow"
    ),
    "/PatternType": _keys("Type PatternType PaintType TilingType BBox XStep YStep Resources Matrix Shading ExtGState"),
}
_TYPED = ("/FunctionType", "/ShadingType", "/PatternType")
"""Keys of dictionaries by their type, or by one of these keys, which they have."""
_STATE = _keys("Type LW LC LJ ML D RI OP op OPM Font BG BG2 UCR UCR2 TR TR2 FL SM SA BM SMask CA ca AIS TK")
_USAGE, _GROUP = _keys("View Print Export Zoom"), _keys("Type S CS I K")
_WORDS_OF_CMAP = re.compile(rb"%[^\r\n]*|/[^\s/<>\[\]()%]+|\([^)]*\)")


def neutral_names(pdf: pikepdf.Pdf, leaks: Repeats) -> None:
    """Rename in place what says what must go; colours of a profile become plain ones, whatever it says."""
    names = _Names(leaks)
    for thing in list(pdf.objects):
        if isinstance(thing, pikepdf.Stream) and isinstance(thing.get("/Resources"), Dictionary):
            _rename_resources(thing, names)
        for each in containers(thing, 0):
            if isinstance(each, Array):
                _clean_space(each, names)
            else:
                _drop_keys(each)
                _clean_font(each, names, leaks)


def containers(thing: Any, depth: int) -> Iterator[Any]:
    """An object, and the dictionaries and arrays that stand directly in it."""
    if depth > _DEEPEST or not isinstance(thing, (Dictionary, pikepdf.Stream, Array)):
        return
    yield thing
    for value in list(thing if isinstance(thing, Array) else dict(thing.items()).values()):
        if isinstance(value, (Dictionary, Array)) and not value.is_indirect:
            yield from containers(value, depth + 1)


class _Names:
    """Plain names for those that leak: the same for the same."""

    def __init__(self, leaks: Repeats) -> None:
        self._leaks = leaks
        self._known: dict[str, str] = {}

    def leak(self, name: str) -> bool:
        return self._leaks.are_named_in(name)

    def font(self, name: str) -> str:
        subset = tag.group() if (tag := _SUBSET.match(name, 1)) else ""
        rest = name[1 + len(subset) :]
        if _STANDARD.fullmatch(rest) or not self.leak(rest):
            return name
        styles = "".join(dict.fromkeys(each.title() for each in _STYLES.findall(rest) if not self.leak(each)))
        number = self._known.setdefault(rest, str(len(self._known) + 1))
        return f"/{subset}Font{number}{'-' if styles else ''}{styles}"

    def other(self, name: str) -> str:
        return f"/Name{self._known.setdefault(name, str(len(self._known) + 1))}" if self.leak(name) else name


def _rename_resources(stream: Any, names: _Names) -> None:
    """Give the resources of a form or a pattern other names, there and in its content."""
    held = {key: value for key, value in stream["/Resources"].items() if isinstance(value, Dictionary)}
    plain = {name: names.other(name) for value in held.values() for name in value if names.leak(name)}
    if not plain:
        return
    own = Dictionary(dict(stream["/Resources"].items()))
    for key, value in held.items():
        own[key] = Dictionary({plain.get(name, name): each for name, each in value.items()})
    content = list[Any]()
    for each in pikepdf.parse_content_stream(stream):
        if isinstance(each, pikepdf.ContentStreamInlineImage):
            content.append(each)
        else:
            operands = [
                Name(plain[str(one)]) if isinstance(one, Name) and str(one) in plain else one for one in each.operands
            ]
            content.append((operands, each.operator))
    stream["/Resources"] = own
    stream.write(pikepdf.unparse_content_stream(content))


def _drop_keys(holder: Any) -> None:
    """Take keys of no use out of what pages are painted with."""
    if str(holder.get("/Subtype")) in ("/Form", "/Image"):
        kept = None
    else:
        kept = _KEPT.get(str(holder.get("/Type"))) or next((_KEPT[key] for key in _TYPED if key in holder), None)
    inner = [(holder.get("/Group"), _GROUP), (holder.get("/Usage"), _USAGE)]
    states = holder.get("/ExtGState")
    inner += [(state, _STATE) for _, state in states.items()] if isinstance(states, Dictionary) else []
    for each, keys in [(holder, kept), *inner]:
        for key in set(each.keys()) - keys if isinstance(each, (Dictionary, pikepdf.Stream)) and keys else ():
            del each[key]


def _clean_glyphs(font: Any, names: _Names) -> None:
    """Rename glyphs of a font of procedures, whose names are its own."""
    procedures, encoding = font.get("/CharProcs"), font.get("/Encoding")
    if isinstance(procedures, Dictionary) and any(map(names.leak, procedures.keys())):
        font["/CharProcs"] = Dictionary({names.other(key): value for key, value in procedures.items()})
        differences = encoding.get("/Differences", Array()) if isinstance(encoding, Dictionary) else Array()
        for at, each in enumerate(differences):
            if isinstance(each, Name):
                differences[at] = Name(names.other(str(each)))


def _clean_map(stream: Any, leaks: Repeats) -> None:
    """Take names, texts and comments that leak out of a map of codes."""

    def plain(word: re.Match[bytes]) -> bytes:
        if not leaks.are_named_in(word.group().decode("latin-1")):
            return word.group()
        return {b"%": b"%", b"/": b"/X", b"(": b"()"}[word.group()[:1]]

    data = stream.read_bytes()
    if (made := _WORDS_OF_CMAP.sub(plain, data)) != data:
        stream.write(made)


def _clean_font(holder: Any, names: _Names, leaks: Repeats) -> None:
    for key in _FONT_NAMES:
        if isinstance(value := holder.get(key), Name) and (plain := names.font(str(value))) != str(value):
            holder[key] = Name(plain)
    if isinstance(value := holder.get("/Name"), Name) and names.leak(str(value)):
        del holder["/Name"]
    _clean_glyphs(holder, names)
    for key in ("/ToUnicode", "/Encoding"):
        if isinstance(table := holder.get(key), pikepdf.Stream):
            _clean_map(table, leaks)
    for key in FONT_PROGRAMS:
        if isinstance(program := holder.get(key), pikepdf.Stream):
            data = program.read_bytes()
            if (plain_program := without_names(data, leaks)) != data:
                program.write(plain_program)


def _clean_space(array: Any, names: _Names) -> None:
    if len(array) < 2 or not isinstance(array[0], Name):
        return
    if str(array[0]) in _CALIBRATED and isinstance(array[1], Dictionary):
        array[1] = Dictionary({key: array[1][key] for key in _CALIBRATION if key in array[1]})
    elif array[0] == Name.ICCBased and isinstance(array[1], pikepdf.Stream):
        _drop_profile(array)
    elif array[0] == Name.Separation and isinstance(array[1], Name) and str(array[1]) not in _INKS:
        array[1] = Name(names.other(str(array[1])))
    elif array[0] == Name.DeviceN and isinstance(array[1], Array):
        array[1] = Array([Name(each) if each in _INKS else Name(names.other(each)) for each in map(str, array[1])])
        if len(array) > 4 and isinstance(array[4], Dictionary):
            array[4] = _plain_attributes(array[4], names)


def _plain_attributes(attributes: Any, names: _Names) -> Any:
    """The attributes of inks with plain names as keys."""
    kept = Dictionary({"/Subtype": attributes["/Subtype"]} if isinstance(attributes.get("/Subtype"), Name) else {})
    inks = attributes.get("/Colorants")
    if isinstance(inks, Dictionary):
        kept["/Colorants"] = Dictionary({names.other(key): value for key, value in inks.items()})
    return kept


def _drop_profile(array: Any) -> None:
    """Make colours of a profile plain ones of so many components, or those of CIE Lab."""
    try:
        is_lab = array[1].read_bytes()[_PROFILE_SPACE] == b"Lab "
    except pikepdf.PdfError:
        is_lab = False
    components = int(array[1].get("/N", 3))
    del array[1]
    array[0] = Name.Lab if is_lab else _DEVICE.get(components, Name.DeviceRGB)
    if is_lab:
        array.append(Dictionary(WhitePoint=Array(_D50), Range=Array([-128, 127, -128, 127])))
