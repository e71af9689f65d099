"""Reads from inline styles and `<style>` sheets whether an element shows, is a box of its own, or is raised.

Of a sheet, rules by tags, classes and ids count, also of an element within others (`.note`, `p.a.b`, `#x > p, .a td`),
by their weight and order (CSS 2.1, 6.4); not those by attributes, siblings or states, nor what holds on paper or in
some windows only (`@media`): if such a rule sets a colour, that of the elements which it may name is unknown. Nobody
sees `display: none`, `visibility: hidden`, what is clipped to nothing or overflows a pixel (as previews of mails do),
and what stands far outside the page. `html_ink` says which text has ink.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import lru_cache

from service.documents.html_ink import INK_PROPERTIES, NO_INK_STYLE, UNSURE, InkStyle, ink_style, longhands

_MOST_KNOWN = 4_096
"""Styles that are kept, each for a tag and its attributes."""
_LONGEST_KNOWN = 500
"""Characters of an inline style that is kept from one document to the next."""
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|<!--|-->", re.S)
_PARTS = re.compile(r"[^{}]*\{|[^{}]*\}|[^{}]+$")
_COMPOUND = re.compile(r"(\*|[a-z][a-z0-9-]*)?((?:[.#](?:[\w-]|\\.)+)*)$", re.I)
_IN_BRACKETS = r"\((?:[^()]|\([^()]*\))*\)"
_SELECTOR = re.compile(rf"(?:{_IN_BRACKETS}|\\.|[^,])+", re.S)
_NAME = re.compile(r"[.#](?:[\w-]|\\.)+")
_CHILD, _BESIDE = re.compile(r"(?<!\\)>"), re.compile(r"(?<!\\)[+~]")
_ESCAPE = re.compile(r"\\([0-9a-f]{1,6})\s?", re.I)
_ON_SCREEN = re.compile(r"@(?:media\s+(?:only\s+)?(?:screen|all)|layer\b[^{]*|supports\b(?!\s+not\b)[^{]*)\s*$", re.I)
"""At-rules whose rules hold in every window."""
_ELSEWHERE = re.compile(r"print|prefers-|keyframes|font-face|page", re.I)
"""At-rules that hold on paper, or where a person asks for it, or whose blocks are no rules."""
_STATE = re.compile(
    r"&|(?<!\\)\[[^\[\]]*\]|(?<![:\\]):(?!hover|focus|active|visited|target|before|after|first-l|selection)[a-z][a-z-]*"
    rf"(?:{_IN_BRACKETS})?",
    re.I,
)
"""Parts of a selector that do not count here, and without which it names more elements."""
_UNDER = re.compile(r"::?(?:before|after)\s*$", re.I)
"""Parts of a selector for boxes that an element's text may stand on."""
_IMPORTANT = re.compile(r"!\s*important")
_MEDIA = re.compile(r"(?:(?:only\s+)?(?:screen|all)\s*)?(?:,|$)", re.I)
_LONGEST_SELECTOR, _DEEPEST, _MOST_NAMES = 8, 4, 64
"""Elements within each other that a selector names, at-rules within each other, and classes of an element."""
_MOST_COMPARED = 200_000
"""Comparisons of elements with rules of several names, in one document; after them colours are not known."""
_ZERO = re.compile(r"(?:0+(?:\.0+)?|\.0+)[a-z%]*$")
_PIXEL = re.compile(rf"{_ZERO.pattern}|1px$")
_CUTS = re.compile(r"\b(?:hidden|clip)\b")
_CLIPPED = re.compile(
    r"rect\((?:[01](?:px)?[\s,]+){3}[01](?:px)?\)|inset\((?:[5-9]\d|100)%|(?:circle|ellipse)\(0(?![.\d])"
    r"|polygon\((?:0[a-z%]*[\s,]*)+\)"
)
_FAR = re.compile(r"-\d{3,}(?:\.\d+)?(?:px|pt|em|rem|vw|vh)")
_FARTHEST = re.compile(r"-(?:[5-9]\d{3}|\d{5,})(?:\.\d+)?px")
_NOTHING = re.compile(r"scale(?:3d|x|y)?\(\s*0(?:\.0\d*)?\s*[,)]|translate(?:3d|x|y)?\(\s*-\d{4,}px")
"""Transforms that leave nothing to see: a scale under a tenth, a move by a thousand pixels."""
_TINY = re.compile(r"0?\.0\d*$|\d(?:\.\d*)?%$")
"""Scales under a tenth."""
_CONTAINERS = frozenset("flex inline-flex grid inline-grid".split())
_BLOCKS = frozenset("block list-item table table-row flow-root".split())


