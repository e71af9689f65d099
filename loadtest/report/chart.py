"""What a plot shows, as plain values: series, phases, events, limits. How it looks is in `svg`."""

from __future__ import annotations

from dataclasses import dataclass

Points = tuple[tuple[float, float], ...]
COLOURS = {
    "blue": "#2f6db3",
    "sky": "#7fb2e5",
    "navy": "#173a66",
    "green": "#2e8b57",
    "orange": "#e07b1f",
    "red": "#c0392b",
    "purple": "#7d5ba6",
    "grey": "#8a949e",
    "teal": "#1f9e9e",
    "gold": "#c9a227",
}


@dataclass(frozen=True, slots=True)
class Series:
    """One line. `dots`: with a mark on each point. `dashed`: a reference, not a measurement. `broad`: broad and pale,
    so that it is seen beneath another that lies on it."""

    name: str
    points: Points
    colour: str
    dashed: bool = False
    dots: bool = False
    broad: bool = False


@dataclass(frozen=True, slots=True)
class Band:
    """A phase: a stretch of the x axis with a name."""

    begin: float
    end: float
    name: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over an axis; `stacked` puts each on the one before. `limit` is a horizontal line with its words."""

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
        return any(len(each.points) > 0 for each in self.series if not each.dashed)


@dataclass(frozen=True, slots=True)
class Bars:
    """Stacked bars: a row for each phase, a part for each stage."""

    key: str
    title: str
    caption: str
    x_label: str
    rows: tuple[str, ...]
    parts: tuple[tuple[str, str, tuple[float, ...]], ...]
    """(name, colour, the value in each row)"""

    @property
    def has_data(self) -> bool:
        return any(sum(values) > 0 for _, _, values in self.parts)
