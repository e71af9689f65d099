"""Writer of what is left of one content stream, when glyphs went from it.

The rule: positions and distances that were written for letters that went alone tell which letters these were, so they
go too. What is left is placed by one matrix, or one distance; a state that was saved only for what went is not saved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pikepdf import Array, Operator, String

from service.documents.redaction.geometry import GraphicsState
from service.documents.redaction.shown_text import Item
from service.documents.redaction.values import CannotRewrite

SHOWING = frozenset(("Tj", "TJ", "'", '"'))
_MOVES = frozenset(("Td", "TD", "Tm", "T*"))
_PAINTS_NOTHING = frozenset(
    "q Q cm w J j M d ri i gs BT ET Tc Tw Tz TL Tf Tr Ts Td TD Tm T* cs CS sc scn SC SCN g G rg RG k K W W* n"
    " m l c v y h re".split()
)


@dataclass(slots=True)
class _Block:
    """State since a `q`: its place, whether it paints, and whether glyphs were removed from it."""

    start: int
    paints: bool
    lost: bool = False


class StreamWriter:
    """The instructions that are left. Those within a text object wait until something is shown, or it ends."""

    def __init__(self) -> None:
        self._written: list[Any] = []
        self._waiting: list[tuple[str, Any]] = []
        self._blocks: list[_Block] = []
        self._in_text = False
        self._lost = False  # whether glyphs went since something was shown
        self._gap = 0.0  # how far the pen moved since, in text space

    def write(self, name: str, instruction: Any) -> None:
        """Write an instruction that shows no text."""
        if name in _MOVES or name == "BT":
            self._gap = 0.0
        if name == "ET":
            self._place(None)
            self._in_text = False
        if name == "q":
            self._blocks.append(_Block(len(self._written), paints=self._in_text))
        elif name not in _PAINTS_NOTHING and self._blocks:
            self._blocks[-1].paints = True
        if self._in_text:
            self._waiting.append((name, instruction))
        else:
            self._written.append(instruction)
        if name == "Q" and self._blocks:
            self._end_block(self._blocks.pop())
        self._in_text |= name == "BT"

    def write_text(self, items: list[Item], state: GraphicsState, *, is_whole: bool) -> None:
        """Write a `TJ`, or what is left of it; `state` is as it is afterwards."""
        items, gap = list(items), self._gap
        self._lost |= not is_whole
        moved = 0.0
        if not is_whole or not any(isinstance(each, bytes) and each for each in items):
            moved = self._moved(items, state)
        for block in self._blocks[-1:]:
            block.lost |= not is_whole
            block.paints |= bool(items)
        self._gap = moved if items else gap + moved
        if items:
            self._place(state)
            distance = [round(-1000 * gap / _unit(state), 4)] if gap else []
            shown = [String(each) if isinstance(each, bytes) else round(each, 4) for each in items]
            self._written.append(([Array([*distance, *shown])], Operator("TJ")))
            self._lost = not is_whole and moved != 0.0

    def finished(self) -> list[Any]:
        """All instructions."""
        self._place(None)
        return self._written

    def _moved(self, items: list[Item], state: GraphicsState) -> float:
        """Take what shows nothing off the end of a `TJ`; returns how far it moves the pen, in text space."""
        moved = 0.0
        while items and not (isinstance(items[-1], bytes) and items[-1]):
            last = items.pop()
            moved += 0.0 if isinstance(last, bytes) else -last / 1000 * _unit(state)
        return moved

    def _place(self, state: GraphicsState | None) -> None:
        """Write what waits; where glyphs went, one position in place of all, or none if nothing is shown there."""
        if self._lost and any(name in _MOVES for name, _ in self._waiting):
            leading = [each for name, each in self._waiting if name in ("TD", "TL")][-1:]
            self._written += [each for name, each in self._waiting if name not in _MOVES and name != "TL"]
            for each in leading:
                *_, distance = each.operands
                is_move = str(each.operator) == "TD"
                self._written.append(([-float(distance) if is_move else distance], Operator("TL")))
            if state is not None:
                self._written.append(([round(each, 5) for each in state.line], Operator("Tm")))
        else:
            self._written += [each for _, each in self._waiting]
        self._waiting, self._lost = [], False

    def _end_block(self, block: _Block) -> None:
        if block.lost and not block.paints:
            del self._written[block.start :]
        for outer in self._blocks[-1:]:
            outer.paints |= block.paints
            outer.lost |= block.lost


def _unit(state: GraphicsState) -> float:
    """Compute the pen's movement by a number of -1000 in a `TJ`, in text space."""
    is_vertical = state.font is not None and state.font.is_vertical
    unit = state.size if is_vertical else state.size * state.scaling
    if not unit:
        raise CannotRewrite("text has no size")
    return unit
