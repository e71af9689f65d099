"""Pictures inside a DOCX or HTML file: which of them are read, and where they stand in the text.

While a text is written, a mark stands in it for each picture that is to be recognized (`ocr`); the whole text is then
taken apart into text and places. Pictures too small for a few words, such as icons, are as if they were not there.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from itertools import accumulate
from urllib.parse import unquote_to_bytes

from service.core.errors import GleanerError
from service.documents.document import MOST_PICTURES, UNREAD_PICTURES, Charset, Document, UnreadReason, left_out_text
from service.documents.docx_colours import attribute
from service.documents.format_detection import picture_kind
from service.documents.ocr.pictures import opened_picture, turn_to
from service.documents.text_writer import TextWriter

SIGN = "\uffff"
"""Character that no text has: Unicode's own sign for none."""
_MARK = re.compile(f"{SIGN}(\\d+){SIGN}")
_LEAST_SIDE, _LEAST_AREA = 16, 8_000
"""Pixels of the shorter side of a picture, and of its area, that hold a few words."""
SAMPLE_BYTES = 65_536
"""Bytes of a picture's beginning, by which it is judged."""
_DATA = re.compile(r"\s*data:[^,]{0,200},", re.I)
_SOURCES = {"img": "src", "object": "data", "image": "href"}
"""The attribute of an HTML element that names a picture."""
_GROUND = re.compile(r"background(?:-image)?\s{0,9}:[^;]{0,200}?url\(\s{0,9}['\"]?(data:image[^'\")]+)", re.I)
_SIZE = re.compile(r"\s{0,9}(\d{1,5})(?:\.\d*)?(?:px)?\s*$", re.I)
_STYLED_SIZE = {
    side: re.compile(rf"(?:^|[;\s]){side}\s{{0,9}}:\s{{0,9}}(\d{{1,5}})(?:\.\d+)?(?:px|\s*(?:;|$))", re.I)
    for side in ("width", "height")
}
_PAGE_PIXELS = 1_000
_PIXEL_EMU = 9_525
"""English metric units of a pixel, of which an inch has 96."""
_MOST_CROPPED = 5_000
"""Thousandths of a percent that may be cropped from a side of a picture that is read."""
_LEAST_OPACITY = 10_000
"""Thousandths of a percent of opacity of a picture that a person sees."""
_VML_SIZE = re.compile(r"(?:^|;)(width|height):(\d{1,6}(?:\.\d{0,6})?)(pt|in|cm|mm|px|)")
_RELATIVE = re.compile(r"mso-(?:width|height)-percent:[1-9]|mso-wrap-style:none")
_LEAST_BOX_PIXELS = 4
"""Width of a text box that shows a letter; a low one may grow with its text."""
VML_SHAPES = frozenset(("shape", "rect", "roundrect", "oval"))
_PIXELS = {"pt": 96 / 72, "in": 96.0, "cm": 96 / 2.54, "mm": 96 / 25.4, "px": 1.0, "": 1.0}
_DRAWN_TEXT = re.compile(rb"<(?:\w{1,20}:)?(?:text|foreignObject)\b", re.I)


def is_small(width: float, height: float) -> bool:
    """True if so many pixels, of the picture or as it is shown, cannot hold a few words."""
    return min(width, height) < _LEAST_SIDE or width * height < _LEAST_AREA


class EmbeddedPictures:
    """The pictures of one file. `marks`: by name, in the order in which they came; one that is not read has none.

    `is_partly_read` is True if one of them is not to be read, though it may hold text.
    """

    def __init__(self) -> None:
        self.marks: dict[str, str] = {}
        self.is_partly_read = False

    def mark(self, name: str, number: int, sample: Callable[[], bytes]) -> str:
        """The mark for a picture's place in the text.

        Args:
            name: one for equal pictures.
            number: by which the picture can be had again.
            sample: loads its first bytes.
        """
        if name not in self.marks:
            is_read = len(self.marks) < MOST_PICTURES and self._is_read(sample())
            self.marks[name] = f"{SIGN}{number}{SIGN}" if is_read else ""
        return self.marks[name]

    def _is_read(self, sample: bytes) -> bool:
        if picture_kind(sample) is None:
            drawing = sample.lstrip().startswith(b"<")
            self.is_partly_read |= bool(sample) and (not drawing or _DRAWN_TEXT.search(sample) is not None)
            return False
        try:
            with opened_picture(sample) as picture:
                if is_small(*picture.size):
                    return False
                turn_to(picture, 1)
        except GleanerError:
            self.is_partly_read |= len(sample) < SAMPLE_BYTES
            return len(sample) >= SAMPLE_BYTES  # what is wrong with its beginning alone may be right as a whole
        return True

    def document(
        self, marked: str, *, charset: Charset | None = None, left_out: Mapping[UnreadReason, int]
    ) -> Document:
        """The document of a text with marks. `left_out`: characters that no person sees, or that are struck out."""
        parts = _MARK.split(marked) if SIGN in marked else [marked]
        texts, numbers = parts[::2], map(int, parts[1::2])
        places = tuple(zip(accumulate(map(len, texts)), numbers, strict=False))
        is_partly_read = self.is_partly_read or len(places) > MOST_PICTURES
        return Document(
            "".join(texts),
            partly_read=(*left_out_text(left_out), *[UNREAD_PICTURES] * is_partly_read),
            charset=charset,
            pictures=places[:MOST_PICTURES],
        )


