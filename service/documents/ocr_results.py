"""Reads results of OCR programs: hOCR (Tesseract), ALTO XML (versions 2 to 4) and the JSON of AWS Textract.

A result becomes pages of words with boxes (`placed_pages`), in the order and the units of the file. Empty words are
left out, and boxes are cut at the edge of their page. If ALTO divides a word at the end of a line, each part is a word,
and the first one keeps its hyphen. Textract's boxes are shares of a page's sides: its pages are 1 wide and 1 high.

XML and HTML are read by events, and only the words of the file are kept. XML that declares a document type is refused,
so no entities are expanded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, cast

import msgspec
from lxml import etree

from service.core.errors import UnreadableDocument
from service.documents.charset import decode_text
from service.documents.document import Box, Document
from service.documents.format_detection import Format
from service.documents.limits import DocumentLimits
from service.documents.placed_pages import OcrPage, OcrWord, placed_document

_CHUNK = 65_536
"""Bytes, or characters, that are parsed at a time."""
_HOCR_WORDS = frozenset(("ocrx_word", "ocr_word"))
_HOCR_BOX = re.compile(r"\bbbox((?:\s+-?\d{1,9}(?:\.\d{1,9})?){4})(?![\d.])")
_HTML, _HTML_END = (re.compile(tag, re.IGNORECASE) for tag in (r"<html[\s>]", r"</html\s*>"))
"""The first and the last tag of a whole file; programs also return parts of a file, which have neither."""
_VOID = frozenset("br hr img input link meta wbr".split())


def read_ocr_result(format_: Format, data: bytes, *, charset: str | None, limits: DocumentLimits) -> Document:
    """Read a file of one of the three formats.

    Raises:
        UnreadableDocument: it is damaged; a page or a word has no box, or a wrong one.
        DocumentTooLarge: over a limit.
    """
    made = _Pages(limits)
    match format_:
        case Format.HOCR:
            _read_hocr(decode_text(data, charset, "utf-8")[0], made)
        case Format.ALTO:
            _read_alto(data, made)
        case _:
            _read_textract(data, made)
    return placed_document(map(made.page, range(len(made.pages))), limits)


class _Pages:
    """Pages as they are read: the box of each, if it is known, and its words."""

    def __init__(self, limits: DocumentLimits) -> None:
        self.pages: list[tuple[Box | None, list[OcrWord]]] = []
        self._limits = limits
        self._characters = 0

    def begin(self, box: Box | None) -> None:
        self._limits.check_pages(len(self.pages) + 1)
        self.pages.append((box, []))

    def add(self, text: str, box: Box, page: int = -1) -> None:
        """Add a word to the last page, or to one by its place."""
        text = " ".join(text.split())
        if text:
            self._characters += len(text) + 1
            self._limits.check_characters(self._characters)
            self.pages[page][1].append(OcrWord(text, box))

    def page(self, place: int) -> OcrPage:
        """Make a page whose origin is its upper left corner; without a box it reaches to the farthest words."""
        box, words = self.pages[place]
        if box is None:
            left, top = 0.0, 0.0
            right, bottom = (max((word.box[side] for word in words), default=1.0) for side in (2, 3))
        else:
            left, top, right, bottom = box
        wide, high = right - left, bottom - top
        return OcrPage(wide, high, [OcrWord(each.text, _placed(each.box, left, top, wide, high)) for each in words])

    def where(self) -> str:
        """The place of the next word, for people."""
        return f"page {len(self.pages)}, word {len(self.pages[-1][1])}" if self.pages else "the beginning"


def _placed(box: Box, left: float, top: float, wide: float, high: float) -> Box:
    """Move a box to a page with this corner and cut it at the edges; a box wholly outside is refused later."""
    a, b, c, d = box[0] - left, box[1] - top, box[2] - left, box[3] - top
    is_beside = a > wide or b > high or c < 0 or d < 0
    return (a, b, c, d) if is_beside else (max(a, 0.0), max(b, 0.0), min(c, wide), min(d, high))


def _read_hocr(text: str, made: _Pages) -> None:
    if _HTML.search(text) and not _HTML_END.search(text):
        raise UnreadableDocument("The hOCR is damaged: it was cut off before `</html>`.")
    parser = etree.HTMLParser(target=cast(Any, _HocrReader(made)), encoding="utf-8", huge_tree=True)
    for start in range(0, len(text), _CHUNK):
        parser.feed(text[start : start + _CHUNK].encode())
    parser.close()


class _HocrReader:
    """lxml's parser target for hOCR."""

    def __init__(self, made: _Pages) -> None:
        self._made = made
        self._depth = 0  # open elements from the word's on
        self._box: Box = (0, 0, 0, 0)
        self._text: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        classes = frozenset(attributes.get("class", "").split())
        if "ocr_page" in classes:
            self._end_word()
            self._made.begin(None)
            self._made.pages[-1] = (self._box_of(attributes, f"page {len(self._made.pages)}"), [])
        elif classes & _HOCR_WORDS and self._made.pages:
            self._end_word()
            self._depth, self._box = 1, self._box_of(attributes, self._made.where())
        elif self._depth and tag not in _VOID:
            self._depth += 1

    def _box_of(self, attributes: Mapping[str, str], where: str) -> Box:
        found = _HOCR_BOX.search(attributes.get("title", ""))
        if found is None:
            raise UnreadableDocument(f"{where}: the hOCR has no `bbox` of four numbers in its title.")
        left, top, right, bottom = map(float, found[1].split())
        return left, top, right, bottom

    def _end_word(self) -> None:
        if self._depth:
            self._made.add("".join(self._text), self._box)
        self._depth = 0
        self._text.clear()

    def end(self, tag: str) -> None:
        if self._depth == 1 and tag not in _VOID:
            self._end_word()
        elif self._depth and tag not in _VOID:
            self._depth -= 1

    def data(self, text: str) -> None:
        if self._depth:
            self._text.append(text)

    def comment(self, text: str) -> None:
        """Ignored."""

    def close(self) -> None:
        self._end_word()


