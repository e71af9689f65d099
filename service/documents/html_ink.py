"""Computes whether the text of an HTML element has ink: its colour on its ground, opacity, size, a line through it.

The ground is the background of the nearest ancestor that has one, and white under all. A picture, a gradient, a value
that is computed, and what positioned text may stand on are not known: such text is taken to show.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache

from service.documents.colours import (
    BLACK,
    TRANSPARENT,
    WHITE,
    Colour,
    Paint,
    Special,
    colour_of,
    colour_within,
    shows_on,
)

ROOT_PX = 16.0
_LEAST_PX = 4.0
"""Font size in pixels (4 are 3 points) under which nobody reads: its small letters are less than half a millimetre."""
_PX = {"px": 1, "pt": 4 / 3, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6, "": 1}
_PARENTS = {"em": 1, "%": 0.01, "ex": 0.5, "ch": 0.5, "smaller": 1 / 1.2, "larger": 1.2, "inherit": 1}
_SIZE = re.compile(r"(?:calc\(|clamp\([^()]*,)?\s*(\d{1,6}\.?\d{0,6}|\.\d{1,6})([a-z%]{0,9})\)?$")
_NO_STROKE = re.compile(r"0[a-z]*(?:$| (?![-+.0-9]))")
"""An outline without width; a shadow has two lengths at least, and shows around the letters even where both are 0."""
_FONT_SIZE = re.compile(r"(?:^|\s)(0|(?:\d{1,6}\.?\d{0,6}|\.\d{1,6})[a-z%]+)(?:\s*/|\s)")
_IMAGE = re.compile(r"url\(|gradient\(|image|element\(|paint\(|var\(")
_OPACITY = re.compile(r"(\d{0,9}\.?\d{0,9})(%?)\d*$")
_FAINT = re.compile(r"opacity\(\s*([^()\s]+)\s*\)")

_POSITIONED = {"absolute": True, "fixed": True, "relative": False, "sticky": False}
_DIGITS = re.compile(r"[0-9a-f]{6}\Z")
_LONGEST_ATTRIBUTE = 100
"""Characters of a colour's attribute that are looked at: no name of a colour is as long."""
_STRUCK_TAGS = frozenset(("del", "s", "strike"))
_OWN_COLOURED = frozenset(("input", "select", "textarea", "button", "mark"))
PRESENTED = frozenset("body font table thead tbody tfoot tr td th a".split()) | _STRUCK_TAGS | _OWN_COLOURED
"""Tags that set ink by themselves or by their attributes."""
_ATTRIBUTES = frozenset(("color", "text", "bgcolor", "background"))
INK_PROPERTIES = frozenset(
    "color -webkit-text-fill-color -webkit-text-stroke -webkit-text-stroke-color text-shadow background "
    "background-color background-image background-clip -webkit-background-clip opacity filter font font-size "
    "text-decoration text-decoration-line text-decoration-color position animation animation-name color-scheme".split()
)
"""Properties that say something of ink."""
UNSURE = dict.fromkeys(("color", "background-color", "background-image"), "var()")
"""Declarations of colours that may hold or not."""


@dataclass(frozen=True, slots=True)
class InkStyle:
    """Properties of ink that an element's style or its attributes set; None: unset."""

    colour: Paint | None = None
    fill: Paint | None = None  # in place of the colour
    edge: Paint | None = None  # of a shadow or outline
    ground: Paint | None = None
    filled_by_ground: bool | None = None
    opacity: float | None = None
    size: tuple[float, str] | None = None
    struck: bool | None = None
    positioned: bool | None = None  # out of the flow; False: beside its place in it

    def over(self, weaker: InkStyle) -> InkStyle:
        """This style where it says something, otherwise another."""
        if self is NO_INK_STYLE or weaker is NO_INK_STYLE:
            return weaker if self is NO_INK_STYLE else self
        return _layered(self, weaker)


