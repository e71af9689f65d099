"""Writes the text of one part of a DOCX file, as Word shows it, from the events of its XML.

Paragraphs are lines, one with a deleted mark goes on in the next; cells are separated by a tab and rows by a line
break; a text box or diagram follows the paragraph that it is anchored in. Form fields, check boxes and symbols are the
text that shows. Left out: deleted and moved-away revisions, struck-out text, placeholders of empty controls, field
codes, and hidden text, which is counted: by a property, or by its size or colour on its ground (`docx_styles`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from service.documents.colours import TRANSPARENT, Paint
from service.documents.document import UnreadReason
from service.documents.docx_colours import DRAWN_COLOURS, attribute, shading
from service.documents.docx_drawings import SHAPES, ShapeReader
from service.documents.docx_forms import FormField, symbol
from service.documents.docx_styles import (
    DEFAULT_STYLE,
    PARAGRAPH_PROPERTIES,
    PLAIN,
    RUN_PROPERTIES,
    TEXT_FILL,
    Appearances,
    PartReader,
    Property,
    RunStyle,
    hides_row,
    is_on,
    shows_pictures,
)
from service.documents.embedded_pictures import Drawing, write_block
from service.documents.raised_text import raised_separator
from service.documents.text_writer import UNSEEN, TextWriter

_SKIPPED = frozenset(
    "del moveFrom Fallback sectPr tblPrEx instrText delText rt pPrChange rPrChange tblPrChange tcPrChange "
    "trPrChange txEffect".split()
)
_PROPERTIES = RUN_PROPERTIES | PARAGRAPH_PROPERTIES | {"pStyle", "rStyle"}
_STRUCTURE = frozenset("r p tbl tr tc txbxContent sdt showingPlcHdr altChunk relIds".split())
_DRAWINGS = SHAPES | Drawing.ELEMENTS
_TABLE_GROUNDS = frozenset(("tblPr", "tcPr"))
_MARKS = {"tab": "\t", "ptab": "\t", "noBreakHyphen": "\u2011"}
_UNSEEN = re.compile(f"[{UNSEEN}]")


@dataclass(slots=True)
class _Story:
    """The text of the part or of an open text box, with the state of its open paragraph and run."""

    grounds: list[Paint]  # of the page or box, then of each open table and cell
    hides: list[bool]  # whether nobody sees the box, then each open row
    writer: TextWriter = field(default_factory=TextWriter)
    paragraph: RunStyle = PLAIN
    run_style: RunStyle = PLAIN
    run: RunStyle = PLAIN
    properties: list[Property] = field(default_factory=list)  # of the open run
    mark_is_deleted: bool = False
    goes_on: bool = False  # the paragraph before ended with a deleted mark
    raised: str = ""  # raised text that waits for what follows it

    @property
    def ground(self) -> Paint:
        own = self.paragraph.ground
        return self.grounds[-1] if own is None or own is TRANSPARENT else own

    def paint(self, paint: Paint) -> None:
        """Paint the innermost table or cell."""
        if paint is not TRANSPARENT:
            self.grounds[-1] = paint

    def end_raised(self, after: str = "") -> None:
        """Write the raised text that waits, now that it is known what follows it."""
        if self.raised:
            raised, self.raised = self.raised, ""
            self.writer.verbatim(raised_separator(self.writer.line(), raised, after) + raised)


class BodyReader(PartReader):
    """lxml's parser target for a part with WordprocessingML.

    Args:
        style_named: the style of the file that a paragraph or a run names, or that of one which names none.
        appearances: of runs.
        shapes: what is behind the text.
        embedded: the text of the part with a relationship's id.
        picture: the mark of the picture with a relationship's id, which is read if it is shown as a whole.
        check_characters: raises where the text becomes too long.
    """

    def __init__(
        self,
        style_named: Callable[[str], RunStyle],
        appearances: Appearances,
        shapes: ShapeReader,
        embedded: Callable[[str], str],
        picture: Callable[[str, bool], str],
        check_characters: Callable[[int], None],
    ) -> None:
        self.text = ""
        self.characters = 0
        self.left_out: Counter[UnreadReason] = Counter()
        self._style_named = style_named
        self._default_style = style_named(DEFAULT_STYLE)
        self._appearances = appearances
        self._shapes = shapes
        self._embedded = embedded
        self._picture = picture
        self._check_characters = check_characters
        self._stories = [_Story([shapes.page_ground], [False])]  # the part's, then that of each open text box
        self._boxes: list[str] = []  # texts of closed text boxes and diagrams, until their paragraph ends
        self._path = [""]
        self._skipped_depth = 0
        self._in_text = False
        self._text = ""  # of the open run, whole, since a parser may give it in pieces
        self._form: FormField | None = None
        self._placeholders: list[bool] = []  # of each open control, whether it is empty
        self._drawing = Drawing()

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._skipped_depth:
            self._skipped_depth += 1
            return
        name, path = tag.rpartition("}")[2], self._path
        parent = path[-1]
        if name in _SKIPPED or (name == "sdtContent" and self._placeholders and self._placeholders[-1]):
            self._skipped_depth = 1
            if parent == "rPr" and name in ("del", "moveFrom") and path[-2] == "pPr":
                self._stories[-1].mark_is_deleted = True
            return
        path.append(name)
        if name == "t":
            self._in_text = True
        elif parent == "rPr" or parent == "pPr":
            if name in _PROPERTIES:
                self._property(name, attributes)
        elif parent == "r":
            self._run_content(name, attributes)
        elif self._form is not None:
            self._form.read(name, attributes)
        elif name in _STRUCTURE:
            self._structure(name, attributes)
        elif parent == "trPr":
            self._stories[-1].hides[-1] |= hides_row(name, attributes)
        elif parent in _TABLE_GROUNDS:
            self._table_ground(name, attributes)
        elif name in _DRAWINGS:
            self._shape(name, attributes)

    def _property(self, name: str, attributes: Mapping[str, str]) -> None:
        story = self._stories[-1]
        if name == "pStyle":
            story.paragraph = self._style_named(attribute(attributes, "val"))
        elif self._path[-2] == "pPr":
            story.paragraph = self._appearances.paragraph(story.paragraph, name, attributes)
        elif self._path[-3] == "r" and name == "rStyle":
            story.run_style = self._style_named(attribute(attributes, "val"))
        elif self._path[-3] == "r":
            story.properties.append((name, tuple(attributes.items())))

    def _table_ground(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "tblStyle":
            self._stories[-1].paint(self._style_named(attribute(attributes, "val")).ground or TRANSPARENT)
        elif name == "shd":
            self._stories[-1].paint(shading(attributes, self._appearances.theme))

    def _shape(self, name: str, attributes: Mapping[str, str]) -> None:
        """Read the picture or the fill of a shape, or the fill of a run's letters."""
        if name in Drawing.ELEMENTS:
            self._drawing.read(name, attributes)
            if name == "imagedata":
                self._mark_picture()
        around = self._path[-7:-1]
        if "rPr" not in around:
            self._shapes.read(name, attributes, around)
            self._stories[0].grounds[0] = self._shapes.page_ground
        elif "textFill" in around and name in TEXT_FILL:
            self._stories[-1].properties.append((name, tuple(attributes.items())))
        elif "textOutline" in around and name in DRAWN_COLOURS:
            self._stories[-1].properties.append(("textOutline", ()))

    def _run_content(self, name: str, attributes: Mapping[str, str]) -> None:
        if name in _MARKS:
            self._write(_MARKS[name])
        elif name in ("br", "cr"):
            self._stories[-1].end_raised()
            self._stories[-1].writer.line_break()
        elif name == "sym":
            self._write(symbol(attribute(attributes, "font"), attribute(attributes, "char")))
        elif name == "fldChar":
            self._form = FormField()

    def _structure(self, name: str, attributes: Mapping[str, str]) -> None:
        story = self._stories[-1]
        if name == "r":
            story.run = story.run_style = PLAIN
            story.properties.clear()
        elif name == "p":
            self._start_paragraph(story)
        elif name == "tbl":
            story.grounds.append(story.grounds[-1])
        elif name == "tr":
            story.writer.row_start()
            story.hides.append(story.hides[-1])
        elif name == "tc":
            story.writer.cell_start()
            story.grounds.append(story.grounds[-1])
        elif name == "txbxContent":
            self._stories.append(_Story([self._shapes.box_ground], [self._drawing.hides_text or story.hides[-1]]))
        elif name == "sdt":
            self._placeholders.append(False)
        elif name == "showingPlcHdr" and self._placeholders:
            self._placeholders[-1] = is_on(attributes)
        elif name == "altChunk":
            self._write_embedded(attribute(attributes, "id"))
        elif name == "relIds":  # of a diagram (SmartArt)
            self._write_diagram(self._embedded(attribute(attributes, "dm")), story)

    def _write_diagram(self, text: str, story: _Story) -> None:
        if self._drawing.hides_text or story.hides[-1]:
            self._leave_out(text, UnreadReason.HIDDEN)
        else:
            self._boxes.append(self._counted(text))

    def _mark_picture(self) -> None:
        story, (relationship, is_whole) = self._stories[-1], self._drawing.picture()
        if relationship and not story.hides[-1] and shows_pictures(story.paragraph, story.run_style, story.run):
            story.writer.mark(self._picture(relationship, is_whole))

    def _start_paragraph(self, story: _Story) -> None:
        if not story.goes_on:
            story.writer.block()
        story.paragraph, story.run, story.run_style = self._default_style, PLAIN, PLAIN
        story.mark_is_deleted = story.goes_on = False

    def end(self, tag: str) -> None:
        if self._skipped_depth:
            self._skipped_depth -= 1
            return
        name = self._path.pop()
        if name == "t" and self._in_text:
            self._in_text = False
            text, self._text = self._text, ""
            self._write(text if text.isascii() else _UNSEEN.sub("", text))
        elif name == "rPr":
            self._end_properties()
        elif name == "p":
            self._end_paragraph()
        elif name == "tr":
            self._end_row(self._stories[-1])
        elif name in ("tbl", "tc") and len(self._stories[-1].grounds) > 1:
            self._stories[-1].grounds.pop()
        elif name == "fldChar" and self._form is not None:
            shown, self._form = self._form.shown(), None
            self._write(shown)
        elif name == "sdt" and self._placeholders:
            self._placeholders.pop()
        elif name == "blipFill":
            self._mark_picture()
        elif name == "txbxContent" and len(self._stories) > 1:
            self._boxes.append(self._stories.pop().writer.result(self.left_out))

    def _end_properties(self) -> None:
        story = self._stories[-1]
        if story.properties:
            story.run = self._appearances.run(story.properties)
            story.properties.clear()

    def _end_row(self, story: _Story) -> None:
        story.writer.row_end()
        if len(story.hides) > 1:
            story.hides.pop()

    def _end_paragraph(self) -> None:
        story = self._stories[-1]
        story.end_raised()
        story.goes_on = story.mark_is_deleted
        if story.goes_on:
            return
        story.writer.block()
        if len(self._stories) == 1:
            for box in self._boxes:
                write_block(story.writer, box)
            self._boxes.clear()

    def _write_embedded(self, relationship: str) -> None:
        write_block(self._stories[-1].writer, self._counted(self._embedded(relationship)))

    def data(self, text: str) -> None:
        if self._in_text and not self._skipped_depth:
            self._text += text
            self._check_characters(self.characters + len(self._text))

    def _write(self, text: str) -> None:
        story = self._stories[-1]
        is_raised = False
        if story.hides[-1]:
            self._leave_out(text, UnreadReason.HIDDEN)
            return
        if not (story.run is story.run_style is story.paragraph is PLAIN):
            left_out, is_raised = self._appearances.of(story.paragraph, story.run_style, story.run, story.ground)
            if left_out is not None:
                self._leave_out(text, left_out)
                return
        self._counted(text)
        if is_raised:
            story.raised += text
        else:
            story.end_raised(text)
            story.writer.verbatim(text)

    def _leave_out(self, text: str, reason: UnreadReason) -> None:
        self.left_out[reason] += len("".join(text.split()))

    def _counted(self, text: str) -> str:
        self.characters += len(text)
        self._check_characters(self.characters)
        return text

    def close(self) -> None:
        self.text = self._stories[0].writer.result(self.left_out)