def _read_alto(data: bytes, made: _Pages) -> None:
    target = _AltoReader(made)
    parser = etree.XMLParser(
        target=cast(Any, target), resolve_entities=True, no_network=True, load_dtd=False, huge_tree=True
    )
    try:
        for start in range(0, len(data), _CHUNK):
            parser.feed(data[start : start + _CHUNK])
        parser.close()
    except etree.XMLSyntaxError as error:
        raise UnreadableDocument(f"The XML is not well formed ({str(error)[:120]}).") from None


class _AltoReader:
    """lxml's parser target for ALTO; a page without a size, or with 0, has that of its print space."""

    def __init__(self, made: _Pages) -> None:
        self._made = made
        self._last: tuple[str, Box] | None = None  # a word that may be divided

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        made = self._made
        match tag.rpartition("}")[2]:
            case "Page":
                self._end_word()
                made.begin(None)
                if "WIDTH" in attributes and "HEIGHT" in attributes:
                    size = self._number(attributes, "WIDTH"), self._number(attributes, "HEIGHT")
                    if size != (0.0, 0.0):
                        self._set_size(0.0, 0.0, *size)
            case "PrintSpace" if made.pages and made.pages[-1][0] is None and "WIDTH" in attributes:
                left, top, right, bottom = self._box_of(attributes)
                self._set_size(0.0, 0.0, right + max(left, 0.0), bottom + max(top, 0.0))
            case "String" if made.pages:
                self._end_word()
                self._last = attributes.get("CONTENT", ""), self._box_of(attributes)
            case "HYP" if self._last is not None:
                self._last = f"{self._last[0]}-", self._last[1]

    def _set_size(self, *box: float) -> None:
        left, top, right, bottom = box
        self._made.pages[-1] = ((left, top, right, bottom), self._made.pages[-1][1])

    def _box_of(self, attributes: Mapping[str, str]) -> Box:
        left, top, wide, high = (self._number(attributes, name) for name in ("HPOS", "VPOS", "WIDTH", "HEIGHT"))
        return left, top, left + wide, top + high

    def _number(self, attributes: Mapping[str, str], name: str) -> float:
        try:
            number = float(attributes[name])
        except (KeyError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise UnreadableDocument(f"{self._made.where()}: the ALTO has no number as {name}.")
        return number

    def _end_word(self) -> None:
        if self._last is not None:
            self._made.add(*self._last)
        self._last = None

    def end(self, tag: str) -> None:
        if tag.rpartition("}")[2] in ("TextLine", "Page"):
            self._end_word()

    def data(self, text: str) -> None:
        """Ignored: ALTO's words are attributes."""

    def comment(self, text: str) -> None:
        """Ignored."""

    def doctype(self, name: str | None, public_id: str | None, system: str | None) -> None:
        """Refuse the file before it declares an entity: with a parser target lxml expands entities in any case."""
        raise UnreadableDocument("The XML declares a document type, which ALTO does not have.")

    def close(self) -> None:
        self._end_word()


class _TextractBox(msgspec.Struct, rename="pascal"):
    left: float
    top: float
    width: float
    height: float


class _TextractPoint(msgspec.Struct, rename="pascal"):
    x: float
    y: float


class _TextractGeometry(msgspec.Struct, rename="pascal"):
    bounding_box: _TextractBox | None = None
    polygon: list[_TextractPoint] | None = None


class _TextractBlock(msgspec.Struct, rename="pascal"):
    block_type: str
    text: str | None = None
    page: int | None = None
    geometry: _TextractGeometry | None = None


class _TextractMetadata(msgspec.Struct, rename="pascal"):
    pages: int | None = None


class _TextractResponse(msgspec.Struct, rename="pascal"):
    """An answer of Textract; an asynchronous job has several."""

    blocks: list[_TextractBlock]
    document_metadata: _TextractMetadata | None = None


_decode_textract = msgspec.json.Decoder(_TextractResponse | list[_TextractResponse]).decode


def _read_textract(data: bytes, made: _Pages) -> None:
    try:
        found = _decode_textract(data.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise UnreadableDocument(f"The JSON is no answer of Textract: {str(error)[:200]}.") from None
    for answer in found if isinstance(found, list) else [found]:
        pages = 1 if answer.document_metadata is None else answer.document_metadata.pages or 1
        for block in answer.blocks:
            pages = max(pages, block.page or 1)
        while len(made.pages) < pages:
            made.begin((0.0, 0.0, 1.0, 1.0))
        for block in answer.blocks:
            if block.block_type == "WORD":
                page = max(block.page or 1, 1) - 1
                made.add(block.text or "", _textract_box(block, page, len(made.pages[page][1])), page)


def _textract_box(block: _TextractBlock, page: int, word: int) -> Box:
    geometry = block.geometry or _TextractGeometry()
    if (box := geometry.bounding_box) is not None:
        return box.left, box.top, box.left + box.width, box.top + box.height
    if not geometry.polygon:
        raise UnreadableDocument(f"page {page + 1}, word {word}: Textract's JSON has no Geometry of it.")
    across, down = [each.x for each in geometry.polygon], [each.y for each in geometry.polygon]
    return min(across), min(down), max(across), max(down)
