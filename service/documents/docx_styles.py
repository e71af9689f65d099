"""Reads from a DOCX file's styles, and from a run, what decides whether text shows, and whether it is raised.

ECMA-376 part 1, 17.7: a style's run properties hold for paragraphs and runs that name it, over those of the style that
it is based on and over the file's defaults. `vanish` and `strike` toggle: a run of a hiding style in a paragraph of a
hiding style shows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from service.core.errors import UnreadableDocument
from service.documents.colours import TRANSPARENT, Paint, Special, shows_on
from service.documents.document import UnreadReason
from service.documents.docx_colours import (
    DRAWN_COLOURS,
    Theme,
    attribute,
    drawn_colour,
    highlight,
    shading,
    text_colour,
)

_OFF = frozenset(("0", "false", "off"))
_MOST_BASES = 50
"""Styles in a chain that are followed; word processors allow about ten."""
_LEAST_HALF_POINTS = 6
"""Font size under which nobody reads (3 points): its small letters are less than half a millimetre high."""
_LEAST_WIDTH_PERCENT = 10
"""Width of letters under which nobody reads."""
_LEAST_TWIPS = 60
"""Exact height of a line, frame or row (3 points) under which its letters are cut off."""
_LEAST_POSITION, _LEAST_INDENT = -1_600, -15_000
"""Shift of letters in half points, and indentation in twips, below which they are off the page (28 and 26 cm)."""
_HEIGHTS = {"spacing": ("lineRule", "line"), "framePr": ("hRule", "h")}
PARAGRAPH_PROPERTIES = frozenset(("shd", "spacing", "framePr", "ind"))
_DEFAULTS, DEFAULT_STYLE = "\0defaults", ""
"""Names of the file's defaults among the styles, and of the style of a paragraph that names none."""
_MOST_KNOWN = 4_096
_TABLE_STYLE = re.compile(rb'<w:style\s[^>]{0,300}w:type="table"')
_ID = re.compile(rb'w:styleId="([^"]{1,200})"')
_BASE = re.compile(rb'<w:basedOn w:val="([^"]{1,200})"')


@dataclass(frozen=True, slots=True)
class RunStyle:
    """Properties of a style or a run; None: unset."""

    hidden: bool | None = None
    struck: bool | None = None
    struck_twice: bool | None = None
    raised: bool | None = None
    tiny: bool | None = None
    narrow: bool | None = None
    flat: bool | None = None  # a line or the frame of its paragraph has no height
    sunk: bool | None = None  # off the page
    outside: bool | None = None  # its paragraph is off the page
    colour: Paint | None = None
    fill: Paint | None = None  # in place of the colour
    highlight: Paint | None = None
    shading: Paint | None = None
    ground: Paint | None = None  # of its paragraph or table
    base: str = ""

    def with_property(self, name: str, attributes: Mapping[str, str], theme: Theme) -> RunStyle:
        """The same with one run property of this local name."""
        match name:
            case "vanish":
                return replace(self, hidden=is_on(attributes))
            case "strike":
                return replace(self, struck=is_on(attributes))
            case "dstrike":
                return replace(self, struck_twice=is_on(attributes))
            case "vertAlign":
                return replace(self, raised=attribute(attributes, "val") == "superscript")
            case "sz":
                return replace(self, tiny=_is_under(attributes, "val", _LEAST_HALF_POINTS))
            case "w":
                return replace(self, narrow=_is_under(attributes, "val", _LEAST_WIDTH_PERCENT))
            case "position":
                return replace(self, sunk=_is_below(attributes, "val", _LEAST_POSITION))
            case "color":
                return replace(self, colour=text_colour(attributes, theme))
            case "highlight":
                return replace(self, highlight=highlight(attributes))
            case "shd":
                return replace(self, shading=shading(attributes, theme))
            case "gradFill" | "textOutline" | "lumMod" | "lumOff" | "tint" | "shade":
                return replace(self, fill=Special.UNKNOWN)
            case "emboss" | "imprint" | "outline" | "shadow" | "glow":
                is_seen = is_on(attributes) and not _has_no_size(attributes)
                return replace(self, fill=Special.UNKNOWN) if is_seen else self
            case _ if self.fill is Special.UNKNOWN:
                return self
            case "noFill":
                return replace(self, fill=TRANSPARENT)
            case _ if name in DRAWN_COLOURS:
                return replace(self, fill=drawn_colour(name, attributes, theme))
            case "alpha":  # of Word's own text effects: how transparent they are, in thousandths of a percent
                return self if _is_under(attributes, "val", 94_000) else replace(self, fill=TRANSPARENT)
        return self

    def with_paragraph_property(self, name: str, attributes: Mapping[str, str], theme: Theme) -> RunStyle:
        """The same with one property of paragraphs."""
        if name == "shd":
            return replace(self, ground=shading(attributes, theme))
        if name == "ind":
            is_outside = any(_is_below(attributes, side, _LEAST_INDENT) for side in ("left", "start"))
            return replace(self, outside=is_outside) if is_outside or self.outside else self
        if name in _HEIGHTS and (rule := attribute(attributes, _HEIGHTS[name][0])):
            is_flat = rule == "exact" and _is_under(attributes, _HEIGHTS[name][1], _LEAST_TWIPS)
            return replace(self, flat=is_flat) if is_flat or self.flat else self
        return self

    def over(self, weaker: RunStyle) -> RunStyle:
        """This style where it says something, otherwise another."""
        said = {each: value for each in _NAMES if (value := getattr(self, each)) is not None}
        return replace(weaker, **said) if said else weaker