class Display(Enum):
    """Placement of an element beside its neighbours, if a style sets it."""

    SILENT = auto()
    BLOCK = auto()
    CELL = auto()  # beside others in a row
    BOX = auto()  # in a line, as a button
    CONTAINER = auto()  # a block whose children are cells


@dataclass(frozen=True, slots=True)
class Style:
    """Style of an element; `invisible` holds for its children until one says otherwise."""

    hides: bool = False
    invisible: bool | None = None
    ink: InkStyle = NO_INK_STYLE
    raised: bool = False
    display: Display = Display.SILENT


PLAIN = Style()
_UNSURE_INK = ink_style(UNSURE)

Declarations = dict[str, str]
Place = tuple[str, Mapping[str, str]]
"""Tag and attributes of an element."""


@dataclass(frozen=True, slots=True)
class _Compound:
    """Part of a selector for one element: its tag, or none, and its classes and ids."""

    tag: str
    names: frozenset[str]
    is_child: bool = False  # of the element that the compound before it names

    def fits(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """True if an element is one of those."""
        return self.tag in ("", tag) and self.names <= set(_names(attributes))


@dataclass(slots=True)
class _Rule:
    """A selector, by its last element first, and what it says: property → place in the sheet, value."""

    compounds: tuple[_Compound, ...]
    said: dict[str, tuple[int, str]] = field(default_factory=dict)
    important: dict[str, tuple[int, str]] = field(default_factory=dict)

    @property
    def weight(self) -> tuple[int, int, int]:
        """Its ids, classes and tags."""
        names = [name[0] for each in self.compounds for name in each.names]
        return names.count("#"), names.count("."), sum(each.tag != "" for each in self.compounds)


class StyleSheet:
    """The rules of a document's `<style>` elements so far."""

    def __init__(self) -> None:
        self._rules: dict[tuple[_Compound, ...], _Rule] = {}
        self._of_several: dict[tuple[str, str], list[_Rule]] = {}  # by tag and a name of the last element
        self._known: dict[tuple[str, str, str, str], Style] = {}
        self._read = 0  # rules so far
        self._left = _MOST_COMPARED

    def add(self, css: str, media: str = "") -> None:
        """Read one sheet, for these media."""
        around = [] if _MEDIA.match(media := media.strip()) else [f"@media {media[:_LONGEST_KNOWN]}"]
        self._known.clear()
        preludes: list[str] = []
        for part in _PARTS.findall(_COMMENT.sub("", css)):
            if part.endswith("{"):
                before, _, prelude = part[:-1].rpartition(";")
                if before and 0 < len(preludes) <= _DEEPEST:
                    self._add_rules(preludes[-1], [*around, *preludes[:-1]], before)
                preludes.append(prelude.strip())
            elif part.endswith("}") and preludes:
                self._add_rules(preludes.pop(), [*around, *preludes[: _DEEPEST + 1]], part[:-1])

    def _add_rules(self, selectors: str, around: Sequence[str], css: str) -> None:
        """Add the rules of a block, within others."""
        if len(around) > _DEEPEST:
            return
        said, important = _declarations(css)
        unsure = {name: value for name, value in UNSURE.items() if name in said or name in important}
        if not (said or important):
            return
        for selector in _SELECTOR.findall(selectors):
            if all(map(_ON_SCREEN.match, around)) and (compounds := _compounds(selector)):
                self._add_rule(compounds, said, important)
            elif unsure and not any(map(_ELSEWHERE.search, around)):
                owner = _UNDER.sub("", selector)
                names = unsure.keys() - {"color" if owner != selector else ""}
                self._add_rule(_compounds(_without_states(owner)), {name: unsure[name] for name in names}, {})

    def _add_rule(self, compounds: tuple[_Compound, ...], said: Declarations, important: Declarations) -> None:
        if not compounds:
            return
        rule = self._rules.get(compounds)
        if rule is None:
            rule = self._rules[compounds] = _Rule(compounds)
            if len(compounds) > 1 or len(compounds[0].names) > 1:
                self._of_several.setdefault(_key(compounds[0]), []).append(rule)
        self._read += 1
        rule.said |= {name: (self._read, value) for name, value in said.items()}
        rule.important |= {name: (self._read, value) for name, value in important.items()}

    def style_of(self, tag: str, attributes: Mapping[str, str], within: Sequence[Place] = ()) -> Style:
        """The style of an element with these attributes, within these elements, the outermost first."""
        inline = attributes.get("style", "")
        if not self._rules:
            if not inline:
                return PLAIN
            return _inline_style(inline) if len(inline) < _LONGEST_KNOWN else _style(*_declarations(inline))
        key = (tag, attributes.get("class", ""), attributes.get("id", ""), inline)
        if (style := self._known.get(key)) is not None:
            return style
        names = _names(attributes)
        keys = [(of_tag, name) for name in ("", *names) for of_tag in ("", tag)]
        of_several = self._of_several if self._left > 0 else {}
        several = [rule for key in keys for rule in of_several.get(key, ())] if of_several else []
        ones = ((_Compound(of_tag, frozenset([name] if name else ())),) for of_tag, name in keys)
        rules = [self._rules[one] for one in ones if one in self._rules]
        rules += [rule for rule in several if self._holds(rule.compounds, (tag, attributes), within, len(within))]
        style = _weighed(rules, inline)
        if self._left <= 0 and self._of_several:
            style = replace(style, ink=_UNSURE_INK.over(style.ink))
        if not several:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = style
        return style

    def _holds(self, compounds: Sequence[_Compound], place: Place, within: Sequence[Place], depth: int) -> bool:
        """True if the first compound names an element, and the further ones some of those `depth` that it is in."""
        self._left -= 1
        if self._left < 0 or not compounds[0].fits(*place):
            return False
        if len(compounds) == 1:
            return True
        lowest = max(depth - 1, 0) if compounds[0].is_child else 0
        return any(self._holds(compounds[1:], within[up], within, up) for up in reversed(range(lowest, depth)))


def _names(attributes: Mapping[str, str]) -> list[str]:
    names = [f".{name}" for name in attributes.get("class", "").split(None, _MOST_NAMES)[:_MOST_NAMES]]
    return [*names, f"#{attributes['id']}"] if "id" in attributes else names


def _key(compound: _Compound) -> tuple[str, str]:
    return ("", min(compound.names)) if compound.names else (compound.tag, "")


def _compounds(selector: str) -> tuple[_Compound, ...]:
    """A selector's compounds, the last first; none of one that does not count here."""
    compounds: list[_Compound] = []
    is_child = False
    if "\\" in selector:
        selector = _ESCAPE.sub(lambda escape: f"\\{_character(escape)}", selector)
    for part in _CHILD.sub(" > ", selector).split():
        found = _COMPOUND.match(part)
        if part == ">":
            is_child = True
        elif found is None or len(compounds) == _LONGEST_SELECTOR:
            return ()
        else:
            tag = (found[1] or "").lower().replace("*", "")
            compounds.append(
                _Compound(tag, frozenset(name.replace("\\", "") for name in _NAME.findall(found[2])), is_child)
            )
            is_child = False
    return tuple(reversed(compounds))


def _without_states(selector: str) -> str:
    """A selector of all the elements which this one may name."""
    if len(selector) > _LONGEST_KNOWN:
        return "*"
    return _BESIDE.split(_STATE.sub("", selector))[-1].strip() or "*"


def _character(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16) % 0xD800)


