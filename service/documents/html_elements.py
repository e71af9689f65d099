"""Computes what an open element of an HTML page passes on: whether its text shows, and how it is separated.

Beside styles and attributes it knows what browsers do by themselves: links and form controls have colours of their
own, tables of a page without a document type inherit little, and a sheet that is linked may paint any ground.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from service.documents.colours import TRANSPARENT, WHITE, Special
from service.documents.html_ink import (
    NO_INK_STYLE,
    PLAIN_INK,
    PRESENTED,
    ROOT_PX,
    Ink,
    InkStyle,
    attribute_style,
    child_ink,
)
from service.documents.html_style import PLAIN, Display, Style

CONTROLS = frozenset(("button", "input", "option", "select", "textarea"))
NOTED = frozenset("img svg canvas video picture object iframe embed link".split())
"""Tags that matter to the elements after them: pictures, and links to sheets."""
_UNLIKE = frozenset((*CONTROLS, "sup"))
"""Elements that differ from their parent without a style."""
_FONTS = "fonts.g"
"""Part of the addresses of sheets that say nothing but which fonts there are."""
_IMPORT = re.compile(r"@import\b([^;{}]{0,500})", re.I)
_SECTIONS = frozenset("header footer nav main section aside th thead tfoot caption".split())
"""Tags on which a linked sheet often paints a ground without a class."""
_LEAST_OPACITY = 0.1
"""Opacity of a picture that a person sees."""
_MOST_KNOWN = 4_096
"""Elements that are kept by their parent and style."""


@dataclass(frozen=True, slots=True)
class Element:
    """An open element that is laid out: what its children inherit, and how it is separated from what follows."""

    is_shown: bool = True
    invisible: bool = False
    ink: Ink = PLAIN_INK
    may_be_painted: bool = False  # by a linked sheet, on its ground
    display: Display = Display.SILENT
    is_raised: bool = False

    @property
    def passes_on_all(self) -> bool:
        """True if a child without a style of its own is like it."""
        return self.display is Display.SILENT and not self.is_raised

    @property
    def shows_pictures(self) -> bool:
        """True if a person sees its pictures."""
        return not (self.invisible or self.ink.struck or self.ink.opacity < _LEAST_OPACITY)


PLAIN_ELEMENT = Element()


class Inheritance:
    """Elements of one page, by their parents."""

    def __init__(self) -> None:
        self.is_quirky = True
        self._has_linked_sheet = False
        self._is_painted = False  # somewhere, other than in white
        self._is_layered = False  # something stands out of the flow
        self._root_px = ROOT_PX
        self._body_ink = PLAIN_INK
        self._known: dict[tuple[int, int, int, str, bool, bool], tuple[Element, Element, Style, InkStyle]] = {}

    def note(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Keep what matters to the elements that follow."""
        if tag != "link":
            self._is_painted = True
        elif "stylesheet" in attributes.get("rel", "").lower() and _FONTS not in attributes.get("href", ""):
            self._has_linked_sheet = True

    def note_unread(self, style: Style) -> None:
        """Keep what an element says whose content is not read, such as a film: where it stands."""
        self._is_layered |= style.ink.positioned is True and not style.hides

    def note_sheet(self, css: str) -> None:
        """Keep what a `<style>` sheet says beside its rules: that it imports others."""
        self._has_linked_sheet |= any(_FONTS not in address for address in _IMPORT.findall(css))

    def child(self, parent: Element, tag: str, attributes: Mapping[str, str], style: Style) -> Element:
        """An element; the same for children of the same parent with the same style, of which a table has many."""
        said = style.ink if tag not in PRESENTED else self._presented(tag, attributes, style.ink, parent)
        is_named = self._has_linked_sheet and ("class" in attributes or "id" in attributes or tag in _SECTIONS)
        is_like = style is PLAIN and said is NO_INK_STYLE and tag not in _UNLIKE and not is_named
        if is_like and parent.passes_on_all:
            return parent
        if tag in ("html", "body"):
            return self._new_child(parent, tag, style, said, is_named=is_named)
        key = (id(parent), id(style), id(said), tag if tag in _UNLIKE else "", is_named, self._stands_apart(said))
        if (known := self._known.get(key)) is not None:
            return known[0]
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        child = self._new_child(parent, tag, style, said, is_named=is_named)
        child = parent if child == parent else child
        self._known[key] = child, parent, style, said
        return child

    def _stands_apart(self, said: InkStyle) -> bool:
        """True if an element may stand on another than its parent."""
        return said.positioned is not None and self._is_painted and self._is_layered

    def _presented(self, tag: str, attributes: Mapping[str, str], ink: InkStyle, parent: Element) -> InkStyle:
        """The ink that a tag, its attributes and its style set."""
        if tag == "a" and parent.ink is PLAIN_INK:
            return ink
        given = attribute_style(tag, attributes)
        if tag == "table" and self.is_quirky and parent.ink is not PLAIN_INK:
            given = InkStyle(colour=self._body_ink.colour, size=(ROOT_PX, "px")).over(given)
        return ink.over(given)

    def _new_child(self, parent: Element, tag: str, style: Style, said: InkStyle, *, is_named: bool) -> Element:
        invisible = parent.invisible if style.invisible is None else style.invisible
        paints = said.ground is not None and said.ground is not TRANSPARENT
        self._is_painted |= paints and said.ground != WHITE
        self._is_layered |= said.positioned is True
        if said.positioned is not None:
            said = replace(said, positioned=self._stands_apart(said) or None)
        is_box = style.display is Display.BOX
        inherits_all = said is NO_INK_STYLE and not is_box
        ink = parent.ink if inherits_all else child_ink(parent.ink, said, self._root_px, is_box=is_box)
        if tag == "html":
            self._root_px = ink.size_px
        elif tag == "body":
            self._body_ink = ink
        if tag == "body" and self._has_linked_sheet and not ink.shows_on(ink.ground):
            is_named = True  # a page in pale letters has a ground from elsewhere
        may_be_painted = (parent.may_be_painted or is_named) and not paints
        ground = Special.UNKNOWN if may_be_painted else ink.ground
        is_shown = not (invisible or ink.struck) and (ink is PLAIN_INK or ink.shows_on(ground))
        display = _display(parent.display, tag, style.display)
        return Element(is_shown, invisible, ink, may_be_painted, display, tag == "sup" or style.raised)


def _display(around: Display, tag: str, own: Display) -> Display:
    if around is Display.CONTAINER and own in (Display.SILENT, Display.BOX):
        return Display.CELL
    return Display.BOX if tag in CONTROLS - {"option"} else own
