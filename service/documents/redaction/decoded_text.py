"""Decoded text of a PDF's content streams: the strings that they show, through their fonts, in the order of content.

It is what a reader gets that does not place glyphs: it holds text of no size, and text that pdfium leaves out. Beside
it stand all other words of a stream: names, keys, and strings of marked content.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name, String

from service.documents.redaction.fonts import code_map, named_encoding
from service.documents.redaction.standard_fonts import ENCODINGS, character_named
from service.documents.redaction.stream_writing import SHOWING
from service.documents.redaction.values import CannotRewrite

_OPERATORS = "Tj TJ ' \" Tf gs q Q Do BT ET Td TD Tm T* BMC BDC DP MP"
_MOVES = frozenset(("BT", "ET", "Td", "TD", "Tm", "T*", "'", '"'))
_GAP = -180.0
"""Thousandths of the font's size: a number of `TJ` below this leaves a gap between words."""
_DEEPEST = 12
_SECTION = re.compile(rb"beginbf(char|range)(.*?)endbf", re.DOTALL)
_ITEM = re.compile(rb"<([0-9A-Fa-f\s]*)>|([\[\]])")
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_LONGEST_RANGE = 65_536

Decode = Callable[[bytes], str]


@dataclass(frozen=True, slots=True)
class StreamText:
    """The text that a stream shows, and its other words: names, keys, strings."""

    shown: str
    words: tuple[str, ...]


class TextDecoder:
    """Decodes the streams of one open file, each font and each form once."""

    def __init__(self) -> None:
        self._fonts: dict[tuple[int, int], Decode] = {}
        self._forms: dict[tuple[int, int], StreamText] = {}

    def page(self, page: pikepdf.Page) -> StreamText:
        """The text of a page, and of the forms that it paints."""
        return self._text(page, page.obj.get("/Resources"), 0)

    def _text(self, holder: Any, resources: Any, depth: int) -> StreamText:
        resources = resources if isinstance(resources, Dictionary) else Dictionary()
        run = _Run(resources, self._font)
        for category in dict(resources.items()).values():
            run.words += map(name_words, category.keys()) if isinstance(category, Dictionary) else []
        for each in pikepdf.parse_content_stream(holder, _OPERATORS):
            form = run.follow(each)
            if form is not None and depth < _DEEPEST:
                run.add(self._form(form, resources, depth))
        return StreamText("".join(run.shown), tuple(run.words))

    def _form(self, form: Any, resources: Any, depth: int) -> StreamText:
        key = form.objgen
        if key not in self._forms:
            self._forms[key] = StreamText("", ())  # It may paint itself.
            self._forms[key] = self._text(form, form.get("/Resources", resources), depth + 1)
        return self._forms[key]

    def _font(self, font: Any) -> Decode:
        if font.objgen == (0, 0):
            return _decoding(font)
        if font.objgen not in self._fonts:
            self._fonts[font.objgen] = _decoding(font)
        return self._fonts[font.objgen]


class _Run:
    """One pass through the instructions of one stream."""

    def __init__(self, resources: Any, font_of: Callable[[Any], Decode]) -> None:
        self.shown: list[str] = []
        self.words: list[str] = []
        self._resources = resources
        self._font_of = font_of
        self._decode: Decode = _latin
        self._stack: list[Decode] = []

    def add(self, form: StreamText) -> None:
        self.shown += [" ", form.shown, " "]
        self.words += form.words

    def follow(self, instruction: Any) -> Any:
        """Note what an instruction shows; returns the form that it paints."""
        operands, operator = instruction.operands, str(instruction.operator)
        if operator in _MOVES:
            self.shown.append(" ")
        if operator in SHOWING:
            self._show(operands[0] if operator == "TJ" else operands[-1:])
        elif operator == "q":
            self._stack.append(self._decode)
        elif operator == "Q" and self._stack:
            self._decode = self._stack.pop()
        elif operator == "Tf":
            self._set_font(self._named("/Font", operands[0]))
        elif operator == "gs":
            parameters = self._named("/ExtGState", operands[0])
            if isinstance(parameters, Dictionary) and "/Font" in parameters:
                self._set_font(parameters["/Font"][0])
        elif operator == "Do":
            form = self._named("/XObject", operands[0])
            return form if isinstance(form, pikepdf.Stream) and form.get("/Subtype") == Name.Form else None
        else:
            self._note(operands)
        return None

    def _show(self, items: Any) -> None:
        for each in items:
            if isinstance(each, String):
                self.shown.append(self._decode(bytes(each)))
            elif float(each) < _GAP:
                self.shown.append(" ")

    def _set_font(self, font: Any) -> None:
        self._decode = self._font_of(font) if isinstance(font, Dictionary) else _latin

    def _named(self, category: str, name: Any) -> Any:
        named = self._resources.get(category)
        return named.get(str(name)) if isinstance(named, Dictionary) else None

    def _note(self, operands: Any) -> None:
        """Note names, and the strings and names of marked content."""
        for each in operands:
            properties = self._named("/Properties", each) if isinstance(each, Name) else each
            self.words += map(name_words, _said(each, 0))
            self.words += map(name_words, _said(properties, 0)) if properties is not each else ()