def _weighed(rules: list[_Rule], inline: str) -> Style:
    said, important = _declarations(inline)
    if not (rules or said or important):
        return PLAIN
    weighed = [(rule.weight, rule) for rule in rules]
    ordinary = _strongest((weight, rule.said) for weight, rule in weighed)
    return _style(ordinary | said | _strongest((weight, rule.important) for weight, rule in weighed) | important)


def _strongest(rules: Iterable[tuple[tuple[int, int, int], dict[str, tuple[int, str]]]]) -> Declarations:
    """Take for each property the value of the rule with the most weight; of equal ones the last in the sheet."""
    ranked = sorted((weight, place, name, value) for weight, said in rules for name, (place, value) in said.items())
    return {name: value for _, _, name, value in ranked}


def _declarations(css: str) -> tuple[Declarations, Declarations]:
    """The properties that matter here, and of these those that win over others; all in small letters."""
    if "/*" in css or "\\" in css:
        css = _ESCAPE.sub(_character, _COMMENT.sub("", css))
    pairs = (part.partition(":") for part in css.lower().split(";"))
    said: tuple[Declarations, Declarations] = ({}, {})
    for name, _, value in pairs:
        plain = _IMPORTANT.sub("", value) if "!" in value else value
        name, into, value = name.strip(), said[plain is not value], plain.strip()
        if name in INK_PROPERTIES:
            into |= longhands(name, value)
        if name in _PROPERTIES:
            into[name] = value
    return said


