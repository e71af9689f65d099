"""Optional content of a PDF: takes out what lies in layers that are off when a viewer opens the file.

A layer's state is that of the default configuration, for viewing: ISO 32000-1, 8.11. What is left does not move, unless
text goes on in the same line without a new position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name, Operator

_PAINTS = frozenset("S s f F f* B B* b b*".split())
_SHOWS = frozenset(("Tj", "TJ", "Do", "sh", "INLINE IMAGE"))
_NEXT_LINE = frozenset(("'", '"'))
_DEEPEST = 16

Instruction = Any
IsHidden = Callable[[Any], bool]


def drop_hidden_layers(pdf: pikepdf.Pdf) -> bool:
    """Take out of an open file what its hidden layers hold; whether that was anything."""
    off = _groups_off(pdf)
    if not off:
        return False
    changed = False

    def is_hidden(content: Any) -> bool:
        return _is_hidden(content, off, 0)

    for page in pdf.pages:
        changed |= _drop_annotations(page.obj, is_hidden)
        if (left := _shown(page, page.obj.get("/Resources"), is_hidden)) is not None:
            page.obj["/Contents"] = pikepdf.Stream(pdf, left)
            changed = True
    for stream in _streams(pdf):
        if is_hidden(stream.get("/OC")):
            _empty(stream)
            changed = True
        elif (left := _shown(stream, stream.get("/Resources"), is_hidden)) is not None:
            stream.write(left)
            changed = True
    return changed


def _streams(pdf: pikepdf.Pdf) -> Iterator[pikepdf.Stream]:
    """Forms and images."""
    for thing in pdf.objects:
        if isinstance(thing, pikepdf.Stream) and thing.get("/Subtype") in ("/Form", "/Image"):
            yield thing


def _groups_off(pdf: pikepdf.Pdf) -> frozenset[tuple[int, int]]:
    """The numbers of the groups that are off."""
    properties = pdf.Root.get("/OCProperties")
    if not isinstance(properties, Dictionary):
        return frozenset()
    config = properties.get("/D", Dictionary())
    off = _numbers(config.get("/OFF"))
    if config.get("/BaseState") == "/OFF":
        off |= _numbers(properties.get("/OCGs")) - _numbers(config.get("/ON"))
    for usage in _items(config.get("/AS")):
        if usage.get("/Event") == "/View":
            for group in _items(usage.get("/OCGs")):
                state = group.get("/Usage", Dictionary()).get("/View", Dictionary()).get("/ViewState")
                off = off | {group.objgen} if state == "/OFF" else off - {group.objgen} if state == "/ON" else off
    return off


def _items(groups: Any) -> list[Any]:
    if isinstance(groups, Array):
        return [group for group in groups if isinstance(group, Dictionary)]
    return [groups] if isinstance(groups, Dictionary) else []


def _numbers(groups: Any) -> frozenset[tuple[int, int]]:
    return frozenset(group.objgen for group in _items(groups))


def _is_hidden(content: Any, off: frozenset[tuple[int, int]], depth: int) -> bool:
    """True if a group, or a membership dictionary of groups, is off."""
    if not isinstance(content, Dictionary):
        return False
    if content.get("/Type") != "/OCMD":
        return content.objgen in off
    if isinstance(expression := content.get("/VE"), Array):
        return not _holds(expression, off, depth)
    states = [group.objgen not in off for group in _items(content.get("/OCGs"))]
    if not states:
        return False
    policy = str(content.get("/P", "/AnyOn"))
    shown = {"/AllOn": all(states), "/AnyOff": not all(states), "/AllOff": not any(states)}.get(policy, any(states))
    return not shown


def _holds(expression: Any, off: frozenset[tuple[int, int]], depth: int) -> bool:
    """True if a visibility expression holds: a group, or an array of an operator and its operands."""
    if depth > _DEEPEST or not isinstance(expression, Array) or not len(expression):
        return not _is_hidden(expression, off, depth + 1)
    operator, *operands = expression
    states = [_holds(each, off, depth + 1) for each in operands]
    if operator == "/Not":
        return not any(states)
    return any(states) if operator == "/Or" else all(states)


def _drop_annotations(page: Dictionary, is_hidden: IsHidden) -> bool:
    annotations = _items(page.get("/Annots"))
    left = [each for each in annotations if not is_hidden(each.get("/OC"))]
    if len(left) < len(annotations):
        page["/Annots"] = Array(left)
    return len(left) < len(annotations)


def _empty(stream: pikepdf.Stream) -> None:
    """Make a form or an image a form without content."""
    stream.write(b"")
    for key in set(stream.keys()) - {"/Length"}:
        del stream[key]
    stream.update(Dictionary(Type=Name.XObject, Subtype=Name.Form, BBox=Array([0, 0, 0, 0])))


def _shown(holder: Any, resources: Any, is_hidden: IsHidden) -> bytes | None:
    """A page's or a form's content without what does not show; None if all of it does."""
    named = resources.get("/Properties") if isinstance(resources, Dictionary) else None
    if not isinstance(named, Dictionary) or not any(is_hidden(each) for each in named.values()):
        return None
    left: list[Instruction] = []
    dropped, marks = False, list[bool]()
    for instruction in pikepdf.parse_content_stream(holder):
        operands, operator = instruction.operands, str(instruction.operator)
        if operator in ("BMC", "BDC"):
            is_layer = operator == "BDC" and len(operands) == 2 and operands[0] == "/OC"
            marks.append(is_layer and isinstance(operands[1], Name) and is_hidden(named.get(str(operands[1]))))
        elif operator == "EMC" and marks:
            marks.pop()
        elif any(marks):
            instead = _instead(operator, operands)
            if instead is not None:
                left += instead
                dropped = True
                continue
        left.append(instruction)
    return pikepdf.unparse_content_stream(left) if dropped else None


def _instead(operator: str, operands: Any) -> list[Instruction] | None:
    """Replace an operator in a hidden layer by one that keeps the state and paints nothing; None: keep it."""
    if operator in _PAINTS:
        return [([], Operator("n"))]
    if operator in _SHOWS:
        return []
    if operator in _NEXT_LINE:
        spacing = [([operands[0]], Operator("Tw")), ([operands[1]], Operator("Tc"))] if operator == '"' else []
        return [*spacing, ([], Operator("T*"))]
    return None
