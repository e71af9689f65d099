"""Reads drawings of a DOCX file: the text of diagrams, and what is painted behind text, by a box or behind the page.

DrawingML (ECMA-376 part 1, 20.1.8) and VML (part 4, 19.1). A box without a fill stands on the page, or on a picture,
if there is any: then its ground is not known.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from service.documents.colours import TRANSPARENT, WHITE, Paint, Special, colour_of
from service.documents.docx_colours import DRAWN_COLOURS, Theme, attribute, drawn_colour
from service.documents.docx_styles import PartReader
from service.documents.embedded_pictures import VML_SHAPES, extent_pixels, vml_pixels
from service.documents.text_writer import UNSEEN, TextWriter

_UNSEEN = re.compile(f"[{UNSEEN}]")
_BEHIND = re.compile(r"z-index:\s{0,9}-\d")
_FILLS = frozenset(("noFill", "gradFill", "blipFill", "pattFill", "grpFill"))
_CHANGES = frozenset(("lumMod", "lumOff", "tint", "shade", "alpha"))
SHAPES = VML_SHAPES | _FILLS | _CHANGES | DRAWN_COLOURS | frozenset("wsp fillRef fill anchor extent".split())
"""Local names of elements to read."""
_LEAST_PIXELS = 28_500
"""Area (20 square centimetres) from which a picture or shape behind the text may be its ground, and no logo."""


class ShapeReader:
    """Fill of the last shape of a part, and the ground of its page.

    Args:
        ground: of the page.
        has_pictures: whether the file has any, on which a box may stand.
    """

    def __init__(self, theme: Theme, ground: Paint, *, has_pictures: bool) -> None:
        self.page_ground = ground
        self._theme = theme
        self._has_pictures = has_pictures
        self._fill: Paint | None = None
        self._is_behind = self._is_ground = False  # a shape of DrawingML, of VML

    @property
    def box_ground(self) -> Paint:
        """The ground of the text of the last shape."""
        if self._fill is None or self._fill is TRANSPARENT:
            return Special.UNKNOWN if self._has_pictures else self.page_ground
        return self._fill

    def read(self, name: str, attributes: Mapping[str, str], around: Sequence[str]) -> None:
        """Read an element by its local name and the last names around it, the innermost last."""
        if name == "wsp":
            self._fill, self._is_ground = None, False
        elif name in VML_SHAPES:
            self._fill = _vml_fill(attributes)
            self._is_ground = _is_vml_ground(attributes)
        elif name == "fill":
            self._fill = self._fill if attribute(attributes, "type") in ("", "solid") else Special.UNKNOWN
        elif name == "anchor":
            self._is_behind = attribute(attributes, "behindDoc") in ("1", "true")
        elif name == "extent":
            self._read_extent(attributes)
        elif name == "fillRef":
            if self._fill is None and attribute(attributes, "idx") != "0":
                self._fill = Special.UNKNOWN
        elif around[-1:] == ["spPr"] and name in _FILLS:
            self._fill = TRANSPARENT if name == "noFill" else Special.UNKNOWN
        elif around[-2:] == ["spPr", "solidFill"]:
            self._fill = drawn_colour(name, attributes, self._theme)
        elif around[-3:-1] == ["spPr", "solidFill"] and name in _CHANGES:
            self._fill = Special.UNKNOWN
        if self._fill is not None and self._fill not in (TRANSPARENT, WHITE):
            self._has_pictures = True
            self.page_ground = Special.UNKNOWN if self._is_ground else self.page_ground

    def _read_extent(self, attributes: Mapping[str, str]) -> None:
        if self._is_behind and math.prod(extent_pixels(attributes)) >= _LEAST_PIXELS:
            self.page_ground = Special.UNKNOWN
        self._is_behind = False


def _vml_fill(attributes: Mapping[str, str]) -> Paint:
    if attribute(attributes, "filled") in ("f", "false"):
        return TRANSPARENT
    written = attribute(attributes, "fillcolor").lower().split(" ")[0]
    return (colour_of(written) or Special.UNKNOWN) if written else WHITE


def _is_vml_ground(attributes: Mapping[str, str]) -> bool:
    """True of a large shape of VML behind the text; letters as a shape, such as a watermark's, are none."""
    style, kind = attribute(attributes, "style"), attribute(attributes, "type")
    is_behind = _BEHIND.search(style) is not None and not kind.endswith("_t136")
    return is_behind and math.prod(vml_pixels(style)) >= _LEAST_PIXELS


class DiagramReader(PartReader):
    """lxml's parser target for a diagram's data: each paragraph of its text is a line."""

    def __init__(self) -> None:
        self.text = ""
        self._writer = TextWriter()
        self._in_text = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        namespace, _, name = tag.rpartition("}")
        self._in_text = name == "t" and "drawingml" in namespace and namespace.endswith("main")
        if name == "p":
            self._writer.block()

    def end(self, tag: str) -> None:
        self._in_text = False

    def data(self, text: str) -> None:
        if self._in_text:
            self._writer.verbatim(_UNSEEN.sub("", text))

    def close(self) -> None:
        self.text = self._writer.result()