_PROPERTIES = frozenset(
    "display visibility max-height height min-height padding padding-top padding-bottom width min-width flex flex-grow "
    "overflow overflow-x overflow-y vertical-align float clip clip-path position left right top text-indent "
    "transform margin-left padding-left content-visibility scale zoom".split()
)


@lru_cache(maxsize=_MOST_KNOWN)
def _inline_style(css: str) -> Style:
    return _style(*_declarations(css))


def _style(said: Declarations, important: Declarations | None = None) -> Style:
    said |= important or {}

    display, visibility = said.get("display", ""), said.get("visibility")
    style = Style(
        hides=display == "none" or said.get("content-visibility") == "hidden" or _is_clipped(said) or _is_outside(said),
        invisible=visibility in ("hidden", "collapse") if visibility in ("hidden", "collapse", "visible") else None,
        ink=NO_INK_STYLE if INK_PROPERTIES.isdisjoint(said) else ink_style(said),
        raised=said.get("vertical-align") == "super",
        display=_display(display, said.get("float", "none")),
    )
    return PLAIN if style == PLAIN else style


def _is_clipped(said: Declarations) -> bool:
    """True if an element is a pixel high or wide at most, and nothing makes it larger or shows what overflows."""
    flat = any(_PIXEL.match(said.get(name, "")) for name in ("max-height", "height"))
    if flat and _CUTS.search(f"{said.get('overflow')} {said.get('overflow-y')}"):
        heights = " ".join(said.get(name, "0") for name in ("min-height", "padding", "padding-top", "padding-bottom"))
        return all(map(_ZERO.match, heights.split()))
    narrow = _PIXEL.match(said.get("width", "")) and said.keys().isdisjoint(("flex", "flex-grow", "min-width"))
    return bool(narrow and _CUTS.search(f"{said.get('overflow')} {said.get('overflow-x')}"))


def _is_outside(said: Declarations) -> bool:
    """True if an element is cut to nothing, scaled to nothing, or stands far above or on the left of the page."""
    if _FAR.match(said.get("text-indent", "")) or _NOTHING.search(said.get("transform", "")):
        return True
    if _CLIPPED.match(said.get("clip-path", "")) or _ZERO.match(scale := said.get("scale", "")) or _TINY.match(scale):
        return True
    if _TINY.match(said.get("zoom", "")):
        return True
    if _FARTHEST.match(said.get("margin-left", "")) and not said.get("padding-left") and not said.get("padding"):
        return True
    if said.get("position") == "relative" and any(_FARTHEST.match(said.get(side, "")) for side in ("left", "top")):
        return True
    is_placed = said.get("position") in ("absolute", "fixed")
    return is_placed and bool(
        _CLIPPED.match(said.get("clip", ""))
        or any(_FAR.match(said.get(side, "")) for side in ("left", "top"))
        or _FARTHEST.match(said.get("right", ""))
    )


def _display(display: str, float_: str) -> Display:
    if display in _CONTAINERS:
        return Display.CONTAINER
    if display in _BLOCKS:
        return Display.BLOCK
    if display == "table-cell":
        return Display.CELL
    return Display.BOX if display == "inline-block" or float_ in ("left", "right") else Display.SILENT
