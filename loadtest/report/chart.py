"""Chart specifications as plain values: series, phases, events, limits, and the colours of a theme."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

COLOURS = {
    "blue": "#2f6db3",
    "sky": "#6aa5e0",
    "navy": "#1b4379",
    "green": "#2e8b57",
    "orange": "#d9721a",
    "red": "#c0392b",
    "purple": "#7d5ba6",
    "grey": "#808b95",
    "teal": "#1a8f8f",
    "gold": "#b8911b",
}
"""Colours of series on a light background; `theme.css` has those on a dark one."""
INK, MUTED, GRID, SHADE, PAPER = "#1d2833", "#5b6772", "#dfe4e9", "#eef2f5", "#ffffff"
VARIABLES = {
    **{colour: f"var(--{name})" for name, colour in COLOURS.items()},
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    GRID: "var(--grid)",
    SHADE: "var(--shade)",
    PAPER: "var(--paper)",
}
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "ytick.major.size": 0,
    "ytick.minor.size": 0,
    "legend.frameon": False,
}


Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Series:
    """One line. `dots`: with a marker on each point. `dashed`: a reference, not a measurement. `broad`: wide and pale,
    so that it is visible beneath another line on the same points."""

    name: str
    points: Points
    colour: str
    dashed: bool = False
    dots: bool = False
    broad: bool = False


@dataclass(frozen=True, slots=True)
class Band:
    """A phase: a named part of the x axis."""

    begin: float
    end: float
    name: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over an axis. `stacked`: each series on top of the one before, at the same x values. `limit`: a horizontal
    line with its label. `x_ticks`: positions and labels, instead of numbers."""

    key: str
    title: str
    caption: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    bands: tuple[Band, ...] = ()
    events: tuple[tuple[float, str], ...] = ()
    limit: tuple[float, str] | None = None
    log_y: bool = False
    stacked: bool = False
    x_ticks: tuple[tuple[float, str], ...] = ()

    @property
    def has_data(self) -> bool:
        """True when a series other than a reference has a point."""
        return any(len(each.points) > 0 for each in self.series if not each.dashed)


@dataclass(frozen=True, slots=True)
class Bars:
    """Stacked horizontal bars: a row per phase, a part per stage."""

    key: str
    title: str
    caption: str
    x_label: str
    rows: tuple[str, ...]
    parts: tuple[tuple[str, str, tuple[float, ...]], ...]
    """(name, colour, the value in each row)"""

    @property
    def has_data(self) -> bool:
        """True when a part of a row is above zero."""
        return any(sum(values) > 0 for _, _, values in self.parts)
