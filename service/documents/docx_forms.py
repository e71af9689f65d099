"""Reads the form fields of the old kind (`w:ffData`) and the symbols of a DOCX part: the text that Word shows for them.

ECMA-376 part 1, 17.16.17 (ffData) and 17.3.3.30 (sym).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from service.documents.docx_colours import attribute
from service.documents.docx_styles import is_on

_SYMBOLS = {
    "wingdings": {0x6F: "☐", 0x71: "☐", 0x72: "☐", 0x78: "☒", 0xA8: "☐", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑"},
    "wingdings 2": {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0x2A: "☐", 0xA3: "☐"},
    "symbol": {0xA0: "€", 0xA3: "≤", 0xB0: "°", 0xB1: "±", 0xB3: "≥", 0xB4: "×", 0xB7: "•"},
}
"""Signs by font and code, of which forms and bills use some: [MS-OI29500] 2.1.333, fonts' own tables."""


@dataclass(slots=True)
class FormField:
    """An open form field of the old kind: `w:ffData`."""

    is_box: bool = False
    checked: bool = False
    entries: list[str] = field(default_factory=list)
    chosen: int = 0
    is_said: bool = False  # `checked` or `result` was there: `default` does not count

    def read(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "checkBox":
            self.is_box = True
        elif name == "listEntry":
            self.entries.append(attribute(attributes, "val"))
        elif name in ("checked", "result") or (name == "default" and not self.is_said):
            self.is_said = self.is_said or name != "default"
            self.checked = is_on(attributes)
            number = attribute(attributes, "val")
            self.chosen = int(number) if number.isdecimal() and len(number) < 6 else 0

    def shown(self) -> str:
        if self.is_box:
            return "☒" if self.checked else "☐"
        return self.entries[self.chosen] if self.chosen < len(self.entries) else ""


def symbol(font: str, code: str) -> str:
    """The sign of a font; nothing where it is not known."""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    if 0xF000 <= number <= 0xF0FF:
        return _SYMBOLS.get(font.lower(), {}).get(number - 0xF000, "")
    return chr(number) if 0x20 < number < 0xD800 else ""
