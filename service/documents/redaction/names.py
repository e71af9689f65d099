"""Names of fonts, colours and colour profiles of a PDF: those that say what must go become plain ones.

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
from service.documents.redaction.colour_profiles import bare_profile, profile_components
from service.documents.redaction.font_programs import without_names

_FONT_NAMES = ("/BaseFont", "/FontName", "/FontFamily", "/CMapName")
_PROGRAMS = ("/FontFile", "/FontFile2", "/FontFile3")
_SUBSET = re.compile(r"[A-Z]{6}\+")
_STYLES = re.compile(r"Bold|Italic|Oblique|Narrow|Condensed|Light|Mono|Serif", re.IGNORECASE)
_STANDARD = re.compile(
    r"(Courier|Courier ?New|Times|Times ?New ?Roman|Helvetica|Arial|Symbol|ZapfDingbats)(PS)?(MT)?"
    r"([-,]?(Bold|Italic|Oblique|Roman|Regular))*(MT)?"
)
_INKS = frozenset("/All /None /Cyan /Magenta /Yellow /Black".split())
_DEVICE = {1: Name.DeviceGray, 3: Name.DeviceRGB, 4: Name.DeviceCMYK}
_DEEPEST = 60


def neutral_names(pdf: pikepdf.Pdf, leaks: Repeats) -> None:
    """Rename in place what says what must go; colour profiles keep their numbers alone, whatever they say."""
    names, profiles = _Names(leaks), set[tuple[int, int]]()
    for thing in list(pdf.objects):
        for each in containers(thing, 0):
            if isinstance(each, Array):
                _clean_space(each, names, profiles)
            else:
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

    def ink(self, name: str) -> str:
        return f"/Ink{self._known.setdefault(name, str(len(self._known) + 1))}" if self.leak(name) else name


def _clean_font(holder: Any, names: _Names, leaks: Repeats) -> None:
    for key in _FONT_NAMES:
        if isinstance(value := holder.get(key), Name) and (plain := names.font(str(value))) != str(value):
            holder[key] = Name(plain)
    if isinstance(value := holder.get("/Name"), Name) and names.leak(str(value)):
        del holder["/Name"]
    for key in _PROGRAMS:
        if isinstance(program := holder.get(key), pikepdf.Stream):
            data = program.read_bytes()
            if (plain_program := without_names(data, leaks)) != data:
                program.write(plain_program)


def _clean_space(array: Any, names: _Names, profiles: set[tuple[int, int]]) -> None:
    if len(array) < 2 or not isinstance(array[0], Name):
        return
    if array[0] == Name.ICCBased and isinstance(array[1], pikepdf.Stream):
        _clean_profile(array, profiles)
    elif array[0] == Name.Separation and isinstance(array[1], Name) and str(array[1]) not in _INKS:
        array[1] = Name(names.ink(str(array[1])))
    elif array[0] == Name.DeviceN and isinstance(array[1], Array):
        array[1] = Array([Name(each) if each in _INKS else Name(names.ink(each)) for each in map(str, array[1])])
        if len(array) > 4 and isinstance(array[4], Dictionary):
            array[4] = _plain_attributes(array[4], names)


def _plain_attributes(attributes: Any, names: _Names) -> Any:
    """The attributes of inks with plain names as keys."""
    kept = Dictionary({"/Subtype": attributes["/Subtype"]} if isinstance(attributes.get("/Subtype"), Name) else {})
    inks = attributes.get("/Colorants")
    if isinstance(inks, Dictionary):
        kept["/Colorants"] = Dictionary({names.ink(key): value for key, value in inks.items()})
    return kept


def _clean_profile(array: Any, done: set[tuple[int, int]]) -> None:
    """Take the words out of a profile; one that is none becomes plain colours of so many components."""
    profile = array[1]
    components = int(profile.get("/N", 3))
    if profile.objgen in done:
        return
    try:
        data = profile.read_bytes()
    except pikepdf.PdfError:
        data = b""
    plain = bare_profile(data) if profile_components(data) == components else b""
    if plain:
        done.add(profile.objgen)
        for key in set(profile.keys()) - {"/N", "/Length", "/Filter", "/DecodeParms"}:
            del profile[key]
        profile.write(plain)
    else:
        del array[1]
        array[0] = _DEVICE.get(components, Name.DeviceRGB)
