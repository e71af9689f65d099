"""The part of PDF's graphics state that says where a glyph lands (ISO 32000-1, sections 8.4 and 9.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from service.documents.pdf.redaction.fonts import FontMetrics
from service.documents.pdf.redaction.geometry import IDENTITY, Matrix, multiply


@dataclass(slots=True)
class GraphicsState:
    """The state at one operator. `matrix`: from user space to the page's; `text`, `line`: the text matrices."""

    matrix: Matrix = IDENTITY
    text: Matrix = IDENTITY
    line: Matrix = IDENTITY
    font: FontMetrics | None = None
    size: float = 0.0
    character_spacing: float = 0.0
    word_spacing: float = 0.0
    scaling: float = 1.0
    leading: float = 0.0
    rise: float = 0.0

    def copy(self) -> GraphicsState:
        """The state as it is now."""
        return replace(self)

    def concatenate(self, matrix: Matrix) -> None:
        """`cm`."""
        self.matrix = multiply(matrix, self.matrix)

    def begin_text(self) -> None:
        """`BT`."""
        self.text = self.line = IDENTITY

    def next_line(self, x: float, y: float) -> None:
        """`Td`."""
        self.text = self.line = multiply((1.0, 0.0, 0.0, 1.0, x, y), self.line)

    def set_text(self, matrix: Matrix) -> None:
        """`Tm`."""
        self.text = self.line = matrix

    def advance(self, x: float, y: float) -> None:
        """Move the pen, in text space."""
        a, b, c, d, e, f = self.text
        self.text = (a, b, c, d, a * x + c * y + e, b * x + d * y + f)

    def glyphs(self) -> Matrix:
        """From a glyph's space, in which the font's size is 1, to the page's, with the pen at the origin."""
        size = (self.size * self.scaling, 0.0, 0.0, self.size, 0.0, self.rise)
        return multiply(size, multiply(self.text, self.matrix))
