"""What stands for a text that is longer than any document may be: its length, without its characters."""

from __future__ import annotations

from typing import Self


class LeftOutText(str):
    """An empty text in the place of one that was not kept. `characters`: of that one."""

    __slots__ = ("characters",)
    characters: int

    def __new__(cls, characters: int) -> Self:
        text = super().__new__(cls)
        text.characters = characters
        return text


def characters_of(text: str) -> int:
    """The length of a text as it was sent."""
    return text.characters if isinstance(text, LeftOutText) else len(text)
