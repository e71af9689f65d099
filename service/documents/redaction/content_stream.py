"""Rewrites a page's content stream, and the form XObjects that it paints, without the glyphs that are to go.

An interpreter of just the operators that move text (ISO 32000-1, annex A); every other one is copied. A form that
changes gets a copy for the place where it is painted, since elsewhere it may show something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pikepdf
from pikepdf import Dictionary, Name, Operator, String

from service.documents.redaction.fonts import FontMetrics
from service.documents.redaction.geometry import IDENTITY, GraphicsState, Matrix, Rectangle, around, multiply
from service.documents.redaction.image_painting import painted_image
from service.documents.redaction.shown_text import Item, RedactedArea, without_redacted
from service.documents.redaction.stream_writing import SHOWING, StreamWriter
from service.documents.redaction.values import CannotRewrite

ACTUAL_TEXT = "/ActualText"
HIDDEN_TEXT_KEYS = (ACTUAL_TEXT, "/Alt", "/E")
"""Keys of marked content and structure that say again, in words, what is shown."""
_DEEPEST = 12
_MOST_INSTRUCTIONS = 3_000_000
_CLIPS = 4
"""The first of the text render modes that add to the clip."""
_UNIT: Rectangle = (0.0, 0.0, 1.0, 1.0)


class ContentRewriter:
    """Rewrites the streams of one page. `font_of` reads the metrics of a font dictionary."""

    def __init__(self, pdf: pikepdf.Pdf, area: RedactedArea, font_of: Callable[[Any], FontMetrics]) -> None:
        self._pdf = pdf
        self._area = area
        self._font_of = font_of
        self._count = 0

    def rewrite(self, stream: Any, resources: Any, state: GraphicsState, depth: int = 0) -> tuple[bytes, Any] | None:
        """The new content of a page or a form, and its resources; None if nothing of it goes.

        Raises:
            CannotRewrite: it is not understood, or an image lies where text is to go.
        """
        if depth > _DEEPEST:
            raise CannotRewrite("forms are nested too deeply")
        before = self._area.gone
        stream_run = _StreamRun(self, resources, state, depth)
        try:
            instructions = pikepdf.parse_content_stream(stream)
        except pikepdf.PdfError as error:
            raise CannotRewrite("its content stream is damaged") from error
        self._count += len(instructions)
        if self._count > _MOST_INSTRUCTIONS:
            raise CannotRewrite("its content is too long")
        for each in instructions:
            stream_run.do(each)
        if self._area.gone == before and not stream_run.changed:
            return None
        return pikepdf.unparse_content_stream(stream_run.finished()), stream_run.own_resources()

    def font(self, dictionary: Any) -> FontMetrics:
        """The metrics of a font dictionary."""
        return self._font_of(dictionary)

    def image(self, image: Any, matrix: Matrix) -> Any:
        """A copy of an image without what is to go from its pixels; None if nothing goes.

        Raises:
            CannotRewrite: it shows something where text is to go, or cannot be painted.
        """
        place = around(matrix, _UNIT)
        if self._area.boxes.touches(place):
            raise CannotRewrite("an image lies under the text")
        boxes = self._area.touched(place)
        return painted_image(self._pdf, image, matrix, boxes) if boxes else None

    def form(self, form: Any, resources: Any, state: GraphicsState, depth: int) -> Any:
        """A copy of a form without what is to go; None if nothing goes."""
        matrix = _matrix(form.get("/Matrix", IDENTITY))
        inner = state.copy()
        inner.matrix = multiply(matrix, state.matrix)
        rewritten = self.rewrite(form, form.get("/Resources", resources), inner, depth + 1)
        if rewritten is None:
            return None
        content, own = rewritten
        copy = pikepdf.Stream(self._pdf, content)
        for key, value in form.items():
            if key not in ("/Length", "/Filter", "/DecodeParms", "/Resources"):
                copy[key] = value
        copy["/Resources"] = own
        return self._pdf.make_indirect(copy)

    def area(self) -> RedactedArea:
        return self._area


class _StreamRun:
    """One pass through the instructions of one stream."""

    def __init__(self, rewriter: ContentRewriter, resources: Any, state: GraphicsState, depth: int) -> None:
        self.changed = False
        self._rewriter = rewriter
        self._resources = resources
        self._state = state
        self._depth = depth
        self._stack: list[GraphicsState] = []
        self._writer = StreamWriter()
        self._painted: set[str] = set()
        self._replaced: dict[str, Any] = {}
        self._marks: list[bool] = []

    def do(self, instruction: Any) -> None:
        """Follow one instruction, and write what is left of it."""
        if isinstance(instruction, pikepdf.ContentStreamInlineImage):
            copy = self._rewriter.image(instruction.iimage, self._state.matrix)
            if copy is None:
                self._writer.write("BI", instruction)
            else:
                self._write_copy(copy)
            return
        operands, name = instruction.operands, str(instruction.operator)
        if name in SHOWING:
            self._show(name, operands)
        elif name == "Do":
            self._paint(operands, instruction)
        elif name in ("BMC", "BDC", "EMC", "DP"):
            self._mark(name, operands)
            self._writer.write(name, self._marked(operands, instruction))
        elif name == "Q":
            if self._stack:
                self._state = self._stack.pop()
                self._writer.write(name, instruction)
        else:
            self._follow(name, operands)
            self._writer.write(name, instruction)

    def finished(self) -> list[Any]:
        """All instructions, with every saved state restored."""
        return [*self._writer.finished(), *([([], Operator("Q"))] * len(self._stack))]

    def own_resources(self) -> Any:
        """The resources of the new stream: its own copy, without XObjects that it does not paint."""
        own = Dictionary(self._resources) if self._resources is not None else Dictionary()
        xobjects = own.get("/XObject", Dictionary())
        kept = {name: xobjects[name] for name in sorted(self._painted) if name in xobjects}
        own["/XObject"] = Dictionary({**kept, **self._replaced})
        return own

    def _show(self, name: str, operands: Any) -> None:
        state, writer = self._state, self._writer
        if name in ("'", '"'):
            if name == '"':
                state.word_spacing, state.character_spacing = float(operands[0]), float(operands[1])
                writer.write("Tw", ([operands[0]], Operator("Tw")))
                writer.write("Tc", ([operands[1]], Operator("Tc")))
            state.next_line(0.0, -state.leading)
            writer.write("T*", ([], Operator("T*")))
        shown = operands[0] if name == "TJ" else [operands[-1]]
        items: list[Item] = [bytes(each) if isinstance(each, String) else float(each) for each in shown]
        left = without_redacted(items, state, self._rewriter.area())
        if left is not None and state.mode >= _CLIPS:
            raise CannotRewrite("its text clips what else it shows")
        writer.write_text(items if left is None else left, state, is_whole=left is None)

    def _paint(self, operands: Any, instruction: Any) -> None:
        name = str(operands[0])
        found = (self._resources or {}).get("/XObject", {}).get(name)
        subtype = None if found is None else found.get("/Subtype")
        copy = None
        if subtype == Name.Image:
            copy = self._rewriter.image(found, self._state.matrix)
        elif subtype == Name.Form:
            copy = self._rewriter.form(found, self._resources, self._state, self._depth)
        if copy is None:
            self._painted.add(name)
            self._writer.write("Do", instruction)
        else:
            self._write_copy(copy)

    def _write_copy(self, copy: Any) -> None:
        self.changed = True
        fresh = f"/Redacted{len(self._replaced)}"
        self._replaced[fresh] = copy
        self._writer.write("Do", ([Name(fresh)], Operator("Do")))

    def _mark(self, name: str, operands: Any) -> None:
        """Follow passages for which the file has other words."""
        area = self._rewriter.area()
        if name == "EMC":
            if self._marks and self._marks.pop():
                area.passage = None
        elif name != "DP":
            starts = area.passage is None and self._is_reworded(operands)
            self._marks.append(starts)
            if starts:
                area.passage = []
                area.reworded.append(area.passage)

    def _is_reworded(self, operands: Any) -> bool:
        if len(operands) < 2:
            return False
        properties = operands[1]
        if isinstance(properties, Name):
            properties = (self._resources or {}).get("/Properties", {}).get(str(properties), {})
        return ACTUAL_TEXT in properties

    def _marked(self, operands: Any, instruction: Any) -> Any:
        """Marked content without the words that say it again."""
        if len(operands) < 2:
            return instruction
        if isinstance(operands[1], Name) and self._is_reworded(operands):
            self.changed = True
            return [operands[0], Dictionary()], instruction.operator
        if not isinstance(operands[1], Dictionary) or not any(key in operands[1] for key in HIDDEN_TEXT_KEYS):
            return instruction
        self.changed = True
        kept = {key: value for key, value in operands[1].items() if key not in HIDDEN_TEXT_KEYS}
        return [operands[0], Dictionary(kept)], instruction.operator

    def _follow(self, name: str, operands: Any) -> None:
        state = self._state
        match name:
            case "q":
                self._stack.append(state.copy())
            case "cm":
                state.concatenate(_matrix(operands))
            case "BT":
                state.begin_text()
            case "Tm":
                state.set_text(_matrix(operands))
            case "Td" | "TD":
                x, y = float(operands[0]), float(operands[1])
                if name == "TD":
                    state.leading = -y
                state.next_line(x, y)
            case "T*":
                state.next_line(0.0, -state.leading)
            case "Tf":
                self._set_font((self._resources or {}).get("/Font", {}).get(str(operands[0])), operands[1])
            case "gs":
                parameters = (self._resources or {}).get("/ExtGState", {}).get(str(operands[0]), {})
                if "/Font" in parameters:
                    self._set_font(*parameters["/Font"])
            case _ if name in _NUMBERS:
                setattr(state, _NUMBERS[name], float(operands[0]) / (100 if name == "Tz" else 1))

    def _set_font(self, font: Any, size: Any) -> None:
        self._state.font = None if font is None else self._rewriter.font(font)
        self._state.size = float(size)


_NUMBERS = {
    "Tc": "character_spacing", "Tw": "word_spacing", "Tz": "scaling", "TL": "leading", "Ts": "rise",
    "Tr": "mode",
}  # fmt: skip


def _matrix(values: Iterable[Any]) -> Matrix:
    numbers = [float(each) for each in values]
    if len(numbers) != 6:
        raise CannotRewrite("a matrix has not six numbers")
    return (numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5])
