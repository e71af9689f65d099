"""The theme of charts: colours by name, the CSS variables that stand for them in a page, and matplotlib's settings."""

from __future__ import annotations

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
"""The colours of series on a light background; `theme.css` has those on a dark one."""
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
