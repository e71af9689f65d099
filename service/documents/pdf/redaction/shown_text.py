"""One operator that shows text: its glyphs placed on the page, and those taken out that lie where text is to go.

What is left does not move: a glyph that goes leaves a number in its place, by which the pen moves on as far.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from service.documents.pdf.redaction.geometry import BoxGrid, Point, Rectangle, around
from service.documents.pdf.redaction.graphics_state import GraphicsState
from service.documents.pdf.redaction.unsupported import CannotRewrite

Item = bytes | float
"""Of the operator TJ: a string, or a number by which the pen moves back, in thousandths of the font's size."""

_MIDDLE, _DEPTH, _HEIGHT = 0.25, -0.25, 0.95
"""Heights of a glyph's middle, bottom and top above its base line, in font sizes."""


@dataclass(slots=True)
class RedactedArea:
    """Where glyphs go: those whose middle lies in one of the `boxes`, or whose origin does in one of the `origins`.

    Attributes:
        removed: the origins of those that went.
        reworded: the boxes of the glyphs of each passage for which the file has other words.
        passage: the last of these while it goes on.
    """

    boxes: BoxGrid
    origins: BoxGrid
    removed: list[Point] = field(default_factory=list)
    reworded: list[list[Rectangle]] = field(default_factory=list)
    passage: list[Rectangle] | None = None

    def takes(self, origin: Point, middle: Point) -> bool:
        """Whether this glyph goes."""
        if not (self.boxes.holds(middle) or self.origins.holds(origin)):
            return False
        self.removed.append(origin)
        return True


def without_redacted(items: list[Item], state: GraphicsState, area: RedactedArea) -> list[Item] | None:
    """What is left of the items, None if all is; the pen of `state` moves on.

    Raises:
        CannotRewrite: no font is set.
    """
    if state.font is None:
        raise CannotRewrite("text is shown without a font")
    left: list[Item] = []
    before = len(area.removed)
    for item in items:
        if not isinstance(item, bytes):
            _move(state, item)
            left.append(item)
        else:
            left += _shown(item, state, area)
    return _merged(left) if len(area.removed) > before else None


def _shown(data: bytes, state: GraphicsState, area: RedactedArea) -> list[Item]:
    font, size, scaling = state.font, state.size, state.scaling
    assert font is not None, "checked by the caller"
    a, b, c, d, e, f = state.glyphs()
    vertical, pen, left = font.is_vertical, 0.0, list[Item]()
    for code in font.divide(data):
        spacing = state.character_spacing + (state.word_spacing if code.is_space else 0.0)
        step = code.advance + (spacing / size if size else 0.0)
        x, y = code.shift
        if vertical:
            y += pen
            middle_x, middle_y = x + 0.5, y + _MIDDLE
        else:
            x += pen
            middle_x, middle_y = x + code.advance / 2, y + _MIDDLE
        origin = (a * x + c * y + e, b * x + d * y + f)
        middle = (a * middle_x + c * middle_y + e, b * middle_x + d * middle_y + f)
        left.append(-1000 * step if area.takes(origin, middle) else code.data)
        if area.passage is not None:
            area.passage.append(around((a, b, c, d, *origin), (0.0, _DEPTH, max(abs(code.advance), 0.1), _HEIGHT)))
        pen += step
    if vertical:
        state.advance(0.0, pen * size)
    else:
        state.advance(pen * size * scaling, 0.0)
    return left


def _move(state: GraphicsState, number: float) -> None:
    distance = -number / 1000 * state.size
    if state.font is not None and state.font.is_vertical:
        state.advance(0.0, distance)
    else:
        state.advance(distance * state.scaling, 0.0)


def _merged(items: list[Item]) -> list[Item]:
    """Neighbouring strings as one, neighbouring numbers as their sum."""
    merged: list[Item] = []
    for item in items:
        match merged[-1:], item:
            case [bytes(last)], bytes():
                merged[-1] = last + item
            case [float(last)], float():
                merged[-1] = last + item
            case _:
                merged.append(item)
    return merged