def name_words(name: str) -> str:
    """A name with its words apart: `/AcmeGmbH1` is `Acme Gmb H 1`."""
    return _WORDS.sub(" ", name.lstrip("/"))


def _said(value: Any, depth: int) -> list[str]:
    """The strings, names and keys in a value."""
    if isinstance(value, (String, Name)):
        return [str(value)]
    if depth < _DEEPEST and isinstance(value, Array):
        return [each for item in value for each in _said(item, depth + 1)]
    if depth < _DEEPEST and isinstance(value, Dictionary):
        return [each for key, item in value.items() for each in (str(key), *_said(item, depth + 1))]
    return []


def _latin(data: bytes) -> str:
    return data.decode("latin-1")


def _decoding(font: Any) -> Decode:
    """Decoder of a font's strings: by its map to Unicode, else by its encoding."""
    is_composite = font.get("/Subtype") == Name.Type0
    to_unicode = font.get("/ToUnicode")
    table = _unicode_map(to_unicode.read_bytes()) if isinstance(to_unicode, pikepdf.Stream) else {}
    if is_composite:
        return _composite(font, table)
    encoding, differences = named_encoding(font.get("/Encoding"))
    codec = ENCODINGS.get(encoding, "cp1252")
    plain = {code: bytes((code,)).decode(codec, "replace") for code in range(256)}
    plain |= {code: character_named(name) or plain.get(code, "") for code, name in differences.items()}
    plain |= {int.from_bytes(code, "big"): text for code, text in table.items()}
    return lambda data: "".join(plain[each] for each in data)


def _composite(font: Any, table: dict[bytes, str]) -> Decode:
    try:
        codes = code_map(font.get("/Encoding")).divide
    except CannotRewrite:  # One that is not in the file: most of these are of two bytes.
        codes = code_map(Name("/Identity-H")).divide

    def decode(data: bytes) -> str:
        return "".join(table.get(code) or code.decode("utf-16-be", "replace") for code, _ in codes(data))

    return decode


def _unicode_map(data: bytes) -> dict[bytes, str]:
    """Code → text of a ToUnicode CMap (ISO 32000-1, 9.10.3)."""
    table: dict[bytes, str] = {}
    for kind, body in _SECTION.findall(data):
        values = list[Any]()
        inside: list[bytes] | None = None
        for text, bracket in _ITEM.findall(body):
            if bracket:
                inside = [] if bracket == b"[" else None
                values += [] if inside is None else [inside]
            else:
                (values if inside is None else inside).append(_bytes(text))
        if kind == b"char":
            table |= {code: _utf16(text) for code, text in zip(values[::2], values[1::2], strict=False)}
        else:
            for first, last, text in zip(values[::3], values[1::3], values[2::3], strict=False):
                table |= _range(first, last, text)
    return table


def _bytes(text: bytes) -> bytes:
    digits = b"".join(text.split()).decode()
    return bytes.fromhex(digits + "0" * (len(digits) % 2))


def _range(first: bytes, last: bytes, text: bytes | list[bytes]) -> dict[bytes, str]:
    start, count = int.from_bytes(first, "big"), int.from_bytes(last, "big") - int.from_bytes(first, "big") + 1
    codes = [(start + i).to_bytes(len(first), "big") for i in range(min(max(count, 0), _LONGEST_RANGE))]
    if isinstance(text, list):
        return {code: _utf16(each) for code, each in zip(codes, text, strict=False)}
    base = int.from_bytes(text, "big")
    return {code: _utf16((base + i).to_bytes(len(text) + 1, "big")[-len(text) :]) for i, code in enumerate(codes)}


def _utf16(text: bytes) -> str:
    return text.decode("utf-16-be", "replace") if len(text) > 1 else text.decode("latin-1")