NO_INK_STYLE = InkStyle()
_STRUCK, _LINK = InkStyle(struck=True), InkStyle(colour=Special.UNKNOWN)
_FIELD = InkStyle(colour=BLACK, fill=Special.CURRENT, ground=WHITE)
_UNLIKE_WHITE = replace(_FIELD, ground=Special.UNKNOWN)  # grey or yellow


@lru_cache(maxsize=4096)
def _layered(stronger: InkStyle, weaker: InkStyle) -> InkStyle:
    said = {each.name: value for each in fields(stronger) if (value := getattr(stronger, each.name)) is not None}
    return replace(weaker, **said)


@dataclass(frozen=True, slots=True)
class Ink:
    """Ink of an open element's text, with what it inherits."""

    colour: Paint = BLACK
    fill: Paint | None = None
    edge: Paint | None = None
    ground: Paint = WHITE
    opacity: float = 1.0
    size_px: float = ROOT_PX
    struck: bool = False

    def shows_on(self, ground: Paint) -> bool:
        """True if a person sees letters of this size, colour and opacity on a ground."""
        paints = (self.fill or self.colour, self.edge)
        return self.size_px >= _LEAST_PX and any(
            shows_on(self.colour if paint is Special.CURRENT else paint, ground, self.opacity)
            for paint in paints
            if paint is not None
        )


PLAIN_INK = Ink()


def longhands(name: str, value: str) -> Iterator[tuple[str, str]]:
    """The properties of ink that a declaration sets; none if browsers ignore it."""
    if name == "background":
        yield "background-image", value if _IMAGE.search(value) else "none"
        yield "background-color", colour_within(value) or "transparent"
        yield "background-clip", "text" if "text" in value.split() else "border-box"
    elif name == "font":
        found = _FONT_SIZE.search(value)
        yield "font-size", found[1] if found else "inherit" if value == "inherit" else "medium"
    elif name == "text-decoration":
        yield "text-decoration-line", value
        yield "text-decoration-color", colour_within(value.replace("line-through", "")) or "currentcolor"
    elif name not in ("color", "background-color") or colour_of(value) is not None:
        yield name.removeprefix("-webkit-") if name.endswith("background-clip") else name, value


def ink_style(said: Mapping[str, str]) -> InkStyle:
    """The ink that an element's declarations set."""
    fill = said.get("-webkit-text-fill-color")
    edges = [said[name] for name in ("text-shadow", "-webkit-text-stroke", "-webkit-text-stroke-color") if name in said]
    style = InkStyle(
        colour=colour_of(said["color"]) if "color" in said else None,
        fill=colour_of(fill) if fill else None,
        edge=_edge(edges[-1]) if edges else None,
        ground=_ground(said),
        filled_by_ground="text" in said.get("background-clip", "") or None,
        opacity=_opacity(said),
        size=_size(said["font-size"]) if "font-size" in said else None,
        struck=_is_struck(said),
        positioned=_POSITIONED.get(said.get("position", "")),
    )
    return NO_INK_STYLE if style == NO_INK_STYLE else style


@lru_cache(maxsize=4096)
def child_ink(parent: Ink, style: InkStyle, root_px: float, *, is_box: bool) -> Ink:
    """The ink of an element. `is_box`: a line through the parent's text does not go through this element's."""
    colour = parent.colour if style.colour is None or style.colour is Special.CURRENT else style.colour
    fill = parent.fill if style.fill is None else style.fill
    ground = Special.UNKNOWN if style.positioned else parent.ground
    if style.filled_by_ground and not _is_opaque(colour if fill in (None, Special.CURRENT) else fill):
        fill = Special.UNKNOWN if style.ground is None else style.ground
    elif style.ground is not None:
        ground = _painted_over(colour if style.ground is Special.CURRENT else style.ground, ground)
    return Ink(
        colour=colour,
        fill=fill,
        edge=parent.edge if style.edge is None else style.edge,
        ground=ground,
        opacity=parent.opacity if style.opacity is None else parent.opacity * style.opacity,
        size_px=_px(style.size, parent.size_px, root_px),
        struck=bool(style.struck) or (parent.struck and not is_box),
    )


