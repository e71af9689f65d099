"""Reads colours of WordprocessingML: hexadecimal ones, those of the theme, highlights and shadings.

ECMA-376 part 1, 17.3.2.6 (color), 17.3.2.15 (highlight), 17.3.5 (shading), 20.1.6.2 (theme). A theme's colour counts
before the value that stands beside it. An automatic colour suits its ground, and so always shows.
"""

from __future__ import annotations

import colorsys
import re
from collections.abc import Mapping

from service.documents.colours import BLACK, TRANSPARENT, WHITE, Colour, Paint, Special, colour_of

Theme = Mapping[str, Colour]
"""Colours of a theme by their names in it: `lt1`, `accent1`."""
DRAWN_COLOURS = frozenset("srgbClr schemeClr sysClr prstClr hslClr scrgbClr".split())
"""Local names of DrawingML's elements for colours."""
_OF_THEME = re.compile(
    rb"<a:(dk[12]|lt[12]|accent[1-6]|hlink|folHlink)>\s{0,20}<a:(?:sys|srgb)Clr\s[^>]{0,100}?"
    rb'(?:lastClr|val)="([0-9A-Fa-f]{6})"'
)
_THEME_NAMES = {
    "background1": "lt1", "light1": "lt1", "bg1": "lt1", "text1": "dk1", "dark1": "dk1", "tx1": "dk1",
    "background2": "lt2", "light2": "lt2", "bg2": "lt2", "text2": "dk2", "dark2": "dk2", "tx2": "dk2",
    "hyperlink": "hlink", "followedHyperlink": "folHlink",
}  # fmt: skip
_DEFAULT_THEME = {"lt1": WHITE, "dk1": BLACK}
_HIGHLIGHTS = {
    "green": "00ff00", "darkBlue": "000080", "darkCyan": "008080", "darkGreen": "008000", "darkMagenta": "800080",
    "darkRed": "800000", "darkYellow": "808000", "darkGray": "808080", "lightGray": "c0c0c0",
}  # fmt: skip
"""Highlights that differ from CSS's colours of these names."""


def attribute(attributes: Mapping[str, str], name: str) -> str:
    """The attribute of this local name, or nothing."""
    return next((value for key, value in attributes.items() if key.rpartition("}")[2] == name), "")


def theme_of(data: bytes) -> Theme:
    """The colours of a theme's part."""
    found = ((name.decode(), colour_of(f"#{digits.decode().lower()}")) for name, digits in _OF_THEME.findall(data))
    return _DEFAULT_THEME | {name: colour for name, colour in found if isinstance(colour, Colour)}


def text_colour(attributes: Mapping[str, str], theme: Theme) -> Paint:
    """The colour of `w:color`."""
    return _colour(attributes, "val", "theme", theme) or Special.UNKNOWN


def shading(attributes: Mapping[str, str], theme: Theme) -> Paint:
    """The ground of `w:shd`; of a pattern it is not known."""
    pattern = attribute(attributes, "val")
    if pattern == "solid":
        return _colour(attributes, "color", "theme", theme) or BLACK
    if pattern in ("clear", "", "nil"):
        return (pattern != "nil" and _colour(attributes, "fill", "themeFill", theme)) or TRANSPARENT
    return Special.UNKNOWN


def highlight(attributes: Mapping[str, str]) -> Paint:
    """The ground of `w:highlight`."""
    name = attribute(attributes, "val")
    return colour_of(f"#{_HIGHLIGHTS[name]}" if name in _HIGHLIGHTS else name.lower()) or TRANSPARENT


def drawn_colour(name: str, attributes: Mapping[str, str], theme: Theme) -> Paint:
    """The colour of an element of DrawingML (`DRAWN_COLOURS`); of those that are rarely written it is not known."""
    value = attribute(attributes, "val")
    if name == "schemeClr":
        return theme.get(_THEME_NAMES.get(value, value), Special.UNKNOWN)
    if name == "srgbClr" or name == "sysClr":
        digits = value if name == "srgbClr" else attribute(attributes, "lastClr")
        return colour_of(f"#{digits.lower()}") or Special.UNKNOWN
    return (name == "prstClr" and colour_of(value.lower())) or Special.UNKNOWN


def _colour(attributes: Mapping[str, str], value: str, themed: str, theme: Theme) -> Paint | None:
    """A colour by its attributes; None: automatic, or none."""
    name = attribute(attributes, "themeColor" if themed == "theme" else themed)
    if not name or name == "none":
        written = attribute(attributes, value).lower()
        return colour_of(f"#{written}" if re.fullmatch("[0-9a-f]{6}", written) else written)
    colour = theme.get(_THEME_NAMES.get(name, name))
    if colour is None:
        return Special.UNKNOWN
    tint, shade = (_share(attribute(attributes, f"{themed}{kind}")) for kind in ("Tint", "Shade"))
    hue, light, saturation = colorsys.rgb_to_hls(colour.red, colour.green, colour.blue)
    red, green, blue = colorsys.hls_to_rgb(hue, 1 - (1 - light * shade) * tint, saturation)
    return Colour(red, green, blue)


def _share(digits: str) -> float:
    return int(digits, 16) / 255 if re.fullmatch("[0-9A-Fa-f]{1,2}", digits) else 1.0
