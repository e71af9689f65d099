"""A dashboard page as data: rows of panels with their queries, without Grafana's format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

REQUESTS, DOCUMENTS = "suffix:requests/s", "suffix:documents/s"
TASKS = "suffix:tasks"


class Kind(Enum):
    """A form in which a panel shows its numbers."""

    LINES = "lines"
    STACK = "stack"
    NUMBER = "number"
    BARS = "bars"
    STATES = "states"


@dataclass(frozen=True, slots=True)
class Query:
    """One PromQL expression, and the name of its series in the legend."""

    expression: str
    legend: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One question with its numbers.

    Attributes:
        unit: Grafana's id of the unit, or one of the units in words below.
        meaning: what it shows and which values call for attention; shown next to the title.
        worry: from this value on it is yellow, or None.
        alarm: from this value on it is red, or None.
        least: below this value it is red, or None.
    """

    title: str
    kind: Kind
    unit: str
    queries: tuple[Query, ...]
    meaning: str
    worry: float | None = None
    alarm: float | None = None
    least: float | None = None
    width: int = 8
    height: int = 7


def _panel(kind: Kind, height: int = 7) -> Callable[..., Panel]:
    """A constructor of panels of one kind: title, unit, queries; `meaning` and the other attributes by name."""

    def make(title: str, unit: str, *queries: Query, meaning: str, **options: Any) -> Panel:
        return Panel(
            title=title, kind=kind, unit=unit, queries=queries, meaning=meaning, **{"height": height, **options}
        )

    return make


lines, stack, bars, states = map(_panel, (Kind.LINES, Kind.STACK, Kind.BARS, Kind.STATES))
number = _panel(Kind.NUMBER, height=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text panel: advice to the reader, in Markdown."""

    title: str
    markdown: str
    width: int = 24
    height: int = 5


@dataclass(frozen=True, slots=True)
class Row:
    """One question of a reader, answered by panels."""

    title: str
    panels: tuple[Panel | Text, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One dashboard."""

    uid: str
    title: str
    description: str
    rows: tuple[Row, ...]

    def panels(self) -> Iterator[Panel]:
        """All panels with numbers."""
        yield from (panel for row in self.rows for panel in row.panels if isinstance(panel, Panel))