def _is_opaque(paint: Paint | None) -> bool:
    return isinstance(paint, Colour) and paint.alpha == 1


def _painted_over(paint: Paint, ground: Paint) -> Paint:
    if isinstance(paint, Special) or paint.alpha == 1:
        return paint
    if paint.alpha == 0:
        return ground
    return paint.over(ground) if not isinstance(ground, Special) else Special.UNKNOWN


def _edge(css: str) -> Paint:
    if css == "none" or _NO_STROKE.match(css):
        return TRANSPARENT
    return colour_of(colour_within(css) or "currentcolor") or Special.CURRENT


def _ground(said: Mapping[str, str]) -> Paint | None:
    colour = said.get("background-color")
    if _IMAGE.search(said.get("background-image", "none")) or said.get("color-scheme", "").strip(" only") == "dark":
        return Special.UNKNOWN
    return TRANSPARENT if colour in ("inherit", "initial", "unset") else colour_of(colour) if colour else None


def _opacity(said: Mapping[str, str]) -> float | None:
    faint = _FAINT.search(said.get("filter", ""))
    values = [value for value in (said.get("opacity"), faint and faint[1]) if value is not None]
    if not values or "animation" in said or "animation-name" in said:
        return None
    opacity = 1.0
    for value in values:
        found = _OPACITY.match(value)
        if found and found[1].strip("."):
            opacity *= min(float(found[1]) / (100 if found[2] else 1), 1.0)
    return opacity


def _size(css: str) -> tuple[float, str] | None:
    if css in _PARENTS:
        return 1.0, css
    found = _SIZE.match(css)
    if found is None:
        return ROOT_PX, "px"  # a keyword, or computed: large enough
    number, unit = float(found[1]), found[2]
    return None if unit == "" and number else (number, unit)


def _px(size: tuple[float, str] | None, parent_px: float, root_px: float) -> float:
    if size is None:
        return parent_px
    number, unit = size
    if unit in _PARENTS:
        return number * parent_px * _PARENTS[unit]
    return number * root_px if unit == "rem" else number * _PX.get(unit, ROOT_PX)


def _is_struck(said: Mapping[str, str]) -> bool | None:
    line = said.get("text-decoration-line")
    if line is None:
        return None
    colour = colour_of(said.get("text-decoration-color", "currentcolor"))
    return "line-through" in line and (colour is None or shows_on(colour, Special.UNKNOWN))


def attribute_style(tag: str, attributes: Mapping[str, str]) -> InkStyle:
    """The ink that a tag and its attributes set before any style does."""
    if tag in _STRUCK_TAGS:
        return _STRUCK
    if tag == "a":
        return _LINK if "href" in attributes else NO_INK_STYLE
    if tag in _OWN_COLOURED:
        return _UNLIKE_WHITE if tag in ("button", "mark") else _FIELD
    if attributes.keys().isdisjoint(_ATTRIBUTES):
        return NO_INK_STYLE
    colour = attributes.get("color" if tag == "font" else "text", "") if tag in ("font", "body") else ""
    texts = [value.strip()[:_LONGEST_ATTRIBUTE] for value in (colour, attributes.get("bgcolor", ""))]
    return _of_attributes(*texts, "background" in attributes)


@lru_cache(maxsize=1024)
def _of_attributes(colour: str, ground: str, has_picture: bool) -> InkStyle:
    return InkStyle(
        colour=_attribute_colour(colour), ground=Special.UNKNOWN if has_picture else _attribute_colour(ground)
    )


def _attribute_colour(value: str) -> Paint | None:
    value = value.lower()
    colour = colour_of(f"#{value}" if _DIGITS.match(value) else value)
    return colour or (Special.UNKNOWN if value else None)  # browsers make a colour of any value
