"""Prometheus' text format → values by name and labels. Pure; takes what it can read and skips the rest."""

from __future__ import annotations

import re
from collections.abc import Mapping

_LINE = re.compile(r"([A-Za-z_:][A-Za-z0-9_:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?")
_LABEL = re.compile(r'([A-Za-z_][A-Za-z0-9_]*)="((?:[^"\\]|\\.)*)"')
Key = tuple[str, tuple[tuple[str, str], ...]]


class Scrape:
    """One answer of /metrics."""

    def __init__(self, values: Mapping[Key, float]) -> None:
        self._values = dict(values)

    def total(self, name: str) -> float | None:
        """The sum over all label values; None if the metric is not there."""
        found = [value for (each, _), value in self._values.items() if each == name]
        return sum(found) if found else None

    def by(self, name: str, label: str) -> dict[str, float]:
        """The sums for each value of one label."""
        found: dict[str, float] = {}
        for (each, labels), value in self._values.items():
            word = dict(labels).get(label)
            if each == name and word is not None:
                found[word] = found.get(word, 0.0) + value
        return found


def read(text: str) -> Scrape:
    """The values in an exposition."""
    values: dict[Key, float] = {}
    for line in text.splitlines():
        found = None if line.startswith("#") else _LINE.fullmatch(line.strip())
        if found is not None:
            try:
                values[found[1], tuple(_LABEL.findall(found[2] or ""))] = float(found[3])
            except ValueError:
                continue
    return Scrape(values)
