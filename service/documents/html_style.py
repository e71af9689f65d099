"""Reads from inline styles and `<style>` sheets whether an element shows, is a box of its own, or is raised.

Of a sheet, rules of one element each count: `.note`, `p.note`, `#note`, `p`, lists of them; neither those for an
element within another nor those under `@media`, which hold for some windows. The last rule wins; an inline style wins
over the sheet. Nobody sees `display: none`, `visibility: hidden`, `opacity: 0`, letters of size 0, and what
overflows a height of 0 (as previews of mails are hidden).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

_MOST_KNOWN = 4_096
"""Styles that are kept, each for a tag and its attributes."""
_LONGEST_KNOWN = 500
"""Characters of an inline style that is kept from one document to the next."""
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|<!--|-->", re.S)
_PARTS = re.compile(r"[^{}]*\{|[^{}]*\}|[^{}]+$")
_SELECTOR = re.compile(r"([a-z][a-z0-9]*)?([.#][\w-]+)?$", re.I)
_ZERO = re.compile(r"0*\.?0+(?:[a-z%]+)?$")
_CONTAINERS = frozenset("flex inline-flex grid inline-grid".split())
_BLOCKS = frozenset("block list-item table table-row flow-root".split())


class Display(Enum):
    """How an element stands beside its neighbours, where a style says so."""

    UNSAID = auto()
    BLOCK = auto()
    CELL = auto()  # beside others in a row
    BOX = auto()  # in a line, as a button
    CONTAINER = auto()  # a block whose children are cells


@dataclass(frozen=True, slots=True)
class Style:
    """What a style says of an element; `invisible` and `tiny` hold for its children until one says otherwise."""

    hides: bool = False
    invisible: bool | None = None
    tiny: bool | None = None
    raised: bool = False
    display: Display = Display.UNSAID


PLAIN = Style()


class StyleSheet:
    """The rules of a document's `<style>` elements so far."""

    def __init__(self) -> None:
        self._rules: dict[tuple[str, str], tuple[int, dict[str, str]]] = {}  # by tag and name: order, properties
        self._known: dict[tuple[str, str, str, str], Style] = {}

    def add(self, css: str) -> None:
        """Read one sheet."""
        self._known.clear()
        selectors: list[str] = []
        for part in _PARTS.findall(_COMMENT.sub("", css)):
            if part.endswith("{"):
                selectors.append(part[:-1].rpartition(";")[2].strip())
            elif part.endswith("}") and selectors:
                selector = selectors.pop()
                if not selectors and not selector.startswith("@"):
                    self._add_rule(selector, _declarations(part[:-1]))

    def _add_rule(self, selectors: str, said: dict[str, str]) -> None:
        for selector in selectors.split(",") if said else ():
            if (found := _SELECTOR.match(selector.strip())) and found.group():
                key = ((found[1] or "").lower(), found[2] or "")
                self._rules[key] = (len(self._rules), self._rules.pop(key, (0, {}))[1] | said)

    def style_of(self, tag: str, attributes: Mapping[str, str]) -> Style:
        """The style of an element with these attributes."""
        inline = attributes.get("style", "")
        if not self._rules:
            return _inline_style(inline) if 0 < len(inline) < _LONGEST_KNOWN else _style(_declarations(inline))
        key = (tag, attributes.get("class", ""), attributes.get("id", ""), inline)
        style = self._known.get(key)
        if style is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            style = self._known[key] = self._style_of(*key)
        return style

    def _style_of(self, tag: str, classes: str, id_: str, inline: str) -> Style:
        names = ["", *(f".{name}" for name in classes.split()), f"#{id_}"]
        found = (
            (name[:1] == "#", name[:1] == ".", bool(of_tag), *self._rules[of_tag, name])
            for name in names
            for of_tag in ("", tag)
            if (of_tag, name) in self._rules
        )
        said: dict[str, str] = {}
        for *_, properties in sorted(found, key=lambda rule: rule[:4]):
            said |= properties
        return _style(said | _declarations(inline)) if said or inline else PLAIN


def _declarations(css: str) -> dict[str, str]:
    """The properties that matter here; all in small letters."""
    pairs = (part.partition(":") for part in css.lower().split(";"))
    said = {name.strip(): value.replace("!important", "").strip() for name, _, value in pairs}
    return {name: value for name, value in said.items() if name in _PROPERTIES}


_PROPERTIES = frozenset(
    "display visibility opacity font-size max-height height overflow overflow-y vertical-align float".split()
)


@lru_cache(maxsize=_MOST_KNOWN)
def _inline_style(css: str) -> Style:
    return _style(_declarations(css))


def _style(said: Mapping[str, str]) -> Style:
    def is_zero(name: str) -> bool:
        return _ZERO.match(said.get(name, "")) is not None

    flat = is_zero("max-height") or is_zero("height")
    clipped = "hidden" in (said.get("overflow"), said.get("overflow-y"))
    display, visibility = said.get("display", ""), said.get("visibility")
    style = Style(
        hides=display == "none" or is_zero("opacity") or (flat and clipped),
        invisible=visibility in ("hidden", "collapse") if visibility in ("hidden", "collapse", "visible") else None,
        tiny=is_zero("font-size") if "font-size" in said else None,
        raised=said.get("vertical-align") == "super",
        display=_display(display, said.get("float", "none")),
    )
    return PLAIN if style == PLAIN else style


def _display(display: str, float_: str) -> Display:
    if display in _CONTAINERS:
        return Display.CONTAINER
    if display in _BLOCKS:
        return Display.BLOCK
    if display == "table-cell":
        return Display.CELL
    return Display.BOX if display == "inline-block" or float_ in ("left", "right") else Display.UNSAID
