"""Reads colours as CSS and WordprocessingML write them, and tells whether text in one shows on a ground of another.

CSS Color 4: names, `#`, `rgb()`, `hsl()`, `hwb()`. Of other functions and of variables the colour is unknown, and text
of an unknown colour, or on an unknown ground, is taken to show.
"""

from __future__ import annotations

import colorsys
import math
import re
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

from PIL import ImageColor


class Special(Enum):
    """Value that stands for a colour."""

    UNKNOWN = auto()
    CURRENT = auto()  # that of the text; for the text itself, its parent's


@dataclass(frozen=True, slots=True)
class Colour:
    """Colour in sRGB: parts of 0 to 1, and how opaque it is."""

    red: float
    green: float
    blue: float
    alpha: float = 1.0

    def over(self, ground: Colour) -> Colour:
        """This colour as it shows on an opaque ground."""
        own, rest = self.alpha, 1 - self.alpha
        return Colour(
            self.red * own + ground.red * rest,
            self.green * own + ground.green * rest,
            self.blue * own + ground.blue * rest,
        )


Paint = Colour | Special
BLACK, WHITE, TRANSPARENT = Colour(0, 0, 0), Colour(1, 1, 1), Colour(0, 0, 0, 0)
_LEAST_DIFFERENCE = 6.0
"""Least difference at which text shows, in CIE 1976 L*a*b* with the weight below: on white `#ededed` is the palest."""
_LEAST_ALPHA = 0.06
"""Least opacity at which text shows on a ground that is not known; black on white is then like `#f0f0f0`."""
_CHROMA_WEIGHT = 1 / 3
"""Weight of a difference in hue against one in lightness: thin strokes are told apart by lightness (`#ffffe0`)."""
_SYSTEM = frozenset(
    "accentcolor accentcolortext activeborder activecaption activetext appworkspace background buttonborder buttonface "
    "buttonhighlight buttonshadow buttontext captiontext field fieldtext graytext highlight highlighttext "
    "inactiveborder inactivecaption inactivecaptiontext infobackground infotext linktext mark marktext menu menutext "
    "scrollbar selecteditem selecteditemtext threeddarkshadow threedface threedhighlight threedlightshadow "
    "threedshadow visitedtext window windowframe windowtext -webkit-link".split()
)
"""Colours that a person's system chooses (CSS Color 4, 6.2 and A)."""
_LONGEST = 200
"""Characters of a value that is looked at."""
_HEX = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\Z")
_FUNCTION = re.compile(r"(rgb|hsl|hwb)a?\(([^()]{1,200})\)$")
_PART = re.compile(r"[^\s,/]+")
_TOKEN = re.compile(r"#[0-9a-f]+|[a-z][a-z-]*(?:\([^()]*\))?")
_NUMBER = re.compile(r"([+-]?\d{0,9}(?:\.\d{1,9})?)(%|deg|rad|grad|turn)?\d*$")
_ANGLES = {"deg": 1.0, "rad": 180 / math.pi, "grad": 0.9, "turn": 360.0, "": 1.0, "%": 3.6}


def colour_of(css: str) -> Paint | None:
    """The colour that a value in small letters writes; None: it writes none."""
    if len(css) > _LONGEST:
        return Special.UNKNOWN if "(" in css else None
    return _short_colour(css)


@lru_cache(maxsize=4096)
def _short_colour(css: str) -> Paint | None:
    if css in ("currentcolor", "inherit", "unset"):
        return Special.CURRENT
    if css == "transparent":
        return TRANSPARENT
    if css in ImageColor.colormap:
        return Colour(*(part / 255 for part in ImageColor.getrgb(css)))
    if css in ("canvas", "canvastext", "initial"):
        return WHITE if css == "canvas" else BLACK
    if css in _SYSTEM:
        return Special.UNKNOWN
    if _HEX.match(css):
        return _of_digits(css[1:])
    if "(" not in css:
        return None
    found = _FUNCTION.match(css)
    return (found and _of_function(found[1], _PART.findall(found[2]))) or Special.UNKNOWN


def colour_within(css: str) -> str | None:
    """The first part of a value, such as a shadow's, that writes a colour; None: there is none."""
    if "var(" in css:
        return "var()"
    return next((part for part in _TOKEN.findall(css) if colour_of(part) is not None), None)


@lru_cache(maxsize=4096)
def shows_on(text: Paint, ground: Paint, opacity: float = 1.0) -> bool:
    """True if a person can see text of this colour and opacity on this ground."""
    alpha = opacity * (1.0 if isinstance(text, Special) else text.alpha)
    if isinstance(text, Special) or isinstance(ground, Special):
        return alpha >= _LEAST_ALPHA
    shown = Colour(text.red, text.green, text.blue, alpha).over(ground)
    (light, *hue), (ground_light, *ground_hue) = _lab(shown), _lab(ground)
    return math.hypot(light - ground_light, _CHROMA_WEIGHT * math.dist(hue, ground_hue)) >= _LEAST_DIFFERENCE


def _of_digits(digits: str) -> Colour:
    if len(digits) < 6:
        digits = "".join(2 * digit for digit in digits)
    return Colour(*(int(digits[at : at + 2], 16) / 255 for at in range(0, len(digits), 2)))


def _of_function(name: str, parts: list[str]) -> Colour | None:
    read = [_number(part) for part in parts]
    numbers = [each for each in read if each is not None]
    if len(numbers) != len(parts) or len(parts) not in (3, 4):
        return None
    alpha = _share(*numbers[3], 1.0) if len(numbers) == 4 else 1.0
    if name == "rgb":
        red, green, blue = (_share(*each, 255.0) for each in numbers[:3])
        return Colour(red, green, blue, alpha)
    hue = numbers[0][0] * _ANGLES[numbers[0][1]] / 360 % 1
    second, third = (_share(value, unit, 100.0) for value, unit in numbers[1:3])
    if name == "hwb":  # of white and black
        grey = max(1.0, second + third)
        white, value = second / grey, 1 - third / grey
        red, green, blue = (white + part * (value - white) for part in colorsys.hsv_to_rgb(hue, 1, 1))
    else:
        red, green, blue = colorsys.hls_to_rgb(hue, third, second)
    return Colour(red, green, blue, alpha)


def _number(css: str) -> tuple[float, str] | None:
    found = _NUMBER.match(css)
    if css == "none":
        return 0.0, ""
    return (float(found[1]), found[2] or "") if found and found[1].strip("+-") else None


def _share(value: float, unit: str, whole: float) -> float:
    return min(max(value / (100.0 if unit == "%" else whole), 0.0), 1.0)


def _lab(colour: Colour) -> tuple[float, float, float]:
    """Lightness, green to red, blue to yellow (CIE 1976), under D65."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (colour.red, colour.green, colour.blue)
    )
    x, y, z = (
        value ** (1 / 3) if value > 216 / 24389 else (24389 / 27 * value + 16) / 116
        for value in (
            (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505,
            0.2126 * red + 0.7152 * green + 0.0722 * blue,
            (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089,
        )
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)
