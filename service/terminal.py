"""Terminal output of commands: text that came from elsewhere is shown, and steers nothing.

The rule: all that a command prints passes `PrintableStream`, or `draw` if it is drawn by rich. Characters that a
terminal would obey (escape codes, carriage returns, marks that turn the direction of writing) are written as JSON
writes them, `\\u001b`: a line of JSON keeps its value. Bytes written to `stdout.buffer` are a document, and stay.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_STEERING_OR_BREAK = re.compile(rf"[\t\n]|{_STEERING.pattern}")

PIPE_COLUMNS = 250
"""Columns of a drawing where stdout is no terminal, so that long names are not wrapped."""


def printable(text: str) -> str:
    """Escape the characters that a terminal would obey, and breaks: for names and messages within a line."""
    return _STEERING_OR_BREAK.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]


def say(text: str) -> None:
    """Print a message on stderr, beside the output."""
    print(f"gleaner: {printable(text)}", file=sys.stderr, flush=True)


class PrintableStream:
    """A text stream that escapes what a terminal would obey, but tabs and the ends of lines.

    Attributes:
        rich_proxied_file: the stream below, to which rich writes codes of its own.
    """

    def __init__(self, stream: TextIO) -> None:
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        self.rich_proxied_file.write(_STEERING.sub(_escape, text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        self.write("".join(lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


@contextmanager
def printable_output() -> Iterator[None]:
    """Have all that is printed while the context lasts pass a `PrintableStream`."""
    out, err = (cast(TextIO, PrintableStream(stream)) for stream in (sys.stdout, sys.stderr))
    with redirect_stdout(out), redirect_stderr(err):
        yield


class _Drawing:
    """A drawing by rich whose texts are escaped, after it was laid out."""

    def __init__(self, content: RenderableType) -> None:
        self._content = content

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        from rich.segment import Segment

        for part in console.render(self._content, options):
            yield part if part.control else Segment(_STEERING.sub(_escape, part.text), part.style)


def draw(content: RenderableType) -> None:
    """Draw a table or text on stdout; texts in it are no markup."""
    from rich.console import Console  # Many commands draw nothing.

    console = Console(width=None if sys.stdout.isatty() else PIPE_COLUMNS, markup=False, emoji=False)
    console.print(_Drawing(content))