Property = tuple[str, tuple[tuple[str, str], ...]]
"""Local name of an element, and its attributes."""
_NAMES = tuple(each.name for each in fields(RunStyle) if each.name != "base")
PLAIN = RunStyle()
RUN_PROPERTIES = frozenset(
    "vanish strike dstrike vertAlign sz w position color highlight shd emboss imprint outline shadow glow".split()
)
TEXT_FILL = DRAWN_COLOURS | frozenset("noFill gradFill alpha lumMod lumOff tint shade".split())
"""Parts of a run's `textFill` that matter here."""


def reason_left_out(paragraph: RunStyle, run_style: RunStyle, run: RunStyle, ground: Paint) -> UnreadReason | None:
    """Why a run's text is left out, by its paragraph's style, its own and its own properties; None: it shows.

    `ground`: what is under the run's own highlight and shading.
    """
    all_ = run.over(run_style.over(paragraph))
    for paint in (all_.highlight, all_.shading):
        if paint is not None and paint is not TRANSPARENT:
            ground = paint
            break
    colour = all_.fill or all_.colour or Special.UNKNOWN
    styles = (paragraph, run_style, run)
    is_off_page = all_.sunk or all_.outside
    has_no_size = all_.tiny or all_.narrow or all_.flat
    if _toggled("hidden", *styles) or is_off_page or has_no_size or not shows_on(colour, ground):
        return UnreadReason.HIDDEN
    return UnreadReason.STRUCK if _toggled("struck", *styles) or all_.struck_twice else None


def shows_pictures(paragraph: RunStyle, run_style: RunStyle, run: RunStyle) -> bool:
    """True if a run's pictures show; colours and sizes are of letters."""
    styles = (paragraph, run_style, run)
    is_struck = _toggled("struck", *styles) or run.over(run_style.over(paragraph)).struck_twice
    return not (is_struck or _toggled("hidden", *styles))


def _toggled(name: str, paragraph: RunStyle, run_style: RunStyle, run: RunStyle) -> bool:
    own: bool | None = getattr(run, name)
    return bool(getattr(paragraph, name)) ^ bool(getattr(run_style, name)) if own is None else own


class Appearances:
    """Looks of runs: whether one shows, and whether it is raised, computed once for each combination of styles."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self._runs: dict[tuple[Property, ...], RunStyle] = {}
        self._paragraphs: dict[RunStyle, RunStyle] = {}
        self._known: dict[tuple[int, int, int, Paint], tuple[UnreadReason | None, bool, tuple[RunStyle, ...]]] = {}

    def run(self, properties: Sequence[Property]) -> RunStyle:
        """A run's own properties."""
        key = tuple(properties)
        if (run := self._runs.get(key)) is None:
            run = PLAIN
            for name, attributes in properties:
                run = run.with_property(name, dict(attributes), self.theme)
            _with_room(self._runs)[key] = run
        return run

    def paragraph(self, style: RunStyle, name: str, attributes: Mapping[str, str]) -> RunStyle:
        """A paragraph's style with one more property of its own."""
        changed = style.with_paragraph_property(name, attributes, self.theme)
        if changed is style:
            return style
        if changed not in self._paragraphs:
            _with_room(self._paragraphs)[changed] = changed
        return self._paragraphs[changed]

    def of(
        self, paragraph: RunStyle, run_style: RunStyle, run: RunStyle, ground: Paint
    ) -> tuple[UnreadReason | None, bool]:
        """Why a run is left out on what is under it, if it is, and whether it is raised."""
        key = (id(paragraph), id(run_style), id(run), ground)
        if (known := self._known.get(key)) is None:
            raised = bool(run.over(run_style.over(paragraph)).raised)
            styles = (paragraph, run_style, run)  # kept, so that their ids stay theirs
            known = reason_left_out(paragraph, run_style, run, ground), raised, styles
            _with_room(self._known)[key] = known
        return known[:2]


def _with_room(known: dict[Any, Any]) -> dict[Any, Any]:
    if len(known) >= _MOST_KNOWN:
        known.clear()
    return known


def is_on(attributes: Mapping[str, str]) -> bool:
    """True if a property that is there is switched on."""
    return attribute(attributes, "val") not in _OFF


