"""The lines of a text: which line an offset is on, and what stands before it."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise


class TextLines:
    """Line numbers of one text, from 0; offsets are code points."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(place + 1 for place, character in enumerate(text) if character == "\n")]

    def at(self, offset: int) -> int:
        """The number of the line that holds `offset`."""
        return bisect_right(self._starts, offset) - 1

    def start(self, line: int) -> int:
        """The offset at which a line begins; that of the text's end for one beyond its last."""
        return self._starts[line] if line < len(self._starts) else len(self._text)

    def between(self, start: int, end: int) -> str:
        """The text of `[start, end)`."""
        return self._text[start:end]

    def before(self, offset: int, most: int) -> str:
        """The last `most` characters that stand on the line before `offset`."""
        return self._text[max(self._starts[self.at(offset)], offset - most) : offset]

    def after(self, offset: int, most: int) -> str:
        """The next `most` characters that stand on the line of `offset`, from there on."""
        return self._text[offset : min(offset + most, self.end(self.at(offset)))]

    def end(self, line: int) -> int:
        """The offset at which a line ends, before its line break; that of the text's end for one beyond its last."""
        return self._starts[line + 1] - 1 if line + 1 < len(self._starts) else len(self._text)

    def line(self, offset: int) -> str:
        """The line that holds `offset`."""
        number = self.at(offset)
        return self._text[self._starts[number] : self.end(number)]

    def length(self, offset: int) -> int:
        """The characters of the line that holds `offset`."""
        number = self.at(offset)
        return self.end(number) - self._starts[number]

    def column(self, offset: int) -> int:
        """The characters that stand before `offset` on its line."""
        return offset - self._starts[self.at(offset)]

    def above(self, offset: int, count: int, most: int) -> list[str]:
        """The `count` lines above that of `offset`, the nearest first, without those of over `most` characters."""
        line = self.at(offset)
        borders = self._starts[max(line - count, 0) : line + 1]
        short = ((start, end - 1) for start, end in pairwise(borders) if end - 1 - start <= most)
        return [self._text[start:end] for start, end in short][::-1]