def is_marks(text: str) -> bool:
    """True of a text that is marks alone."""
    return text.startswith(SIGN) and not _MARK.sub("", text)


def write_block(writer: TextWriter, text: str) -> None:
    """Write a text on lines of its own; marks alone take none."""
    if is_marks(text):
        writer.mark(text)
    else:
        writer.block()
        writer.verbatim(text)
        writer.block()


def shown_address(tag: str, attributes: Mapping[str, str]) -> str:
    """The `data:` address of the picture that an element of HTML shows; nothing if there is none, or it is small."""
    address = attributes.get(_SOURCES.get(tag, ""), "") or attributes.get("xlink:href", "")
    if not address and (ground := _GROUND.search(attributes.get("style", ""))):
        address = ground[1]
    if not _DATA.match(address) or is_small(*(_pixels(attributes, side) for side in ("width", "height"))):
        return ""
    return address


def _pixels(attributes: Mapping[str, str], side: str) -> int:
    """Read the side that a picture is shown with; a large one where none is said."""
    said = _SIZE.match(attributes.get(side, "")) or _STYLED_SIZE[side].search(attributes.get("style", ""))
    return int(said[1]) if said else _PAGE_PIXELS


def data_of(address: str) -> bytes:
    """The bytes that a `data:` address holds; of a damaged one, bytes that are no picture."""
    start = _DATA.match(address)
    assert start is not None, "another address is none of a picture here"
    data = unquote_to_bytes(address[start.end() :])
    if ";base64" not in start.group().lower():
        return data
    try:
        return base64.b64decode(data + b"==")
    except binascii.Error:
        return b"?"


class Drawing:
    """The open drawing of a DOCX part, and the picture that it shows.

    The format: ECMA-376 part 1, 20.1 and 20.4 (DrawingML), part 4, 19.1 (VML).
    """

    ELEMENTS = frozenset("extent docPr blip alphaModFix srcRect blipFill imagedata".split()) | VML_SHAPES

    def __init__(self) -> None:
        self.hides_text = False
        """True if nobody sees the text of the drawing's boxes."""
        self._relationship, self._is_whole = "", True
        self._is_unseen = False

    def read(self, name: str, attributes: Mapping[str, str]) -> None:
        """Read an element of the drawing."""
        if name == "extent":
            self._read_size(*extent_pixels(attributes), is_hidden=False)
        elif name == "docPr" and attribute(attributes, "hidden") in ("1", "true"):
            self._is_unseen = self.hides_text = True
        elif name == "blip":
            self._relationship = "" if self._is_unseen else attribute(attributes, "embed")
            self._is_whole = True
        elif name == "alphaModFix":
            is_faint = _number(attributes, "amt") < _LEAST_OPACITY
            self._relationship = "" if is_faint else self._relationship
        elif name == "srcRect":
            self._is_whole = max(_number(attributes, side) for side in "ltrb") <= _MOST_CROPPED
        elif name in VML_SHAPES:
            style = attribute(attributes, "style")
            self._read_size(*vml_pixels(style), is_hidden="visibility:hidden" in style)
        elif name == "imagedata":
            self._relationship = "" if self._is_unseen else attribute(attributes, "id")
            self._is_whole = not any(name.startswith("crop") for name in attributes)

    def _read_size(self, width: float, height: float, *, is_hidden: bool) -> None:
        self._is_unseen = is_hidden or is_small(width, height)
        self.hides_text = is_hidden or width < _LEAST_BOX_PIXELS

    def picture(self) -> tuple[str, bool]:
        """Take the relationship of the picture that was read, and whether all of the picture shows."""
        taken, self._relationship = self._relationship, ""
        return taken, self._is_whole


def extent_pixels(attributes: Mapping[str, str]) -> tuple[float, float]:
    """Width and height of DrawingML's `extent`."""
    return _number(attributes, "cx") / _PIXEL_EMU, _number(attributes, "cy") / _PIXEL_EMU


def vml_pixels(style: str) -> tuple[float, float]:
    """Width and height that a shape of VML is shown with; large where none are said, or they follow page or text."""
    if _RELATIVE.search(style):
        return _PAGE_PIXELS, _PAGE_PIXELS
    sizes = {side: float(number) * _PIXELS[unit] for side, number, unit in _VML_SIZE.findall(style)}
    return sizes.get("width", _PAGE_PIXELS), sizes.get("height", _PAGE_PIXELS)


def _number(attributes: Mapping[str, str], name: str) -> int:
    said = attribute(attributes, name)[:12]
    return int(said) if said.isascii() and said.isdigit() else 0
