"""Reads from a DOCX file's styles which of them hide text or raise it, by themselves or by the style they are based on.

ECMA-376 part 1, 17.7: a style's run properties hold for paragraphs and runs that name it. `vanish` toggles: a run of
a hiding style in a paragraph of a hiding style shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from service.core.errors import UnreadableDocument

_OFF = frozenset(("0", "false", "off"))
_MOST_BASES = 50
"""Styles in a chain that are followed; word processors allow about ten."""


@dataclass(frozen=True, slots=True)
class RunStyle:
    """Properties of a style or a run; None: unset."""

    hidden: bool | None = None
    raised: bool | None = None
    base: str = ""

    def with_property(self, name: str, attributes: Mapping[str, str]) -> RunStyle:
        """The same with one run property of this local name."""
        if name not in ("vanish", "vertAlign"):
            return self
        if name == "vanish":
            return replace(self, hidden=is_on(attributes))
        return replace(self, raised=attribute(attributes, "val") == "superscript")


PLAIN = RunStyle()


def attribute(attributes: Mapping[str, str], name: str) -> str:
    """The attribute of this local name, or nothing."""
    return next((value for key, value in attributes.items() if key.rpartition("}")[2] == name), "")


def is_on(attributes: Mapping[str, str]) -> bool:
    """True if a property that is there is switched on."""
    return attribute(attributes, "val") not in _OFF


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
    """lxml's parser target for the part with styles."""

    def __init__(self) -> None:
        self.styles: dict[str, RunStyle] = {}
        self._open = ""
        self._in_run_properties = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = tag.rpartition("}")[2]
        if name == "style":
            self._open = attribute(attributes, "styleId")
            self.styles[self._open] = PLAIN
        elif not self._open:
            return
        elif name == "basedOn":
            self.styles[self._open] = replace(self.styles[self._open], base=attribute(attributes, "val"))
        elif name == "rPr":
            self._in_run_properties = True
        elif self._in_run_properties:
            self.styles[self._open] = self.styles[self._open].with_property(name, attributes)

    def end(self, tag: str) -> None:
        name = tag.rpartition("}")[2]
        if name == "style":
            self._open = ""
        elif name == "rPr":
            self._in_run_properties = False


def resolved(styles: Mapping[str, RunStyle]) -> dict[str, RunStyle]:
    """The styles that say something, each with what it inherits."""
    found: dict[str, RunStyle] = {}
    for name, style in styles.items():
        hidden, raised, base = style.hidden, style.raised, style.base
        for _ in range(_MOST_BASES):
            if not base or (hidden is not None and raised is not None):
                break
            style = styles.get(base, PLAIN)
            hidden = style.hidden if hidden is None else hidden
            raised = style.raised if raised is None else raised
            base = style.base
        if hidden is not None or raised is not None:
            found[name] = RunStyle(hidden, raised)
    return found