def hides_row(name: str, attributes: Mapping[str, str]) -> bool:
    """True if a property of a table's row hides it."""
    if name == "trHeight":
        return attribute(attributes, "hRule") == "exact" and _is_under(attributes, "val", _LEAST_TWIPS)
    return name == "hidden" and is_on(attributes)


def _has_no_size(attributes: Mapping[str, str]) -> bool:
    """True of a shadow or glow that Word writes in place of none."""
    return "0" in (attribute(attributes, "sx"), attribute(attributes, "rad"))


def _is_under(attributes: Mapping[str, str], name: str, least: int) -> bool:
    value = re.match(r"\d{1,9}", attribute(attributes, name))
    return value is not None and int(value[0]) < least


def _is_below(attributes: Mapping[str, str], name: str, least: int) -> bool:
    value = re.match(r"-\d{1,9}", attribute(attributes, name))
    return value is not None and int(value[0]) < least


class PartReader:
    """lxml's parser target for a part without text; the readers of parts build on it."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Ignored."""

    def end(self, tag: str) -> None:
        """Ignored."""

    def data(self, text: str) -> None:
        """Ignored."""

    def comment(self, text: str) -> None:
        """Ignored: XML comments are not text."""

    def doctype(self, name: str | None, public_id: str | None, system: str | None) -> None:
        """Refuse the file before it declares an entity: with a parser target lxml expands entities in any case."""
        raise UnreadableDocument("The DOCX file declares a document type, which the format forbids.")

    def close(self) -> None:
        """Required by lxml's target protocol."""


class StylesReader(PartReader):
    """lxml's parser target for the part with styles.

    Which rows and columns a table's style shades is not read: the ground of their cells is not known.
    """

    def __init__(self, theme: Theme) -> None:
        self.styles: dict[str, RunStyle] = {}
        self._theme = theme
        self._open: str | None = None
        self._is_of_tables = False
        self._properties = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = tag.rpartition("}")[2]
        if name == "style":
            self._open = attribute(attributes, "styleId")
            self._is_of_tables = attribute(attributes, "type") == "table"
            is_default = attribute(attributes, "default") not in ("", *_OFF)
            self.styles[self._open] = PLAIN
            if attribute(attributes, "type") == "paragraph":
                self.styles[self._open] = RunStyle(base=_DEFAULTS)
                if is_default:
                    self.styles[DEFAULT_STYLE] = RunStyle(base=self._open)
        elif name == "docDefaults":
            self._open, self._is_of_tables = _DEFAULTS, False
            self.styles[_DEFAULTS] = PLAIN
        elif self._open is None:
            return
        elif name == "basedOn":
            self.styles[self._open] = replace(self.styles[self._open], base=attribute(attributes, "val"))
        elif self._is_of_tables:
            if name == "shd":
                self.styles[self._open] = replace(self.styles[self._open], ground=Special.UNKNOWN)
        elif name in ("rPr", "pPr"):
            self._properties = name
        elif self._properties == "rPr" and name in RUN_PROPERTIES:
            self.styles[self._open] = self.styles[self._open].with_property(name, attributes, self._theme)
        elif self._properties and name in PARAGRAPH_PROPERTIES:
            self.styles[self._open] = self.styles[self._open].with_paragraph_property(name, attributes, self._theme)

    def end(self, tag: str) -> None:
        name = tag.rpartition("}")[2]
        if name in ("style", "docDefaults"):
            self._open = None
        elif name == self._properties:
            self._properties = ""


def without_table_styles(data: bytes) -> tuple[bytes, dict[str, RunStyle]]:
    """The styles' part without those of tables, which are most of it, and these, as `StylesReader` reads them.

    Those whose prefix is not Word's `w:` stay in the part.
    """
    pieces = data.split(b"</w:style>")
    kept: list[bytes] = []
    shaded: dict[str, RunStyle] = {}
    for piece in pieces[:-1]:
        start = piece.rfind(b"<w:style ")
        if start < 0 or not _TABLE_STYLE.match(piece, start):
            kept += (piece, b"</w:style>")
            continue
        kept.append(piece[:start])
        if name := _ID.search(piece, start):
            base = _BASE.search(piece, start)
            ground = Special.UNKNOWN if b"<w:shd" in piece else None
            shaded[name[1].decode()] = RunStyle(ground=ground, base=base[1].decode() if base else "")
    return b"".join((*kept, pieces[-1])), shaded


def resolved(styles: Mapping[str, RunStyle], name: str) -> RunStyle:
    """The style of this name with what it inherits; plain if it says nothing."""
    whole = style = styles.get(name, PLAIN)
    for _ in range(_MOST_BASES):
        if not style.base:
            break
        style = styles.get(style.base, PLAIN)
        whole = whole.over(style)
    whole = replace(whole, base="")
    return PLAIN if whole == PLAIN else whole
